"""DDQN with bonus-based exploration: a visit's bonus is added to its reward, once and for all."""

from dataclasses import dataclass

import numpy as np

from baselines.agent import Bounds, State, Transition
from baselines.counts import Novelty, TableCount, bonus
from baselines.ddqn import DDQN, DDQNConfig


@dataclass(frozen=True)
class DDQNBBEConfig(DDQNConfig):
    """DDQN's settings, and those of the bonus."""

    bonus_scale: float = 1.0  # of the bonus in the sum
    explore_only: bool = False  # store the bonus alone, for exploration without a task


class DDQNBBE(DDQN):
    """Differs from DDQN in the reward it stores."""

    Config = DDQNBBEConfig
    config: DDQNBBEConfig

    def __init__(
        self, bounds: Bounds, config: DDQNBBEConfig, *, seed: int, device: str = "cpu"
    ) -> None:
        super().__init__(bounds, config, seed=seed, device=device)
        self.count = TableCount(bounds, device=device)
        self.novelty = Novelty(self.count)

    def stored_reward(self, transition: Transition) -> float:
        """Reward plus bonus; the count is that before this visit, and never looked up again."""
        novelty = self.config.bonus_scale * self.novelty.visit(transition)
        return novelty if self.config.explore_only else transition.reward + novelty

    def maps(self, obs: np.ndarray) -> dict[str, np.ndarray]:
        """For pictures: DDQN's, and the bonus of the best known action, (B,) each."""
        counts = self.count.grid(obs, np.arange(self.actions))  # (B, actions)
        return super().maps(obs) | {"bonus": bonus(counts.amax(1)).cpu().numpy()}

    def update(self) -> dict[str, float]:
        """DDQN's burst if the episode has ended, and the episode's mean bonus."""
        info = super().update()
        return info | self.novelty.mean() if info else info

    def state_dict(self) -> State:
        """DDQN's state and the counts."""
        return super().state_dict() | {
            "count": self.count.state_dict(),
            "novelty": self.novelty.state_dict(),
        }

    def load_state_dict(self, state: State) -> None:
        """Inverse of `state_dict`."""
        super().load_state_dict(state)
        self.count.load_state_dict(state["count"])
        self.novelty.load_state_dict(state["novelty"])
