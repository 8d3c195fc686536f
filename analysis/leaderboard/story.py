"""The three sentences that open the page: what the suite asks, and what the runs answer.

They are computed from the runs, and hold for any store: without runs, with one method, with many.
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np

from analysis.leaderboard.entries import Board, Entry, setting
from analysis.leaderboard.rows import Row
from analysis.stats import formatting
from analysis.stats.intervals import MIN_SEEDS, Estimate, ScoreMatrix, estimate
from explore_suite.tasks import BENCHMARK, CONTROL_PAIRS, lookup

_ASKS = (
    "The suite asks whether a method finds rewards that it must search for, "
    "and what having to search costs it"
)


class Compared(NamedTuple):
    """A method on some originals and on their explore variants: mean normalised scores."""

    entry: Entry
    original: Estimate
    explore: Estimate


def story(board: Board, rows: Sequence[Row]) -> list[str]:
    """The three sentences: what is asked, what exploring costs, which methods are ranked first."""
    return [_extent(board), _cost(board), _first(rows)]


def _extent(board: Board) -> str:
    if not board.runs:
        return f"{_ASKS}; there are no runs yet."
    names = {lookup(run.header.task).name for run in board.runs}
    frozen = [spec.name for spec in BENCHMARK.values()]
    tasks = len(names.intersection(frozen))
    others = len(names) - tasks
    where = "all" if tasks == len(frozen) else f"{tasks} of the"
    where += f" {len(frozen)} tasks of the benchmark"
    where += f" and {formatting.count(others, 'other task')}" if others else ""
    found = {_method(entry) for entry in board.entries.values() if entry.is_method}
    runs, methods = formatting.count(len(board.runs), "run"), formatting.count(len(found), "method")
    return f"{_ASKS}; this page shows {runs} of {methods}, on {where}."


def _method(entry: Entry) -> str:
    """The label without `warm` and `pure`, which are one method put to another use."""
    used = setting(entry.agent) in ("warm", "pure")
    return entry.label.partition(".")[0] if used else entry.label


def _cost(board: Board) -> str:
    pairs, found = compared(board)
    if not found:
        return (
            "No learning method has scores on an original task and its explore variant yet, so the "
            "runs do not say what exploring costs."
        )
    variants = _listed([variant for _, variant in pairs])
    originals = "task" if len(pairs) == 1 else "tasks"
    scale = f"0 is random, 1 the best return known; {_seeds(found)}"
    if len(found) == 1:
        (only,) = found
        return (
            f"On {variants}, where a method must explore, {only.entry.name} scores "
            f"{_line(only.explore)}, and on the original {originals} {_line(only.original)} "
            f"({scale})."
        )
    best, *_, worst = sorted(found, key=lambda one: -one.explore.value)
    close = ", though their intervals overlap" if _overlap(best.explore, worst.explore) else ""
    return (
        f"On {variants}, where a method must explore, {best.entry.name} scores highest of "
        f"{len(found)} methods, {_line(best.explore)}, and {worst.entry.name} lowest, "
        f"{_line(worst.explore)}{close}; on the original {originals} they score "
        f"{_line(best.original)} and {_line(worst.original)} ({scale})."
    )


def compared(board: Board) -> tuple[tuple[tuple[str, str], ...], list[Compared]]:
    """The pairs of the sentence about exploring, and the methods with scores on all of them.

    That is the largest set of pairs on which two learning methods have the fewest seeds for an
    interval; else the largest on which two have scores at all; else the largest of one method.
    """
    scores = board.results.scores.dropna(subset=["score"])
    seeds: dict[tuple[str, str], set[int]] = {}
    for method, task, seed in zip(scores.method, scores.task, scores.seed, strict=True):
        seeds.setdefault((method, task), set()).add(seed)
    learners = [entry for entry in board.entries.values() if entry.learns and entry.is_method]
    choices = [
        (
            pairs,
            [one for one in learners if len(_shared(seeds, one.label, pairs)) >= fewest],
            fewest,
        )
        for fewest in (1, MIN_SEEDS)
        for size in range(1, 1 + len(CONTROL_PAIRS))
        for pairs in combinations(CONTROL_PAIRS, size)
    ]

    def preferred(choice: tuple[Sequence[tuple[str, str]], list[Entry], int]) -> tuple[int, ...]:
        pairs, members, fewest = choice
        return min(len(members), 2), fewest if len(members) > 1 else 0, len(pairs), len(members)

    pairs, members, _ = max(choices, key=preferred)
    return pairs, [_compared(board, entry, pairs) for entry in members]


def _shared(
    seeds: Mapping[tuple[str, str], set[int]], label: str, pairs: Iterable[tuple[str, str]]
) -> set[int]:
    """Seeds with a score on all tasks of these pairs."""
    return set.intersection(*(seeds.get((label, task), set()) for pair in pairs for task in pair))


def _compared(board: Board, entry: Entry, pairs: Sequence[tuple[str, str]]) -> Compared:
    originals, variants = map(list, zip(*pairs, strict=True))
    cells = board.results.matrix(entry.label, [*originals, *variants]).cells
    original, explore = (
        estimate(ScoreMatrix(entry.label, cells[tasks]), "mean") for tasks in (originals, variants)
    )
    return Compared(entry, original, explore)


def _first(rows: Sequence[Row]) -> str:
    """The methods ranked first by section, and whether intervals of first and second overlap."""
    found = dict.fromkeys(row.section for row in rows if row.rank is not None)
    ranked = [[row for row in rows if row.section == section and row.rank] for section in found]
    if not ranked:
        return (
            "Nothing is ranked yet: that takes two methods with scores on all tasks of a section "
            f"and {MIN_SEEDS} seeds or more."
        )
    first = [
        f"{_listed([row.entry.name for row in members if row.rank == 1])} of {len(members)} methods"
        f" in {members[0].section.title}"
        for members in ranked
    ]
    close = sum(_overlap(members[0].ranked_by, members[1].ranked_by) for members in ranked)
    share = "all" if close == len(ranked) else close or "none"
    where = "" if len(ranked) == 1 else f" in {share} of these {len(ranked)}"
    overlap = "overlap" if close or len(ranked) > 1 else "do not overlap"
    return f"Ranked first: {'; '.join(first)}; intervals of first and second {overlap}{where}."


def _overlap(one: Estimate, other: Estimate) -> bool:
    """Whether both have an interval, and these have a point in common."""
    ends = (one.low, one.high, other.low, other.high)
    return bool(np.isfinite(ends).all()) and one.low <= other.high and other.low <= one.high


def _line(found: Estimate) -> str:
    """The number, with its interval if it has one."""
    written = formatting.normalised(found)
    return written.value if written.interval == formatting.NO_INTERVAL else written.line


def _seeds(found: Iterable[Compared]) -> str:
    numbers = sorted({one.explore.seeds for one in found})
    if len(numbers) == 1:
        return formatting.count(numbers[0], "seed")
    return f"{numbers[0]} to {numbers[-1]} seeds"


def _listed(names: Sequence[str]) -> str:
    """Joins names to "A, B and C"."""
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last
