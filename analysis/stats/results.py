"""What figures, claims and the leaderboard ask for: every number of some runs, computed once."""

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any

import pandas as pd

from analysis.stats.curves import curve, not_drawn, suite_curve
from analysis.stats.intervals import Estimate, ScoreMatrix, estimate
from analysis.stats.methods import METHODS, ordered
from analysis.stats.stores import REFERENCE
from analysis.stats.tables import StoredRun, episode_table, load, matrix, run_scores
from explore_suite.errors import UserError
from explore_suite.runs.store import LeftOut, ResultStore
from explore_suite.tasks import CONTROL, lookup

WARM_EPISODES = 20  # of the grid world, played by the skilled policy; figures count from there


class NotEnoughRuns(Exception):  # noqa: N818 - it is no error that nobody has trained yet
    """The store lacks the runs of a figure; the message says which."""


class Results:
    """All numbers of some runs, each computed once, by method; curves as published."""

    def __init__(
        self, runs: Sequence[StoredRun], left_out: Sequence[LeftOut] = (), last: int | None = None
    ) -> None:
        """`left_out` are runs that cannot be used; `last` as of `run_scores`."""
        self.runs, self.left_out, self._last = runs, left_out, last
        self.chosen: tuple[str, ...] = ()  # methods that a user asked for, if any
        self.table = episode_table(runs)
        self._curves: dict[tuple[Any, ...], pd.DataFrame] = {}

    @classmethod
    def of(cls, *stores: Path | str, last: int | None = None) -> "Results":
        """The results of these stores."""
        return cls(*load(stores), last)

    def reference(self, preset: str) -> "Results":
        """The runs of one preset: of the published store if there are any, else of all stores.

        Their methods are the plain labels of their agents.
        """
        mine = [run for run in self.runs if run.header.preset == preset]
        published = [run for run in mine if run.origin == REFERENCE]
        plain = [replace(run, method=run.header.agent) for run in published or mine]
        kept = [one for one in self.left_out if one.path.parts[0] == preset]
        return Results(plain, kept, self._last)

    def only(self, methods: Sequence[str]) -> "Results":
        """The same runs, of which figures show just these methods; a UserError for unknown ones."""
        unknown = [method for method in methods if method not in self.methods]
        if unknown:
            raise UserError(f"no runs of {', '.join(unknown)}; there are {', '.join(self.methods)}")
        chosen = Results(self.runs, self.left_out, self._last)
        chosen.chosen = tuple(methods)
        return chosen

    def shown(self, usual: Sequence[str]) -> list[str]:
        """Methods of a figure: those asked for, else the usual ones and all guests."""
        if self.chosen:
            return list(self.chosen)
        guests = {
            run.method for run in self.runs if run.origin != REFERENCE and run.method not in METHODS
        }
        return [*usual, *ordered(guests)]

    @cached_property
    def scores(self) -> pd.DataFrame:
        """One row per run."""
        return run_scores(self.table, self._last)

    @cached_property
    def methods(self) -> list[str]:
        """Every method with a run, in order."""
        return ordered(self.table.method.unique())

    def seeds(self, method: str, task: str) -> list[int]:
        """Seeds with any episode."""
        mine = self._of(method)
        return sorted(set(mine[mine.task == task].seed))

    def curve(
        self, method: str, task: str, column: str = "return", skip: int = 0
    ) -> pd.DataFrame | None:
        """Mean over seeds by episode, with interval; None without runs. Returns are smoothed."""
        key = (method, task, column, skip)
        if key not in self._curves:
            window = lookup(task).smoothing if column == "return" else 0
            self._curves[key] = curve(self._of(method), *key[:2], window, column, skip)
        found = self._curves[key]
        return None if found.empty else found

    def matrix(self, method: str, tasks: Sequence[str], column: str = "normalised") -> ScoreMatrix:
        """The method's runs by seed and task."""
        return matrix(self.scores, method, tasks, column)

    def score(self, method: str, task: str) -> tuple[Estimate, list[float]]:
        """Mean score of a method on a task, with interval, and the score of each seed."""
        found = self.matrix(method, [task], "score")
        return estimate(found, "mean"), found.values[:, 0].tolist()

    def complete(
        self, tasks: Sequence[str], methods: Sequence[str] | None = None
    ) -> dict[str, ScoreMatrix]:
        """The matrix of every method that has a seed with scores on all tasks, in order."""
        pool = ordered(self.table[self.table.task.isin(tasks)].method.unique())
        found = {
            method: self.matrix(method, tasks)
            for method in pool
            if methods is None or method in methods
        }
        complete = {method: cells for method, cells in found.items() if cells.seeds}
        if not complete:
            raise NotEnoughRuns(f"no method has scores on all of {', '.join(tasks)}")
        return complete

    def suite_curve(self, cells: ScoreMatrix) -> pd.DataFrame:
        """IQM of normalised returns by episode, over the seeds and tasks of a matrix."""
        window = lookup(cells.tasks[0]).smoothing
        return suite_curve(self._of(cells.method), cells.method, cells.tasks, cells.seeds, window)

    def states(self, method: str, task: str) -> dict[str, Any] | None:
        """The states file of the first seed that left one."""
        for run in self.runs:
            if run.method == method and lookup(run.header.task).name == task:
                found = ResultStore(run.store).states(run.header.key)
                if found is not None:
                    return found | {"seed": run.header.seed}
        return None

    def missing(self) -> list[str]:
        """What keeps runs out of figures, one line each."""
        methods = ordered(self.table[self.table.task.isin(CONTROL)].method.unique())
        lines = [line for method in methods for line in self.matrix(method, CONTROL).missing]
        for (method, task), rows in self.table.groupby(["method", "task"]):
            lines += not_drawn(rows, method, task)
        return [*(f"left out: {one.why}" for one in self.left_out), *lines]

    def _of(self, method: str) -> pd.DataFrame:
        """The method's part of the table."""
        return self._by_method.get(method, self.table.iloc[:0])

    @cached_property
    def _by_method(self) -> dict[str, pd.DataFrame]:
        return dict(list(self.table.groupby("method")))
