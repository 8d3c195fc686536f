"""How intervals decide, alone and together, and the intervals themselves against scipy."""

import itertools

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from analysis import verdict
from analysis.bootstrap import Estimate
from analysis.evidence import Sample
from analysis.verdict import EQUAL, HIGHER, LOWER, NOT_WORSE, Limits, Outcome

HOLDS, FAILS, OPEN, LACKING = Outcome.HOLDS, Outcome.FAILS, Outcome.OPEN, Outcome.LACKING


def sample(values, agent="a", task="WalkerWalk", first=0) -> Sample:
    seeds = range(first, first + len(values))
    return Sample(agent, task, pd.Series(list(values), index=seeds, dtype=float))


@pytest.mark.parametrize(
    ("limits", "low", "high", "expected"),
    [
        (HIGHER, 0.1, 0.3, HOLDS),
        (HIGHER, -0.3, -0.1, FAILS),
        (HIGHER, -0.1, 0.3, OPEN),
        (HIGHER, 0.0, 0.0, OPEN),
        (LOWER, -0.3, -0.1, HOLDS),
        (LOWER, 0.1, 0.3, FAILS),
        (NOT_WORSE, -0.05, -0.01, HOLDS),
        (NOT_WORSE, -0.2, 0.5, OPEN),
        (NOT_WORSE, -0.5, -0.2, FAILS),
        (EQUAL, -0.05, 0.05, HOLDS),
        (EQUAL, 0.05, 0.2, OPEN),
        (EQUAL, 0.2, 0.3, FAILS),
        (EQUAL, -0.3, -0.2, FAILS),
    ],
)
def test_an_interval_decides_where_it_lies_wholly(limits, low, high, expected):
    assert limits.judge(Estimate((low + high) / 2, low, high, 3)) is expected
    assert limits.judge(Estimate((low + high) / 2, low, high, 2)) is LACKING


@pytest.mark.parametrize(
    ("limits", "text"),
    [(NOT_WORSE, "above −0.1"), (LOWER, "below 0"), (EQUAL, "between −0.1 and 0.1")],
)
def test_limits_read_as_words(limits, text):
    assert str(limits) == text


@pytest.mark.parametrize(
    "outcomes", list(itertools.product([HOLDS, FAILS, OPEN, LACKING], repeat=3))
)
def test_every_test_must_hold_once_all_runs_are_there(outcomes):
    found = verdict.every(outcomes)
    assert (found is LACKING) == (LACKING in outcomes)
    if LACKING not in outcomes:
        assert (found is HOLDS) == (set(outcomes) == {HOLDS})
        assert (found is FAILS) == (FAILS in outcomes)


@pytest.mark.parametrize(
    ("outcomes", "expected"),
    [
        ((HOLDS, HOLDS, FAILS, FAILS), HOLDS),
        ((HOLDS, OPEN, FAILS, FAILS), OPEN),
        ((HOLDS, FAILS, FAILS, FAILS), FAILS),
        ((HOLDS, HOLDS, HOLDS, LACKING), LACKING),
    ],
)
def test_at_least_two_of_four(outcomes, expected):
    assert verdict.at_least(2, outcomes) is expected


@pytest.mark.parametrize(
    ("differences", "expected"),
    [
        ((0.2, 0.3, 0.4), Outcome.BETTER),
        ((0.05, 0.3, 0.4), Outcome.BETTER),
        ((-0.4, -0.3, -0.05), Outcome.WORSE),
        ((0.01, 0.02, 0.03), Outcome.EQUAL),
        ((-0.3, 0.0, 0.3), OPEN),
        ((0.2, 0.3), LACKING),
    ],
)
def test_a_certain_but_small_difference_is_equal(differences, expected):
    part = verdict.compare("", sample(differences), sample((0, 0, 0), "b"), EQUAL)
    assert verdict.kind(part).outcome is expected


@pytest.mark.parametrize(
    ("letters", "expected"),
    [("WWEE", HOLDS), ("EWEW", HOLDS), ("WWE?", OPEN), ("W???", OPEN), ("WWW?", FAILS),
     ("WWEB", FAILS), ("EEE?", FAILS), ("WWE-", LACKING), ("WWW-", LACKING)],
)  # fmt: skip
def test_a_pattern_of_two_worse_and_two_equal(letters, expected):
    names = {"W": Outcome.WORSE, "E": Outcome.EQUAL, "B": Outcome.BETTER, "?": OPEN, "-": LACKING}
    kinds = [names[letter] for letter in letters]
    assert verdict.pattern(kinds, {Outcome.WORSE: 2, Outcome.EQUAL: 2}) is expected


def test_differences_are_paired_by_seed_and_only_common_seeds_count():
    x, y = sample((3.0, 5.0, 9.0, 4.0), "x", first=0), sample((1.0, 2.0, 3.0, 7.0), "y", first=1)
    part = verdict.compare("n", x, y, HIGHER, factor=2.0)
    assert part.what == "n: x − 2 × y"
    assert part.found == Estimate(0.0 + (3 + 5 - 2) / 3, -2.0, 5.0, 3)  # 5-2, 9-4, 4-6
    means = {agent: mean.value for agent, mean in part.sides}
    assert means == {"x": 6.0, "y": 2.0}
    assert part.outcome is OPEN and part.gaps == ()


def test_with_three_seeds_the_interval_is_their_range():
    part = verdict.measure("n", sample((1.0, 2.0, 9.0)), Limits(low=0.5))
    assert part.found == Estimate(4.0, 1.0, 9.0, 3)
    assert part.what == "n: a" and part.outcome is HOLDS


@pytest.mark.parametrize("seeds", [5, 8, 20])
def test_intervals_of_paired_differences_agree_with_scipy(seeds):
    rng = np.random.default_rng(seeds)
    x, y = rng.normal(1, 1, seeds), rng.normal(0, 1, seeds)
    found = verdict.compare("", sample(x, "x"), sample(y, "y"), HIGHER).found
    reference = stats.bootstrap(
        (x - y,), np.mean, method="percentile", n_resamples=20_000, rng=rng
    ).confidence_interval
    width = reference.high - reference.low
    assert found.value == pytest.approx(np.mean(x) - np.mean(y))
    assert found.low == pytest.approx(reference.low, abs=0.05 * width)
    assert found.high == pytest.approx(reference.high, abs=0.05 * width)


def test_pairing_makes_a_small_difference_certain_that_noise_would_hide():
    noise = np.array([0.0, 10.0, -20.0, 5.0, 40.0])
    x, y = sample(noise + 1.0, "x"), sample(noise, "y")
    assert verdict.compare("", x, y, HIGHER).outcome is HOLDS


def test_gaps_name_who_lacks_seeds_and_both_where_none_are_common():
    short, whole, others = (
        sample((1, 2), "x"),
        sample((1, 2, 3), "y"),
        sample((1, 2, 3), "z", first=5),
    )
    gap = verdict.Gap
    assert verdict.compare("", short, whole, HIGHER).gaps == (gap("x", "WalkerWalk", (0, 1)),)
    assert verdict.compare("", whole, others, HIGHER).gaps == (
        gap("y", "WalkerWalk", (0, 1, 2)),
        gap("z", "WalkerWalk", (5, 6, 7)),
    )
    nothing = verdict.compare("", sample((), "x"), whole, HIGHER)
    assert nothing.found.seeds == 0 and np.isnan(nothing.found.value)
