"""Estimates with 95 % intervals: rliable's stratified bootstrap over seeds, vectorised.

The unit of replication is the seed: a run is one number, or one curve, before it comes here. The
resamples are those that `rliable.library.get_interval_estimates` draws from its (global) generator
when that is seeded alike, and the intervals equal its own; a test compares. Drawn and evaluated all
at once they take a tenth of the time, and no global random state.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pandas as pd

REPETITIONS = 2000
MIN_SEEDS = 3  # fewer give a point and no interval
_SEED = 20240531  # of the resampling; any number, always the same one
_CHUNK = 2**22  # values of resamples in memory at a time
_LEVELS = 2.5, 97.5  # percentiles that enclose 95 %

Statistic = Callable[..., np.ndarray]  # (..., seeds, tasks, points), once or more -> (..., points)


@dataclass(frozen=True)
class ScoreMatrix:
    """One number per run of a method: rows are seeds, columns tasks, and no other way round."""

    method: str
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


def mean(values: np.ndarray) -> np.ndarray:
    """Mean over seeds and tasks."""
    return values.mean(axis=(-3, -2))


def iqm(values: np.ndarray) -> np.ndarray:
    """Interquartile mean: the mean of the middle half of all runs of all tasks."""
    runs = values.reshape(*values.shape[:-3], -1, values.shape[-1])  # (..., runs, points)
    cut = runs.shape[-2] // 4
    return np.sort(runs, axis=-2)[..., cut : runs.shape[-2] - cut, :].mean(axis=-2)


def median(values: np.ndarray) -> np.ndarray:
    """Median over tasks of the mean over seeds."""
    return np.median(values.mean(axis=-3), axis=-2)


def optimality_gap(values: np.ndarray) -> np.ndarray:
    """How far runs stay below 1 on average; what exceeds 1 makes up for nothing."""
    return 1 - np.minimum(values, 1).mean(axis=(-3, -2))


STATISTICS: dict[str, Statistic] = {
    "iqm": iqm,
    "mean": mean,
    "median": median,
    "optimality_gap": optimality_gap,
}


def estimate(matrix: ScoreMatrix, statistic: str) -> Estimate:
    """An aggregate over all tasks, one of STATISTICS; NaN without seeds."""
    return _one([matrix], STATISTICS[statistic])


def probability_of_improvement(x: ScoreMatrix, y: ScoreMatrix) -> Estimate:
    """How likely a run of x beats one of y on the same task, averaged over tasks; ties are half."""
    if x.tasks != y.tasks:
        raise ValueError(f"not the same tasks: {x.tasks} and {y.tasks}")
    return _one([x, y], _improvement)


def performance_profile(matrix: ScoreMatrix, thresholds: Sequence[float]) -> pd.DataFrame:
    """The share of runs that score above each threshold: threshold, value, low, high, seeds."""
    limits = np.asarray(thresholds, dtype=float)
    band = interval([_values(matrix)], lambda values: mean(values > limits))
    return pd.DataFrame({"threshold": limits, **band._asdict(), "seeds": len(matrix.seeds)})


def interval(arrays: Sequence[np.ndarray], statistic: Statistic) -> Band:
    """A statistic of (seeds, tasks, points) arrays, with intervals if all have 3 seeds or more."""
    if min(len(array) for array in arrays) == 0:
        raise ValueError("no seeds to estimate from")
    value = np.asarray(statistic(*arrays), dtype=float)
    if min(len(array) for array in arrays) < MIN_SEEDS:
        return Band(value, np.full_like(value, np.nan), np.full_like(value, np.nan))
    found = np.concatenate([statistic(*samples) for samples in _resamples(arrays)])
    return Band(value, *np.percentile(found, _LEVELS, axis=0))


def _resamples(arrays: Sequence[np.ndarray]) -> Iterator[list[np.ndarray]]:
    """Bootstrap samples (some repetitions, seeds, tasks, points) of each array, REPETITIONS in all.

    Every task and point is resampled by itself (stratified), and every array on its own.
    """
    rng = np.random.RandomState(_SEED)  # the kind that rliable draws from
    at_once = max(1, _CHUNK // max(array.size for array in arrays))
    for start in range(0, REPETITIONS, at_once):
        repetitions = min(at_once, REPETITIONS - start)
        yield [_resample(array, repetitions, rng) for array in arrays]


def _resample(array: np.ndarray, repetitions: int, rng: np.random.RandomState) -> np.ndarray:
    """(repetitions, seeds, tasks, points): each value that of a random seed."""
    seeds = rng.choice(len(array), (repetitions, *array.shape))
    return np.take_along_axis(array[None], seeds, axis=1)


def _improvement(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Share of pairs of runs in which x is better, ties half: rliable's, for all tasks at once."""
    difference = x[..., :, None, :, :] - y[..., None, :, :, :]  # (..., of x, of y, tasks, 1)
    return ((difference > 0) + 0.5 * (difference == 0)).mean(axis=(-4, -3, -2))


def _values(matrix: ScoreMatrix) -> np.ndarray:
    """(seeds, tasks, 1)."""
    if not isinstance(matrix, ScoreMatrix):
        raise TypeError("takes a ScoreMatrix, whose axes are named; a bare array may be transposed")
    return matrix.values[..., None]


def _one(matrices: Sequence[ScoreMatrix], statistic: Statistic) -> Estimate:
    arrays = [_values(matrix) for matrix in matrices]
    seeds = min(map(len, arrays))
    if seeds == 0:
        return Estimate(np.nan, np.nan, np.nan, 0)
    band = interval(arrays, statistic)
    return Estimate(float(band.value[0]), float(band.low[0]), float(band.high[0]), seeds)
