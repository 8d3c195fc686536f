"""Whether what submission.json states is so: its tasks, seeds, files and scores, recomputed.

Each rule needs some fields alone, so that a fault in one field does not hide those in others.
"""

import math
import re
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from importlib import metadata
from typing import Any, NamedTuple

from pydantic import ValidationError

from analysis.submissions import check_headers
from analysis.submissions.check_rows import score
from analysis.submissions.read_folder import ABOUT, strict_json
from analysis.submissions.schema import GROUPS, MIN_SEEDS, Submission, digest, run_path
from analysis.submissions.unicode_checks import shown
from explore_suite.runs.format import TRACES, EpisodeRow, Header
from explore_suite.tasks import BENCHMARK

SUFFIXES = (".json", ".csv")  # of the files that every run has
SCORE_TOLERANCE = 1e-6  # between a stated score and the recomputed one


class FoundRun(NamedTuple):
    """What could be read at the place of a run."""

    stem: str  # path without suffix
    task: str  # by its path, like the seed
    seed: int
    header: Header | None
    rows: list[EpisodeRow]  # none if any is faulty


class Evidence(NamedTuple):
    """What the statements are held against."""

    files: dict[str, bytes]
    runs: list[FoundRun]


def read_about(data: bytes) -> tuple[Submission | None, dict[str, Any], list[str]]:
    """The submission, None if anything is wrong with its text; the fields that can be read."""
    try:
        values = strict_json(data)
    except ValueError as error:
        return None, {}, [f"is not the JSON of a submission: {shown(str(error))}"]
    try:
        return Submission.model_validate(values), values, []
    except ValidationError as error:
        return None, _readable(values, error), check_headers.complaints(error)


def faults(told: dict[str, Any], found: Evidence) -> Iterator[str]:
    """A line, with its file, for each statement that is not so."""
    for rule, needed in _RULES.items():
        if told.keys() >= set(needed):
            yield from rule(found, *(told[name] for name in needed))


def mean_score(task: str, runs: Sequence[list[EpisodeRow]]) -> float:
    """Mean of the scores of these runs' rows on a task."""
    return math.fsum(score(BENCHMARK[task], rows) for rows in runs) / len(runs)


def _readable(values: Any, error: ValidationError) -> dict[str, Any]:
    """The fields with which nothing is wrong; none where the whole is no object of fields."""
    wrong = [fault["loc"][:1] for fault in error.errors()]
    if () in wrong:
        return {}
    return {name: value for name, value in values.items() if (name,) not in wrong}


def _task_faults(found: Evidence, tasks: list[str]) -> Iterator[str]:
    for task in tasks:
        if task not in BENCHMARK:
            yield f"{ABOUT}: unknown task or version {shown(task)}"
    if [task for task in BENCHMARK if task in tasks] != [
        task for task in tasks if task in BENCHMARK
    ]:
        yield f"{ABOUT}: tasks must be in the order of `explore-suite list`, each once"
    for name, members in GROUPS.items():
        lacking = [task for task in members if task not in tasks]
        if lacking and len(lacking) < len(members):
            yield f"{ABOUT}: group {name} is only taken whole and lacks {', '.join(lacking)}"


def _seed_faults(found: Evidence, seeds: list[int]) -> Iterator[str]:
    if seeds != list(range(len(seeds))) or len(seeds) < MIN_SEEDS:
        yield f"{ABOUT}: seeds must be 0, 1, 2, ... without gaps, at least {MIN_SEEDS} of them"


def _contact_faults(found: Evidence, contact: Any, paper: Any, code: Any) -> Iterator[str]:
    if not (contact or paper or code):
        yield f"{ABOUT}: one of contact, paper and code is needed"


def _version_faults(found: Evidence, suite_version: str) -> Iterator[str]:
    if _numbers(suite_version) > _numbers(_installed()):
        yield f"{ABOUT}: suite_version {suite_version} is newer than {_installed()}: update"
    versions = {run.header.versions.get("explore-suite") for run in found.runs if run.header}
    if versions - {suite_version, None}:
        yield f"{ABOUT}: suite_version {suite_version} is not that of the runs"


def _place_faults(
    found: Evidence, preset: str, agent: str, tasks: list[str], seeds: list[int]
) -> Iterator[str]:
    """Files missing, and files that nothing of the submission has."""
    due, there = _due(found, preset, agent, tasks, seeds), set(found.files) - {ABOUT}
    yield from (f"{path}: is missing" for path in sorted(due - there))
    yield from (
        f"{path}: does not belong to the tasks, seeds, agent and preset of {ABOUT}"
        for path in sorted(there - due)
    )


def _listing_faults(
    found: Evidence, preset: str, agent: str, tasks: list[str], seeds: list[int],
    files: dict[str, str],
) -> Iterator[str]:  # fmt: skip
    if files.keys() != _due(found, preset, agent, tasks, seeds):
        yield f"{ABOUT}: files must name the files of its tasks and seeds, all and no others"


def _digest_faults(found: Evidence, files: dict[str, str]) -> Iterator[str]:
    for path in sorted(found.files.keys() & files.keys()):
        if digest(found.files[path]) != files[path]:
            yield f"{path}: was changed after the submission was made: its SHA-256 differs"


def _scored_faults(found: Evidence, tasks: list[str], scores: dict[str, float]) -> Iterator[str]:
    if scores.keys() != set(tasks):
        yield f"{ABOUT}: scores must name the tasks, all and no others"


def _score_faults(
    found: Evidence, preset: str, agent: str, seeds: list[int], scores: dict[str, float]
) -> Iterator[str]:
    rows = {run.stem: run.rows for run in found.runs if run.rows}
    for task in [task for task in scores if task in BENCHMARK]:
        due = [run_path(preset, agent, task, seed, "") for seed in seeds]
        if not due or not rows.keys() >= set(due):
            continue  # a run is missing or faulty, and that is said of it
        stated, mean = scores[task], mean_score(task, [rows[stem] for stem in due])
        if not abs(stated - mean) <= SCORE_TOLERANCE:
            yield f"{ABOUT}: score {stated} of {task} is not {mean}, the mean over its rows"


_RULES: dict[Callable[..., Iterator[str]], tuple[str, ...]] = {
    _task_faults: ("tasks",),
    _seed_faults: ("seeds",),
    _contact_faults: ("contact", "paper", "code"),
    _version_faults: ("suite_version",),
    _place_faults: ("preset", "agent", "tasks", "seeds"),
    _listing_faults: ("preset", "agent", "tasks", "seeds", "files"),
    _digest_faults: ("files",),
    _scored_faults: ("tasks", "scores"),
    _score_faults: ("preset", "agent", "seeds", "scores"),
}


def _due(found: Evidence, preset: str, agent: str, tasks: list[str], seeds: list[int]) -> set[str]:
    """The files that a submission of these tasks and seeds has; traces where headers list them."""
    with_traces = {
        run.stem
        for run in found.runs
        if (run.header.traces if run.header else run.stem + TRACES in found.files)
    }
    stems = {
        run_path(preset, agent, task, seed, "")
        for task in tasks if task in BENCHMARK
        for seed in range(len(seeds))
    }  # fmt: skip
    return {stem + suffix for stem in stems for suffix in SUFFIXES} | {
        stem + TRACES for stem in stems & with_traces
    }


@cache
def _installed() -> str:
    return metadata.version("explore-suite")


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"[0-9]+", version)[:3])
