"""DDQN + DEEP: the task policy proposes actions, a fast exploration Q chooses among them."""

from dataclasses import dataclass, field, replace

import numpy as np
import torch
from torch import Tensor

from baselines.agent import Bounds, State, Transition
from baselines.counts import TableCount
from baselines.ddqn import DDQN, DDQNConfig
from baselines.explorer import Explorer, ExplorerConfig
from baselines.networks import spawn_seeds


@dataclass(frozen=True)
class DDQNDeepConfig(DDQNConfig):
    """DDQN's settings, and those of exploration."""

    uniform_candidates: bool = False  # propose uniformly: exploration without a task
    explorer: ExplorerConfig = field(default_factory=ExplorerConfig)


class DDQNDeep(DDQN):
    """Differs from DDQN in how it behaves while exploring, not in how it learns the task."""

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

    def act(self, obs: np.ndarray, *, explore: bool) -> int:
        """The candidate of the task policy that promises most novelty, softly."""
        if not explore or self.in_warmup:
            return super().act(obs, explore=explore)
        candidates = self._propose(obs, self.config.explorer.behaviour_candidates)
        return int(candidates[self.explorer.choose(self.as_tensor(obs), candidates)])

    def _propose(self, obs: np.ndarray, n: int) -> Tensor:
        if self.config.uniform_candidates:
            return torch.randint(self.actions, (n, 1), generator=self._act_rng).float()
        return self.sample_actions(obs, n)

    def maps(self, obs: np.ndarray) -> dict[str, np.ndarray]:
        """For pictures: DDQN's and the explorer's, (B,) each."""
        actions = torch.arange(self.actions, device=self.device)[:, None].float()
        return super().maps(obs) | self.explorer.maps(self.as_tensor(obs), actions)

    def observe(self, transition: Transition) -> None:
        """Stores the step with the environment's reward, and counts the visit."""
        super().observe(transition)
        self.explorer.observe(transition)

    def update(self) -> dict[str, float]:
        """The exploration Q at every step; DDQN's burst and the mean bonus when an episode ends."""
        info, burst = self.explorer.update(), super().update()
        return info | burst | self.explorer.novelty.mean() if burst else info

    def state_dict(self) -> State:
        """DDQN's state and the explorer's."""
        return super().state_dict() | {"explorer": self.explorer.state_dict()}

    def load_state_dict(self, state: State) -> None:
        """Inverse of `state_dict`."""
        super().load_state_dict(state)
        self.explorer.load_state_dict(state["explorer"])
