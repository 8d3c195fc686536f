"""Kernel counts to test, and visits to fill them with."""

import numpy as np

from baselines.agent import Bounds
from baselines.bonuses.counts import KernelConfig, KernelCount

BOX = Bounds(np.array([-1.0, 0, 10]), np.array([3.0, 1, 30]), -np.ones(2), np.ones(2))
NEGLIGIBLE = 1e-30  # the product form cannot tell a smaller count from zero


def make(
    bounds: Bounds = BOX, scale: float = 0.2, tolerance: float = 0.9, **options
) -> KernelCount:
    seed = options.pop("seed", 0)
    config = KernelConfig(state_scale=scale, tolerance=tolerance, **options)
    return KernelCount(bounds, config, seed=seed)


def walk(rng: np.random.Generator, steps: int, spread: float = 1.0) -> list[tuple]:
    """Visits scattered over BOX (and beyond, for a spread above 1), some of them repeated."""
    centre, half = (BOX.obs_low + BOX.obs_high) / 2, (BOX.obs_high - BOX.obs_low) / 2
    visits: list[tuple] = []
    for _ in range(steps):
        if visits and rng.random() < 0.2:
            visits.append(visits[rng.integers(len(visits))])
        else:
            obs = centre + spread * half * rng.uniform(-1, 1, 3)
            visits.append((obs, rng.uniform(-1, 1, 2)))
    return visits


def filled(backend: str, visits: list[tuple], **options) -> KernelCount:
    count = make(backend=backend, **options)
    for obs, action in visits:
        count.visit(obs, action)
    return count
