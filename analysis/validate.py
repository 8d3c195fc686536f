"""Whether a submission is sound: every statement recomputed from its rows, every fault listed."""

import math
import re
from collections.abc import Callable, Iterator
from functools import cache
from importlib import metadata
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from pydantic import ValidationError

from analysis import header_checks
from analysis.row_checks import check_rows, score
from analysis.submission import GROUPS, MIN_SEEDS, Submission, digest, run_path
from analysis.untrusted import ABOUT, read_tree, shown, strict_json
from explore_suite.results import Header, Run
from explore_suite.tasks import NAMESPACE, TASKS

SCORE_TOLERANCE = 1e-6  # between a stated score and the recomputed one
_PLACE = re.compile(r"runs/([^/]+)/([^/]+)/([^/]+)/seed-([0-9]+)")
_SUFFIXES = (".json", ".csv")


class Report(NamedTuple):
    """What validation found; sound if there are no problems, and of no other use otherwise."""

    submission: Submission | None
    runs: list[Run]
    problems: list[str]


def validate(folder: Path) -> Report:
    """Checks a folder, reading nothing outside it; a UserError if it does not exist."""
    tree = read_tree(folder)
    report = check(tree.files)
    stray = [
        f"{path}: unexpected folder"
        for path in tree.folders
        if not any(file.startswith(path + "/") for file in tree.files)
    ]
    return report._replace(problems=[*tree.problems, *stray, *report.problems])


def check(files: dict[str, bytes]) -> Report:
    """Checks the files of a submission, given as path -> content."""
    submission, problems = _read_about(files)
    runs, run_problems = check_runs(files)
    if submission is not None:
        problems += [f"{ABOUT}: {line}" for line in _about_faults(submission)]
        problems += _file_faults(submission, files)
        problems += [f"{ABOUT}: {line}" for line in _score_faults(submission, runs)]
    return Report(submission, runs, list(dict.fromkeys(problems + run_problems)))


def check_runs(files: dict[str, bytes]) -> tuple[list[Run], list[str]]:
    """The runs among the files that can be read, and the faults of each and of all together."""
    runs, problems = [], []
    stems = sorted({str(PurePosixPath(path).with_suffix("")) for path in files if path != ABOUT})
    for stem in stems:
        run, faults = _check_run(stem, files)
        problems += faults
        if run is not None:
            runs.append(run)
    return runs, problems + list(_disagreements(runs))


def mean_score(runs: list[Run], task: str) -> float:
    """Mean over the seeds of the runs' scores on a task."""
    scores = [score(TASKS[task], run.rows) for run in runs if run.header.task == task]
    return math.fsum(scores) / len(scores)


def _read_about(files: dict[str, bytes]) -> tuple[Submission | None, list[str]]:
    if ABOUT not in files:
        return None, [f"{ABOUT}: is missing"]
    try:
        return Submission.model_validate(strict_json(files[ABOUT])), []
    except ValidationError as error:
        return None, [f"{ABOUT}: {line}" for line in header_checks.complaints(error)]
    except ValueError as error:
        return None, [f"{ABOUT}: is not the JSON of a submission: {shown(str(error))}"]


def _check_run(stem: str, files: dict[str, bytes]) -> tuple[Run | None, list[str]]:
    """A run, unless it cannot be read; and its faults, each with its file."""
    missing = [stem + suffix for suffix in _SUFFIXES if stem + suffix not in files]
    if missing:
        return None, [f"{missing[0]}: is missing"]
    place = _PLACE.fullmatch(stem)
    assert place is not None, "read_tree and build make no other paths"
    task = f"{NAMESPACE}/{place[3]}"
    if task not in TASKS:
        return None, [f"{stem}.json: unknown task or version {task}"]
    header, faults = header_checks.read(files[stem + ".json"])
    if header is not None:
        if run_path(place[1], place[2], task, int(place[4]), "") != stem or (
            header.preset, header.agent, header.task, f"{header.seed:03d}"
        ) != (place[1], place[2], task, place[4]):  # fmt: skip
            faults.append("preset, agent, task and seed of the header are not those of its path")
        faults += header_checks.check(header, TASKS[task])
    problems = [f"{stem}.json: {fault}" for fault in faults]
    if header is None:
        return None, problems
    rows, faults = check_rows(files[stem + ".csv"], TASKS[task], header.episodes)
    problems += [f"{stem}.csv: {fault}" for fault in faults]
    return (None if problems else Run(header, rows)), problems


def _disagreements(runs: list[Run]) -> Iterator[str]:
    """What must be equal between runs and is not, or differ and does not."""
    yield from _differing(runs, "versions", lambda header: "", lambda header: header.versions)
    for what, value in _PER_TASK.items():
        yield from _differing(runs, what, lambda header: header.task, value)
    seen: dict[tuple, Header] = {}
    for header, rows in runs:
        told = (header.task, *(row[:-1] for row in rows))
        if told in seen:
            yield f"{_path(header)}.csv: has the same episodes as seed {seen[told].seed}"
        seen.setdefault(told, header)


_PER_TASK: dict[str, Callable[[Header], object]] = {
    "config": lambda header: header.config,
    "budget": lambda header: header.episodes,
}


def _differing(
    runs: list[Run], what: str, group: Callable[[Header], str], value: Callable[[Header], object]
) -> Iterator[str]:
    """A line for each run whose value is not that of the first run of its group."""
    firsts: dict[str, Header] = {}
    for header, _ in runs:
        first = firsts.setdefault(group(header), header)
        if value(header) != value(first):
            yield f"{_path(header)}.json: its {what} is not that of {_path(first)}.json"


def _about_faults(submission: Submission) -> Iterator[str]:
    """Statements of submission.json that need no run to be refused."""
    tasks, seeds = submission.tasks, submission.seeds
    yield from (f"unknown task or version {shown(task)}" for task in tasks if task not in TASKS)
    if [task for task in TASKS if task in tasks] != [task for task in tasks if task in TASKS]:
        yield "tasks must be in the order of `explore-suite list`, each once"
    for name, members in GROUPS.items():
        lacking = [task for task in members if task not in tasks]
        if lacking and len(lacking) < len(members):
            yield f"group {name} is only taken whole and lacks {', '.join(lacking)}"
    if seeds != list(range(len(seeds))) or len(seeds) < MIN_SEEDS:
        yield f"seeds must be 0, 1, 2, ... without gaps, at least {MIN_SEEDS} of them"
    if not (submission.contact or submission.paper or submission.code):
        yield "one of contact, paper and code is needed"
    if _numbers(submission.suite_version) > _numbers(_installed()):
        yield f"suite_version {submission.suite_version} is newer than {_installed()}: update"


def _file_faults(submission: Submission, files: dict[str, bytes]) -> Iterator[str]:
    """Files missing, not named by the submission, or not those it was made with."""
    due = {
        run_path(submission.preset, submission.agent, task, seed, suffix)
        for task in submission.tasks if task in TASKS
        for seed in range(len(submission.seeds))
        for suffix in _SUFFIXES
    }  # fmt: skip
    found = set(files) - {ABOUT}
    yield from (f"{path}: is missing" for path in sorted(due - found))
    yield from (
        f"{path}: does not belong to the tasks, seeds, agent and preset of {ABOUT}"
        for path in sorted(found - due)
    )
    if submission.files.keys() != due:
        yield f"{ABOUT}: files must name the files of its tasks and seeds, all and no others"
    for path in sorted(found & submission.files.keys()):
        if digest(files[path]) != submission.files[path]:
            yield f"{path}: was changed after the submission was made: its SHA-256 differs"


def _score_faults(submission: Submission, runs: list[Run]) -> Iterator[str]:
    if submission.scores.keys() != set(submission.tasks):
        yield "scores must name the tasks, all and no others"
    for task in [task for task in submission.scores if task in TASKS]:
        seeds = [run.header.seed for run in runs if run.header.task == task]
        if seeds != submission.seeds:
            continue  # a run is missing or faulty, and that is said of it
        stated, found = submission.scores[task], mean_score(runs, task)
        if not abs(stated - found) <= SCORE_TOLERANCE:
            yield f"score {stated} of {task} is not {found}, the mean over its rows"
    versions = {run.header.versions["explore-suite"] for run in runs}
    if versions - {submission.suite_version}:
        yield f"suite_version {submission.suite_version} is not that of the runs"


def _path(header: Header) -> str:
    return run_path(header.preset, header.agent, header.task, header.seed, "")


@cache
def _installed() -> str:
    return metadata.version("explore-suite")


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"[0-9]+", version)[:3])
