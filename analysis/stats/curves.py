"""Learning curves: each run is smoothed, then the mean or IQM over seeds is taken."""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from analysis.stats.intervals import MIN_SEEDS, interval, iqm, mean
from analysis.stats.tables import normalise
from explore_suite.tasks import lookup

CURVE_COLUMNS = ["episode", "mean", "low", "high", "seeds"]


class Drawn(NamedTuple):
    """The runs that a curve is the mean of, and its last episode."""

    seeds: list[int]
    last: int


def seed_curves(
    rows: pd.DataFrame, window: int, column: str = "return", skip: int = 0
) -> pd.DataFrame:
    """The smoothed runs behind a learning curve (selected by `drawn`), by episode and seed.

    `rows` are the episodes of one method on one task. Column "return" is of evaluations, "coverage"
    of training. The first `skip` episodes are left out, and episodes are numbered after them.
    Window 0 does not smooth.
    """
    seeds, last = drawn(reach(rows, window))
    runs = by_seed(rows, column, skip)[seeds].apply(_smooth, window=window)
    return runs[runs.index <= last - skip].dropna()


def mean_curve(runs: pd.DataFrame) -> pd.DataFrame:
    """The mean over the runs of `seed_curves`, with columns CURVE_COLUMNS and 95 % intervals."""
    if runs.empty:
        return pd.DataFrame(columns=CURVE_COLUMNS)
    values = runs.to_numpy().T[:, None]  # (seeds, 1, episodes)
    band = interval([values], mean)
    return pd.DataFrame(dict(zip(CURVE_COLUMNS, (runs.index, *band, runs.shape[1]), strict=True)))


def suite_curve(
    by_task: Mapping[str, pd.DataFrame], seeds: Sequence[int], window: int
) -> pd.DataFrame:
    """IQM over seeds and tasks of normalised evaluation returns, with columns CURVE_COLUMNS.

    `by_task` are the episodes of one method by task. `seeds` must have runs on all tasks; the curve
    ends where the shortest of these runs does. The IQM is in column `mean`.
    """
    runs = {task: _normalised(rows, task, window)[list(seeds)] for task, rows in by_task.items()}
    ends = [reach(rows, window).end.loc[list(seeds)] for rows in by_task.values()]
    aligned = pd.concat(runs, axis=1).loc[: min(end.min() for end in ends)].dropna()
    values = aligned.to_numpy().T.reshape(len(by_task), len(seeds), -1).swapaxes(0, 1)
    band = interval([values], iqm)
    return pd.DataFrame(dict(zip(CURVE_COLUMNS, (aligned.index, *band, len(seeds)), strict=True)))


def by_seed(rows: pd.DataFrame, column: str = "return", skip: int = 0) -> pd.DataFrame:
    """Evaluation returns (or training coverage): a row per episode, a column per seed.

    NaN after the end of a run.
    """
    phase = "train" if column == "coverage" else "eval"
    mine = rows[(rows.phase == phase) & (rows.episode > skip)]
    runs = mine.pivot(index="episode", columns="seed", values=column)
    runs.index -= skip
    return runs


def reach(rows: pd.DataFrame, window: int = 0) -> pd.DataFrame:
    """By seed: `end`, the last episode of the smoothed curve, and whether the run is `finished`.

    An unfinished run ends half a window early, because later evaluations would change the smoothed
    values there.
    """
    seeds, first, run = np.unique(rows.seed.to_numpy(), return_index=True, return_inverse=True)
    end = np.zeros(len(seeds), dtype=int)
    np.maximum.at(end, run, np.where(rows.phase == "eval", rows.episode, 0))
    finished = rows.finished.to_numpy(dtype=bool)[first]
    end = np.maximum(end - (window // 2) * ~finished, 0)
    columns = {"end": end, "finished": finished}
    return pd.DataFrame(columns, index=pd.Index(seeds.astype(int), name="seed"))


def drawn(runs: pd.DataFrame) -> Drawn:
    """The runs of a curve and its length, from the result of `reach`.

    They are the finished runs, or all if none is finished, that have `shared_length` episodes.
    """
    pool = runs[runs.finished] if runs.finished.any() else runs
    last = shared_length(pool.end)
    return Drawn(pool.index[pool.end >= last].tolist(), last)


def shared_length(lengths: Iterable[int]) -> int:
    """Largest L such that most runs (and at least three, if there are three) have L episodes.

    So one short run does not shorten the curve, and one long run does not extend it.
    """
    ordered = sorted(map(int, lengths), reverse=True)
    most = min(len(ordered), max(MIN_SEEDS, len(ordered) // 2 + 1))
    return ordered[most - 1] if ordered else 0


def not_drawn(rows: pd.DataFrame, window: int) -> list[str]:
    """The runs and episodes missing from a curve, in words."""
    runs = reach(rows)
    seeds, last = drawn(reach(rows, window))
    absent = [
        f"seed {run.Index} ({'finished' if run.finished else 'unfinished'}, {run.end} episodes)"
        for run in runs.itertuples()
        if run.Index not in seeds
    ]
    longer = [f"seed {seed} after episode {last}" for seed in seeds if runs.end[seed] > last]
    return absent + longer


def width(window: int) -> int:
    """Number of evaluations in a smoothing window: 21 for 20; 6 for 5, three before, two after."""
    return 2 * (window // 2) + 1 + window % 2


def _normalised(rows: pd.DataFrame, task: str, window: int) -> pd.DataFrame:
    return normalise(by_seed(rows).apply(_smooth, window=window), lookup(task))


def _smooth(run: pd.Series, window: int) -> pd.Series:
    """Centred rolling mean, over fewer episodes at both ends; NaN after the end of the run."""
    return run.rolling(width(window), center=True, min_periods=1).mean().where(run.notna())
