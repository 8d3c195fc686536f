"""What claims ask of the finished runs of a preset: one number per run, by seed."""

from typing import NamedTuple

import pandas as pd

from analysis.stats.curves import by_seed, reach, shared_length
from analysis.stats.results import Results
from explore_suite.tasks import TASKS, lookup

FINAL_EPISODES = 20  # at the end of a run, as many as in the published bar chart


class Left(NamedTuple):
    """A run that is left out: unfinished, damaged, or too short for the number asked for."""

    seed: int
    episodes: int  # that it has; 0 if it is damaged
    budget: int
    finished: bool


class Sample(NamedTuple):
    """One number per run of an agent on a task."""

    agent: str
    task: str
    values: pd.Series  # by seed, no gaps
    needed: int = 0  # episodes of a run that has the number
    left: tuple[Left, ...] = ()


class Evidence:
    """Finished runs only, and of these only the ones long enough for the number asked for."""

    def __init__(self, results: Results) -> None:
        """Reads nothing: `results` has the table of episodes."""
        self.results = results
        finished = results.table[results.table.finished.astype(bool)]
        self._runs = {key: rows for key, rows in finished.groupby(["method", "task"])}
        self._reach = {
            key: reach(rows, *key) for key, rows in results.table.groupby(["method", "task"])
        }
        self._damaged: dict[tuple[str, str], list[Left]] = {}
        for header in (one.header for one in results.left_out):
            if header is not None and header.task in TASKS:
                left = Left(header.seed, 0, header.episodes, header.finished)
                self._damaged.setdefault((header.agent, lookup(header.task).name), []).append(left)

    def budget(self, task: str, *agents: str) -> int:
        """The training episodes over which these agents are compared on a task.

        The longest that most of their common seeds have finished with, and no less than it takes
        to the end of the task's score window; runs that are shorter are left out.
        """
        least = lookup(task).score_window[1]
        finished = [self._finished(agent, task) for agent in agents]
        common = pd.concat(finished, axis=1, join="inner").min(axis=1)
        return max(least, shared_length(common[common >= least]))

    def score(self, agent: str, task: str) -> Sample:
        """Scores, normalised: 0 is the return of random actions, 1 the best known or its bound."""
        return self._scores(agent, task, "normalised")

    def plain_score(self, agent: str, task: str) -> Sample:
        """Scores, in the units of the reward."""
        return self._scores(agent, task, "score")

    def returns(self, agent: str, task: str, first: int, last: int) -> Sample:
        """Mean evaluation return of episodes first to last."""
        return self._mean(agent, task, "return", first, last)

    def whole(self, agent: str, task: str, budget: int) -> Sample:
        """Mean normalised evaluation return of all episodes of a budget: the curve's height."""
        return _normalised(self.returns(agent, task, 1, budget))

    def final(self, agent: str, task: str, budget: int) -> Sample:
        """Mean normalised evaluation return of the last episodes of a budget."""
        return _normalised(self.returns(agent, task, budget - FINAL_EPISODES + 1, budget))

    def coverage(self, agent: str, task: str, episode: int) -> Sample:
        """Share of the task's bins that training had visited after an episode."""
        return self._mean(agent, task, "coverage", episode, episode)

    def mean_coverage(self, agent: str, task: str, budget: int) -> Sample:
        """Mean of the coverage after each episode of a budget: the height of its curve."""
        return self._mean(agent, task, "coverage", 1, budget)

    def first_above(
        self, agent: str, task: str, level: float, budget: int, width: int = 1
    ) -> Sample:
        """First episode whose evaluation is above level, as is the mean of `width` from it on.

        A run that has none within its budget gets the episode after the last that could have been.
        """
        curve = self._curve(agent, task, "return").reindex(range(1, budget + 1)).dropna(axis=1)
        above = (curve[::-1].rolling(width).mean()[::-1] > level) & (curve > level)
        first = above.idxmax().where(above.any(), budget - width + 2).astype(float)
        return self._sample(agent, task, first, budget)

    def _finished(self, agent: str, task: str) -> pd.Series:
        """Budgets of the finished runs, by seed."""
        rows = self._runs.get((agent, task), self.results.table.iloc[:0])
        return rows.groupby("seed").episodes.first()

    def _mean(self, agent: str, task: str, column: str, first: int, last: int) -> Sample:
        window = self._curve(agent, task, column).reindex(range(first, last + 1))
        return self._sample(agent, task, window.mean(skipna=False).dropna(), last)

    def _scores(self, agent: str, task: str, column: str) -> Sample:
        scores = self.results.scores
        mine = scores[
            (scores.method == agent) & (scores.task == task) & scores.finished.astype(bool)
        ]
        values = mine.set_index("seed")[column].astype(float).dropna()
        return self._sample(agent, task, values, lookup(task).score_window[1])

    def _curve(self, agent: str, task: str, column: str) -> pd.DataFrame:
        """Evaluation returns or training coverage, by episode and seed."""
        rows = self._runs.get((agent, task), self.results.table.iloc[:0])
        return by_seed(rows, agent, task, column).astype(float)

    def _sample(self, agent: str, task: str, values: pd.Series, needed: int) -> Sample:
        """These results, and the runs that have none."""
        left = list(self._damaged.get((agent, task), ()))
        if (agent, task) in self._reach:
            left += [
                Left(int(run.Index), int(run.end), int(run.budget), bool(run.finished))
                for run in self._reach[agent, task].itertuples()
                if run.Index not in values.index
            ]
        return Sample(agent, task, values, needed, tuple(sorted(left)))


def scored(task: str) -> str:
    """What a score on a task is, in words."""
    first, last = lookup(task).score_window
    return f"score, episodes {first}-{last}"


def _normalised(sample: Sample) -> Sample:
    spec = lookup(sample.task)
    span = spec.best_return - spec.random_return
    return sample._replace(values=(sample.values - spec.random_return) / span)
