"""Bonus-based exploration: visits are counted, and a rare one earns a bonus once and for all."""

from dataclasses import dataclass

from baselines.agent import State, Transition
from baselines.counts import Count, Novelty
from baselines.off_policy import OffPolicy


class LoggedBonus(OffPolicy):
    """Reports and saves bonuses. What it is mixed into makes both, and logs each visit once."""

    count: Count
    novelty: Novelty

    def update(self) -> dict[str, float]:
        """The learner's burst if one is due, and the mean bonus since the last."""
        info = super().update()
        return info | self.novelty.mean() if info else info

    def state_dict(self) -> State:
        """The learner's state and the counts."""
        return super().state_dict() | {
            "count": self.count.state_dict(),
            "novelty": self.novelty.state_dict(),
        }

    def load_state_dict(self, state: State) -> None:
        """Inverse of `state_dict`."""
        super().load_state_dict(state)
        self.count.load_state_dict(state["count"])
        self.novelty.load_state_dict(state["novelty"])


@dataclass(frozen=True)
class BBEConfig:
    """What BBE adds to its learner's settings."""

    bonus_scale: float = 1.0  # of the bonus in the sum; best of .01, .1, 1 and 10 in the paper
    explore_only: bool = False  # store the bonus alone, for exploration without a task


class BBE(LoggedBonus):
    """Differs from its learner in the reward that is stored."""

    config: BBEConfig

    def stored_reward(self, transition: Transition) -> float:
        """Reward plus bonus; the count is that before this visit, and never looked up again."""
        novelty = self.config.bonus_scale * self.novelty.visit(transition)
        return novelty if self.config.explore_only else transition.reward + novelty
