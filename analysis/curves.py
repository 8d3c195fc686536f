"""Curves over training: each seed smoothed by itself, then the mean or IQM over seeds."""

from collections.abc import Sequence

import pandas as pd

from analysis.bootstrap import interval, iqm
from explore_suite.tasks import lookup

# Evaluations on each side of the one that is smoothed, by task group: the published windows.
# Half a window before and half after, so 20 means 21 episodes; 5 means three before, two after.
WINDOWS = {"explore": 20, "original": 20, "hallway": 5, "grid": 10}
COLUMNS = ["episode", "mean", "low", "high", "seeds"]


def curve(
    table: pd.DataFrame,
    preset: str,
    agent: str,
    task: str,
    window: int,
    column: str = "return",
    skip: int = 0,
) -> pd.DataFrame:
    """Mean over seeds of an agent's evaluations on a task: episode, mean, low, high, seeds.

    Each episode is averaged over the runs that reach it; `seeds` says how many those are. The first
    `skip` episodes are left out, and episodes counted from there. With column "coverage" it is
    the training's; window 0 does not smooth.
    """
    runs = by_seed(table, preset, agent, task, column, skip).apply(_smooth, window=window)
    parts = [_mean(runs.loc[episodes]) for episodes in _constant_seeds(runs)]
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=COLUMNS)


def suite_curve(
    table: pd.DataFrame,
    preset: str,
    agent: str,
    tasks: Sequence[str],
    seeds: Sequence[int],
    window: int,
) -> pd.DataFrame:
    """IQM over seeds and tasks of normalised evaluation returns: episode, mean, low, high, seeds.

    `seeds` are those of the agent's score matrix, which all tasks have; the curve ends where the
    shortest of these runs does. The column is called `mean` as in `curve`.
    """
    runs = {task: _normalised(table, preset, agent, task, window)[list(seeds)] for task in tasks}
    aligned = pd.concat(runs, axis=1).dropna()  # columns: tasks, within each its seeds
    values = aligned.to_numpy().T.reshape(len(tasks), len(seeds), -1).swapaxes(0, 1)
    band = interval([values], iqm)
    return pd.DataFrame(dict(zip(COLUMNS, (aligned.index, *band, len(seeds)), strict=True)))


def by_seed(
    table: pd.DataFrame, preset: str, agent: str, task: str, column: str = "return", skip: int = 0
) -> pd.DataFrame:
    """Evaluation returns (or training coverage) by episode and seed; NaN where a run ended."""
    phase = "train" if column == "coverage" else "eval"
    mine = table[
        (table.preset == preset)
        & (table.agent == agent)
        & (table.task == task)
        & (table.phase == phase)
        & (table.episode > skip)
    ]
    runs = mine.pivot(index="episode", columns="seed", values=column)
    runs.index -= skip
    return runs


def _normalised(
    table: pd.DataFrame, preset: str, agent: str, task: str, window: int
) -> pd.DataFrame:
    sheet = lookup(task)
    runs = by_seed(table, preset, agent, task).apply(_smooth, window=window)
    return (runs - sheet.random_return) / (sheet.best_return - sheet.random_return)


def _smooth(run: pd.Series, window: int) -> pd.Series:
    """Centred rolling mean over the episodes there are; where the run has none, none."""
    width = 2 * (window // 2) + 1 + window % 2
    return run.rolling(width, center=True, min_periods=1).mean().where(run.notna())


def _constant_seeds(runs: pd.DataFrame) -> list[pd.Index]:
    """The episodes, split where the set of seeds that reach them changes."""
    present = runs.notna()
    change = (present != present.shift(fill_value=False)).any(axis=1).cumsum()
    return [part.index for _, part in runs.groupby(change)]


def _mean(runs: pd.DataFrame) -> pd.DataFrame:
    """One part of a curve: (episodes, seeds) without gaps to mean and interval."""
    values = runs.dropna(axis=1).to_numpy().T[:, None]  # (seeds, 1, episodes)
    band = interval([values], lambda sample: sample.mean(axis=(0, 1)))
    return pd.DataFrame(dict(zip(COLUMNS, (runs.index, *band, len(values)), strict=True)))
