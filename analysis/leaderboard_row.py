"""What a row of the leaderboard holds."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from analysis.bootstrap import Estimate
from analysis.entries import Entry
from analysis.leaderboard_sections import Section

NOTHING = Estimate(np.nan, np.nan, np.nan, 0)


class TaskNumbers(NamedTuple):
    """A method on one task: means over all seeds it has there."""

    score: Estimate
    coverage: Estimate
    minutes: Estimate  # per 100 training episodes
    runs: int  # with or without a score


@dataclass(frozen=True)
class Row:
    """One method, with one preset, on one group of tasks."""

    section: Section
    preset: str
    entry: Entry
    suite: Estimate  # IQM of normalised scores
    tasks: tuple[str, ...]  # those that `suite` is taken over
    gap: Estimate  # mean normalised score on originals minus that on their explore variants
    pairs: int  # of an original and its explore variant behind `gap`
    coverage: Estimate  # mean over the tasks
    minutes: Estimate  # per 100 training episodes
    by_task: dict[str, TaskNumbers]  # every task of the group
    versions: dict[str, str]  # of PACKAGES
    notes: tuple[str, ...]  # what is missing, one line each
    rank: int | None = None

    @property
    def complete(self) -> bool:
        """Whether it covers the whole group."""
        return self.tasks == self.section.tasks

    @property
    def rankable(self) -> bool:
        """Whether it covers the whole group with seeds enough for an interval."""
        return self.complete and bool(np.isfinite(self.ranked_by.low))

    @property
    def ranked_by(self) -> Estimate:
        """The number that orders its section."""
        found: Estimate = getattr(self, self.section.rank_by)
        return found

    @property
    def scored(self) -> bool:
        """Whether any run of it has a score."""
        return any(found.score.seeds for found in self.by_task.values())

    @property
    def begun(self) -> tuple[str, ...]:
        """Tasks with a run of it, with or without a score."""
        return tuple(task for task, found in self.by_task.items() if found.runs)

    @property
    def covers(self) -> str:
        """Its tasks, in words."""
        return f"{len(self.tasks)} of {len(self.section.tasks)}"

    @property
    def part(self) -> str:
        """The tasks that its numbers are of, by name, where they are not all; else nothing."""
        return "" if self.complete else ", ".join(self.tasks)
