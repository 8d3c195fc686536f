"""DEEP (the paper's Algorithm 2): the task policy proposes actions, an exploration Q picks one.

SACDeep and DDQNDeep differ from SAC and DDQN only in the behaviour policy. The exploration Q is in
`explorer.py`.
"""

from dataclasses import dataclass, field, replace

import numpy as np
import torch
from torch import Tensor

from baselines.agent import Bounds, Transition
from baselines.agents.ddqn import DDQN, DDQNConfig
from baselines.agents.explorer import Explorer, ExplorerConfig
from baselines.agents.off_policy import OffPolicy
from baselines.agents.sac import SAC, SACConfig
from baselines.bonuses import BonusConfig, make_bonus
from baselines.nn.networks import spawn_seeds


class Deep(OffPolicy):
    """Mixin: the behaviour policy is the product of task and exploration policy (Eq. 4).

    It is sampled by self-normalised importance sampling: draw candidates from the task policy, then
    one of them by the exploration policy. With one candidate the agent is SAC or DDQN, bit for bit.
    The host class makes the `explorer`.
    """

    STATE = {"explorer": "explorer"}
    explorer: Explorer

    def behaviour_action(self, obs: np.ndarray) -> Tensor:
        """One of the task policy's candidates, drawn by the softmax of their exploration values."""
        if self.in_warmup:
            return super().behaviour_action(obs)
        candidates = self.propose(obs, self.explorer.config.behaviour_candidates)
        return candidates[self.explorer.choose(self.as_tensor(obs), candidates)]

    def propose(self, obs: np.ndarray, n: int) -> Tensor:
        """`n` candidate actions (n, A), drawn from the task policy."""
        return self.sample_actions(obs, n)

    def observe(self, transition: Transition) -> None:
        """Stores the step with the environment's reward and records the visit in the bonus."""
        super().observe(transition)
        self.explorer.observe(transition)

    def update(self) -> dict[str, float]:
        """Updates the exploration Q, and the task learner if updates are due.

        The mean bonus is reported along with the task learner's losses.
        """
        info, task_info = self.explorer.update(), super().update()
        return info | task_info | self.explorer.bonus_mean.pop() if task_info else info


@dataclass(frozen=True)
class SACDeepConfig(SACConfig):
    """The hyperparameters of SAC, of the exploration Q and of the bonus."""

    explorer: ExplorerConfig = field(default_factory=ExplorerConfig)
    bonus: BonusConfig = field(default_factory=BonusConfig)


class SACDeep(Deep, SAC):
    """SAC whose behaviour policy is the product of its own and an exploration policy."""

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
    """The hyperparameters of DDQN, of the exploration Q and of the bonus."""

    uniform_candidates: bool = False  # draw candidates uniformly: exploration without a task
    explorer: ExplorerConfig = field(default_factory=ExplorerConfig)
    bonus: BonusConfig = field(default_factory=lambda: BonusConfig(kind="table"))


class DDQNDeep(Deep, DDQN):
    """DDQN whose behaviour policy is the product of its own and an exploration policy."""

    Config = DDQNDeepConfig
    config: DDQNDeepConfig

    def __init__(
        self, bounds: Bounds, config: DDQNDeepConfig, *, seed: int, device: str = "cpu"
    ) -> None:
        super().__init__(bounds, config, seed=seed, device=device)
        *_, explorer_seed, bonus_seed = spawn_seeds(seed, 6)
        bonus = make_bonus(config.bonus, bounds, seed=bonus_seed, device=device)
        # The expert's steps are for the task alone: the exploration Q learns after them.
        start = max(config.explorer.start_after, config.skilled_steps)
        self.explorer = Explorer(
            bounds, bonus, self.replay, replace(config.explorer, start_after=start),
            discrete=True, seed=explorer_seed, device=device,
        )  # fmt: skip

    def propose(self, obs: np.ndarray, n: int) -> Tensor:
        """`n` candidate actions (n, 1), drawn from the task policy or uniformly."""
        if self.config.uniform_candidates:
            return torch.randint(self.actions, (n, 1), generator=self._act_rng).float()
        return super().propose(obs, n)

    def maps(self, obs: np.ndarray) -> dict[str, np.ndarray]:
        """DDQN's maps and the explorer's, (B,) each."""
        actions = torch.arange(self.actions, device=self.device)[:, None].float()
        return super().maps(obs) | self.explorer.maps(self.as_tensor(obs), actions)
