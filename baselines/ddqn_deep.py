"""DDQN + DEEP: the task policy proposes actions, a fast exploration Q chooses among them."""

from dataclasses import dataclass, field, replace

import numpy as np
import torch
from torch import Tensor

from baselines.agent import Bounds
from baselines.counts import TableCount
from baselines.ddqn import DDQN, DDQNConfig
from baselines.deep import Deep
from baselines.explorer import Explorer, ExplorerConfig
from baselines.networks import spawn_seeds


@dataclass(frozen=True)
class DDQNDeepConfig(DDQNConfig):
    """DDQN's settings, and those of exploration."""

    uniform_candidates: bool = False  # propose uniformly: exploration without a task
    explorer: ExplorerConfig = field(default_factory=ExplorerConfig)


class DDQNDeep(Deep, DDQN):
    """DDQN, and an explorer that counts by a table."""

    Config = DDQNDeepConfig
    config: DDQNDeepConfig

    def __init__(
        self, bounds: Bounds, config: DDQNDeepConfig, *, seed: int, device: str = "cpu"
    ) -> None:
        super().__init__(bounds, config, seed=seed, device=device)
        *_, explorer_seed = spawn_seeds(seed, 5)
        # What the skilled policy shows is for the task alone: exploration learns after it.
        start = max(config.explorer.start_after, config.skilled_steps)
        explorer_config = replace(config.explorer, start_after=start)
        self.explorer = Explorer(
            bounds, TableCount(bounds, device=device), self.replay, explorer_config,
            discrete=True, seed=explorer_seed, device=device,
        )  # fmt: skip

    def propose(self, obs: np.ndarray, n: int) -> Tensor:
        """Draws of the task policy, or of none."""
        if self.config.uniform_candidates:
            return torch.randint(self.actions, (n, 1), generator=self._act_rng).float()
        return super().propose(obs, n)

    def maps(self, obs: np.ndarray) -> dict[str, np.ndarray]:
        """For pictures: DDQN's and the explorer's, (B,) each."""
        actions = torch.arange(self.actions, device=self.device)[:, None].float()
        return super().maps(obs) | self.explorer.maps(self.as_tensor(obs), actions)
