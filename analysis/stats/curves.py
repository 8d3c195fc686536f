"""Curves over training: each run smoothed by itself, then the mean or IQM over seeds."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import pandas as pd

from analysis.stats.intervals import MIN_SEEDS, interval, iqm, mean
from explore_suite.tasks import lookup

COLUMNS = ["episode", "mean", "low", "high", "seeds"]


class Drawn(NamedTuple):
    """Which runs make a curve, and how far it goes."""

    seeds: list[int]
    last: int  # episode


def curve(
    table: pd.DataFrame,
    method: str,
    task: str,
    window: int,
    column: str = "return",
    skip: int = 0,
) -> pd.DataFrame:
    """Mean over seeds of a method's evaluations on a task: episode, mean, low, high, seeds.

    Every point is of the same runs, those of `drawn`. The first `skip` episodes are left out, and
    episodes counted from there. With column "coverage" it is the training's; window 0 does not
    smooth.
    """
    seeds, last = drawn(reach(table, method, task, window))
    runs = by_seed(table, method, task, column, skip)[seeds].apply(_smooth, window=window)
    runs = runs[runs.index <= last - skip].dropna()
    if runs.empty:
        return pd.DataFrame(columns=COLUMNS)
    values = runs.to_numpy().T[:, None]  # (seeds, 1, episodes)
    band = interval([values], mean)
    return pd.DataFrame(dict(zip(COLUMNS, (runs.index, *band, len(seeds)), strict=True)))


def suite_curve(
    table: pd.DataFrame,
    method: str,
    tasks: Sequence[str],
    seeds: Sequence[int],
    window: int,
) -> pd.DataFrame:
    """IQM over seeds and tasks of normalised evaluation returns: episode, mean, low, high, seeds.

    `seeds` are those of the method's score matrix, which all tasks have; the curve ends where the
    shortest of these runs does. The column is called `mean` as in `curve`.
    """
    runs = {task: _normalised(table, method, task, window)[list(seeds)] for task in tasks}
    ends = [reach(table, method, task, window).end.loc[list(seeds)] for task in tasks]
    aligned = pd.concat(runs, axis=1).loc[: min(end.min() for end in ends)].dropna()
    values = aligned.to_numpy().T.reshape(len(tasks), len(seeds), -1).swapaxes(0, 1)
    band = interval([values], iqm)
    return pd.DataFrame(dict(zip(COLUMNS, (aligned.index, *band, len(seeds)), strict=True)))


def by_seed(
    table: pd.DataFrame, method: str, task: str, column: str = "return", skip: int = 0
) -> pd.DataFrame:
    """Evaluation returns (or training coverage) by episode and seed; NaN where a run ended."""
    mine = _runs(table, method, task)
    phase = "train" if column == "coverage" else "eval"
    mine = mine[(mine.phase == phase) & (mine.episode > skip)]
    runs = mine.pivot(index="episode", columns="seed", values=column)
    runs.index -= skip
    return runs


def reach(table: pd.DataFrame, method: str, task: str, window: int = 0) -> pd.DataFrame:
    """By seed: `end`, the last episode that smoothing can show; `finished`; `budget`.

    At the end of an unfinished run, evaluations that are still to come belong into the window.
    """
    mine = _runs(table, method, task)
    evaluated = mine.episode.where(mine.phase == "eval", 0)
    runs = mine.assign(evaluated=evaluated).groupby("seed")
    runs = runs.agg(
        end=("evaluated", "max"), finished=("finished", "first"), budget=("episodes", "first")
    )
    runs["finished"] = runs.finished.astype(bool)
    runs["end"] = (runs.end - (window // 2) * ~runs.finished).clip(lower=0)
    return runs


def drawn(runs: pd.DataFrame) -> Drawn:
    """Of the runs of `reach`: the finished ones, or all if none is, as far as most of them go."""
    pool = runs[runs.finished] if runs.finished.any() else runs
    last = shared_length(pool.end)
    return Drawn(pool.index[pool.end >= last].tolist(), last)


def shared_length(lengths: Iterable[int]) -> int:
    """Largest L such that most runs (and at least three, if there are three) have L episodes.

    A single short run then shortens nothing, and a single long one stands for nobody else.
    """
    ordered = sorted(map(int, lengths), reverse=True)
    most = min(len(ordered), max(MIN_SEEDS, len(ordered) // 2 + 1))
    return ordered[most - 1] if ordered else 0


def not_drawn(table: pd.DataFrame, method: str, task: str) -> list[str]:
    """What of a method's runs on a task its curve does not show: one line, or none."""
    runs = reach(table, method, task)
    seeds, last = drawn(reach(table, method, task, lookup(task).smoothing))
    absent = [
        f"seed {run.Index} ({'finished' if run.finished else 'unfinished'}, {run.end} episodes)"
        for run in runs.itertuples()
        if run.Index not in seeds
    ]
    longer = [f"seed {seed} after episode {last}" for seed in seeds if runs.end[seed] > last]
    found = absent + longer
    return [f"{method} {task}: not in curves: {', '.join(found)}"] if found else []


def width(window: int) -> int:
    """How many evaluations a window smooths over: 21 of 20; 6 of 5, three before and two after."""
    return 2 * (window // 2) + 1 + window % 2


def _runs(table: pd.DataFrame, method: str, task: str) -> pd.DataFrame:
    return table[(table.method == method) & (table.task == task)]


def _normalised(table: pd.DataFrame, method: str, task: str, window: int) -> pd.DataFrame:
    spec = lookup(task)
    runs = by_seed(table, method, task).apply(_smooth, window=window)
    return (runs - spec.random_return) / (spec.best_return - spec.random_return)


def _smooth(run: pd.Series, window: int) -> pd.Series:
    """Centred rolling mean over the episodes there are; where the run has none, none."""
    return run.rolling(width(window), center=True, min_periods=1).mean().where(run.notna())
