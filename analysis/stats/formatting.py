"""How the leaderboard writes numbers: a value, its 95 % interval, and what is missing as such."""

import math
from typing import NamedTuple

from analysis.stats.intervals import MIN_SEEDS, Estimate
from explore_suite.tasks import lookup

MISSING = "missing"
NO_INTERVAL = "no interval"  # of fewer than MIN_SEEDS seeds


class Written(NamedTuple):
    """An estimate in words."""

    value: str  # the number, or `missing`
    interval: str  # [low, high], or why there is none
    seeds: int  # behind it
    sort: float | None  # the number itself, to sort by

    @property
    def line(self) -> str:
        """Value and interval."""
        return f"{self.value} {self.interval}".strip()


def score(found: Estimate, task: str) -> Written:
    """A return or score on a task, as precise as its scale asks for."""
    return _written(found, 0 if lookup(task).best_return >= 100 else 1)


def normalised(found: Estimate) -> Written:
    """A number on the scale from random actions (0) to the best known (1)."""
    return _written(found, 2)


def percent(found: Estimate) -> Written:
    """A fraction, as a percentage."""
    return _written(scaled(found, 100), 1, " %")


def minutes(found: Estimate) -> Written:
    """A time in minutes."""
    return _written(found, 1 if found.value >= 1 or math.isnan(found.value) else 2)


def scaled(found: Estimate, factor: float) -> Estimate:
    """The same in another unit."""
    return Estimate(found.value * factor, found.low * factor, found.high * factor, found.seeds)


def seeds(number: int) -> str:
    """1 seed, 5 seeds."""
    return f"{number} seed{'' if number == 1 else 's'}"


def number(value: float, digits: int) -> str:
    """Rounded, with a true minus and no minus before zero."""
    text = f"{value:.{digits}f}"
    return text.replace("-", "−") if float(text) else text.lstrip("-")


def _written(found: Estimate, digits: int, unit: str = "") -> Written:
    if math.isnan(found.value):
        return Written(MISSING, "", 0, None)
    value, low, high = (number(part, digits) for part in found[:3])
    interval = f"[{low}, {high}]" if found.seeds >= MIN_SEEDS else NO_INTERVAL
    return Written(value + unit, interval, found.seeds, found.value)
