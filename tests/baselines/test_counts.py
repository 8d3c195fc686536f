"""Kernel counts: against their definition, over evictions, and across a restart."""

import math

import numpy as np
import pytest
import torch

from baselines.bonuses.counts import KernelCount
from tests.helpers.kernel_counts import BOX, NEGLIGIBLE, filled, make, walk


class NaiveCount:
    """The definition, row by row, in Python's floats; which row goes is told from outside."""

    def __init__(self, scale: float, tolerance: float) -> None:
        self.scale, self.tolerance = scale, tolerance
        self.keys: list[list[float]] = []
        self.weights: list[float] = []

    def key(self, obs, action) -> list[float]:
        obs_part = (obs - BOX.obs_low) / (BOX.obs_high - BOX.obs_low) / self.scale
        return [*obs_part, *((action + 1) / 2)]

    def kernel(self, key: list[float]) -> list[float]:
        return [
            math.exp(-0.5 * sum((a - b) ** 2 for a, b in zip(key, row, strict=True)))
            for row in self.keys
        ]

    def count(self, obs, action) -> float:
        values = self.kernel(self.key(obs, action))
        return math.fsum(w * k for w, k in zip(self.weights, values, strict=True))

    def visit(self, obs, action, victim: int | None) -> None:
        key = self.key(obs, action)
        near = [i for i, k in enumerate(self.kernel(key)) if k > self.tolerance]
        for i in near:
            self.weights[i] += 1 / len(near)
        if near:
            return
        if victim is None:
            self.keys.append(key)
            self.weights.append(1.0)
            return
        share = self.weights[victim] / (len(self.weights) - 1)
        self.weights = [w + share for w in self.weights]
        self.keys[victim], self.weights[victim] = key, 1.0


def changed_row(before: torch.Tensor, count: KernelCount) -> int | None:
    """The one row whose key is not what it was, if any."""
    changed = (count.rows.keys[: len(before)] != before).any(dim=1).nonzero()[:, 0].tolist()
    assert len(changed) <= 1
    return changed[0] if changed else None


@pytest.mark.parametrize(
    ("scale", "tolerance", "max_rows"), [(0.2, 0.9, 20), (0.5, 0.5, 3), (0.05, 0.95, 20)]
)
def test_every_visit_agrees_with_the_definition(scale, tolerance, max_rows):
    visits = walk(np.random.default_rng(1), 150)
    count = make(scale=scale, tolerance=tolerance, max_rows=max_rows)
    naive = NaiveCount(scale, tolerance)
    evictions = 0
    for obs, action in visits:
        before = count.rows.keys.clone()
        expected = naive.count(obs, action)
        assert count.visit(obs, action) == pytest.approx(expected, rel=1e-9, abs=NEGLIGIBLE)
        victim = changed_row(before, count)
        evictions += victim is not None
        naive.visit(obs, action, victim)
        assert count.rows.weights.tolist() == pytest.approx(naive.weights, rel=1e-9)
    assert evictions > 10
    obs, action = (np.stack(x) for x in zip(*visits, strict=True))
    counts = [naive.count(*visit) for visit in visits]
    assert count.paired(obs, action).tolist() == pytest.approx(counts, rel=1e-4, abs=NEGLIGIBLE)


def test_a_repeated_visit_adds_weight_and_no_row():
    count = make()
    for seen in range(5):
        assert count.visit([0, 0.5, 20], [0, 0]) == pytest.approx(seen)
    assert len(count) == 1
    count.visit([3, 0.5, 20], [0, 0])
    assert len(count) == 2
    assert count.rows.weights.tolist() == [5, 1]


def test_a_visit_between_two_rows_is_shared_by_both():
    count = make(tolerance=0.9, scale=0.2)
    reach = 0.2 * 4 * math.sqrt(-2 * math.log(0.9))  # where the kernel along the first axis is 0.9
    for x in (0, 1.5 * reach, 0.75 * reach):
        count.visit([x, 0.5, 20], [0, 0])
    assert count.rows.weights.tolist() == [1.5, 1.5]


@pytest.mark.slow
def test_weights_sum_to_the_visits_over_thousands_of_evictions():
    count, rng = make(max_rows=16, scale=0.02), np.random.default_rng(2)
    visits = 6000
    for _ in range(visits):
        count.visit(rng.uniform(BOX.obs_low, BOX.obs_high), rng.uniform(-1, 1, 2))
    assert len(count) == 16
    assert float(count.rows.weights.sum()) == pytest.approx(visits, rel=1e-12)


@pytest.mark.slow
def test_every_slot_is_evicted_about_equally_often():
    count, rng = make(max_rows=8, scale=0.01), np.random.default_rng(3)
    times = np.zeros(8)
    for _ in range(2008):
        before = count.rows.keys.clone()
        count.visit(rng.uniform(BOX.obs_low, BOX.obs_high), rng.uniform(-1, 1, 2))
        victim = changed_row(before, count)
        if victim is not None:
            times[victim] += 1
    assert times.sum() > 1900
    assert ((times - times.mean()) ** 2 / times.mean()).sum() < 24.3  # chi-square, 7 d.o.f., .001


def test_an_empty_table_counts_nothing():
    count = make()
    assert count.paired(np.zeros((4, 3)), np.zeros((4, 2))).tolist() == [0] * 4
    assert count.grid(np.zeros((4, 3)), np.zeros((5, 2))).shape == (4, 5)
    assert count.visit(np.zeros(3), np.zeros(2)) == 0


def test_a_state_that_does_not_fit_is_refused():
    state = filled("product", walk(np.random.default_rng(10), 60), scale=0.01).state_dict()
    with pytest.raises(ValueError, match="does not fit"):
        make(max_rows=4).load_state_dict(state)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"backend": "magic"}, "'magic'.*product, keops, loop"),
        ({"scale": 0.0}, "state_scale must be positive.*0.0"),
        ({"action_scale": -1.0}, "action_scale must be positive.*-1.0"),
        ({"tolerance": 1.0}, "tolerance.*1.0"),
        ({"tolerance": 0.0}, "tolerance.*0.0"),
        ({"max_rows": 1}, "max_rows.*1"),
        ({"bounds": BOX._replace(obs_high=BOX.obs_low)}, "obs bounds.*low < high"),
        ({"bounds": BOX._replace(action_low=np.ones(2))}, "action bounds.*low < high"),
    ],
)
def test_bad_settings_are_refused_by_name(options, message):
    with pytest.raises(ValueError, match=message):
        make(**options)


@pytest.mark.parametrize("bad", [math.nan, math.inf, 1e25])
def test_a_non_finite_observation_never_enters_the_table(bad):
    count = make()
    for _ in range(2):
        with pytest.raises(FloatingPointError, match=r"step \d+: obs or action is not finite"):
            count.visit([bad, 0, 0], [0, 0])
        count.visit([0, 0, 20], [0, 0])
    assert len(count) == 1
