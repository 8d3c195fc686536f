"""Rows of the leaderboard: one per group of tasks and method, with ranks and intervals.

A row's score is the IQM of normalised scores. It is taken over the whole group if 3 or more seeds
have a score on all of its tasks; otherwise over those tasks that all seeds of the method have. Only
rows over the whole group with an interval are ranked, if two or more of them are of learners.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import NamedTuple

import numpy as np
import pandas as pd

from analysis.leaderboard.entries import PACKAGES, Board, Entry, setting
from analysis.stats.formatting import scaled
from analysis.stats.intervals import MIN_SEEDS, Estimate, ScoreMatrix, estimate, interval, mean
from analysis.stats.results import Results
from explore_suite.tasks import BENCHMARK, CLASSIC_PAIRS, CONTROL_PAIRS, GRID, HALLWAYS, TASKS


class Section(NamedTuple):
    """Rows that are compared with each other."""

    group: str  # control, hallway, grid, classic, or other
    setting: str  # see `entries.setting`; "" for agents that just learn the task
    title: str
    about: str
    tasks: tuple[str, ...]
    rank_by: str = "suite"  # the estimate of a row that ranks it


# One or more per frozen set of tasks; all are ranked except the ablations.
SECTIONS = (
    Section("control", "", "Control suite",
            "Four tasks of dm_control and the explore variant of each.",
            tuple(chain(*CONTROL_PAIRS))),
    Section("control", "unranked", "Control suite, ablations and longer runs",
            "Settings of our agents that the paper's claims ask about, and runs of 300 episodes; "
            "not ranked.", tuple(chain(*CONTROL_PAIRS))),
    Section("hallway", "", "Hallway",
            "A point in a corridor: one task that rewards exploring, one that punishes it.",
            HALLWAYS),
    Section("grid", "", "Grid world, from scratch",
            "40 x 40 cells, corner to corner; only the far corner pays.", GRID),
    Section("grid", "warm", "Grid world, warm start",
            "The first 20 episodes are played by a scripted expert.", GRID),
    Section("grid", "pure", "Grid world, exploration only",
            "Behaviour ignores the reward; ranked by coverage at the end of the score window.",
            GRID, "coverage"),
    Section("classic", "", "Classic",
            "Three more tasks of dm_control, each with a variant that has a sparser reward or a "
            "harder start; not in the paper.", tuple(chain(*CLASSIC_PAIRS))),
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
        """The preset that its runs were made with."""
        return self.entry.preset

    @property
    def complete(self) -> bool:
        """Whether it covers the whole group."""
        return self.tasks == self.section.tasks

    @property
    def rankable(self) -> bool:
        """Whether it covers the whole group with enough seeds for an interval."""
        return self.complete and bool(np.isfinite(self.ranked_by.low))

    @property
    def ranked_by(self) -> Estimate:
        """The number by which its section is ranked."""
        found: Estimate = getattr(self, self.section.rank_by)
        return found

    def on_task(self, task: str) -> Estimate:
        """The number by which its section is ranked, on one task."""
        found = self.by_task[task]
        return found.coverage if self.section.rank_by == "coverage" else found.score

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
        """How many tasks of the group it covers, in words."""
        return f"{len(self.tasks)} of {len(self.section.tasks)}"

    @property
    def part(self) -> str:
        """The names of the tasks behind its numbers; empty if it covers the whole group."""
        return "" if self.complete else ", ".join(self.tasks)


def search(entry: Entry) -> str:
    """The text of an entry that the page's search box searches."""
    authors = entry.submission.authors if entry.submission else []
    words = [entry.name, entry.label, entry.preset, entry.badge, *authors]
    return " ".join(words).lower()  # as the script does; casefold would turn ß into ss


def rows(board: Board) -> list[Row]:
    """Every row, by section: ranked rows first, then the others by number of tasks."""
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
    """Whether a method has a row in a section; submissions are never variants of ours."""
    kind = "" if entry.submission else setting(entry.agent)
    if kind not in {other.setting for other in SECTIONS if other.group == section.group}:
        kind = ""  # no section of its own here
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
    """Means by task; columns with the same seeds are resampled together, to save time."""
    parts = {
        (task, column): results.matrix(label, [task], column)
        for task in tasks
        for column in ("score", "coverage", "seconds")
    }
    means = dict.fromkeys(parts, NOTHING)
    for seeds in {cells.seeds for cells in parts.values() if cells.seeds}:
        alike = [key for key, cells in parts.items() if cells.seeds == seeds]
        values = np.hstack([parts[key].values for key in alike])[:, None]  # (seeds, 1, columns)
        found = interval([values], mean).estimates(len(seeds))
        means |= dict(zip(alike, found, strict=True))
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
    """The scores behind a row's score, by seed and task."""
    whole = results.matrix(label, tasks)
    if len(whole.seeds) >= MIN_SEEDS:
        return whole
    seeds = _scored(results, label, tasks)
    all_seeds = set().union(*seeds.values())
    common = [task for task in tasks if all_seeds and seeds[task] == all_seeds]
    return results.matrix(label, common) if common else ScoreMatrix(label, whole.cells[:0])


def _scored(results: Results, label: str, tasks: Sequence[str]) -> dict[str, set[int]]:
    """By task: the seeds with a score."""
    mine = _runs(results, label, tasks).dropna(subset=["score"])
    return {task: set(mine[mine.task == task].seed) for task in tasks}


def _mean(results: Results, cells: ScoreMatrix, column: str) -> Estimate:
    """The mean of a column over the runs of a matrix."""
    found = results.matrix(cells.method, cells.tasks, column).cells
    same = found[found.index.isin(cells.seeds)]
    return estimate(ScoreMatrix(cells.method, same), "mean")


def _gap(cells: ScoreMatrix) -> tuple[Estimate, int]:
    """Mean score on originals minus that on explore variants, and the number of pairs."""
    pairs = [pair for pair in CONTROL_PAIRS + CLASSIC_PAIRS if set(pair) <= set(cells.tasks)]
    if not pairs or not cells.seeds:
        return NOTHING, 0
    originals, variants = zip(*pairs, strict=True)
    values = cells.cells[[*originals, *variants]].to_numpy(dtype=float)[..., None]
    half = len(pairs)  # (seeds, 2 x pairs, 1)
    band = interval([values], lambda some: mean(some[..., :half, :]) - mean(some[..., half:, :]))
    (gap,) = band.estimates(len(cells.seeds))
    return gap, half


def _notes(results: Results, label: str, tasks: Sequence[str]) -> Iterable[str]:
    seeds = _scored(results, label, tasks)
    all_seeds = set().union(*seeds.values())
    bare = [task for task in tasks if not seeds[task]]
    if bare:
        yield f"no run with a score on {', '.join(bare)}"
    for task in tasks:
        if seeds[task] and seeds[task] != all_seeds:
            yield f"{task}: {len(seeds[task])} of {len(all_seeds)} seeds"
    runs = _runs(results, label, tasks)
    if not runs.finished.all():
        yield f"{len(runs) - runs.finished.sum()} of {len(runs)} runs unfinished"


def ranked(members: list[Row]) -> list[Row]:
    """Sorts rows by what ranks them, and numbers those that can be ranked; others come after.

    Rows that agree to two decimals share a rank: the tables show no more.
    """
    first = sorted((row for row in members if row.rankable), key=_order)
    rest = sorted((row for row in members if not row.rankable), key=_order)
    learners = sum(row.entry.learns for row in first)
    # A rank says nothing if there is only one, or one above random actions.
    if learners < 2 or first[0].section.setting == "unranked":
        return sorted(members, key=lambda row: (not row.entry.learns, *_order(row)))
    shown = [round(row.ranked_by.value, 2) for row in first]
    first = [
        replace(row, rank=1 + shown.index(value)) for row, value in zip(first, shown, strict=True)
    ]
    return first + rest


def _order(row: Row) -> tuple[int, float]:
    """Sort key: more tasks first, then better values first, missing values last."""
    value = row.ranked_by.value
    return -len(row.tasks), np.inf if np.isnan(value) else -value
