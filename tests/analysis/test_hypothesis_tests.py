"""How intervals decide, alone and together, and the intervals themselves against scipy."""

import itertools

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from analysis.claims.hypothesis_tests import (
    EQUAL,
    HIGHER,
    NOT_WORSE,
    Limits,
    Outcome,
    all_of,
    at_least,
    better_worse_or_equal,
    bonferroni,
    corrected,
    counts_match,
    every,
    exactly,
    measure,
    measure_share,
    paired_test,
    require_learned,
)
from analysis.claims.samples import Sample, ShortRun
from analysis.stats import intervals as bootstrap
from analysis.stats.intervals import Estimate
from tests.helpers.synthetic_claims import student

HOLDS, FAILS = Outcome.HOLDS, Outcome.FAILS
UNDECIDED, TOO_FEW = Outcome.UNDECIDED, Outcome.TOO_FEW_RUNS
LOWER = Limits(high=0)


def sample(values, agent="a", task="WalkerWalk", first=0) -> Sample:
    seeds = range(first, first + len(values))
    return Sample(agent, task, pd.Series(list(values), index=seeds, dtype=float))


@pytest.mark.parametrize(
    ("limits", "low", "high", "expected"),
    [
        (HIGHER, 0.1, 0.3, HOLDS),
        (HIGHER, -0.3, -0.1, FAILS),
        (HIGHER, -0.1, 0.3, UNDECIDED),
        (HIGHER, 0.0, 0.0, UNDECIDED),
        (LOWER, -0.3, -0.1, HOLDS),
        (LOWER, 0.1, 0.3, FAILS),
        (NOT_WORSE, -0.05, -0.01, HOLDS),
        (NOT_WORSE, -0.2, 0.5, UNDECIDED),
        (NOT_WORSE, -0.5, -0.2, FAILS),
        (EQUAL, -0.05, 0.05, HOLDS),
        (EQUAL, 0.05, 0.2, UNDECIDED),
        (EQUAL, 0.2, 0.3, FAILS),
        (EQUAL, -0.3, -0.2, FAILS),
    ],
)
def test_an_interval_decides_where_it_lies_wholly(limits, low, high, expected):
    assert limits.judge(Estimate((low + high) / 2, low, high, 3)) is expected
    assert limits.judge(Estimate((low + high) / 2, low, high, 2)) is TOO_FEW


@pytest.mark.parametrize(
    ("limits", "text"),
    [(NOT_WORSE, "above −0.1"), (LOWER, "below 0"), (EQUAL, "between −0.1 and 0.1")],
)
def test_limits_read_as_words(limits, text):
    assert str(limits) == text


@pytest.mark.parametrize(
    "outcomes", list(itertools.product([HOLDS, FAILS, UNDECIDED, TOO_FEW], repeat=3))
)
def test_every_test_must_hold_once_all_runs_are_there(outcomes):
    found = every(outcomes)
    assert (found is TOO_FEW) == (TOO_FEW in outcomes)
    if TOO_FEW not in outcomes:
        assert (found is HOLDS) == (set(outcomes) == {HOLDS})
        assert (found is FAILS) == (FAILS in outcomes)


@pytest.mark.parametrize(
    ("outcomes", "expected"),
    [
        ((HOLDS, HOLDS, FAILS, FAILS), HOLDS),
        ((HOLDS, UNDECIDED, FAILS, FAILS), UNDECIDED),
        ((HOLDS, FAILS, FAILS, FAILS), FAILS),
        ((HOLDS, HOLDS, HOLDS, TOO_FEW), TOO_FEW),
    ],
)
def test_at_least_two_of_four(outcomes, expected):
    assert at_least(2, outcomes) is expected


@pytest.mark.parametrize(
    ("differences", "expected"),
    [
        ((0.2, 0.3, 0.4), Outcome.BETTER),
        ((0.05, 0.3, 0.4), UNDECIDED),  # all above, but not surely so in the mean
        ((-0.4, -0.3, -0.2), Outcome.WORSE),
        ((0.01, 0.02, 0.03), Outcome.EQUAL),
        ((-0.3, 0.0, 0.3), UNDECIDED),
        ((0.2, 0.3), TOO_FEW),
    ],
)
def test_a_certain_but_small_difference_is_equal(differences, expected):
    found = paired_test("", sample(differences), sample((0, 0, 0), "b"), EQUAL)
    assert better_worse_or_equal(found).outcome is expected


@pytest.mark.parametrize(
    ("letters", "expected"),
    [("WWEE", HOLDS), ("EWEW", HOLDS), ("WWE?", UNDECIDED), ("W???", UNDECIDED), ("WWW?", FAILS),
     ("WWEB", FAILS), ("EEE?", FAILS), ("WWE-", TOO_FEW), ("WWW-", TOO_FEW)],
)  # fmt: skip
def test_a_pattern_of_two_worse_and_two_equal(letters, expected):
    names = {
        "W": Outcome.WORSE,
        "E": Outcome.EQUAL,
        "B": Outcome.BETTER,
        "?": UNDECIDED,
        "-": TOO_FEW,
    }
    kinds = [names[letter] for letter in letters]
    wanted = {Outcome.WORSE: 2, Outcome.EQUAL: 2}
    assert counts_match(kinds, kinds, wanted) is expected
    unsure = [TOO_FEW if kind is TOO_FEW else UNDECIDED for kind in kinds]
    assert counts_match(kinds, unsure, wanted) is (UNDECIDED if expected is FAILS else expected)


def test_differences_are_paired_by_seed_and_only_common_seeds_count():
    x, y = sample((3.0, 5.0, 9.0, 4.0), "x", first=0), sample((1.0, 2.0, 3.0, 7.0), "y", first=1)
    made = paired_test("n", x, y, HIGHER, factor=2.0)
    assert made.name == "n: x − 2 × y"
    np.testing.assert_allclose(made.estimate, student(3, 5, -2))  # 5-2, 9-4, 4-6
    assert made.values == {1: 3.0, 2: 5.0, 3: -2.0}
    means = {agent: mean.value for agent, mean in made.sides}
    assert means == {"x": 6.0, "y": 2.0}
    assert made.outcome is UNDECIDED and made.missing == ()


def test_with_three_seeds_their_range_is_not_enough():
    made = measure("n", sample((1.0, 2.0, 9.0)), Limits(low=0.5))
    np.testing.assert_allclose(made.estimate, student(1, 2, 9))
    assert made.name == "n: a" and made.outcome is UNDECIDED
    alike = measure("n", sample((4.0, 4.0, 4.0)), Limits(low=0.5))
    assert alike.estimate == Estimate(4.0, 4.0, 4.0, 3) and alike.outcome is HOLDS


def test_the_interval_is_the_bootstraps_where_that_is_wider():
    """Of few outliers among many the bootstrap reaches further up than Student's does."""
    values = np.array([0.0] * 18 + [100.0] * 2)
    found = measure("", sample(values), HIGHER).estimate
    reference = stats.bootstrap((values,), np.mean, method="percentile", n_resamples=5000, rng=1)
    assert student(*values).high < reference.confidence_interval.high == found.high
    assert found.low == pytest.approx(student(*values).low)


@pytest.mark.parametrize("seeds", [5, 8, 20])
def test_intervals_of_paired_differences_agree_with_scipy(seeds):
    rng = np.random.default_rng(seeds)
    x, y = rng.normal(1, 1, seeds), rng.normal(0, 1, seeds)
    found = paired_test("", sample(x, "x"), sample(y, "y"), HIGHER).estimate
    reference = stats.bootstrap(
        (x - y,), np.mean, method="percentile", n_resamples=20_000, rng=rng
    ).confidence_interval
    width = reference.high - reference.low
    _, low, high, _ = student(*(x - y))
    assert found.value == pytest.approx(np.mean(x) - np.mean(y))
    assert found.low == pytest.approx(min(reference.low, low), abs=0.05 * width)
    assert found.high == pytest.approx(max(reference.high, high), abs=0.05 * width)


def test_pairing_makes_a_small_difference_certain_that_noise_would_hide():
    noise = np.array([0.0, 10.0, -20.0, 5.0, 40.0])
    x, y = sample(noise + 1.0, "x"), sample(noise, "y")
    assert paired_test("", x, y, HIGHER).outcome is HOLDS


def test_who_lacks_seeds_is_named_and_both_are_where_too_few_are_common():
    short, whole = sample((1, 2), "x"), sample((1, 2, 3), "y")
    others = sample((1, 2, 3), "z", first=5)
    assert paired_test("", short, whole, HIGHER).missing == (("x", "WalkerWalk"),)
    both = (("y", "WalkerWalk"), ("z", "WalkerWalk"))
    assert paired_test("", whole, others, HIGHER).missing == both
    nothing = paired_test("", sample((), "x"), whole, HIGHER)
    assert nothing.estimate.seeds == 0 and np.isnan(nothing.estimate.value)
    verdict = all_of([paired_test("", short, whole, HIGHER), nothing])
    assert verdict.missing == (("x", "WalkerWalk"),)


def test_short_runs_are_named_once_with_the_most_episodes_needed_of_them():
    runs = [ShortRun("x", "WalkerWalk", 3, 45, needed) for needed in (100, 300, 120)]
    x, y = sample((2, 2, 2), "x"), sample((0, 0, 0), "y")
    tests = [paired_test("", x._replace(too_short=(run,)), y, HIGHER) for run in runs]
    verdict = all_of(tests)
    assert verdict.outcome is HOLDS and verdict.missing == ()
    assert verdict.too_short == (runs[1],) and verdict.tasks == {"WalkerWalk": True}


@pytest.mark.parametrize(
    ("ones", "runs", "n_tests", "low", "high"),
    [
        # By hand: centre (k + z²/2) / (n + z²), half width z / (n + z²) √(k (n - k) / n + z²/4),
        # with z² = 3.8415 for one test, 5.0239 for one of two, 5.7311 for one of three.
        (1, 3, 1, 0.0615, 0.7923),
        (3, 3, 1, 0.4385, 1.0),
        (4, 4, 1, 0.5101, 1.0),
        (0, 6, 1, 0.0, 0.3903),
        (5, 8, 1, 0.3057, 0.8632),
        (0, 5, 2, 0.0, 0.5012),
        (0, 6, 2, 0.0, 0.4557),
        (0, 5, 3, 0.0, 0.5341),
        (0, 6, 3, 0.0, 0.4885),
        (1, 3, 3, 0.0454, 0.84),
    ],
)
def test_a_share_of_runs_has_the_wilson_interval(ones, runs, n_tests, low, high):
    share = sample([1] * ones + [0] * (runs - ones))
    made = measure_share("n", share, Limits(low=0.5))
    wide = bonferroni(made, n_tests)
    np.testing.assert_allclose(wide.estimate, (ones / runs, low, high, runs), atol=5e-5)
    assert wide.outcome is made.limits.judge(wide.estimate)
    assert (made == wide) == (n_tests == 1)


def test_a_share_fails_as_one_of_three_tests_from_six_runs_on():
    shares = {runs: measure_share("", sample([0] * runs), Limits(low=0.5))
              for runs in (2, 3, 5, 6)}  # fmt: skip
    alone = [share.outcome for share in shares.values()]
    assert alone == [TOO_FEW, UNDECIDED, FAILS, FAILS]
    outcomes = [corrected(share, 3) for share in shares.values()]
    assert outcomes == [TOO_FEW, UNDECIDED, UNDECIDED, FAILS]


def test_bonferroni_judges_by_the_student_interval_of_a_higher_level():
    values = np.array([-0.5, -0.4, -0.2, -0.45, -0.3])
    made = paired_test("", sample(values), sample(np.zeros(5), "b"), NOT_WORSE)
    assert made.outcome is FAILS
    for tests in (1, 4, 16):
        reference = stats.ttest_1samp(values, 0).confidence_interval(1 - 0.05 / tests)
        wide = bonferroni(made, tests)
        np.testing.assert_allclose(wide.estimate[1:3], (reference.low, reference.high))
        assert wide.outcome is NOT_WORSE.judge(wide.estimate)
    assert [corrected(made, tests) for tests in (1, 4, 16)] == [
        FAILS,
        FAILS,
        UNDECIDED,
    ]
    assert all_of([made] * 4).outcome is FAILS
    assert all_of([made] * 16).outcome is UNDECIDED


@pytest.mark.parametrize(
    ("better", "expected"), [((0.2, 0.3, 0.4), UNDECIDED), ((0.3, 0.31, 0.32), FAILS)]
)
def test_a_pattern_fails_only_by_what_is_sure_after_correction(better, expected):
    """Two worse and two equal are wanted, and one of four is better."""
    found = [(-0.4, -0.3, -0.2), (-0.4, -0.3, -0.2), (-0.01, 0, 0.01), better]
    tests = [paired_test("", sample(x), sample((0, 0, 0), "b"), EQUAL) for x in found]
    made = exactly({Outcome.WORSE: 2, Outcome.EQUAL: 2}, tests)
    assert made.tests[3].outcome is Outcome.BETTER and made.outcome is expected


@pytest.mark.parametrize(("mean", "expected"), [(0.0, UNDECIDED), (0.19, UNDECIDED), (0.21, HOLDS)])
def test_to_equal_an_agent_that_learned_nothing_decides_nothing(mean, expected):
    x, y = sample((mean,) * 3, "x"), sample((mean,) * 3, "y")
    assert require_learned(paired_test("", x, y, EQUAL), "y").outcome is expected
    worse = paired_test("", sample((mean + 0.5,) * 3, "x"), y, EQUAL)
    assert require_learned(worse, "y").outcome is FAILS


def stores(draw, tests: int, seeds: int, how_many: int):
    """Claims of so many tests about two agents that are alike."""
    rng = np.random.default_rng(seeds)
    for _ in range(how_many):
        scores = draw(rng, (2, tests, seeds))
        yield [
            paired_test("", sample(x), sample(y, "b"), NOT_WORSE) for x, y in scores.swapaxes(0, 1)
        ]


def normal(rng, shape):
    return rng.normal(0.5, 0.25, shape)


def all_or_nothing(rng, shape):
    return np.where(rng.random(shape) < 0.5, 0.95, 0.0) + rng.normal(0, 0.02, shape)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("draw", "seeds", "at_most"),
    [(normal, 3, 2), (all_or_nothing, 5, 2), (all_or_nothing, 3, 12)],
)
def test_of_agents_that_are_alike_a_claim_of_many_tests_rarely_fails(
    draw, seeds, at_most, monkeypatch
):
    """With three runs that earn all or nothing chance remains: the notes of the report say so."""
    monkeypatch.setattr(bootstrap, "REPETITIONS", 100)
    claims = list(stores(draw, 16, seeds, 30))
    alone = sum(any(one.outcome is FAILS for one in tests) for tests in claims)
    assert alone >= 3  # by single tests, every tenth claim or more would fail
    assert sum(all_of(tests).outcome is FAILS for tests in claims) <= at_most
