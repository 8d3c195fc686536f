"""`Results`: the numbers behind figures, claims and leaderboard, each computed once."""

import logging
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any

import pandas as pd

from analysis.stats.curves import mean_curve, not_drawn, seed_curves, suite_curve
from analysis.stats.intervals import Estimate, ScoreMatrix, estimate
from analysis.stats.methods import NAMES, ordered
from analysis.stats.stores import REFERENCE
from analysis.stats.tables import StoredRun, episode_table, load, matrix, run_scores
from explore_suite.errors import UserError
from explore_suite.runs.states import States
from explore_suite.runs.store import LeftOut, ResultStore
from explore_suite.tasks import CONTROL, lookup

WARM_EPISODES = 20  # grid-world warm start by the scripted expert; figures number from its end


class NotEnoughRuns(Exception):  # noqa: N818 - missing runs are no error
    """The runs that a figure needs are missing; the message says which."""


class Results:
    """Scores, learning curves and score matrices of a set of runs, by method; cached."""

    def __init__(
        self, runs: Sequence[StoredRun], left_out: Sequence[LeftOut] = (), last: int | None = None
    ) -> None:
        """`left_out` are runs that cannot be used; `last` is explained in `run_scores`."""
        self.runs, self.left_out, self.last = runs, left_out, last
        self.chosen: tuple[str, ...] = ()  # methods that a user asked for, if any
        self.table = episode_table(runs)
        self._seed_curves: dict[tuple[Any, ...], pd.DataFrame] = {}

    @classmethod
    def of(cls, *stores: Path | str, last: int | None = None) -> "Results":
        """The results of all runs in these stores."""
        return cls(*load(stores), last)

    def reference(self, preset: str) -> "Results":
        """The runs of one preset: the published ones, or if there are none those of all stores.

        Methods are named by the agent's label alone.
        """
        runs = [run for run in self.runs if run.header.preset == preset]
        published = [run for run in runs if run.origin == REFERENCE]
        plain = [replace(run, method=run.header.agent) for run in published or runs]
        kept = [one for one in self.left_out if one.path.parts[0] == preset]
        return Results(plain, kept, self.last)

    def only(self, methods: Sequence[str]) -> "Results":
        """The same runs, with figures restricted to these methods; UserError if one has no runs."""
        unknown = [method for method in methods if method not in self.methods]
        if unknown:
            raise UserError(f"no runs of {', '.join(unknown)}; there are {', '.join(self.methods)}")
        chosen = Results(self.runs, self.left_out, self.last)
        chosen.chosen = tuple(methods)
        return chosen

    def shown(self, usual: Sequence[str]) -> list[str]:
        """The methods of a figure: those chosen by `only`, else `usual` and the users' methods."""
        if self.chosen:
            return list(self.chosen)
        users = {
            run.method for run in self.runs if run.origin != REFERENCE and run.method not in NAMES
        }
        return [*usual, *ordered(users)]

    @cached_property
    def scores(self) -> pd.DataFrame:
        """One row per run; see `run_scores`."""
        return run_scores(self.table, self.last)

    @cached_property
    def methods(self) -> list[str]:
        """Every method with a run, in the order of tables and legends."""
        return ordered(self.table.method.unique())

    def seeds(self, method: str, task: str) -> list[int]:
        """The seeds of all runs with at least one episode."""
        return sorted(set(self.episodes(method, task).seed))

    def episodes(self, method: str, task: str) -> pd.DataFrame:
        """The rows of `table` of one method on one task; none without runs."""
        return self._by_cell.get((method, task), self.table.iloc[:0])

    def curve(
        self, method: str, task: str, column: str = "return", skip: int = 0
    ) -> pd.DataFrame | None:
        """The learning curve (see `mean_curve`); None without runs. Only returns are smoothed."""
        found = mean_curve(self.seed_curves(method, task, column, skip))
        return None if found.empty else found

    def seed_curves(
        self, method: str, task: str, column: str = "return", skip: int = 0
    ) -> pd.DataFrame:
        """The runs that `curve` is the mean of, by episode and seed; empty without runs."""
        key = (method, task, column, skip)
        if key not in self._seed_curves:
            window = lookup(task).smoothing if column == "return" else 0
            self._seed_curves[key] = seed_curves(self.episodes(method, task), window, column, skip)
        return self._seed_curves[key]

    def matrix(self, method: str, tasks: Sequence[str], column: str = "normalised") -> ScoreMatrix:
        """The method's scores by seed and task."""
        return matrix(self.scores, method, tasks, column)

    def score(self, method: str, task: str) -> tuple[Estimate, list[float]]:
        """The mean score of a method on a task, with interval, and the score of each seed."""
        found = self.matrix(method, [task], "score")
        return estimate(found, "mean"), found.values[:, 0].tolist()

    def complete(
        self, tasks: Sequence[str], methods: Sequence[str] | None = None
    ) -> dict[str, ScoreMatrix]:
        """The matrix of every method that has at least one seed with scores on all tasks."""
        pool = ordered(self.table[self.table.task.isin(tasks)].method.unique())
        found = {
            method: self.matrix(method, tasks)
            for method in pool
            if methods is None or method in methods
        }
        return {method: cells for method, cells in found.items() if cells.seeds}

    def suite_curve(self, cells: ScoreMatrix) -> pd.DataFrame:
        """The suite's learning curve (`curves.suite_curve`) for the seeds and tasks of a matrix."""
        by_task = {task: self.episodes(cells.method, task) for task in cells.tasks}
        return suite_curve(by_task, cells.seeds, lookup(cells.tasks[0]).smoothing)

    def states(self, method: str, task: str) -> tuple[int, States] | None:
        """The first states file among the method's runs, after its seed; None if there is none.

        One that cannot be read is left out with a message: the run itself may be sound.
        """
        for run in self.runs:
            if run.method == method and lookup(run.header.task).name == task:
                try:
                    found = ResultStore(run.store).states(run.header.key)
                except UserError as error:
                    logging.warning("  left out: %s", error)
                    continue
                if found is not None:
                    return run.header.seed, found
        return None

    def missing(self) -> list[str]:
        """One line for each run, or part of one, that figures leave out."""
        methods = ordered(self.table[self.table.task.isin(CONTROL)].method.unique())
        lines = [line for method in methods for line in self.matrix(method, CONTROL).missing]
        for (method, task), rows in self._by_cell.items():
            left = not_drawn(rows, lookup(task).smoothing)
            lines += [f"{method} {task}: not in curves: {', '.join(left)}"] if left else []
        return [*(f"left out: {one.why}" for one in self.left_out), *lines]

    @cached_property
    def _by_cell(self) -> dict[tuple[str, str], pd.DataFrame]:
        return dict(list(self.table.groupby(["method", "task"])))
