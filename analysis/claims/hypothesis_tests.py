"""Hypothesis tests on means over seeds, and how several of them decide a claim.

A test compares an interval with limits. The interval of a mean is, on each side, the wider of a
percentile bootstrap and Student's t interval: a bootstrap over few seeds is too narrow (of three
runs it is their range, at any level). The interval of a share of runs is Wilson's score interval.
"""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cache
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy import stats

from analysis.claims.samples import Sample, ShortRun
from analysis.stats.comparison import TOLERANCE
from analysis.stats.intervals import MIN_SEEDS, Estimate, interval, mean

ALPHA = 0.05  # error rate of an interval; of a claim's tests together after correction
LEARNED = 0.2  # normalised return; below it two agents may be equal as neither has learned
ALL_TASKS = "all tasks"  # in place of a task's name, for a mean over tasks


class Outcome(StrEnum):
    """What the runs say about a claim, or about one of its tests."""

    TOO_FEW_RUNS = "not enough runs"
    FAILS = "fails"
    UNDECIDED = "not decided"  # the interval contains a limit
    HOLDS = "holds"
    # Of one agent compared with another, where a claim counts tasks:
    BETTER = "better"
    WORSE = "worse"
    EQUAL = "equal"


class Limits(NamedTuple):
    """The open range that an interval must lie in."""

    low: float = -math.inf
    high: float = math.inf

    def judge(self, estimate: Estimate) -> Outcome:
        """Holds if the interval lies inside the limits, fails if it lies beyond one of them."""
        if estimate.seeds < MIN_SEEDS:
            return Outcome.TOO_FEW_RUNS
        if self.low < estimate.low and estimate.high < self.high:
            return Outcome.HOLDS
        beyond = estimate.high < self.low or estimate.low > self.high
        return Outcome.FAILS if beyond else Outcome.UNDECIDED

    def __str__(self) -> str:
        low, high = (f"{limit:.4g}".replace("-", "−") for limit in self)
        if math.isinf(self.high):
            return f"above {low}"
        return f"below {high}" if math.isinf(self.low) else f"between {low} and {high}"


HIGHER = Limits(low=0)
NOT_WORSE = Limits(low=-TOLERANCE)
EQUAL = Limits(-TOLERANCE, TOLERANCE)


@dataclass(frozen=True)
class Test:
    """One hypothesis test: whether a mean over seeds lies within its limits."""

    task: str
    quantity: str  # what is measured, e.g. "final return, episodes 91-110"
    contrast: str  # of which agents, e.g. "sac_deep − sac"
    values: Mapping[int, float]  # by seed, whose mean is tested
    sides: tuple[tuple[str, Estimate], ...]  # the means that are compared, over the same seeds
    limits: Limits
    estimate: Estimate  # mean and interval
    outcome: Outcome
    missing: tuple[tuple[str, str], ...]  # (agent, task) that lack seeds
    too_short: tuple[ShortRun, ...]  # runs that were left out
    digits: int = 3  # after the decimal point, in the report
    is_share: bool = False  # each value is 0 or 1

    @property
    def name(self) -> str:
        """What is tested, in words."""
        return f"{self.quantity}: {self.contrast}"


# How one test is made.


def measure(quantity: str, sample: Sample, limits: Limits, *, digits: int = 3) -> Test:
    """Tests an agent's mean over seeds."""
    test = mean_test(quantity, sample.agent, [sample], sample.values, limits, digits=digits)
    return replace(test, sides=())  # the estimate says it already


def measure_share(quantity: str, sample: Sample, limits: Limits) -> Test:
    """Tests the share of an agent's runs for which the sample is 1 rather than 0."""
    test = replace(measure(quantity, sample, limits), is_share=True)
    return _at_level(test, ALPHA)


def paired_test(
    quantity: str, x: Sample, y: Sample, limits: Limits, *, factor: float = 1, digits: int = 3
) -> Test:
    """Tests the mean of x - factor * y, paired by seed."""
    contrast = f"{x.agent} − {'' if factor == 1 else f'{factor:g} × '}{y.agent}"
    difference = x.values - factor * y.values
    return mean_test(quantity, contrast, [x, y], difference, limits, digits=digits)


def mean_test(
    quantity: str,
    contrast: str,
    samples: Sequence[Sample],
    values: pd.Series,
    limits: Limits,
    *,
    digits: int = 3,
    sources: Sequence[Sample] | None = None,
) -> Test:
    """Tests the mean of `values`, which are computed from the samples.

    `sources` are the samples that need runs, if they are not `samples` themselves.
    """
    values = values.dropna()  # pandas pairs by seed and leaves NaN where one side has none
    columns = [sample.values.reindex(values.index) for sample in samples]
    *sides, estimate = _estimates((*map(tuple, columns), tuple(values)))
    one_task = len({sample.task for sample in samples}) == 1
    names = [s.agent if one_task else f"{s.agent} on {s.task}" for s in samples]
    sources = sources or samples
    return Test(
        task=samples[0].task,
        quantity=quantity,
        contrast=contrast,
        values=values.to_dict(),
        sides=tuple(zip(names, sides, strict=True)),
        limits=limits,
        estimate=estimate,
        outcome=limits.judge(estimate),
        missing=() if len(values) >= MIN_SEEDS else _short_of_seeds(sources),
        too_short=tuple(run for sample in sources for run in sample.too_short),
        digits=digits,
    )


# One test judged again: multiple testing, agents that have not learned.


def bonferroni(test: Test, n_tests: int) -> Test:
    """Re-judges a test by its Bonferroni-corrected interval: Student's t, for a share Wilson's."""
    return _at_level(test, ALPHA / n_tests)


def corrected(test: Test, n_tests: int) -> Outcome:
    """Outcome after multiple-testing correction.

    A failure that does not survive it is "not decided"; a test that holds needs no correction,
    since a claim holds only if all of its tests do.
    """
    if test.outcome is Outcome.FAILS and bonferroni(test, n_tests).outcome is not Outcome.FAILS:
        return Outcome.UNDECIDED
    return test.outcome


def require_learned(test: Test, reference: str, shown_by: Test | None = None) -> Test:
    """Downgrades "holds" to "not decided" if the reference agent has not learned the task.

    It has if its mean in the test `shown_by` (default: this one) is above LEARNED.
    """
    mean = dict((shown_by or test).sides)[reference].value
    if test.outcome is Outcome.HOLDS and not mean > LEARNED:
        return replace(test, outcome=Outcome.UNDECIDED)
    return test


def better_worse_or_equal(test: Test) -> Test:
    """Re-labels a test with limits EQUAL; a difference that is certain but small is equal."""
    if test.outcome is Outcome.TOO_FEW_RUNS:
        return test
    if test.outcome is Outcome.HOLDS:
        outcome = Outcome.EQUAL
    elif test.estimate.low > 0:
        outcome = Outcome.BETTER
    else:
        outcome = Outcome.WORSE if test.estimate.high < 0 else Outcome.UNDECIDED
    return replace(test, outcome=outcome)


# How several tests decide a claim.


@dataclass(frozen=True)
class Verdict:
    """What the runs say about a claim, and the tests behind it."""

    outcome: Outcome
    tests: tuple[Test, ...]
    also_shown: tuple[Test, ...] = ()  # for information, without effect on the outcome

    @property
    def missing(self) -> tuple[tuple[str, str], ...]:
        """Each (agent, task) with too few seeds."""
        return tuple(dict.fromkeys(cell for test in self.tests for cell in test.missing))

    @property
    def too_short(self) -> tuple[ShortRun, ...]:
        """Each run that was left out, with the most episodes that a test needs of it."""
        found: dict[tuple[str, str, int], ShortRun] = {}
        for run in (run for test in self.tests for run in test.too_short):
            held = found.setdefault((run.agent, run.task, run.seed), run)
            found[run.agent, run.task, run.seed] = max(held, run, key=lambda one: one.needed)
        return tuple(found.values())

    @property
    def tasks(self) -> dict[str, bool]:
        """The tasks of the claim, and whether all runs of each are there."""
        tests = [*self.tests, *self.also_shown]
        lacking = {test.task for test in tests if test.outcome is Outcome.TOO_FEW_RUNS}
        named = (test.task for test in tests if test.task != ALL_TASKS)
        return {task: task not in lacking for task in named}


def all_of(tests: Iterable[Test], also_shown: Iterable[Test] = ()) -> Verdict:
    """Holds if all tests hold; fails if one fails after multiple-testing correction."""
    tests = tuple(tests)
    outcome = every(corrected(test, len(tests)) for test in tests)
    return Verdict(outcome, tests, tuple(also_shown))


def exactly(wanted: Mapping[Outcome, int], tests: Iterable[Test]) -> Verdict:
    """Holds if so many of these tests, with limits EQUAL, are better, worse and equal."""
    tests = tuple(tests)
    labelled = tuple(map(better_worse_or_equal, tests))
    certain = [better_worse_or_equal(bonferroni(test, len(tests))).outcome for test in tests]
    return Verdict(counts_match([test.outcome for test in labelled], certain, wanted), labelled)


def every(outcomes: Iterable[Outcome]) -> Outcome:
    """The first of "not enough runs", "fails", "not decided" that occurs, else "holds"."""
    order = (Outcome.TOO_FEW_RUNS, Outcome.FAILS, Outcome.UNDECIDED, Outcome.HOLDS)
    return min(outcomes, key=order.index)


def at_least(wanted: int, outcomes: Sequence[Outcome]) -> Outcome:
    """Holds if so many hold; fails if so many failed that this is impossible."""
    count = Counter(outcomes)
    if count[Outcome.TOO_FEW_RUNS]:
        return Outcome.TOO_FEW_RUNS
    if count[Outcome.HOLDS] >= wanted:
        return Outcome.HOLDS
    return Outcome.FAILS if len(outcomes) - count[Outcome.FAILS] < wanted else Outcome.UNDECIDED


def counts_match(
    outcomes: Iterable[Outcome], certain: Iterable[Outcome], wanted: Mapping[Outcome, int]
) -> Outcome:
    """Holds if the outcomes are as many of each kind as wanted.

    Fails if, of those that are `certain` after multiple-testing correction, one kind has too many.
    """
    count, sure = Counter(outcomes), Counter(certain)
    if count[Outcome.TOO_FEW_RUNS]:
        return Outcome.TOO_FEW_RUNS
    kinds = (Outcome.BETTER, Outcome.WORSE, Outcome.EQUAL)
    if any(sure[kind] > wanted.get(kind, 0) for kind in kinds):
        return Outcome.FAILS
    return Outcome.HOLDS if count == Counter(wanted) else Outcome.UNDECIDED


# The intervals.


def _at_level(test: Test, alpha: float) -> Test:
    """The test judged by its interval of level 1 - alpha."""
    if test.estimate.seeds < MIN_SEEDS:
        return test
    values = list(test.values.values())
    estimate = _wilson(values, alpha) if test.is_share else _widen(test.estimate, values, alpha)
    return replace(test, estimate=estimate, outcome=test.limits.judge(estimate))


def _wilson(values: Sequence[float], alpha: float) -> Estimate:
    """The share of ones with its Wilson score interval, which stays within 0 and 1."""
    ones = sum(value == 1 for value in values)
    low, high = stats.binomtest(ones, len(values)).proportion_ci(1 - alpha, method="wilson")
    return Estimate(ones / len(values), float(low), float(high), len(values))


def _widen(estimate: Estimate, values: Sequence[float], alpha: float) -> Estimate:
    """The estimate with an interval no narrower on either side than Student's t interval."""
    quantile = stats.t.ppf(1 - alpha / 2, len(values) - 1)
    margin = float(quantile * stats.sem(values))
    low = min(estimate.low, estimate.value - margin)
    return estimate._replace(low=low, high=max(estimate.high, estimate.value + margin))


@cache  # several claims ask for the same
def _estimates(columns: tuple[tuple[float, ...], ...]) -> tuple[Estimate, ...]:
    """The mean of each column, (columns, seeds), with its 95 % interval."""
    seeds = len(columns[0])
    if seeds == 0:
        return (Estimate(math.nan, math.nan, math.nan, 0),) * len(columns)
    values = np.array(columns, dtype=float).T[:, None]  # (seeds, 1, columns)
    estimates = interval([values], mean).estimates(seeds)
    if seeds < MIN_SEEDS:
        return tuple(estimates)
    return tuple(
        _widen(estimate, column, ALPHA) for estimate, column in zip(estimates, columns, strict=True)
    )


def _short_of_seeds(samples: Sequence[Sample]) -> tuple[tuple[str, str], ...]:
    """The (agent, task) with too few seeds; all, if each has enough but too few in common."""
    short = [sample for sample in samples if len(sample.values) < MIN_SEEDS] or samples
    return tuple((sample.agent, sample.task) for sample in short)
