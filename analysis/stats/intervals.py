"""Estimates with 95 % intervals, by rliable's stratified bootstrap over seeds.

The unit of replication is the seed: a run is one number before it comes here.
"""

import contextlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pandas as pd
from rliable import library, metrics

REPETITIONS = 2000
MIN_SEEDS = 3  # fewer give a point and no interval
_SEED = 20240531  # of the resampling; any number, always the same one

Statistic = Callable[..., np.ndarray]


@dataclass(frozen=True)
class ScoreMatrix:
    """One number per run of an agent: rows are seeds, columns tasks, and no other way round."""

    agent: str
    cells: pd.DataFrame  # index "seed", columns "task", no gaps
    missing: tuple[str, ...] = ()  # what kept runs out of `cells`, one line each

    def __post_init__(self) -> None:
        names = (self.cells.index.name, self.cells.columns.name)
        if names != ("seed", "task"):
            raise ValueError(f"a score matrix is (seed, task), got {names}")
        if not np.isfinite(self.values).all():
            raise ValueError("a score matrix has no gaps; leave out seeds that lack a task")

    @property
    def seeds(self) -> tuple[int, ...]:
        """The seeds that every task has."""
        return tuple(self.cells.index)

    @property
    def tasks(self) -> tuple[str, ...]:
        """Short names, in the order of the columns."""
        return tuple(self.cells.columns)

    @property
    def values(self) -> np.ndarray:
        """The numbers, (seeds, tasks)."""
        return self.cells.to_numpy(dtype=float)


class Estimate(NamedTuple):
    """A number, its 95 % interval (NaN with fewer than 3 seeds) and the seeds behind it."""

    value: float
    low: float
    high: float
    seeds: int


class Band(NamedTuple):
    """An estimate at each of several points."""

    value: np.ndarray
    low: np.ndarray
    high: np.ndarray


def iqm(values: np.ndarray) -> np.ndarray:
    """Mean of the middle half of all runs of all tasks, at each point: (seeds, tasks, points)."""
    runs = np.sort(values.reshape(-1, values.shape[-1]).T.copy(), axis=-1)  # (points, runs)
    cut = runs.shape[-1] // 4
    return runs[:, cut : runs.shape[-1] - cut].mean(axis=-1)


STATISTICS: dict[str, Callable[[np.ndarray], float]] = {
    "iqm": metrics.aggregate_iqm,
    "mean": metrics.aggregate_mean,
    "median": metrics.aggregate_median,
    "optimality_gap": metrics.aggregate_optimality_gap,
}


def estimate(matrix: ScoreMatrix, statistic: str) -> Estimate:
    """An aggregate over all tasks, one of STATISTICS; NaN without seeds."""
    function = STATISTICS[statistic]
    return _one([matrix], lambda values: np.array([function(values)]))


def probability_of_improvement(x: ScoreMatrix, y: ScoreMatrix) -> Estimate:
    """How likely a run of x beats one of y on the same task, averaged over tasks; ties are half."""
    if x.tasks != y.tasks:
        raise ValueError(f"not the same tasks: {x.tasks} and {y.tasks}")
    return _one([x, y], _improvement)


def performance_profile(matrix: ScoreMatrix, thresholds: Sequence[float]) -> pd.DataFrame:
    """The share of runs that score above each threshold: threshold, value, low, high, seeds."""
    limits = np.asarray(thresholds, dtype=float)
    band = interval([_values(matrix)], lambda values: (values[..., None] > limits).mean((0, 1)))
    return pd.DataFrame({"threshold": limits, **band._asdict(), "seeds": len(matrix.seeds)})


def interval(arrays: Sequence[np.ndarray], statistic: Statistic) -> Band:
    """A statistic of (seeds, tasks, ...) arrays, with intervals if all have 3 seeds or more."""
    if min(len(array) for array in arrays) == 0:
        raise ValueError("no seeds to estimate from")
    value = np.asarray(statistic(*arrays), dtype=float)
    if min(len(array) for array in arrays) < MIN_SEEDS:
        return Band(value, np.full_like(value, np.nan), np.full_like(value, np.nan))
    data = arrays[0] if len(arrays) == 1 else list(arrays)
    with _seeded():
        _, intervals = library.get_interval_estimates({"": data}, statistic, reps=REPETITIONS)
    low, high = intervals[""]
    return Band(value, low, high)


@contextlib.contextmanager
def _seeded() -> Iterator[None]:
    """NumPy's global generator, seeded inside and as it was outside.

    rliable takes a random state and ignores it; this is the one place that touches the global one.
    """
    state = np.random.get_state()  # noqa: NPY002
    np.random.seed(_SEED)  # noqa: NPY002
    try:
        yield
    finally:
        np.random.set_state(state)  # noqa: NPY002


def _improvement(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """What rliable's rank test computes, for all tasks at once: 2000 times that is minutes."""
    difference = x[:, None] - y[None]  # (seeds of x, seeds of y, tasks)
    return np.array([np.mean((difference > 0) + 0.5 * (difference == 0))])


def _values(matrix: ScoreMatrix) -> np.ndarray:
    if not isinstance(matrix, ScoreMatrix):
        raise TypeError("takes a ScoreMatrix, whose axes are named; a bare array may be transposed")
    return matrix.values


def _one(matrices: Sequence[ScoreMatrix], statistic: Statistic) -> Estimate:
    arrays = [_values(matrix) for matrix in matrices]
    seeds = min(map(len, arrays))
    if seeds == 0:
        return Estimate(np.nan, np.nan, np.nan, 0)
    band = interval(arrays, statistic)
    return Estimate(float(band.value[0]), float(band.low[0]), float(band.high[0]), seeds)
