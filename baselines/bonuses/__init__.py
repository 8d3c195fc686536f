"""Exploration bonuses, by name: a new one is one file, one line in BONUSES and one config field.

BBE, SAC 2Q and DEEP take any of them; which one is the setting `bonus.kind`.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

from baselines.agent import Bounds, check_ranges
from baselines.bonuses.bonus import Bonus, CountBonus
from baselines.bonuses.counts import KernelConfig, KernelCount, TableCount
from baselines.bonuses.rnd import RND, RNDConfig
from explore_suite.errors import SettingError


@dataclass(frozen=True)
class BonusConfig:
    """Which bonus, and the settings of each kind; those of the other kinds have no effect."""

    kind: str = "kernel"  # kernel and table count visits, smoothed or exact; rnd learns to predict
    prior_count: float = 1e-3  # c in the trust sqrt(N / (N + c)) of the counting kinds; code
    kernel: KernelConfig = field(default_factory=KernelConfig)
    rnd: RNDConfig = field(default_factory=RNDConfig)

    def __post_init__(self) -> None:
        if self.kind not in BONUSES:
            raise SettingError(f"unknown bonus {self.kind!r}; choose from {', '.join(BONUSES)}")
        check_ranges(self, positive="prior_count", fractions="")


def make_bonus(config: BonusConfig, bounds: Bounds, *, seed: int, device: str = "cpu") -> Bonus:
    """The bonus that a config names."""
    return BONUSES[config.kind](config, bounds, seed, device)


def _kernel(config: BonusConfig, bounds: Bounds, seed: int, device: str) -> Bonus:
    count = KernelCount(bounds, config.kernel, seed=seed, device=device)
    return CountBonus(count, config.prior_count)


def _table(config: BonusConfig, bounds: Bounds, seed: int, device: str) -> Bonus:
    return CountBonus(TableCount(bounds, device=device), config.prior_count)


def _rnd(config: BonusConfig, bounds: Bounds, seed: int, device: str) -> Bonus:
    return RND(bounds, config.rnd, seed=seed, device=device)


BONUSES: dict[str, Callable[[BonusConfig, Bounds, int, str], Bonus]] = {
    "kernel": _kernel,
    "table": _table,
    "rnd": _rnd,
}
