"""Estimates and intervals, against arithmetic by hand, rliable and scipy."""

import numpy as np
import pandas as pd
import pytest
from rliable import library, metrics
from scipy import stats

from analysis.stats import intervals
from analysis.stats.intervals import ScoreMatrix, estimate, performance_profile
from analysis.stats.intervals import probability_of_improvement as improvement


def matrix(values, agent="a") -> ScoreMatrix:
    values = np.asarray(values, dtype=float)
    tasks = pd.Index([f"task {i}" for i in range(values.shape[1])], name="task")
    seeds = pd.RangeIndex(len(values), name="seed")
    return ScoreMatrix(agent, pd.DataFrame(values, seeds, tasks))


def noise(seeds, tasks, seed=0):
    return np.random.default_rng(seed).gamma(2.0, 0.2, (seeds, tasks))


HAND = [[0.0, 1.0], [0.2, 0.8], [0.4, 1.4], [0.6, 0.4]]  # 4 seeds, 2 tasks


@pytest.mark.parametrize(
    ("statistic", "expected"),
    [
        ("mean", (1.2 / 4 + 3.6 / 4) / 2),
        ("median", (0.3 + 0.9) / 2),
        ("iqm", (0.4 + 0.4 + 0.6 + 0.8) / 4),  # 0 .2 [.4 .4 .6 .8] 1 1.4
        ("optimality_gap", 1 - (0.0 + 0.2 + 0.4 + 0.6 + 1.0 + 0.8 + 1.0 + 0.4) / 8),
    ],
)
def test_estimates_by_hand(statistic, expected):
    found = estimate(matrix(HAND), statistic)
    assert found.value == pytest.approx(expected)
    assert found.low < found.value < found.high
    assert found.seeds == 4


def test_intervals_agree_with_scipy_within_monte_carlo_error():
    values = noise(8, 3)
    found = estimate(matrix(values), "mean")

    def mean_of_means(*tasks, axis):
        return np.mean([task.mean(axis=axis) for task in tasks], axis=0)

    reference = stats.bootstrap(  # every task resampled by itself: stratified
        tuple(values.T), mean_of_means, method="percentile", n_resamples=20_000, rng=0
    ).confidence_interval
    width = reference.high - reference.low
    np.testing.assert_allclose((found.low, found.high), reference, atol=0.06 * width)


def test_intervals_cover_the_truth_about_as_often_as_they_say(monkeypatch):
    monkeypatch.setattr(intervals, "REPETITIONS", 500)
    rng = np.random.default_rng(0)
    inside = 0
    for _ in range(60):
        found = estimate(matrix(rng.normal(0.5, 0.1, (20, 1))), "mean")
        inside += found.low <= 0.5 <= found.high
    assert 50 <= inside <= 60  # 57 are 95 %; percentile intervals of 20 runs are a little narrow


def test_the_same_scores_give_the_same_interval_and_leave_the_generator_alone():
    np.random.seed(7)  # noqa: NPY002
    before = np.random.get_state()  # noqa: NPY002
    first = estimate(matrix(noise(5, 4)), "iqm")
    after = np.random.get_state()  # noqa: NPY002
    np.random.seed(8)  # noqa: NPY002
    assert estimate(matrix(noise(5, 4)), "iqm") == first
    assert before[0] == after[0] and before[2:] == after[2:]
    np.testing.assert_array_equal(before[1], after[1])


@pytest.mark.parametrize("name", intervals.STATISTICS)
@pytest.mark.parametrize("shape", [(3, 1, 7), (5, 4, 1), (8, 8, 3)])
def test_values_and_intervals_are_rliables_own(name, shape):
    values = np.random.default_rng(1).gamma(2.0, 0.2, shape)
    rliables = getattr(metrics, f"aggregate_{name}")

    def by_point(sample):
        return np.array([rliables(sample[..., point]) for point in range(shape[2])])

    np.random.seed(intervals._SEED)  # noqa: NPY002
    expected, limits = library.get_interval_estimates(
        {"": values}, by_point, reps=intervals.REPETITIONS
    )
    found = intervals.interval([values], intervals.STATISTICS[name])
    np.testing.assert_allclose(found.value, expected[""], rtol=1e-12)
    np.testing.assert_allclose([found.low, found.high], limits[""], rtol=1e-12)


def test_large_samples_are_resampled_in_chunks_without_a_difference(monkeypatch):
    values = np.random.default_rng(2).normal(size=(5, 2, 3))
    whole = intervals.interval([values], intervals.mean)
    monkeypatch.setattr(intervals, "_CHUNK", 64)
    np.testing.assert_array_equal(whole, intervals.interval([values], intervals.mean))


def test_swapped_axes_are_an_error_even_for_a_square():
    square = matrix(noise(8, 8)).cells
    with pytest.raises(ValueError, match="seed, task"):
        ScoreMatrix("a", square.T)


def test_bare_arrays_and_gaps_are_refused():
    with pytest.raises(TypeError, match="ScoreMatrix"):
        estimate(noise(8, 3), "mean")
    with pytest.raises(ValueError, match="must be finite"):
        matrix([[0.1, np.nan], [0.2, 0.3]])


@pytest.mark.parametrize("seeds", [1, 2])
def test_fewer_than_three_seeds_give_a_point_without_an_interval(seeds):
    found = estimate(matrix(noise(seeds, 3)), "mean")
    assert found.value == pytest.approx(noise(seeds, 3).mean())
    assert np.isnan([found.low, found.high]).all() and found.seeds == seeds
    profile = performance_profile(matrix(noise(seeds, 3)), [0.1])
    assert profile.low.isna().all() and (profile.seeds == seeds).all()


def test_no_seeds_give_no_number():
    found = estimate(matrix(np.empty((0, 3))), "iqm")
    assert np.isnan(found[:3]).all() and found.seeds == 0


def test_equal_scores_have_an_interval_of_no_width():
    assert estimate(matrix(np.full((5, 2), 0.4)), "iqm")[:3] == pytest.approx((0.4, 0.4, 0.4))


def test_improvement_by_hand_with_ties():
    x, y = matrix([[1.0], [2.0], [3.0]]), matrix([[1.0], [2.0], [2.0]])
    # 1 beats none and ties one; 2 beats one and ties two; 3 beats all three
    assert improvement(x, y).value == pytest.approx((0.5 + 1 + 2 * 0.5 + 3) / 9)
    assert improvement(x, x).value == 0.5


@pytest.mark.parametrize("seeds", [(8, 8), (3, 7)])
def test_improvement_is_what_rliable_computes(seeds):
    x, y = (np.round(noise(n, 5, seed), 1) for seed, n in enumerate(seeds))
    found = improvement(matrix(x), matrix(y))
    assert found.value == pytest.approx(metrics.probability_of_improvement(x, y))
    assert found.low <= found.value <= found.high and found.seeds == min(seeds)


def test_improvement_needs_the_same_tasks():
    with pytest.raises(ValueError, match="same tasks"):
        improvement(matrix(noise(3, 2)), matrix(noise(3, 3)))


def test_a_profile_is_the_share_of_runs_above_each_threshold():
    found = performance_profile(matrix(HAND), [-1.0, 0.0, 0.4, 1.0, 2.0])
    np.testing.assert_allclose(found.value, [1.0, 7 / 8, 4 / 8, 1 / 8, 0.0])
    taus = np.linspace(0, 1, 7)
    reference, _ = library.create_performance_profile({"a": noise(5, 3)}, taus, reps=10)
    found = performance_profile(matrix(noise(5, 3)), taus)
    np.testing.assert_allclose(found.value, reference["a"])
    assert ((found.low <= found.value) & (found.value <= found.high)).all()


@pytest.mark.parametrize("shape", [(3, 1, 4), (5, 3, 2), (8, 8, 3)])
def test_the_iqm_of_every_point_is_scipys_trimmed_mean(shape):
    values = np.random.default_rng(0).normal(size=shape)
    expected = [stats.trim_mean(values[..., point], 0.25, axis=None) for point in range(shape[2])]
    np.testing.assert_allclose(intervals.iqm(values), expected)
