"""What a figure may ask for: every number of one preset, computed once, none by the figure."""

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import pandas as pd

from analysis.stats.curves import curve, not_drawn, suite_curve
from analysis.stats.intervals import (
    Estimate,
    ScoreMatrix,
    estimate,
    performance_profile,
    probability_of_improvement,
)
from analysis.stats.methods import ordered
from analysis.stats.tables import load, matrix, run_scores
from explore_suite.runs.format import RunKey
from explore_suite.runs.store import LeftOut, ResultStore
from explore_suite.tasks import CONTROL, lookup

WARM_EPISODES = 20  # of the grid world, played by the skilled policy; figures count from there
THRESHOLDS = tuple(step / 50 for step in range(51))  # of normalised scores


class NotEnoughRuns(Exception):  # noqa: N818 - it is no error that nobody has trained yet
    """The store lacks the runs of a figure; the message says which."""


class Results:
    """A store as figures see it. Curves are smoothed as their task's group was when published."""

    def __init__(
        self,
        root: Path | str,
        preset: str,
        table: pd.DataFrame | None = None,
        last: int | None = None,
        left_out: Sequence[LeftOut] = (),
    ) -> None:
        """Reads the store unless its table of episodes is given; `last` as of `run_scores`."""
        if table is None:
            table, left_out = load(root)
        self.store = ResultStore(root)
        self.preset = preset
        self._last = last
        self.table = table[table.preset == preset]
        self.left_out = [one for one in left_out if one.path.parts[0] == preset]
        self._curves: dict[tuple[Any, ...], pd.DataFrame] = {}

    @cached_property
    def scores(self) -> pd.DataFrame:
        """One row per run."""
        return run_scores(self.table, self._last)

    @cached_property
    def agents(self) -> list[str]:
        """Everyone with a run, in order."""
        return ordered(self.table.agent.unique())

    def seeds(self, agent: str, task: str) -> list[int]:
        """Seeds with any episode."""
        mine = self._of(agent)
        return sorted(set(mine[mine.task == task].seed))

    def curve(
        self, agent: str, task: str, column: str = "return", skip: int = 0
    ) -> pd.DataFrame | None:
        """Mean over seeds by episode, with interval; None without runs. Returns are smoothed."""
        key = (agent, task, column, skip)
        if key not in self._curves:
            window = lookup(task).smoothing if column == "return" else 0
            self._curves[key] = curve(self._of(agent), self.preset, *key[:2], window, column, skip)
        found = self._curves[key]
        return None if found.empty else found

    def matrix(self, agent: str, tasks: Sequence[str], column: str = "normalised") -> ScoreMatrix:
        """The agent's runs by seed and task."""
        return matrix(self.scores, agent, tasks, self.preset, column)

    def score(self, agent: str, task: str) -> tuple[Estimate, list[float]]:
        """Mean score of an agent on a task, with interval, and the score of each seed."""
        found = self.matrix(agent, [task], "score")
        return estimate(found, "mean"), found.values[:, 0].tolist()

    def complete(self, tasks: Sequence[str]) -> dict[str, ScoreMatrix]:
        """The matrix of every agent that has a seed with scores on all of these tasks, in order."""
        agents = ordered(self.table[self.table.task.isin(tasks)].agent.unique())
        found = {agent: self.matrix(agent, tasks) for agent in agents}
        complete = {agent: cells for agent, cells in found.items() if cells.seeds}
        if not complete:
            raise NotEnoughRuns(f"no agent has scores on all of {', '.join(tasks)}")
        return complete

    def suite_curve(self, cells: ScoreMatrix) -> pd.DataFrame:
        """IQM of normalised returns by episode, over the seeds and tasks of a matrix."""
        window = lookup(cells.tasks[0]).smoothing
        table = self._of(cells.agent)
        return suite_curve(table, self.preset, cells.agent, cells.tasks, cells.seeds, window)

    def profile(self, cells: ScoreMatrix) -> pd.DataFrame:
        """Share of runs above each threshold."""
        return performance_profile(cells, THRESHOLDS)

    def aggregate(self, cells: ScoreMatrix, statistic: str) -> Estimate:
        """An aggregate over tasks, with interval."""
        return estimate(cells, statistic)

    def improvement(self, x: ScoreMatrix, y: ScoreMatrix) -> Estimate:
        """How likely x beats y."""
        return probability_of_improvement(x, y)

    def states(self, agent: str, task: str) -> dict[str, Any] | None:
        """The states file of the first seed that left one."""
        for seed in self.seeds(agent, task):
            found = self.store.states(RunKey(self.preset, agent, lookup(task).id, seed))
            if found is not None:
                return found | {"seed": seed}
        return None

    def missing(self) -> list[str]:
        """What keeps runs out of figures, one line each."""
        agents = ordered(self.table[self.table.task.isin(CONTROL)].agent.unique())
        lines = [line for agent in agents for line in self.matrix(agent, CONTROL).missing]
        for (agent, task), rows in self.table.groupby(["agent", "task"]):
            lines += not_drawn(rows, self.preset, agent, task)
        return [*(f"left out: {one.why}" for one in self.left_out), *lines]

    def _of(self, agent: str) -> pd.DataFrame:
        """The agent's part of the table."""
        return self._by_agent.get(agent, self.table.iloc[:0])

    @cached_property
    def _by_agent(self) -> dict[str, pd.DataFrame]:
        return dict(list(self.table.groupby("agent")))
