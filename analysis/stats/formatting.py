"""Formats of leaderboard and reports: numbers with their 95 % intervals, counts and tables."""

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from analysis.stats.intervals import MIN_SEEDS, Estimate
from explore_suite.tasks import lookup

MISSING = "missing"
NO_INTERVAL = "no interval"  # with fewer than MIN_SEEDS seeds


class Written(NamedTuple):
    """An estimate as text."""

    value: str  # the number, or MISSING
    interval: str  # "[low, high]", NO_INTERVAL or ""
    seeds: int
    sort: float | None  # the number, for sorting

    @property
    def line(self) -> str:
        """Value and interval."""
        return f"{self.value} {self.interval}".strip()


def score(found: Estimate, task: str) -> Written:
    """A return or score; without decimals if the task's best return is 100 or more."""
    return _written(found, 0 if lookup(task).best_return >= 100 else 1)


def normalised(found: Estimate) -> Written:
    """A normalised score: 0 for random actions, 1 for the best known return."""
    return _written(found, 2)


def percent(found: Estimate) -> Written:
    """A fraction as a percentage."""
    return _written(scaled(found, 100), 1, " %")


def minutes(found: Estimate) -> Written:
    """A duration in minutes."""
    return _written(found, 1 if found.value >= 1 or math.isnan(found.value) else 2)


def hours(found: float) -> str:
    """A time in hours, to about two digits."""
    return number(found, 0 if found >= 10 else 1 if found >= 1 else 2)


def scaled(found: Estimate, factor: float) -> Estimate:
    """An estimate multiplied by a constant, to change its unit."""
    return Estimate(found.value * factor, found.low * factor, found.high * factor, found.seeds)


def count(number: int, thing: str) -> str:
    """A number of things as text: "1 seed", "5 seeds"."""
    return f"{number} {thing}{'' if number == 1 else 's'}"


def table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table."""
    lines = [columns, ["---"] * len(columns), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def number(value: float, digits: int) -> str:
    """A rounded number with the Unicode minus sign, and without a sign if it rounds to 0."""
    text = f"{value:.{digits}f}"
    return text.replace("-", "−") if float(text) else text.lstrip("-")


def _written(found: Estimate, digits: int, unit: str = "") -> Written:
    if math.isnan(found.value):
        return Written(MISSING, "", 0, None)
    value, low, high = (number(part, digits) for part in found[:3])
    interval = f"[{low}, {high}]" if found.seeds >= MIN_SEEDS else NO_INTERVAL
    return Written(value + unit, interval, found.seeds, found.value)
