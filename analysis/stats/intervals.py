"""Estimates with 95 % intervals: rliable's stratified bootstrap over seeds, vectorised.

The unit of replication is the seed: each run enters as one number or one curve. Estimates are
computed by `rliable.metrics`. The resamples and intervals equal those of
`rliable.library.get_interval_estimates` with the same seed; a test compares them. Computed all at
once they take a tenth of the time, and use no global random state.
"""

import math
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import pandas as pd
from rliable import metrics

REPETITIONS = 2000  # bootstrap resamples
MIN_SEEDS = 3  # with fewer there is no interval
_SEED = 20240531  # of the resampling; arbitrary, but the same for every estimate
_CHUNK = 2**22  # values of resamples in memory at a time
_KEPT_CHOICES = 2**25  # choices of seeds that are kept for the next arrays of the same shape
_LEVELS = 2.5, 97.5  # percentiles at the ends of the interval
_REMEMBERED = 4096  # intervals of STATISTICS that are kept: a report asks for most of them twice

Statistic = Callable[..., np.ndarray]  # (..., seeds, tasks, points), once or more -> (..., points)


@dataclass(frozen=True)
class ScoreMatrix:
    """One number per run of a method: rows are seeds, columns are tasks."""

    method: str
    cells: pd.DataFrame  # index "seed", columns "task", all finite
    missing: tuple[str, ...] = ()  # one line for each gap that kept seeds out of `cells`

    def __post_init__(self) -> None:
        names = (self.cells.index.name, self.cells.columns.name)
        if names != ("seed", "task"):
            raise ValueError(f"a score matrix is (seed, task), got {names}")
        if not np.isfinite(self.values).all():
            raise ValueError("a score matrix must be finite; leave out seeds that lack a task")

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
    """Estimates with intervals at several points of a curve."""

    value: np.ndarray
    low: np.ndarray
    high: np.ndarray

    def estimates(self, seeds: int) -> list[Estimate]:
        """One estimate per point, each with this number of seeds."""
        points = zip(*self, strict=True)
        return [
            Estimate(float(value), float(low), float(high), seeds) for value, low, high in points
        ]


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
    """Mean of 1 - score over all runs, with scores above 1 counted as 1."""
    return 1 - np.minimum(values, 1).mean(axis=(-3, -2))


STATISTICS: dict[str, Statistic] = {
    "iqm": iqm,
    "mean": mean,
    "median": median,
    "optimality_gap": optimality_gap,
}


def estimate(matrix: ScoreMatrix, statistic: str) -> Estimate:
    """The statistic named (a key of STATISTICS) over all runs and tasks; NaN without seeds."""
    return _one([matrix], STATISTICS[statistic], getattr(metrics, f"aggregate_{statistic}"))


def probability_of_improvement(x: ScoreMatrix, y: ScoreMatrix) -> Estimate:
    """Probability that a run of x beats one of y, averaged over tasks; ties count half."""
    return _pair(x, y, _improvement, metrics.probability_of_improvement)


def mean_difference(x: ScoreMatrix, y: ScoreMatrix) -> Estimate:
    """Mean over seeds and tasks of x minus that of y."""
    return _pair(x, y, lambda x, y: mean(x) - mean(y), lambda x, y: x.mean() - y.mean())


def performance_profile(matrix: ScoreMatrix, thresholds: Sequence[float]) -> pd.DataFrame:
    """Fraction of runs above each threshold, with columns threshold, value, low, high, seeds."""
    limits = np.asarray(thresholds, dtype=float)
    band = interval([_values(matrix)], lambda values: mean(values > limits))
    return pd.DataFrame({"threshold": limits, **band._asdict(), "seeds": len(matrix.seeds)})


def interval(arrays: Sequence[np.ndarray], statistic: Statistic) -> Band:
    """A statistic of (seeds, tasks, points) arrays, with its bootstrap interval.

    The interval is NaN if an array has fewer than MIN_SEEDS seeds.
    """
    if min(len(array) for array in arrays) == 0:
        raise ValueError("no seeds to estimate from")
    value = np.asarray(statistic(*arrays), dtype=float)
    if min(len(array) for array in arrays) < MIN_SEEDS:
        return Band(value, np.full_like(value, np.nan), np.full_like(value, np.nan))
    key = (statistic, REPETITIONS, *((array.shape, array.tobytes()) for array in arrays))
    if key not in _known:
        found = np.concatenate([statistic(*samples) for samples in _resamples(arrays)])
        low, high = np.percentile(found, _LEVELS, axis=0)
        if statistic not in STATISTICS.values():  # a lambda is never asked for again
            return Band(value, low, high)
        _known[key] = low, high
        if len(_known) > _REMEMBERED:
            _known.popitem(last=False)
    low, high = _known[key]
    return Band(value, low.copy(), high.copy())


# The ends of intervals, by statistic, repetitions and data.
_known: OrderedDict[tuple[object, ...], tuple[np.ndarray, np.ndarray]] = OrderedDict()


def _resamples(arrays: Sequence[np.ndarray]) -> Iterator[list[np.ndarray]]:
    """Yields chunks of bootstrap samples (repetitions, seeds, tasks, points) of every array.

    Every array, task and point is resampled independently (stratified).
    """
    shapes = tuple(array.shape for array in arrays)
    small = REPETITIONS * sum(array.size for array in arrays) <= _KEPT_CHOICES
    for choices in _kept_choices(shapes, REPETITIONS) if small else _choices(shapes, REPETITIONS):
        yield [
            np.take_along_axis(array[None], seeds.astype(np.intp), axis=1)
            for array, seeds in zip(arrays, choices, strict=True)
        ]


def _choices(shapes: Sequence[tuple[int, ...]], repetitions: int) -> Iterator[list[np.ndarray]]:
    """The seeds of the resamples of arrays of these shapes, some repetitions at a time."""
    rng = np.random.RandomState(_SEED)  # rliable's kind of generator
    at_once = max(1, _CHUNK // max(map(math.prod, shapes)))
    for start in range(0, repetitions, at_once):
        some = min(at_once, repetitions - start)
        yield [
            rng.choice(seeds, (some, seeds, *rest)).astype(np.min_scalar_type(seeds))
            for seeds, *rest in shapes
        ]


@lru_cache(maxsize=8)
def _kept_choices(shapes: tuple[tuple[int, ...], ...], repetitions: int) -> list[list[np.ndarray]]:
    """`_choices`, cached: drawing takes most of the time, and many arrays have the same shape."""
    return list(_choices(shapes, repetitions))


def _improvement(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Fraction of pairs of runs in which x is better, ties count half; as rliable computes it."""
    difference = x[..., :, None, :, :] - y[..., None, :, :, :]  # (..., of x, of y, tasks, 1)
    return ((difference > 0) + 0.5 * (difference == 0)).mean(axis=(-4, -3, -2))


def _values(matrix: ScoreMatrix) -> np.ndarray:
    """The numbers of a matrix, (seeds, tasks, 1)."""
    if not isinstance(matrix, ScoreMatrix):
        raise TypeError("expected a ScoreMatrix, not an array, whose axes might be swapped")
    return matrix.values[..., None]


def _pair(
    x: ScoreMatrix, y: ScoreMatrix, statistic: Statistic, of_all: Callable[..., float]
) -> Estimate:
    if x.tasks != y.tasks:
        raise ValueError(f"not the same tasks: {x.tasks} and {y.tasks}")
    return _one([x, y], statistic, of_all)


def _one(
    matrices: Sequence[ScoreMatrix], statistic: Statistic, of_all: Callable[..., float]
) -> Estimate:
    """Value and interval: `of_all` computes the value, `statistic` that of each resample."""
    arrays = [_values(matrix) for matrix in matrices]
    seeds = min(map(len, arrays))
    if seeds == 0:
        return Estimate(np.nan, np.nan, np.nan, 0)
    (found,) = interval(arrays, statistic).estimates(seeds)
    return found._replace(value=float(of_all(*(matrix.values for matrix in matrices))))
