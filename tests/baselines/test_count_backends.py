"""Every way of computing a kernel sum gives the same counts."""

import math
import shutil

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from baselines.agent import Bounds
from baselines.bonuses import kernels
from baselines.bonuses.counts import bandwidth
from tests.helpers.kernel_counts import BOX, NEGLIGIBLE, filled, make, walk


def hard_cases() -> dict[str, tuple[list[tuple], dict]]:
    """Visits and options that strain a backend: each is also what the queries are made from."""
    rng = np.random.default_rng(4)
    same = walk(rng, 1)
    return {
        "random": (walk(rng, 300), {}),
        "far outside the range": (walk(rng, 300, spread=40), {"scale": 0.02}),
        "very far outside": (walk(rng, 60, spread=1e4), {"scale": 0.02}),
        "near and far": (walk(rng, 100) + walk(rng, 100, spread=300), {"scale": 0.05}),
        "duplicates": (same * 50 + walk(rng, 20), {}),
        "single row": (same, {}),
        "full table": (walk(rng, 500), {"max_rows": 64, "scale": 0.05}),
        "narrow kernel": (walk(rng, 200), {"scale": 0.002}),
        "narrow action kernel": (walk(rng, 200), {"action_scale": 0.01, "scale": 0.05}),
    }


def assert_backends_agree(backend: str, visits: list[tuple], options: dict) -> None:
    rng = np.random.default_rng(5)
    fast, slow = (filled(name, visits, **options) for name in (backend, "loop"))
    obs, action = (np.stack(x)[-40:] for x in zip(*visits, strict=True))
    width = options.get("scale", 0.2) * (BOX.obs_high - BOX.obs_low)
    near = obs + 0.5 * width * rng.standard_normal(obs.shape)  # half a kernel's width off
    for queries in (obs, near, obs + 30 * width):
        for ask in ("paired", "grid"):
            counts, expected = (getattr(count, ask)(queries, action) for count in (fast, slow))
            torch.testing.assert_close(counts, expected, rtol=1e-4, atol=NEGLIGIBLE)


@pytest.mark.parametrize("case", hard_cases())
def test_product_agrees_with_the_loop(case):
    assert_backends_agree("product", *hard_cases()[case])


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("g++") is None, reason="KeOps compiles with g++")
def test_keops_agrees_with_the_loop():  # one test, so that its formulas are compiled once
    for visits, options in hard_cases().values():
        assert_backends_agree("keops", visits, options)


@pytest.mark.parametrize(("obs_dim", "action_dim"), [(2, 2), (8, 2), (12, 2), (24, 6)])
def test_product_is_exact_at_the_size_of_the_tasks(obs_dim, action_dim):
    box = Bounds(-np.ones(obs_dim), np.ones(obs_dim), -np.ones(action_dim), np.ones(action_dim))
    rng, scale = np.random.default_rng(13), bandwidth(obs_dim)
    fast, slow = (make(box, scale, max_rows=1000, backend=name) for name in ("product", "loop"))
    obs, action = rng.uniform(-1.3, 1.3, (1000, obs_dim)), rng.uniform(-1, 1, (1000, action_dim))
    for visit in zip(obs, action, strict=True):
        fast.visit(*visit)
    slow.load_state_dict(fast.state_dict())
    near = obs[:100] + scale / math.sqrt(obs_dim) * rng.standard_normal((100, obs_dim))
    expected = slow.grid(near, action[:30])
    torch.testing.assert_close(fast.grid(near, action[:30]), expected, rtol=1e-4, atol=NEGLIGIBLE)


def test_grid_is_the_paired_count_of_every_pair():
    count = filled("product", walk(np.random.default_rng(6), 400))
    obs, action = (np.stack(x) for x in zip(*walk(np.random.default_rng(7), 5), strict=True))
    expected = [[float(count.paired(o[None], a[None])) for a in action[:3]] for o in obs]
    assert count.grid(obs, action[:3]).numpy() == pytest.approx(np.array(expected), rel=1e-5)


def test_blocks_of_rows_add_up(monkeypatch):
    rng = np.random.default_rng(8)
    visits = walk(rng, 1100)
    obs, action = (np.stack(x)[:30] for x in zip(*visits, strict=True))
    whole = filled("product", visits, scale=0.05).grid(obs, action)
    monkeypatch.setattr(kernels, "BLOCK_VALUES", (1, 1))
    assert torch.allclose(filled("product", visits, scale=0.05).grid(obs, action), whole, rtol=1e-5)


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 30), st.integers(0, 2**31))
def test_counts_lie_between_nothing_and_all_visits(steps, seed):
    visits = walk(np.random.default_rng(seed), steps)
    count = filled("product", visits, max_rows=10)
    obs, action = (np.stack(x) for x in zip(*visits, strict=True))
    counts = count.grid(obs, action)
    assert counts.min() >= 0
    assert counts.max() <= steps * (1 + 1e-5)
