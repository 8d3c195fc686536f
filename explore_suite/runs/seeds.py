"""Reset seeds of episodes, derived from the seed of the run."""

import numpy as np

from explore_suite.runs.format import PHASES


def episode_seed(seed: int, phase: str, episode: int) -> int:
    """The reset seed of an episode: the same for every agent, so that all meet the same starts."""
    entropy = [seed, PHASES.index(phase), episode]
    return int(np.random.SeedSequence(entropy).generate_state(1)[0])
