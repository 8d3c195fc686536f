"""DDQN with bonus-based exploration: a visit's bonus is added to its reward, once and for all."""

from dataclasses import dataclass

import numpy as np

from baselines.agent import Bounds
from baselines.bbe import BBE, BBEConfig
from baselines.counts import Novelty, TableCount, bonus
from baselines.ddqn import DDQN, DDQNConfig


@dataclass(frozen=True)
class DDQNBBEConfig(BBEConfig, DDQNConfig):
    """DDQN's settings, and those of the bonus."""


class DDQNBBE(BBE, DDQN):
    """Differs from DDQN in the reward it stores."""

    Config = DDQNBBEConfig
    config: DDQNBBEConfig

    def __init__(
        self, bounds: Bounds, config: DDQNBBEConfig, *, seed: int, device: str = "cpu"
    ) -> None:
        super().__init__(bounds, config, seed=seed, device=device)
        self.count = TableCount(bounds, device=device)
        self.novelty = Novelty(self.count)

    def maps(self, obs: np.ndarray) -> dict[str, np.ndarray]:
        """For pictures: DDQN's, and the bonus of the best known action, (B,) each."""
        counts = self.count.grid(obs, np.arange(self.actions))  # (B, actions)
        return super().maps(obs) | {"bonus": bonus(counts.amax(1)).cpu().numpy()}
