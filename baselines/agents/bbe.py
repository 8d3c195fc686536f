"""Bonus-based exploration (BBE, the paper's Algorithm 1): bonuses are added to stored rewards.

SACBBE and DDQNBBE differ from SAC and DDQN only in the reward that enters the replay buffer.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch

from baselines.agent import Bounds, Transition
from baselines.agents.ddqn import DDQN, DDQNConfig
from baselines.agents.off_policy import OffPolicy
from baselines.agents.sac import SAC, SACConfig
from baselines.bonuses import BonusConfig, make_bonus
from baselines.bonuses.bonus import Bonus, BonusMean
from baselines.nn.networks import spawn_seeds
from baselines.nn.replay import Batch


class LoggedBonus(OffPolicy):
    """Mixin that owns a bonus: updates it, reports its mean and checkpoints it.

    The host class calls `add_bonus` in its constructor and `log_bonus` once per step.
    """

    STATE = {"bonus": "bonus", "bonus_mean": "_bonus_mean", "bonus_rng": "_bonus_rng"}
    bonus: Bonus

    def add_bonus(self, config: BonusConfig, bounds: Bounds, *, seed: int) -> None:
        """Makes the bonus; all of its random streams derive from `seed`."""
        device = str(self.device)
        self.bonus = make_bonus(config, bounds, seed=seed, device=device)
        self._bonus_mean = BonusMean()
        (sample_seed,) = spawn_seeds(seed, 1)
        self._bonus_rng = torch.Generator(device).manual_seed(sample_seed)

    def log_bonus(self, transition: Transition) -> float:
        """The bonus of a step before this visit; then records the visit."""
        bonus = self.bonus.visit(transition.obs, transition.action)
        self._bonus_mean.add(bonus)
        return bonus

    def update(self) -> dict[str, float]:
        """Updates the bonus, and the agent if updates are due; then reports the mean bonus."""
        bonus_info = self.bonus.update(self._sample_for_bonus)
        info = super().update()
        return info | bonus_info | self._bonus_mean.pop() if info else info

    def _sample_for_bonus(self, n: int) -> Batch:
        """A batch drawn with a separate random stream: the agent's own batches stay the same."""
        return self.replay.sample(n, self._bonus_rng)


@dataclass(frozen=True)
class BBEConfig:
    """The hyperparameters that BBE adds to those of SAC or DDQN."""

    bonus_scale: float = 1.0  # weight of the bonus; best of .01, .1, 1 and 10 in the paper
    explore_only: bool = False  # store the bonus alone: exploration without a task


class BBE(LoggedBonus):
    """Mixin that stores reward plus bonus (Algorithm 1, line 5)."""

    config: BBEConfig

    def __init__(self, bounds: Bounds, config: Any, *, seed: int, device: str = "cpu") -> None:
        """Takes the arguments of SAC or DDQN, whichever it is mixed into, and adds the bonus."""
        super().__init__(bounds, config, seed=seed, device=device)  # type: ignore[call-arg, arg-type]
        *_, bonus_seed = spawn_seeds(seed, 5)
        self.add_bonus(config.bonus, bounds, seed=bonus_seed)

    def stored_reward(self, transition: Transition) -> float:
        """Reward plus scaled bonus; the bonus is the one before this visit, and stays as stored."""
        bonus = self.config.bonus_scale * self.log_bonus(transition)
        return bonus if self.config.explore_only else transition.reward + bonus


@dataclass(frozen=True)
class SACBBEConfig(BBEConfig, SACConfig):
    """The hyperparameters of SAC and of the bonus."""

    bonus: BonusConfig = field(default_factory=BonusConfig)


class SACBBE(BBE, SAC):
    """SAC trained on the sum of reward and bonus."""

    Config = SACBBEConfig
    config: SACBBEConfig


@dataclass(frozen=True)
class DDQNBBEConfig(BBEConfig, DDQNConfig):
    """The hyperparameters of DDQN and of the bonus."""

    bonus: BonusConfig = field(default_factory=lambda: BonusConfig(kind="table"))


class DDQNBBE(BBE, DDQN):
    """DDQN trained on the sum of reward and bonus."""

    Config = DDQNBBEConfig
    config: DDQNBBEConfig

    def maps(self, obs: np.ndarray) -> dict[str, np.ndarray]:
        """DDQN's maps, and the smallest bonus over actions; (B,) each."""
        bonuses = self.bonus.grid(obs, np.arange(self.actions)[:, None])  # (B, actions)
        return super().maps(obs) | {"bonus": bonuses.amin(1).cpu().numpy()}
