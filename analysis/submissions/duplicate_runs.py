"""Detects duplicated runs: rows or actions of one seed or method submitted as another's.

Equal digits would be evaded by a little noise, so the rows of runs are compared by distance. How
far two values may lie apart follows from the runs themselves: an episode is informative where a run
differs from its own neighbouring episodes, and two runs agree on it if they are much closer to each
other than to those. Independent runs do so now and then; copies do so nearly always, noise or not.
Where nothing changes, as for two methods that never find the goal or that have both solved the
task, nothing is informative and nothing is compared.
"""

from collections import defaultdict
from collections.abc import Hashable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from explore_suite.errors import UserError
from explore_suite.files import read_bytes
from explore_suite.runs.format import PHASES, TRACES, EpisodeRow, Header
from explore_suite.runs.store import ResultStore
from explore_suite.runs.traces import read_traces, traced_episodes
from explore_suite.tasks import lookup

# Two values agree if they differ by at most this share of the median difference between an
# episode and its neighbours. Runs of one seed meet the same start states, so that good policies
# earn alike in each episode: between them, values must be nearly equal.
NEAR, NEAR_OF_SAME_STARTS = 0.5, 0.02
# Two runs are copies if they agree on this share of the informative episodes. Of 1,800 pairs of
# independent runs of release 0.1 none agrees on more than 0.58, of the first 538 of 0.2 on 0.48.
NEARLY_ALL = 0.8
# Two runs are copies if coverage grows by exactly the same in this share of the episodes in which
# it grows in either. Of all these pairs none does in more than 0.16, or 0.20 of 10 such episodes.
SAME_GROWTH = 0.5
ENOUGH = 15  # informative episodes; fewer may agree by chance
# A run that earns nearly the same in episode after episode is hidden there by noise of a percent.
# Where it differs from its neighbours by more than this share of the return, noise hides nothing.
BEYOND_NOISE = 0.03
# Equal actions are copies if at least so many of their stretches of 8 steps differ from each other:
# honest seeds share an evaluation that holds one action, or that walks straight along two walls of
# the grid world (17 stretches); an evaluation with continuous actions has hundreds.
STRETCH, DISTINCT_STRETCHES = 8, 30
# So are nearly equal ones. Policies that hold an action, or push as hard as they can, agree with
# many others: only where an action differs by more than MOVING from those of its neighbouring steps
# (the median) is it compared. Of the first 2,900 pairs of independent evaluations of 0.2 none
# agrees within NEAR_ACTION on more than 0.19 of these values; a copy with noise of one percent does
# on all. Of later ones two pairs agree on most.
MOVING, NEAR_ACTION, ENOUGH_MOVES = 0.1, 0.02, 30
# Of the moves on GridWorld, this share: evaluations of our runs with different seeds agree on less.
# Two of our methods with one seed, and so with one first network, agree on 0.98 in one case.
SAME_MOVES = 0.97
_SAMPLE = 64  # values of an evaluation by which most others are told from it at once
_NEIGHBOURS = 5  # episodes on either side
_DIGITS = 9  # of a growth in coverage: a bin is a larger part, a rounding error a smaller one


class ScoredRows(NamedTuple):
    """The rows of a run on which its score rests."""

    task: str
    seed: int
    rows: list[EpisodeRow]

    @property
    def varies(self) -> bool:
        """Whether the returns of a phase differ; those of a scripted policy need not."""
        return any(len({row.return_ for row in self.rows if row.phase == phase}) > 1
                   for phase in PHASES)  # fmt: skip


class Match(NamedTuple):
    """Two runs, as indices, and what they have in common."""

    first: int
    second: int
    what: str  # `episodes` if all columns but the seconds are equal, else the column or columns


def scored_rows(task: str, seed: int, rows: list[EpisodeRow]) -> ScoredRows:
    """The rows of a run up to the end of the task's score window."""
    last = lookup(task).score_window[1]
    return ScoredRows(task, seed, [row for row in rows if row.episode <= last])


def matches(runs: Sequence[ScoredRows]) -> Iterator[Match]:
    """All pairs of runs of a task that are copies, noise or not."""
    yield from _same(runs)
    for task in dict.fromkeys(run.task for run in runs):
        places = [place for place, run in enumerate(runs) if run.task == task]
        yield from _alike(runs, places)


def same_actions(runs: Sequence[Sequence[np.ndarray]]) -> Iterator[tuple[int, int]]:
    """Pairs of runs that share an evaluation, noise or not, if its actions are informative.

    In order, each once.

    A run is given by the actions (steps, dims) of each of its traced evaluations, all of one task.
    """
    owned = [
        (place, actions)
        for place, evaluations in enumerate(runs)
        for actions in evaluations
        if _informative(actions)
    ]
    evaluations = [actions for _, actions in owned]
    alike = {*_equal_actions(evaluations), *_near_actions(evaluations)}
    pairs = {(owned[first][0], owned[second][0]) for first, second in alike}
    yield from sorted((pair for pair in pairs if pair[0] != pair[1]), key=lambda pair: pair[::-1])


def traced_actions(store: Path, header: Header) -> list[np.ndarray]:
    """The actions of each traced evaluation of a stored run, for `same_actions`.

    None if its traces are missing or damaged: then they copy nobody's, and whoever replays them is
    told what is wrong.
    """
    spec = lookup(header.task)
    evaluations = len(traced_episodes(spec, header.episodes))
    try:
        content = read_bytes(ResultStore(store).path(header.key, TRACES))
        return list(read_traces(content or b"", spec, evaluations, spec.horizon)[2])
    except UserError:
        return []


def _informative(actions: np.ndarray) -> bool:
    stretches = {actions[i : i + STRETCH].tobytes() for i in range(len(actions) - STRETCH + 1)}
    return len(stretches) >= DISTINCT_STRETCHES


def _equal_actions(evaluations: Sequence[np.ndarray]) -> Iterator[tuple[int, int]]:
    """Pairs of evaluations that are equal to the last bit."""
    seen: dict[bytes, list[int]] = defaultdict(list)
    for place, actions in enumerate(evaluations):
        earlier = seen[actions.tobytes()]
        yield from ((first, place) for first in earlier)
        earlier.append(place)


def _near_actions(evaluations: Sequence[np.ndarray]) -> Iterator[tuple[int, int]]:
    """Pairs of evaluations that agree on nearly all values that say something."""
    if not evaluations:
        return
    discrete = evaluations[0].ndim == 1
    values = np.stack([actions.T.ravel().astype(float) for actions in evaluations])
    if discrete:
        for second in range(1, len(values)):
            shares = (values[:second] == values[second]).mean(axis=1)
            yield from ((int(first), second) for first in np.flatnonzero(shares >= SAME_MOVES))
        return
    moving = np.stack([_spread(actions.T).ravel() > MOVING for actions in evaluations])
    for second in range(1, len(values)):
        places = np.flatnonzero(moving[second])
        if len(places) < ENOUGH_MOVES:
            continue
        some = places[:: len(places) // _SAMPLE + 1]
        apart = np.abs(values[:second, some] - values[second, some])
        for first in np.flatnonzero((apart <= NEAR_ACTION).mean(axis=1) > 0.5):
            compared = moving[first] | moving[second]
            near = np.abs(values[first] - values[second])[compared] <= NEAR_ACTION
            if near.mean() >= NEARLY_ALL:
                yield int(first), second


def _same(runs: Sequence[ScoredRows]) -> Iterator[Match]:
    """Runs whose rows are equal but for the time they took."""
    seen: dict[Hashable, list[int]] = defaultdict(list)
    for place, run in enumerate(runs):
        earlier = seen[run.task, *(row[:-1] for row in run.rows)]
        yield from (Match(first, place, "episodes") for first in earlier)
        earlier.append(place)


def _alike(runs: Sequence[ScoredRows], places: Sequence[int]) -> Iterator[Match]:
    """Runs of one task that agree on nearly all informative episodes of a column."""
    seeds = np.array([runs[place].seed for place in places])
    mine = [runs[place].rows for place in places]
    coverage = _column(mine, "train", "coverage")
    growth = np.round(np.diff(coverage, prepend=0.0), _DIGITS)
    columns = {"coverage": growth} | {
        f"{phase} {words}": _column(mine, phase, name)
        for phase in PHASES
        for name, words in (("return_", "returns"), ("success_steps", "success_steps"))
    }
    for what, values in columns.items():
        for first, second in _near(values, seeds, _spread(values)):
            yield Match(places[first], places[second], what)
    both = [columns[f"{phase} returns"] for phase in PHASES]
    values, spread = np.hstack(both), np.hstack([_spread(returns) for returns in both])
    spread[spread <= BEYOND_NOISE * np.abs(values)] = 0.0
    for first, second in _near(values, seeds, spread):
        yield Match(places[first], places[second], "returns")
    for first, second in _growing_alike(growth):
        yield Match(places[first], places[second], "coverage")


def _column(runs: Sequence[list[EpisodeRow]], phase: str, name: str) -> np.ndarray:
    """(runs, episodes) values of a column, NaN where a run has no such episode."""
    last = max((row.episode for rows in runs for row in rows), default=0)
    values = np.full((len(runs), last), np.nan)
    for place, rows in enumerate(runs):
        for row in rows:
            if row.phase == phase:
                values[place, row.episode - 1] = getattr(row, name)
    return values


def _near(values: np.ndarray, seeds: np.ndarray, spread: np.ndarray) -> Iterator[tuple[int, int]]:
    """Pairs of runs that agree on at least NEARLY_ALL of the episodes with spread > 0."""
    for second in range(1, len(values)):
        apart = np.abs(values[:second] - values[second])  # (earlier runs, episodes)
        scale = np.fmax(spread[:second], spread[second])
        informative = (scale > 0) & ~np.isnan(apart)
        near = np.where(seeds[:second] == seeds[second], NEAR_OF_SAME_STARTS, NEAR)
        agree = informative & (apart <= near[:, None] * scale)
        yield from _pairs(agree, informative, NEARLY_ALL)


def _growing_alike(growth: np.ndarray) -> Iterator[tuple[int, int]]:
    """Pairs of rows that are equal in many of the episodes in which either grows."""
    for second in range(1, len(growth)):
        either = (growth[:second] > 0) | (growth[second] > 0)
        both = ~np.isnan(growth[:second] + growth[second])
        yield from _pairs(growth[:second] == growth[second], either & both, SAME_GROWTH)


def _pairs(agree: np.ndarray, informative: np.ndarray, share: float) -> Iterator[tuple[int, int]]:
    """The earlier runs that agree with the next one on this share of the informative episodes."""
    counts, agreed = informative.sum(axis=1), (agree & informative).sum(axis=1)
    for first in np.flatnonzero((counts >= ENOUGH) & (agreed >= share * counts)):
        yield int(first), len(informative)


def _spread(values: np.ndarray) -> np.ndarray:
    """The median difference between each value and its neighbours; NaN where there are none."""
    last = values.shape[1]
    apart = np.full((2 * _NEIGHBOURS, *values.shape), np.nan)
    for lag in range(1, min(_NEIGHBOURS, last - 1) + 1):
        change = np.abs(values[:, lag:] - values[:, :-lag])
        apart[lag - 1, :, lag:] = change
        apart[_NEIGHBOURS + lag - 1, :, :-lag] = change
    middle = np.maximum((~np.isnan(apart)).sum(axis=0) - 1, 0) // 2
    return np.take_along_axis(np.sort(apart, axis=0), middle[None], axis=0)[0]  # NaN sorts last
