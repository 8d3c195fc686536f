"""Samples for the tests: one number per finished run, by seed."""

from typing import NamedTuple

import pandas as pd

from analysis.stats.curves import by_seed, shared_length
from analysis.stats.results import Results
from analysis.stats.tables import normalise
from explore_suite.tasks import lookup

FINAL_EPISODES = 20  # of a budget, as many as in the published bar chart


class ShortRun(NamedTuple):
    """A run whose budget is too small for the number asked for."""

    agent: str
    task: str
    seed: int
    budget: int  # training episodes
    needed: int


class Sample(NamedTuple):
    """One number per run of an agent on a task."""

    agent: str
    task: str
    values: pd.Series  # by seed, no gaps
    too_short: tuple[ShortRun, ...] = ()  # runs without a value


class Evidence:
    """The finished runs of a preset; each number uses the runs that are long enough for it."""

    def __init__(self, results: Results) -> None:
        """`results` holds the runs of one preset (`Results.reference`)."""
        self.results = results

    def budget(self, task: str, *agents: str) -> int:
        """The training episodes over which these agents are compared on a task.

        The largest budget with which most of their common seeds have finished, but at least the
        last episode of the task's score window. Shorter runs are left out.
        """
        least = lookup(task).score_window[1]
        finished = [_budgets(self._finished(agent, task)) for agent in agents]
        common = pd.concat(finished, axis=1, join="inner").min(axis=1)
        return max(least, shared_length(common[common >= least]))

    def score(self, agent: str, task: str) -> Sample:
        """Normalised scores: 0 is the return of random actions, 1 the best known or its bound."""
        return self._scores(agent, task, "normalised")

    def plain_score(self, agent: str, task: str) -> Sample:
        """Scores in units of the reward."""
        return self._scores(agent, task, "score")

    def returns(self, agent: str, task: str, first: int, last: int) -> Sample:
        """Mean evaluation return of episodes first to last."""
        return self._mean(agent, task, "return", first, last)

    def mean_return(self, agent: str, task: str, budget: int) -> Sample:
        """Mean normalised evaluation return over a whole budget."""
        return _normalised(self.returns(agent, task, 1, budget))

    def final_return(self, agent: str, task: str, budget: int) -> Sample:
        """Mean normalised evaluation return over the last FINAL_EPISODES of a budget."""
        return _normalised(self.returns(agent, task, budget - FINAL_EPISODES + 1, budget))

    def coverage(self, agent: str, task: str, episode: int) -> Sample:
        """Share of the task's bins that training had visited after an episode."""
        return self._mean(agent, task, "coverage", episode, episode)

    def mean_coverage(self, agent: str, task: str, budget: int) -> Sample:
        """Mean of the coverage after each episode of a budget."""
        return self._mean(agent, task, "coverage", 1, budget)

    def first_above(
        self, agent: str, task: str, level: float, budget: int, width: int = 1
    ) -> Sample:
        """First episode whose evaluation, and the mean of `width` from it on, are above `level`.

        A run without such an episode gets the last possible one plus 1.
        """
        curve = self._curve(agent, task, "return").reindex(range(1, budget + 1)).dropna(axis=1)
        above = (curve[::-1].rolling(width).mean()[::-1] > level) & (curve > level)
        first = above.idxmax().where(above.any(), budget - width + 2).astype(float)
        return self._sample(agent, task, first, budget)

    def _finished(self, agent: str, task: str) -> pd.DataFrame:
        """Episodes of the finished runs."""
        rows = self.results.episodes(agent, task)
        return rows[rows.finished.astype(bool)]

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
        return by_seed(self._finished(agent, task), column).astype(float)

    def _sample(self, agent: str, task: str, values: pd.Series, needed: int) -> Sample:
        """These values, and the runs that have none because they are too short."""
        budgets = _budgets(self.results.episodes(agent, task))
        too_short = tuple(
            ShortRun(agent, task, int(seed), int(budget), needed)
            for seed, budget in budgets[budgets < needed].items()
        )
        return Sample(agent, task, values, too_short)


def scored(task: str) -> str:
    """A score on a task as a quantity, in words."""
    first, last = lookup(task).score_window
    return f"score, episodes {first}-{last}"


def _budgets(rows: pd.DataFrame) -> pd.Series:
    """Training episodes that runs were started with, by seed."""
    return rows.groupby("seed").episodes.first()


def _normalised(sample: Sample) -> Sample:
    return sample._replace(values=normalise(sample.values, lookup(sample.task)))
