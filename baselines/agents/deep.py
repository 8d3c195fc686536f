"""DEEP: the task policy proposes actions, a fast exploration Q chooses among them.

SACDeep and DDQNDeep differ from SAC and DDQN in how they behave while exploring, and in nothing
else. The exploration Q is in `explorer.py`.
"""

from dataclasses import dataclass, field, replace

import numpy as np
import torch
from torch import Tensor

from baselines.agent import Bounds, State, Transition
from baselines.agents.ddqn import DDQN, DDQNConfig
from baselines.agents.explorer import Explorer, ExplorerConfig
from baselines.agents.off_policy import OffPolicy
from baselines.agents.sac import SAC, SACConfig
from baselines.bonuses import BonusConfig, make_bonus
from baselines.nn.networks import spawn_seeds


class Deep(OffPolicy):
    """Mixin: behaviour is the product of task policy and exploration policy (algorithm 2).

    It is drawn by self-normalised importance sampling: draw candidates from the task policy, choose
    one of them by the exploration policy. With one candidate this is the learner alone, bit for
    bit. The class it is mixed into makes the `explorer`.
    """

    explorer: Explorer

    def behaviour_action(self, obs: np.ndarray) -> Tensor:
        """One of the task policy's candidates, drawn by softmax of its exploration value."""
        if self.in_warmup:
            return super().behaviour_action(obs)
        candidates = self.propose(obs, self.explorer.config.behaviour_candidates)
        return candidates[self.explorer.choose(self.as_tensor(obs), candidates)]

    def propose(self, obs: np.ndarray, n: int) -> Tensor:
        """The `n` candidates (n, A) to choose among."""
        return self.sample_actions(obs, n)

    def observe(self, transition: Transition) -> None:
        """Stores the step with the environment's reward, and records the visit."""
        super().observe(transition)
        self.explorer.observe(transition)

    def update(self) -> dict[str, float]:
        """The exploration Q at every step; at the end of an episode also the mean bonus."""
        info, learnt = self.explorer.update(), super().update()
        return info | learnt | self.explorer.bonus_mean.pop() if learnt else info

    def state_dict(self) -> State:
        """The learner's state and the explorer's."""
        return super().state_dict() | {"explorer": self.explorer.state_dict()}

    def load_state_dict(self, state: State) -> None:
        """Inverse of `state_dict`."""
        super().load_state_dict(state)
        self.explorer.load_state_dict(state["explorer"])


@dataclass(frozen=True)
class SACDeepConfig(SACConfig):
    """SAC's settings, and those of exploration."""

    explorer: ExplorerConfig = field(default_factory=ExplorerConfig)
    bonus: BonusConfig = field(default_factory=BonusConfig)


class SACDeep(Deep, SAC):
    """SAC that behaves by the product of its policy and the exploration policy."""

    Config = SACDeepConfig
    config: SACDeepConfig

    def __init__(
        self, bounds: Bounds, config: SACDeepConfig, *, seed: int, device: str = "cpu"
    ) -> None:
        super().__init__(bounds, config, seed=seed, device=device)
        *_, bonus_seed, explorer_seed = spawn_seeds(seed, 6)
        bonus = make_bonus(config.bonus, bounds, seed=bonus_seed, device=device)
        self.explorer = Explorer(
            bounds, bonus, self.replay, config.explorer,
            discrete=False, seed=explorer_seed, device=device,
        )  # fmt: skip


@dataclass(frozen=True)
class DDQNDeepConfig(DDQNConfig):
    """DDQN's settings, and those of exploration."""

    uniform_candidates: bool = False  # propose uniformly: exploration without a task
    explorer: ExplorerConfig = field(default_factory=ExplorerConfig)
    bonus: BonusConfig = field(default_factory=lambda: BonusConfig(kind="table"))


class DDQNDeep(Deep, DDQN):
    """DDQN that behaves by the product of its policy and the exploration policy."""

    Config = DDQNDeepConfig
    config: DDQNDeepConfig

    def __init__(
        self, bounds: Bounds, config: DDQNDeepConfig, *, seed: int, device: str = "cpu"
    ) -> None:
        super().__init__(bounds, config, seed=seed, device=device)
        *_, explorer_seed, bonus_seed = spawn_seeds(seed, 6)
        bonus = make_bonus(config.bonus, bounds, seed=bonus_seed, device=device)
        # What the skilled policy shows is for the task alone: exploration learns after it.
        start = max(config.explorer.start_after, config.skilled_steps)
        self.explorer = Explorer(
            bounds, bonus, self.replay, replace(config.explorer, start_after=start),
            discrete=True, seed=explorer_seed, device=device,
        )  # fmt: skip

    def propose(self, obs: np.ndarray, n: int) -> Tensor:
        """Draws of the task policy, or uniform ones."""
        if self.config.uniform_candidates:
            return torch.randint(self.actions, (n, 1), generator=self._act_rng).float()
        return super().propose(obs, n)

    def maps(self, obs: np.ndarray) -> dict[str, np.ndarray]:
        """For pictures: DDQN's and the explorer's, (B,) each."""
        actions = torch.arange(self.actions, device=self.device)[:, None].float()
        return super().maps(obs) | self.explorer.maps(self.as_tensor(obs), actions)
