"""Seeds of episodes, derived from the run's."""

import numpy as np

from explore_suite.runs.format import PHASES


def episode_seed(seed: int, phase: str, episode: int) -> int:
    """The reset seed of an episode: the same run, phase and episode start alike, whoever acts."""
    entropy = [seed, PHASES.index(phase), episode]
    return int(np.random.SeedSequence(entropy).generate_state(1)[0])
