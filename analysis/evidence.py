"""What claims ask of the finished runs of a preset: one number per run, by seed."""

from typing import NamedTuple

import pandas as pd

from analysis.curves import by_seed
from analysis.numbers import Numbers
from explore_suite.tasks import lookup

FINAL_EPISODES = 20  # at the end of a run, as many as in the published bar chart


class Sample(NamedTuple):
    """One number per run of an agent on a task."""

    agent: str
    task: str
    values: pd.Series  # by seed, no gaps


class Evidence:
    """Finished runs only, and of these only the ones long enough for the number asked for."""

    def __init__(self, numbers: Numbers) -> None:
        """Reads nothing: `numbers` has the table of episodes."""
        self.numbers = numbers
        self.preset = numbers.preset
        finished = numbers.table[numbers.table.finished.astype(bool)]
        self._runs = {key: rows for key, rows in finished.groupby(["agent", "task"])}

    def budget(self, task: str, *agents: str) -> int:
        """The training episodes that all runs of these agents on a task have; 0 without runs."""
        found = [self._runs[agent, task] for agent in agents if (agent, task) in self._runs]
        return min((int(rows.episodes.min()) for rows in found), default=0)

    def score(self, agent: str, task: str) -> Sample:
        """Scores, normalised: 0 is the return of random actions, 1 the best known."""
        return self._scores(agent, task, "normalised")

    def plain_score(self, agent: str, task: str) -> Sample:
        """Scores, in the units of the reward."""
        return self._scores(agent, task, "score")

    def returns(self, agent: str, task: str, first: int, last: int) -> Sample:
        """Mean evaluation return of episodes first to last."""
        window = self._curve(agent, task, "return").reindex(range(first, last + 1))
        return Sample(agent, task, window.mean(skipna=False).dropna())

    def whole(self, agent: str, task: str, budget: int) -> Sample:
        """Mean normalised evaluation return of all episodes of a budget: the curve's height."""
        return _normalised(self.returns(agent, task, 1, budget))

    def final(self, agent: str, task: str, budget: int) -> Sample:
        """Mean normalised evaluation return of the last episodes of a budget."""
        return _normalised(self.returns(agent, task, budget - FINAL_EPISODES + 1, budget))

    def coverage(self, agent: str, task: str, episode: int) -> Sample:
        """Share of the task's bins that training had visited after an episode."""
        found = self._curve(agent, task, "coverage").reindex([episode])
        return Sample(agent, task, found.loc[episode].dropna().rename(None))

    def first_above(
        self, agent: str, task: str, level: float, budget: int, width: int = 1
    ) -> Sample:
        """First of `width` episodes whose mean evaluation return is above level; or budget + 1."""
        curve = self._curve(agent, task, "return").reindex(range(1, budget + 1))
        curve = curve.dropna(axis=1)
        above = curve[::-1].rolling(width).mean()[::-1] > level
        return Sample(agent, task, above.idxmax().where(above.any(), budget + 1).astype(float))

    def _scores(self, agent: str, task: str, column: str) -> Sample:
        scores = self.numbers.scores
        mine = scores[
            (scores.agent == agent) & (scores.task == task) & scores.finished.astype(bool)
        ]
        return Sample(agent, task, mine.set_index("seed")[column].astype(float).dropna())

    def _curve(self, agent: str, task: str, column: str) -> pd.DataFrame:
        """Evaluation returns or training coverage, by episode and seed."""
        rows = self._runs.get((agent, task), self.numbers.table.iloc[:0])
        return by_seed(rows, self.preset, agent, task, column).astype(float)


def _normalised(sample: Sample) -> Sample:
    sheet = lookup(sample.task)
    span = sheet.best_return - sheet.random_return
    return sample._replace(values=(sample.values - sheet.random_return) / span)
