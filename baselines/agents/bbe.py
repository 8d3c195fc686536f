"""Bonus-based exploration (BBE): a visit's bonus is added to its reward, once and for all.

SACBBE and DDQNBBE differ from SAC and DDQN in the reward that is stored, and in nothing else.
"""

from dataclasses import dataclass, field

import numpy as np
import torch

from baselines.agent import Bounds, State, Transition
from baselines.agents.ddqn import DDQN, DDQNConfig
from baselines.agents.off_policy import OffPolicy
from baselines.agents.sac import SAC, SACConfig
from baselines.bonuses import BonusConfig, make_bonus
from baselines.bonuses.bonus import Bonus, BonusMean
from baselines.nn.networks import spawn_seeds
from baselines.nn.replay import Batch


class LoggedBonus(OffPolicy):
    """Mixin: holds a bonus, lets it learn, reports its mean and checkpoints it.

    The class it is mixed into calls `add_bonus` when it is made, and `log_bonus` once per step.
    """

    bonus: Bonus

    def add_bonus(self, config: BonusConfig, bounds: Bounds, *, seed: int) -> None:
        """Makes the bonus; `seed` is for all of its random streams."""
        device = str(self.device)
        self.bonus = make_bonus(config, bounds, seed=seed, device=device)
        self._bonus_mean = BonusMean()
        (sample_seed,) = spawn_seeds(seed, 1)
        self._bonus_rng = torch.Generator(device).manual_seed(sample_seed)

    def log_bonus(self, transition: Transition) -> float:
        """The bonus of a step from before its visit; then records the visit."""
        bonus = self.bonus.visit(transition.obs, transition.action)
        self._bonus_mean.add(bonus)
        return bonus

    def update(self) -> dict[str, float]:
        """The learner's updates if any are due, with the mean bonus since the last ones."""
        learnt = self.bonus.update(self._sample_for_bonus)
        info = super().update()
        return info | learnt | self._bonus_mean.pop() if info else info

    def _sample_for_bonus(self, n: int) -> Batch:
        """Draws that leave the learner's own stream alone."""
        return self.replay.sample(n, self._bonus_rng)

    def state_dict(self) -> State:
        """The learner's state and the bonus's."""
        return super().state_dict() | {
            "bonus": self.bonus.state_dict(),
            "bonus_mean": self._bonus_mean.state_dict(),
            "bonus_rng": self._bonus_rng.get_state(),
        }

    def load_state_dict(self, state: State) -> None:
        """Inverse of `state_dict`."""
        super().load_state_dict(state)
        self.bonus.load_state_dict(state["bonus"])
        self._bonus_mean.load_state_dict(state["bonus_mean"])
        self._bonus_rng.set_state(state["bonus_rng"])


@dataclass(frozen=True)
class BBEConfig:
    """What BBE adds to its learner's settings."""

    bonus_scale: float = 1.0  # of the bonus in the sum; best of .01, .1, 1 and 10 in the paper
    explore_only: bool = False  # store the bonus alone, for exploration without a task


class BBE(LoggedBonus):
    """Mixin: stores reward plus bonus (the paper's algorithm 1)."""

    config: BBEConfig

    def stored_reward(self, transition: Transition) -> float:
        """Reward plus scaled bonus; the bonus is that before this visit, never looked up again."""
        bonus = self.config.bonus_scale * self.log_bonus(transition)
        return bonus if self.config.explore_only else transition.reward + bonus


@dataclass(frozen=True)
class SACBBEConfig(BBEConfig, SACConfig):
    """SAC's settings, and those of the bonus."""

    bonus: BonusConfig = field(default_factory=BonusConfig)


class SACBBE(BBE, SAC):
    """SAC on the sum of reward and bonus."""

    Config = SACBBEConfig
    config: SACBBEConfig

    def __init__(
        self, bounds: Bounds, config: SACBBEConfig, *, seed: int, device: str = "cpu"
    ) -> None:
        super().__init__(bounds, config, seed=seed, device=device)
        *_, bonus_seed = spawn_seeds(seed, 5)
        self.add_bonus(config.bonus, bounds, seed=bonus_seed)


@dataclass(frozen=True)
class DDQNBBEConfig(BBEConfig, DDQNConfig):
    """DDQN's settings, and those of the bonus."""

    bonus: BonusConfig = field(default_factory=lambda: BonusConfig(kind="table"))


class DDQNBBE(BBE, DDQN):
    """DDQN on the sum of reward and bonus."""

    Config = DDQNBBEConfig
    config: DDQNBBEConfig

    def __init__(
        self, bounds: Bounds, config: DDQNBBEConfig, *, seed: int, device: str = "cpu"
    ) -> None:
        super().__init__(bounds, config, seed=seed, device=device)
        *_, bonus_seed = spawn_seeds(seed, 5)
        self.add_bonus(config.bonus, bounds, seed=bonus_seed)

    def maps(self, obs: np.ndarray) -> dict[str, np.ndarray]:
        """For pictures: DDQN's, and the bonus of the best known action, (B,) each."""
        bonuses = self.bonus.grid(obs, np.arange(self.actions)[:, None])  # (B, actions)
        return super().maps(obs) | {"bonus": bonuses.amin(1).cpu().numpy()}
