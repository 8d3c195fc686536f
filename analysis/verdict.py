"""How a claim is judged: a mean over seeds, its 95 % interval, and the limits it must keep."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from typing import NamedTuple

import numpy as np
import pandas as pd

from analysis.bootstrap import MIN_SEEDS, Estimate, interval
from analysis.evidence import Sample

TOLERANCE = 0.1  # of a scale from 0 to 1: what lies within is equal, or as good
ALL_TASKS = "all tasks"  # instead of a task, where a test is of a mean over tasks


class Outcome(StrEnum):
    """What the runs say of a claim, or of one of its tests."""

    LACKING = "not enough runs"
    FAILS = "fails"
    OPEN = "not decided"  # the interval contains a limit
    HOLDS = "holds"
    # Of one agent compared with another, where a claim counts tasks:
    BETTER = "better"
    WORSE = "worse"
    EQUAL = "equal"


class Limits(NamedTuple):
    """Where an interval must lie."""

    low: float = -math.inf
    high: float = math.inf

    def judge(self, found: Estimate) -> Outcome:
        """Wholly between the limits: holds; wholly beyond one: fails."""
        if found.seeds < MIN_SEEDS:
            return Outcome.LACKING
        if self.low < found.low and found.high < self.high:
            return Outcome.HOLDS
        beyond = found.high < self.low or found.low > self.high
        return Outcome.FAILS if beyond else Outcome.OPEN

    def __str__(self) -> str:
        if math.isinf(self.high):
            return f"above {_short(self.low)}"
        if math.isinf(self.low):
            return f"below {_short(self.high)}"
        return f"between {_short(self.low)} and {_short(self.high)}"


HIGHER = Limits(low=0)
LOWER = Limits(high=0)
NOT_WORSE = Limits(low=-TOLERANCE)
EQUAL = Limits(-TOLERANCE, TOLERANCE)


class Gap(NamedTuple):
    """An agent that lacks seeds on a task."""

    agent: str
    task: str
    seeds: tuple[int, ...]  # those it has


class Part(NamedTuple):
    """One test of a claim."""

    task: str
    what: str  # the number that is tested
    sides: tuple[tuple[str, Estimate], ...]  # whose means it compares, over the seeds of the test
    found: Estimate
    limits: Limits
    outcome: Outcome
    gaps: tuple[Gap, ...]
    digits: int  # after the point, where the numbers are shown


@dataclass(frozen=True)
class Verdict:
    """What the runs say of a claim, and the tests behind it."""

    outcome: Outcome
    parts: tuple[Part, ...]

    @property
    def gaps(self) -> tuple[Gap, ...]:
        """What is missing, each once."""
        return tuple(dict.fromkeys(gap for part in self.parts for gap in part.gaps))

    @property
    def tasks(self) -> dict[str, bool]:
        """The tasks of the claim, and whether all runs of each are there."""
        lacking = {part.task for part in self.parts if part.gaps}
        named = (part.task for part in self.parts if part.task != ALL_TASKS)
        return {task: task not in lacking for task in named}


def measure(what: str, sample: Sample, limits: Limits, digits: int = 3) -> Part:
    """Whether an agent's mean keeps the limits."""
    part = weigh(f"{what}: {sample.agent}", [sample], sample.values, limits, digits)
    return part._replace(sides=())  # the number is the mean itself


def compare(
    what: str, x: Sample, y: Sample, limits: Limits, *, factor: float = 1.0, digits: int = 3
) -> Part:
    """Whether the mean of x - factor * y keeps the limits; paired by seed."""
    times = "" if factor == 1 else f"{factor:g} × "
    what = f"{what}: {x.agent} − {times}{y.agent}"
    return weigh(what, [x, y], x.values - factor * y.values, limits, digits)


def weigh(
    what: str, samples: Sequence[Sample], values: pd.Series, limits: Limits, digits: int = 3
) -> Part:
    """Whether the mean over seeds of `values`, made of the samples, keeps the limits."""
    values = values.dropna()  # pandas pairs by seed and leaves NaN where one side has none
    columns = [sample.values.reindex(values.index) for sample in samples]
    *sides, found = _means((*map(tuple, columns), tuple(values)))
    here = len({sample.task for sample in samples}) == 1
    names = [s.agent if here else f"{s.agent} on {s.task}" for s in samples]
    return Part(
        samples[0].task, what, tuple(zip(names, sides, strict=True)), found, limits,
        limits.judge(found), gaps(samples, len(values)), digits,
    )  # fmt: skip


def gaps(samples: Iterable[Sample], common: int) -> tuple[Gap, ...]:
    """Who lacks seeds if this many are common to all samples; all, if each has enough alone."""
    if common >= MIN_SEEDS:
        return ()
    samples = list(samples)
    short = [sample for sample in samples if len(sample.values) < MIN_SEEDS]
    return tuple(
        Gap(sample.agent, sample.task, tuple(int(seed) for seed in sorted(sample.values.index)))
        for sample in short or samples
    )


def every(outcomes: Iterable[Outcome]) -> Outcome:
    """All must hold; one that fails is enough to fail, once all runs are there."""
    order = (Outcome.LACKING, Outcome.FAILS, Outcome.OPEN, Outcome.HOLDS)
    return min(outcomes, key=order.index)


def at_least(wanted: int, outcomes: Sequence[Outcome]) -> Outcome:
    """So many must hold; fails when too many have failed, once all runs are there."""
    count = Counter(outcomes)
    if count[Outcome.LACKING]:
        return Outcome.LACKING
    if count[Outcome.HOLDS] >= wanted:
        return Outcome.HOLDS
    return Outcome.FAILS if len(outcomes) - count[Outcome.FAILS] < wanted else Outcome.OPEN


def kind(part: Part) -> Part:
    """A comparison by EQUAL told as better, worse or equal; certain but small is equal."""
    if part.outcome is Outcome.LACKING:
        return part
    if part.outcome is Outcome.HOLDS:
        return part._replace(outcome=Outcome.EQUAL)
    if part.found.low > 0:
        return part._replace(outcome=Outcome.BETTER)
    return part._replace(outcome=Outcome.WORSE) if part.found.high < 0 else part


def pattern(kinds: Iterable[Outcome], wanted: Mapping[Outcome, int]) -> Outcome:
    """Exactly so many of each kind; fails when those decided are too many of one."""
    count = Counter(kinds)
    if count[Outcome.LACKING]:
        return Outcome.LACKING
    decided = (Outcome.BETTER, Outcome.WORSE, Outcome.EQUAL)
    if any(count[one] > wanted.get(one, 0) for one in decided):
        return Outcome.FAILS
    return Outcome.OPEN if count[Outcome.OPEN] else Outcome.HOLDS


def _short(value: float) -> str:
    return f"{value:.4g}".replace("-", "−")


@cache
def _means(columns: tuple[tuple[float, ...], ...]) -> tuple[Estimate, ...]:
    """The mean of each column, (columns, seeds), with interval; several claims ask the same."""
    seeds = len(columns[0])
    if seeds == 0:
        return (Estimate(math.nan, math.nan, math.nan, 0),) * len(columns)
    values = np.array(columns, dtype=float).T[:, None]  # (seeds, 1, columns)
    band = interval([values], lambda sample: sample.mean(axis=(0, 1)))
    return tuple(
        Estimate(float(value), float(low), float(high), seeds)
        for value, low, high in zip(*band, strict=True)
    )
