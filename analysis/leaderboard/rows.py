"""Rows of the leaderboard: one per group of tasks and method, with ranks and intervals.

A row's score is the IQM of normalised scores. It is taken over the whole group if 3 or more seeds
have a score on all of its tasks; otherwise over those tasks that all seeds of the method have. Only
rows over the whole group with an interval are ranked, if there are two or more.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import pandas as pd

from analysis.leaderboard.entries import PACKAGES, Board, Entry, setting
from analysis.stats.formatting import scaled
from analysis.stats.intervals import MIN_SEEDS, Estimate, ScoreMatrix, estimate, interval, mean
from analysis.stats.results import Results
from explore_suite.tasks import BENCHMARK, EXPLORE, GRID, HALLWAYS, ORIGINAL, TASKS, lookup


class Section(NamedTuple):
    """Rows that are compared with each other."""

    group: str  # control, hallway, grid, or other
    setting: str  # of the grid world's variants; `` where agents just learn
    title: str
    about: str
    tasks: tuple[str, ...]
    rank_by: str = "suite"  # the estimate of a row that ranks it


_PAIRS = tuple(task for pair in zip(ORIGINAL, EXPLORE, strict=True) for task in pair)
# The ranked sections, of the frozen sets of tasks.
SECTIONS = (
    Section("control", "", "Control suite",
            "Four tasks of dm_control and the explore variant of each.", _PAIRS),
    Section("hallway", "", "Hallway",
            "A point in a corridor: one task that rewards exploring, one that punishes it.",
            HALLWAYS),
    Section("grid", "", "Grid world, from scratch",
            "40 x 40 cells, corner to corner; only the far corner pays.", GRID),
    Section("grid", "warm", "Grid world, warm start",
            "The first 20 episodes are played by a skilled policy.", GRID),
    Section("grid", "pure", "Grid world, exploration only",
            "No reward reaches behaviour; ranked by coverage at the end of the score window.",
            GRID, "coverage"),
)  # fmt: skip


def sections() -> list[Section]:
    """The ranked sections, then one for each task outside of the benchmark."""
    others = [spec for id, spec in TASKS.items() if id not in BENCHMARK]
    return [
        *SECTIONS,
        *(
            Section("other", "", spec.name, _sentence(spec.summary), (spec.name,))
            for spec in others
        ),
    ]


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}."


NOTHING = Estimate(np.nan, np.nan, np.nan, 0)


class TaskNumbers(NamedTuple):
    """A method on one task: means over all seeds it has there."""

    score: Estimate
    coverage: Estimate
    minutes: Estimate  # per 100 training episodes
    runs: int  # with or without a score


@dataclass(frozen=True)
class Row:
    """One method on one group of tasks."""

    section: Section
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
    def preset(self) -> str:
        """Whose settings it was run with."""
        return self.entry.preset

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


def rows(board: Board) -> list[Row]:
    """Every row, by section: ranked ones first, then whole ones, then partial ones."""
    found = []
    for section in sections():
        members = [
            _row(board, section, entry)
            for entry in board.entries.values()
            if _belongs(entry, section, board.results)
        ]
        found += ranked(members)
    return found


def _belongs(entry: Entry, section: Section, results: Results) -> bool:
    """A submission just learns, whatever its label looks like."""
    kind = "" if entry.submission or section.group != "grid" else setting(entry.agent)
    return kind == section.setting and not _runs(results, entry.label, section.tasks).empty


def _runs(results: Results, label: str, tasks: Sequence[str]) -> pd.DataFrame:
    """The method's runs on these tasks, with or without a score."""
    scores = results.scores
    return scores[(scores.method == label) & scores.task.isin(tasks)]


def _row(board: Board, section: Section, entry: Entry) -> Row:
    results = board.results
    cells = _cells(results, entry.label, section.tasks)
    gap, pairs = _gap(cells)
    return Row(
        section, entry,
        suite=estimate(cells, "iqm"),
        tasks=cells.tasks if cells.seeds else (),
        gap=gap, pairs=pairs,
        coverage=_mean(results, cells, "coverage"),
        minutes=scaled(_mean(results, cells, "seconds"), 1 / 60),
        by_task=_by_task(results, entry.label, section.tasks),
        versions=board.versions.get(entry.label, dict.fromkeys(PACKAGES, "")),
        notes=tuple(_notes(results, entry.label, section.tasks)),
    )  # fmt: skip


def _by_task(results: Results, label: str, tasks: Sequence[str]) -> dict[str, TaskNumbers]:
    """Means by task. Columns with the same seeds are resampled in one go: an interval is dear."""
    parts = {
        (task, column): results.matrix(label, [task], column)
        for task in tasks
        for column in ("score", "coverage", "seconds")
    }
    means = dict.fromkeys(parts, NOTHING)
    for seeds in {cells.seeds for cells in parts.values() if cells.seeds}:
        alike = [key for key, cells in parts.items() if cells.seeds == seeds]
        values = np.hstack([parts[key].values for key in alike])[:, None]  # (seeds, 1, columns)
        band = interval([values], mean)
        for key, value, low, high in zip(alike, *band, strict=True):
            means[key] = Estimate(float(value), float(low), float(high), len(seeds))
    return {
        task: TaskNumbers(
            means[task, "score"],
            means[task, "coverage"],
            scaled(means[task, "seconds"], 1 / 60),
            runs=len(_runs(results, label, [task])),
        )
        for task in tasks
    }


def _cells(results: Results, label: str, tasks: Sequence[str]) -> ScoreMatrix:
    """The scores that make the row's, by seed and task."""
    whole = results.matrix(label, tasks)
    if len(whole.seeds) >= MIN_SEEDS:
        return whole
    seeds = _scored(results, label, tasks)
    everyone = set().union(*seeds.values())
    common = [task for task in tasks if everyone and seeds[task] == everyone]
    return results.matrix(label, common) if common else ScoreMatrix(label, whole.cells[:0])


def _scored(results: Results, label: str, tasks: Sequence[str]) -> dict[str, set[int]]:
    """By task: the seeds with a score."""
    mine = _runs(results, label, tasks).dropna(subset=["score"])
    return {task: set(mine[mine.task == task].seed) for task in tasks}


def _mean(results: Results, cells: ScoreMatrix, column: str) -> Estimate:
    """The mean of another column over the runs of a matrix."""
    found = results.matrix(cells.method, cells.tasks, column).cells
    same = found[found.index.isin(cells.seeds)]
    return estimate(ScoreMatrix(cells.method, same), "mean")


def _gap(cells: ScoreMatrix) -> tuple[Estimate, int]:
    """How much better it is where exploring is not needed, and over how many pairs."""
    pairs = [
        (task, lookup(task).partner)
        for task in cells.tasks
        if task in ORIGINAL and lookup(task).partner in cells.tasks
    ]
    if not pairs or not cells.seeds:
        return NOTHING, 0
    originals, variants = zip(*pairs, strict=True)
    values = cells.cells[[*originals, *variants]].to_numpy(dtype=float)[..., None]
    half = len(pairs)  # (seeds, 2 x pairs, 1)
    band = interval([values], lambda some: mean(some[..., :half, :]) - mean(some[..., half:, :]))
    value, low, high = (float(part[0]) for part in band)
    return Estimate(value, low, high, len(cells.seeds)), half


def _notes(results: Results, label: str, tasks: Sequence[str]) -> Iterable[str]:
    seeds = _scored(results, label, tasks)
    everyone = set().union(*seeds.values())
    bare = [task for task in tasks if not seeds[task]]
    if bare:
        yield f"no run with a score on {', '.join(bare)}"
    for task in tasks:
        if seeds[task] and seeds[task] != everyone:
            yield f"{task}: {len(seeds[task])} of {len(everyone)} seeds"
    runs = _runs(results, label, tasks)
    if not runs.finished.all():
        yield f"{len(runs) - runs.finished.sum()} of {len(runs)} runs unfinished"


def ranked(members: list[Row]) -> list[Row]:
    """In order, with ranks; rows that may not be ranked keep the order of all legends.

    Rows that agree to two decimals share a rank: the tables show no more.
    """
    rankable = [row for row in members if row.rankable]
    first = sorted(rankable, key=lambda row: -row.ranked_by.value)
    rest = sorted((row for row in members if not row.rankable), key=lambda row: not row.complete)
    if len(first) > 1:  # the first of one says nothing
        shown = [round(row.ranked_by.value, 2) for row in first]
        first = [
            replace(row, rank=1 + shown.index(value))
            for row, value in zip(first, shown, strict=True)
        ]
    return first + rest
