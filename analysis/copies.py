"""Whether runs tell the same episodes: rows of one seed or method handed in as another's.

Methods may agree where there is nothing to tell: two that never find the goal earn nothing alike,
and two that have solved the grid world earn 23 alike. What tells runs apart are returns that are
rare in their own run; two runs that share nearly all of these, episode by episode, are one.
"""

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterator, Sequence
from typing import NamedTuple

from explore_suite.results import PHASES, EpisodeRow
from explore_suite.tasks import lookup

RARE = 0.05  # at most this share of a run's returns, in training or in evaluation
NEARLY_ALL = 0.9  # of the rare returns of two runs
_ENOUGH = 5  # rare returns; fewer may agree by chance
_DIGITS = 6  # of a return that are compared


class Told(NamedTuple):
    """What a run tells of a task."""

    task: str
    rows: list[EpisodeRow]

    @property
    def varies(self) -> bool:
        """Whether its returns do; those of a policy that never changes need not."""
        return any(len({row.return_ for row in self.rows if row.phase == phase}) > 1
                   for phase in PHASES)  # fmt: skip


class Match(NamedTuple):
    """Two runs, by their places, and what they have in common."""

    first: int
    second: int
    what: str  # `episodes` if all of it, else the returns of a phase


def told_by(task: str, rows: list[EpisodeRow]) -> Told:
    """What counts of a run: its episodes up to the end of the task's score window."""
    last = lookup(task).score_window[1]
    return Told(task, [row for row in rows if row.episode <= last])


def matches(runs: Sequence[Told]) -> Iterator[Match]:
    """All pairs of runs of a task that tell the same."""
    yield from _same(runs)
    for phase in PHASES:
        yield from _alike(runs, phase)


def _same(runs: Sequence[Told]) -> Iterator[Match]:
    """Runs whose rows are equal but for the time they took."""
    seen: dict[Hashable, list[int]] = defaultdict(list)
    for place, run in enumerate(runs):
        earlier = seen[run.task, *(row[:-1] for row in run.rows)]
        yield from (Match(first, place, "episodes") for first in earlier)
        earlier.append(place)


def _alike(runs: Sequence[Told], phase: str) -> Iterator[Match]:
    """Runs that share nearly all rare returns of a phase; linear in the number of rows."""
    holders: dict[Hashable, list[int]] = defaultdict(list)
    rare = [_rare(run, phase) for run in runs]
    for place, mine in enumerate(rare):
        shared = Counter(other for row in mine for other in holders[row])
        for first, count in shared.items():
            if count >= NEARLY_ALL * max(len(mine), len(rare[first])):
                yield Match(first, place, f"{phase} returns")
        for row in mine:
            holders[row].append(place)


def _rare(run: Told, phase: str) -> set[Hashable]:
    """Task, episode and return of the rows that tell a run from others; none if too few do."""
    found = [(row.episode, round(row.return_, _DIGITS)) for row in run.rows if row.phase == phase]
    often = Counter(return_ for _, return_ in found)
    rare: set[Hashable] = {
        (run.task, episode, return_)
        for episode, return_ in found
        if often[return_] <= max(1, RARE * len(found))
    }
    return rare if len(rare) >= _ENOUGH else set()
