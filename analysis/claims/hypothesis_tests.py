"""One test of a claim: a mean over seeds, its 95 % interval, and the limits it must keep.

The interval is on each side the wider of a percentile bootstrap and of Student's.
"""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy import stats

from analysis.claims.samples import Left, Sample
from analysis.stats.intervals import MIN_SEEDS, Estimate, interval, mean

TOLERANCE = 0.1  # of a scale from 0 to 1: what lies within is equal, or as good
ERROR = 0.05  # how often an interval may miss the mean; of several tests, how often any may
LEARNT = 0.2  # of that scale: below, two agents may be equal because neither learnt anything


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
NOT_WORSE = Limits(low=-TOLERANCE)
EQUAL = Limits(-TOLERANCE, TOLERANCE)


class Gap(NamedTuple):
    """What an agent lacks on a task, and which of its runs do not count."""

    agent: str
    task: str
    seeds: tuple[int, ...]  # those that count
    needed: int = 0  # episodes of a run that counts
    left: tuple[Left, ...] = ()


class Part(NamedTuple):
    """One test of a claim."""

    task: str
    what: str  # the number that is tested
    sides: tuple[tuple[str, Estimate], ...]  # whose means it compares, over the seeds of the test
    found: Estimate
    error: float  # standard error of the mean found; NaN of one seed
    limits: Limits
    outcome: Outcome
    gaps: tuple[Gap, ...]  # who lacks seeds; where none are lacking, whose runs are left out
    digits: int  # after the point, where the numbers are shown


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
        samples[0].task, what, tuple(zip(names, sides, strict=True)), found, float(values.sem()),
        limits, limits.judge(found), gaps(samples, len(values)), digits,
    )  # fmt: skip


def among(part: Part, tests: int) -> Part:
    """The same test as one of several: by the Student interval of level 1 - ERROR / tests."""
    wide = _widened(part.found, part.error, ERROR / tests)
    return part._replace(found=wide, outcome=part.limits.judge(wide))


def where_learnt(part: Part, reference: str, shown_by: Part | None = None) -> Part:
    """The test; "holds" becomes "not decided" unless the reference agent has learnt the task.

    It has if its mean in the test `shown_by`, or else in this one, is above LEARNT.
    """
    mean = dict((shown_by or part).sides)[reference].value
    if part.outcome is Outcome.HOLDS and not mean > LEARNT:
        return part._replace(outcome=Outcome.OPEN)
    return part


def gaps(samples: Iterable[Sample], common: int) -> tuple[Gap, ...]:
    """Who lacks seeds if this many are common to all samples; all, if each has enough alone.

    If nothing is lacking: whose runs are left out.
    """
    samples = list(samples)
    if common >= MIN_SEEDS:
        chosen = [sample for sample in samples if sample.left]
    else:
        chosen = [sample for sample in samples if len(sample.values) < MIN_SEEDS] or samples
    return tuple(
        Gap(s.agent, s.task, tuple(int(seed) for seed in sorted(s.values.index)), s.needed, s.left)
        for s in chosen
    )


def _short(value: float) -> str:
    return f"{value:.4g}".replace("-", "−")


@cache
def _means(columns: tuple[tuple[float, ...], ...]) -> tuple[Estimate, ...]:
    """The mean of each column, (columns, seeds), with interval; several claims ask the same."""
    seeds = len(columns[0])
    if seeds == 0:
        return (Estimate(math.nan, math.nan, math.nan, 0),) * len(columns)
    values = np.array(columns, dtype=float).T[:, None]  # (seeds, 1, columns)
    band = interval([values], mean)
    errors = pd.DataFrame(values[:, 0]).sem()
    return tuple(
        _widened(Estimate(float(value), float(low), float(high), seeds), float(error), ERROR)
        for value, low, high, error in zip(*band, errors, strict=True)
    )


def _widened(found: Estimate, error: float, miss: float) -> Estimate:
    """The interval, no narrower on either side than Student's, which misses the mean so often.

    A bootstrap over few seeds is too narrow: of three runs it is their range, at any level.
    """
    if found.seeds < MIN_SEEDS:
        return found
    margin = float(stats.t.ppf(1 - miss / 2, found.seeds - 1)) * error
    low, high = min(found.low, found.value - margin), max(found.high, found.value + margin)
    return found._replace(low=low, high=high)


ALL_TASKS = "all tasks"  # instead of a task, where a test is of a mean over tasks


@dataclass(frozen=True)
class Verdict:
    """What the runs say of a claim, and the tests behind it."""

    outcome: Outcome
    parts: tuple[Part, ...]
    beside: tuple[Part, ...] = ()  # tests that are shown, and decide nothing

    @property
    def gaps(self) -> tuple[Gap, ...]:
        """What is missing, once for each agent and task."""
        return _once(part for part in self.parts if part.outcome is Outcome.LACKING)

    @property
    def left_out(self) -> tuple[Gap, ...]:
        """Whose runs do not count although the tests can be made without them."""
        return _once(part for part in self.parts if part.outcome is not Outcome.LACKING)

    @property
    def tasks(self) -> dict[str, bool]:
        """The tasks of the claim, and whether all runs of each are there."""
        parts = [*self.parts, *self.beside]
        lacking = {part.task for part in parts if part.outcome is Outcome.LACKING}
        named = (part.task for part in parts if part.task != ALL_TASKS)
        return {task: task not in lacking for task in named}


def all_of(parts: Iterable[Part], beside: Iterable[Part] = ()) -> Verdict:
    """Holds if all tests do; fails if one does even as one of so many."""
    found = tuple(parts)
    return Verdict(every(settled(part, len(found)) for part in found), found, tuple(beside))


def exactly(wanted: Mapping[Outcome, int], parts: Iterable[Part]) -> Verdict:
    """Comparisons by EQUAL, of which so many must be of each kind."""
    plain = tuple(parts)
    found = tuple(map(kind, plain))
    surely = [kind(among(part, len(plain))).outcome for part in plain]
    return Verdict(pattern([part.outcome for part in found], surely, wanted), found)


def settled(part: Part, tests: int) -> Outcome:
    """What a test says as one of several: a failure that only a lone test shows is not decided."""
    if part.outcome is Outcome.FAILS and among(part, tests).outcome is not Outcome.FAILS:
        return Outcome.OPEN
    return part.outcome


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
    outcome = Outcome.WORSE if part.found.high < 0 else Outcome.OPEN
    return part._replace(outcome=outcome)


def pattern(
    kinds: Iterable[Outcome], surely: Iterable[Outcome], wanted: Mapping[Outcome, int]
) -> Outcome:
    """Exactly so many of each kind; fails when those that are surely of one kind are too many."""
    count, certain = Counter(kinds), Counter(surely)
    if count[Outcome.LACKING]:
        return Outcome.LACKING
    decided = (Outcome.BETTER, Outcome.WORSE, Outcome.EQUAL)
    if any(certain[one] > wanted.get(one, 0) for one in decided):
        return Outcome.FAILS
    return Outcome.HOLDS if count == Counter(wanted) else Outcome.OPEN


def _once(parts: Iterable[Part]) -> tuple[Gap, ...]:
    """The gaps of these tests; of an agent's on one task, that of the longest runs needed."""
    found: dict[tuple[str, str], Gap] = {}
    for gap in (gap for part in parts for gap in part.gaps):
        held = found.setdefault((gap.agent, gap.task), gap)
        if gap.needed > held.needed:
            found[gap.agent, gap.task] = gap
    return tuple(found.values())
