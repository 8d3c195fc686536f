"""Exploration bonuses by name. A new one is a file, a line in BONUSES and a field of BonusConfig.

The setting `bonus.kind` selects the bonus of BBE, SAC 2Q and DEEP.

In: torch, the types of baselines/agent.py, and nn. Out: the novelty of (obs, action), to agents.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

from baselines.agent import Bounds, check_ranges
from baselines.bonuses.bonus import Bonus, CountBonus
from baselines.bonuses.counts import KernelConfig, KernelCount, TableCount
from baselines.bonuses.hashes import HashConfig, HashCount
from baselines.bonuses.rnd import RND, RNDConfig
from explore_suite.errors import SettingError


@dataclass(frozen=True)
class BonusConfig:
    """The kind of bonus, and the hyperparameters of every kind; only those of `kind` are used."""

    kind: str = "kernel"  # kernel, table (exact) and hash are counts; rnd is a prediction error
    prior_count: float = 1e-3  # c in the trust sqrt(N / (N + c)) of counts (Eq. 3); authors' code
    kernel: KernelConfig = field(default_factory=KernelConfig)
    rnd: RNDConfig = field(default_factory=RNDConfig)
    hash: HashConfig = field(default_factory=HashConfig)

    def __post_init__(self) -> None:
        if self.kind not in BONUSES:
            raise SettingError(f"unknown bonus {self.kind!r}; choose from {', '.join(BONUSES)}")
        check_ranges(self, positive="prior_count", fractions="")


def make_bonus(config: BonusConfig, bounds: Bounds, *, seed: int, device: str = "cpu") -> Bonus:
    """Makes the bonus that `config.kind` selects."""
    return BONUSES[config.kind](config, bounds, seed, device)


BONUSES: dict[str, Callable[[BonusConfig, Bounds, int, str], Bonus]] = {
    "kernel": lambda config, bounds, seed, device: CountBonus(
        KernelCount(bounds, config.kernel, seed=seed, device=device), config.prior_count
    ),
    "table": lambda config, bounds, seed, device: CountBonus(
        TableCount(bounds, device=device), config.prior_count
    ),
    "rnd": lambda config, bounds, seed, device: RND(bounds, config.rnd, seed=seed, device=device),
    "hash": lambda config, bounds, seed, device: CountBonus(
        HashCount(bounds, config.hash, seed=seed, device=device), config.prior_count
    ),
}
