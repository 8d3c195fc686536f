"""How intervals decide, alone and together, and the intervals themselves against scipy."""

import itertools

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from analysis.claims import hypothesis_tests
from analysis.claims.hypothesis_tests import EQUAL, HIGHER, NOT_WORSE, Limits, Outcome
from analysis.claims.samples import Left, Sample
from analysis.stats import intervals as bootstrap
from analysis.stats.intervals import Estimate
from tests.helpers.synthetic_claims import student

HOLDS, FAILS, OPEN, LACKING = Outcome.HOLDS, Outcome.FAILS, Outcome.OPEN, Outcome.LACKING
LOWER = Limits(high=0)


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
    found = hypothesis_tests.every(outcomes)
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
    assert hypothesis_tests.at_least(2, outcomes) is expected


@pytest.mark.parametrize(
    ("differences", "expected"),
    [
        ((0.2, 0.3, 0.4), Outcome.BETTER),
        ((0.05, 0.3, 0.4), OPEN),  # all above, but not surely so in the mean
        ((-0.4, -0.3, -0.2), Outcome.WORSE),
        ((0.01, 0.02, 0.03), Outcome.EQUAL),
        ((-0.3, 0.0, 0.3), OPEN),
        ((0.2, 0.3), LACKING),
    ],
)
def test_a_certain_but_small_difference_is_equal(differences, expected):
    found = hypothesis_tests.compare("", sample(differences), sample((0, 0, 0), "b"), EQUAL)
    assert hypothesis_tests.kind(found).outcome is expected


@pytest.mark.parametrize(
    ("letters", "expected"),
    [("WWEE", HOLDS), ("EWEW", HOLDS), ("WWE?", OPEN), ("W???", OPEN), ("WWW?", FAILS),
     ("WWEB", FAILS), ("EEE?", FAILS), ("WWE-", LACKING), ("WWW-", LACKING)],
)  # fmt: skip
def test_a_pattern_of_two_worse_and_two_equal(letters, expected):
    names = {"W": Outcome.WORSE, "E": Outcome.EQUAL, "B": Outcome.BETTER, "?": OPEN, "-": LACKING}
    kinds = [names[letter] for letter in letters]
    wanted = {Outcome.WORSE: 2, Outcome.EQUAL: 2}
    assert hypothesis_tests.pattern(kinds, kinds, wanted) is expected
    unsure = [LACKING if kind is LACKING else OPEN for kind in kinds]
    assert hypothesis_tests.pattern(kinds, unsure, wanted) is (
        OPEN if expected is FAILS else expected
    )


def test_differences_are_paired_by_seed_and_only_common_seeds_count():
    x, y = sample((3.0, 5.0, 9.0, 4.0), "x", first=0), sample((1.0, 2.0, 3.0, 7.0), "y", first=1)
    made = hypothesis_tests.compare("n", x, y, HIGHER, factor=2.0)
    assert made.what == "n: x − 2 × y"
    np.testing.assert_allclose(made.found, student(3, 5, -2))  # 5-2, 9-4, 4-6
    assert made.error == pytest.approx(stats.sem([3, 5, -2]))
    means = {agent: mean.value for agent, mean in made.sides}
    assert means == {"x": 6.0, "y": 2.0}
    assert made.outcome is OPEN and made.gaps == ()


def test_with_three_seeds_their_range_is_not_enough():
    made = hypothesis_tests.measure("n", sample((1.0, 2.0, 9.0)), Limits(low=0.5))
    np.testing.assert_allclose(made.found, student(1, 2, 9))
    assert made.what == "n: a" and made.outcome is OPEN
    alike = hypothesis_tests.measure("n", sample((4.0, 4.0, 4.0)), Limits(low=0.5))
    assert alike.found == Estimate(4.0, 4.0, 4.0, 3) and alike.outcome is HOLDS


def test_the_interval_is_the_bootstraps_where_that_is_wider():
    """Of few outliers among many the bootstrap reaches further up than Student's does."""
    values = np.array([0.0] * 18 + [100.0] * 2)
    found = hypothesis_tests.measure("", sample(values), HIGHER).found
    reference = stats.bootstrap((values,), np.mean, method="percentile", n_resamples=5000, rng=1)
    assert student(*values).high < reference.confidence_interval.high == found.high
    assert found.low == pytest.approx(student(*values).low)


@pytest.mark.parametrize("seeds", [5, 8, 20])
def test_intervals_of_paired_differences_agree_with_scipy(seeds):
    rng = np.random.default_rng(seeds)
    x, y = rng.normal(1, 1, seeds), rng.normal(0, 1, seeds)
    found = hypothesis_tests.compare("", sample(x, "x"), sample(y, "y"), HIGHER).found
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
    assert hypothesis_tests.compare("", x, y, HIGHER).outcome is HOLDS


def test_gaps_name_who_lacks_seeds_and_both_where_none_are_common():
    short, whole, others = (
        sample((1, 2), "x"),
        sample((1, 2, 3), "y"),
        sample((1, 2, 3), "z", first=5),
    )
    gap = hypothesis_tests.Gap
    assert hypothesis_tests.compare("", short, whole, HIGHER).gaps == (
        gap("x", "WalkerWalk", (0, 1)),
    )
    assert hypothesis_tests.compare("", whole, others, HIGHER).gaps == (
        gap("y", "WalkerWalk", (0, 1, 2)),
        gap("z", "WalkerWalk", (5, 6, 7)),
    )
    nothing = hypothesis_tests.compare("", sample((), "x"), whole, HIGHER)
    assert nothing.found.seeds == 0 and np.isnan(nothing.found.value)


def test_runs_left_out_are_told_even_where_the_test_can_be_made():
    short = Left(3, 45, 45, True)
    x, y = sample((2, 2, 2), "x")._replace(needed=110, left=(short,)), sample((0, 0, 0), "y")
    made = hypothesis_tests.compare("", x, y, HIGHER)
    assert made.outcome is HOLDS
    found = hypothesis_tests.all_of([made])
    assert found.gaps == () and found.tasks == {"WalkerWalk": True}
    assert found.left_out == (hypothesis_tests.Gap("x", "WalkerWalk", (0, 1, 2), 110, (short,)),)


def test_of_several_gaps_of_an_agent_on_a_task_the_one_of_the_longest_runs_is_told():
    x, y = sample((1, 2), "x"), sample((1, 2, 3), "y")
    parts = [hypothesis_tests.compare("", x._replace(needed=n), y, HIGHER) for n in (100, 300, 120)]
    assert [gap.needed for gap in hypothesis_tests.all_of(parts).gaps] == [300]


def test_one_of_several_is_judged_by_the_student_interval_of_a_higher_level():
    values = np.array([-0.5, -0.4, -0.2, -0.45, -0.3])
    made = hypothesis_tests.compare("", sample(values), sample(np.zeros(5), "b"), NOT_WORSE)
    assert made.outcome is FAILS
    for tests in (1, 4, 16):
        reference = stats.ttest_1samp(values, 0).confidence_interval(1 - 0.05 / tests)
        wide = hypothesis_tests.among(made, tests)
        np.testing.assert_allclose(wide.found[1:3], (reference.low, reference.high))
        assert wide.outcome is NOT_WORSE.judge(wide.found)
    assert [hypothesis_tests.settled(made, tests) for tests in (1, 4, 16)] == [FAILS, FAILS, OPEN]
    assert hypothesis_tests.all_of([made] * 4).outcome is FAILS
    assert hypothesis_tests.all_of([made] * 16).outcome is OPEN


@pytest.mark.parametrize(
    ("better", "expected"), [((0.2, 0.3, 0.4), OPEN), ((0.3, 0.31, 0.32), FAILS)]
)
def test_a_pattern_fails_only_by_what_is_sure_as_one_of_several(better, expected):
    """Two worse and two equal are wanted, and one of four is better."""
    found = [(-0.4, -0.3, -0.2), (-0.4, -0.3, -0.2), (-0.01, 0, 0.01), better]
    parts = [hypothesis_tests.compare("", sample(x), sample((0, 0, 0), "b"), EQUAL) for x in found]
    made = hypothesis_tests.exactly({Outcome.WORSE: 2, Outcome.EQUAL: 2}, parts)
    assert made.parts[3].outcome is Outcome.BETTER and made.outcome is expected


@pytest.mark.parametrize(("mean", "expected"), [(0.0, OPEN), (0.19, OPEN), (0.21, HOLDS)])
def test_to_equal_an_agent_that_learnt_nothing_decides_nothing(mean, expected):
    x, y = sample((mean,) * 3, "x"), sample((mean,) * 3, "y")
    assert (
        hypothesis_tests.where_learnt(hypothesis_tests.compare("", x, y, EQUAL), "y").outcome
        is expected
    )
    worse = hypothesis_tests.compare("", sample((mean + 0.5,) * 3, "x"), y, EQUAL)
    assert hypothesis_tests.where_learnt(worse, "y").outcome is FAILS


def stores(draw, tests: int, seeds: int, how_many: int):
    """Claims of so many tests about two agents that are alike."""
    rng = np.random.default_rng(seeds)
    for _ in range(how_many):
        scores = draw(rng, (2, tests, seeds))
        yield [
            hypothesis_tests.compare("", sample(x), sample(y, "b"), NOT_WORSE)
            for x, y in scores.swapaxes(0, 1)
        ]


def normal(rng, shape):
    return rng.normal(0.5, 0.25, shape)


def all_or_nothing(rng, shape):
    return np.where(rng.random(shape) < 0.5, 0.95, 0.0) + rng.normal(0, 0.02, shape)


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
    alone = sum(any(one.outcome is FAILS for one in parts) for parts in claims)
    assert alone >= 3  # by single tests, every tenth claim or more would fail
    assert sum(hypothesis_tests.all_of(parts).outcome is FAILS for parts in claims) <= at_most
