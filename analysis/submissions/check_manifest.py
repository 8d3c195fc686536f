"""Checks submission.json: its fields, its tasks, seeds and files, and its scores, recomputed.

Each rule needs some fields alone, so that a problem of one field does not hide those in others.
"""

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from pydantic import ValidationError

from analysis.stats.tables import StoredRun, episode_table, run_scores
from analysis.submissions import check_headers
from analysis.submissions.read_folder import MANIFEST, strict_json
from analysis.submissions.schema import FEWEST_SEEDS, GROUPS, Submission, digest, run_path
from analysis.submissions.unicode_checks import shown
from explore_suite.runs.format import TRACES, EpisodeRow, Header
from explore_suite.tasks import BENCHMARK

SUFFIXES = (".json", ".csv")  # of the files that every run has
SCORE_TOLERANCE = 1e-6  # of a stated score: others may add the returns in another order


class FoundRun(NamedTuple):
    """What could be read of a run."""

    stem: str  # path without suffix
    task: str  # by its path, like the seed
    seed: int
    header: Header | None
    rows: list[EpisodeRow]  # none if any has a problem
    actions: list[np.ndarray]  # of each traced evaluation; none if the traces have a problem


class Contents(NamedTuple):
    """What the fields of submission.json are compared with."""

    files: dict[str, bytes]
    runs: list[FoundRun]


def read_manifest(data: bytes) -> tuple[Submission | None, dict[str, Any], list[str]]:
    """The submission if its text is sound, the fields that can be read, and what is wrong."""
    try:
        values = strict_json(data)
    except ValueError as error:
        return None, {}, [f"is not the JSON of a submission: {shown(str(error))}"]
    try:
        return Submission.model_validate(values), values, []
    except ValidationError as error:
        return None, _readable(values, error), check_headers.type_problems(error)


def problems(fields: dict[str, Any], found: Contents) -> Iterator[str]:
    """A line, with its file, for each field that the evidence contradicts."""
    for rule, needed in _RULES.items():
        if fields.keys() >= set(needed):
            yield from rule(found, *(fields[name] for name in needed))


def mean_score(task: str, runs: Sequence[list[EpisodeRow]]) -> float:
    """Mean score of these runs' rows on a task, computed as for the leaderboard."""
    whole = [
        StoredRun("", "", Path(), Header("", "", task, seed, len(rows) // 2, {}, ""), rows)
        for seed, rows in enumerate(runs)
    ]
    return float(run_scores(episode_table(whole)).score.mean())


def _readable(values: Any, error: ValidationError) -> dict[str, Any]:
    """The fields with which nothing is wrong; none if the JSON is not an object."""
    wrong = [one["loc"][:1] for one in error.errors()]
    if () in wrong:
        return {}
    return {name: value for name, value in values.items() if (name,) not in wrong}


def _task_problems(found: Contents, tasks: list[str]) -> Iterator[str]:
    for task in tasks:
        if task not in BENCHMARK:
            yield f"{MANIFEST}: unknown task or version {shown(task)}"
    if [task for task in BENCHMARK if task in tasks] != [
        task for task in tasks if task in BENCHMARK
    ]:
        yield f"{MANIFEST}: tasks must be in the order of `explore-suite list`, each once"
    for name, members in GROUPS.items():
        lacking = [task for task in members if task not in tasks]
        if lacking and len(lacking) < len(members):
            yield f"{MANIFEST}: group {name} is only taken whole and lacks {', '.join(lacking)}"


def _seed_problems(found: Contents, seeds: list[int]) -> Iterator[str]:
    if seeds != list(range(len(seeds))) or len(seeds) < FEWEST_SEEDS:
        few = f"at least {FEWEST_SEEDS} of them"
        yield f"{MANIFEST}: seeds must be 0, 1, 2, ... without gaps, {few}"


def _contact_problems(found: Contents, contact: Any, paper: Any, code: Any) -> Iterator[str]:
    if not (contact or paper or code):
        yield f"{MANIFEST}: one of contact, paper and code is needed"


def _version_problems(found: Contents, suite_version: str) -> Iterator[str]:
    if _numbers(suite_version) > _numbers(_installed()):
        yield f"{MANIFEST}: suite_version {suite_version} is newer than {_installed()}: update"
    versions = {run.header.versions.get("explore-suite") for run in found.runs if run.header}
    if versions - {suite_version, None}:
        yield f"{MANIFEST}: suite_version {suite_version} is not that of the runs"


def _path_problems(
    found: Contents, preset: str, agent: str, tasks: list[str], seeds: list[int]
) -> Iterator[str]:
    """Files that are missing, and files that belong to none of its runs."""
    there = found.files.keys() - {MANIFEST}
    due = _due(found, preset, agent, tasks, seeds, there)
    yield from (f"{path}: is missing" for path in sorted(due - there))
    yield from (
        f"{path}: does not belong to the tasks, seeds, agent and preset of {MANIFEST}"
        for path in sorted(there - due)
    )


def _listing_problems(
    found: Contents, preset: str, agent: str, tasks: list[str], seeds: list[int],
    files: dict[str, str],
) -> Iterator[str]:  # fmt: skip
    if files.keys() != _due(found, preset, agent, tasks, seeds, files):
        yield f"{MANIFEST}: files must name the files of its tasks and seeds, all and no others"


def _digest_problems(found: Contents, files: dict[str, str]) -> Iterator[str]:
    for path in sorted(found.files.keys() & files.keys()):
        if digest(found.files[path]) != files[path]:
            yield f"{path}: was changed after the submission was made: its SHA-256 differs"


def _scored_problems(found: Contents, tasks: list[str], scores: dict[str, float]) -> Iterator[str]:
    if scores.keys() != set(tasks):
        yield f"{MANIFEST}: scores must name the tasks, all and no others"


def _score_problems(
    found: Contents, preset: str, agent: str, seeds: list[int], scores: dict[str, float]
) -> Iterator[str]:
    rows = {run.stem: run.rows for run in found.runs if run.rows}
    for task in [task for task in scores if task in BENCHMARK]:
        due = [run_path(preset, agent, task, seed, "") for seed in seeds]
        if not due or not rows.keys() >= set(due):
            continue  # a run is missing or has a problem, which is reported already
        stated, mean = scores[task], mean_score(task, [rows[stem] for stem in due])
        if not abs(stated - mean) <= SCORE_TOLERANCE:
            yield f"{MANIFEST}: score {stated} of {task} is not {mean:.10g}, the mean over its rows"


_RULES: dict[Callable[..., Iterator[str]], tuple[str, ...]] = {
    _task_problems: ("tasks",),
    _seed_problems: ("seeds",),
    _contact_problems: ("contact", "paper", "code"),
    _version_problems: ("suite_version",),
    _path_problems: ("preset", "agent", "tasks", "seeds"),
    _listing_problems: ("preset", "agent", "tasks", "seeds", "files"),
    _digest_problems: ("files",),
    _scored_problems: ("tasks", "scores"),
    _score_problems: ("preset", "agent", "seeds", "scores"),
}


def _due(
    found: Contents, preset: str, agent: str, tasks: list[str], seeds: list[int],
    listed: Collection[str],
) -> set[str]:  # fmt: skip
    """Paths of the files of these tasks and seeds.

    Whether a run has traces is said by its header; without one, any that are `listed` belong to it.
    """
    headers = {run.stem: run.header for run in found.runs if run.header}
    stems = {
        run_path(preset, agent, task, seed, "")
        for task in tasks if task in BENCHMARK
        for seed in range(len(seeds))
    }  # fmt: skip
    traces = {
        stem + TRACES
        for stem in stems
        if (headers[stem].traces if stem in headers else stem + TRACES in listed)
    }
    return {stem + suffix for stem in stems for suffix in SUFFIXES} | traces


@cache
def _installed() -> str:
    return metadata.version("explore-suite")


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"[0-9]+", version)[:3])
