"""The protocol of every run: how its episodes start, and whose turn it is.

One training episode, what the learner makes of it, one evaluation episode of the policy without
exploration; and so on until the budget is spent.
"""

import numpy as np

from explore_suite.errors import UserError
from explore_suite.results import PHASES


def episode_seed(seed: int, phase: str, episode: int) -> int:
    """The same run, phase and episode always start the same way, whoever acts."""
    entropy = [seed, PHASES.index(phase), episode]
    return int(np.random.SeedSequence(entropy).generate_state(1)[0])


class Turns:
    """Training and evaluation by turns, up to a budget of training episodes."""

    def __init__(self, episodes: int) -> None:
        """Nothing has been played yet."""
        self.episodes = episodes
        self.trained = self.evaluated = 0

    @property
    def finished(self) -> bool:
        """Whether the last training episode of the budget has been evaluated."""
        return self.evaluated == self.episodes

    def number(self, phase: str) -> int:
        """The episode of this phase that a reset begins now; an evaluation bears its training's."""
        return self.trained + 1 if phase == "train" else self.trained

    def check(self, phase: str) -> None:
        """A UserError says what to do first where it is not this phase's turn."""
        if self.finished:
            raise UserError(f"all {self.episodes} episodes of the budget are recorded: stop here")
        if phase == "train" and self.evaluated < self.trained:
            raise UserError(
                f"evaluate training episode {self.trained} once, in eval_env, before you train on"
            )
        if phase == "eval" and self.evaluated == self.trained:
            raise UserError(
                f"finish training episode {self.trained + 1} before you evaluate: "
                "each training episode has one evaluation"
            )

    def played(self, phase: str) -> None:
        """An episode of this phase has come to its end."""
        if phase == "train":
            self.trained += 1
        else:
            self.evaluated += 1
