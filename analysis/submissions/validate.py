"""Validates a submission: what it states is recomputed from its rows, and every problem listed."""

import json
import re
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from analysis.submissions import check_headers, check_manifest
from analysis.submissions.check_manifest import SUFFIXES, Contents, FoundRun
from analysis.submissions.check_rows import check_rows
from analysis.submissions.duplicate_runs import Match, matches, same_actions, scored_rows
from analysis.submissions.read_folder import MANIFEST, read_tree
from analysis.submissions.replay import ReplayOutcome, TracedRun, replay_runs
from analysis.submissions.schema import Submission, files_digest, run_path
from analysis.submissions.unicode_checks import shown
from explore_suite.runs.format import LABEL, TRACES, EpisodeRow, Header, Run, listed_traces
from explore_suite.runs.traces import BadTracesError, read_traces, traced_episodes
from explore_suite.tasks import BENCHMARK, NAMESPACE

_RUN_STEM = re.compile(r"runs/([^/]+)/([^/]+)/([^/]+)/seed-([0-9]+)")


@dataclass(frozen=True)
class Validation:
    """The outcome of a validation: sound if there are no problems, else of no other use."""

    submission: Submission | None
    runs: list[Run]
    problems: list[str]
    traces: dict[str, bytes] = field(default_factory=dict)  # path -> content
    replay: ReplayOutcome | None = None  # None until the traces are replayed


def validate(folder: Path, accepted: Collection[str] = ()) -> Validation:
    """Checks a folder, replaying nothing; a UserError if it does not exist.

    `accepted` are the digests of submissions accepted before: these alone may lack traces.
    """
    tree = read_tree(folder)
    report = check(tree.files, accepted)
    stray = [
        f"{path}: unexpected folder"
        for path in tree.folders
        if not any(file.startswith(path + "/") for file in tree.files)
    ]
    return replace(report, problems=[*tree.problems, *stray, *report.problems])


def check(files: dict[str, bytes], accepted: Collection[str] = ()) -> Validation:
    """Checks the files of a submission, given as path -> content."""
    found, run_problems = _check_runs(files)
    if MANIFEST in files:
        submission, fields, lines = check_manifest.read_manifest(files[MANIFEST])
    else:
        submission, fields, lines = None, {}, ["is missing"]
    problems = [f"{MANIFEST}: {line}" for line in lines]
    problems += check_manifest.problems(fields, Contents(files, found))
    problems += run_problems
    if submission is None or files_digest(submission.files) not in accepted:
        problems += _lacking_traces(found)
    traces = {path: data for path, data in files.items() if path.endswith(TRACES)}
    return Validation(submission, _whole(found), list(dict.fromkeys(problems)), traces)


def check_runs(files: dict[str, bytes]) -> tuple[list[Run], list[str]]:
    """The runs among the files of a new submission, and the problems of each and of all."""
    found, problems = _check_runs(files)
    return _whole(found), [*problems, *_lacking_traces(found)]


def replay_traces(report: Validation, *, every: bool = False) -> Validation:
    """A sound report with the outcome of replaying its traces, a sample of them or every one."""
    if report.submission is None or report.problems or not report.traces:
        return report
    paths = {run_path(*run.header.key, TRACES): run for run in report.runs}
    traced = [TracedRun(path, *paths[path], data) for path, data in sorted(report.traces.items())]
    outcome = replay_runs(traced, files_digest(report.submission.files), every=every)
    return replace(report, problems=outcome.problems, replay=outcome)


def _check_runs(files: dict[str, bytes]) -> tuple[list[FoundRun], list[str]]:
    found, problems = [], []
    for stem in sorted({_stem(path) for path in files if path != MANIFEST}):
        run, lines = _check_run(stem, files)
        problems += lines
        if run is not None:
            found.append(run)
    for rule in (_disagreements, _copied_rows, _copied_actions):
        problems += rule(found)
    return found, problems


def _stem(path: str) -> str:
    """The path of a run without the suffix of this file of it."""
    folder, name = path.rsplit("/", 1)
    return f"{folder}/{name.split('.')[0]}"


def _whole(found: list[FoundRun]) -> list[Run]:
    return [Run(run.header, run.rows) for run in found if run.header and run.rows]


def _check_run(stem: str, files: dict[str, bytes]) -> tuple[FoundRun | None, list[str]]:
    """What can be read of a run, None if it is of no task; and its problems, each with its file."""
    parts = _RUN_STEM.fullmatch(stem)
    assert parts is not None, "read_tree and submit make no other paths"
    task = f"{NAMESPACE}/{parts[3]}"
    if task not in BENCHMARK:
        return None, [f"{stem}.json: unknown task or version {task}"]
    problems = [f"{stem}{suffix}: is missing" for suffix in SUFFIXES if stem + suffix not in files]
    header, lines = _check_header(stem, task, files)
    problems += [f"{stem}.json: {line}" for line in lines]
    rows, lines = _check_csv(stem, task, files, header)
    rows = [] if lines else rows
    problems += [f"{stem}.csv: {line}" for line in lines]
    actions, lines = _check_traces(stem, task, files, header)
    problems += [f"{stem}{TRACES}: {line}" for line in lines]
    return FoundRun(stem, task, int(parts[4]), header, rows, actions), problems


def _check_header(stem: str, task: str, files: dict[str, bytes]) -> tuple[Header | None, list[str]]:
    if stem + ".json" not in files:
        return None, []
    header, problems = check_headers.read(files[stem + ".json"])
    if header is not None:
        if header.task != task or _path(header) != stem:
            problems.append("preset, agent, task and seed of the header are not those of its path")
        problems += check_headers.check(header, BENCHMARK[task])
    return header, problems


def _check_csv(
    stem: str, task: str, files: dict[str, bytes], header: Header | None
) -> tuple[list[EpisodeRow], list[str]]:
    if stem + ".csv" not in files:
        return [], []
    return check_rows(files[stem + ".csv"], BENCHMARK[task], header.episodes if header else None)


def _check_traces(
    stem: str, task: str, files: dict[str, bytes], header: Header | None
) -> tuple[list[np.ndarray], list[str]]:
    """The actions of each evaluation in the traces file that the header lists, not yet played."""
    content = files.get(stem + TRACES)
    if header is None or (content is None and not header.traces):
        return [], []
    if content is None:
        return [], ["is missing"]
    if not header.traces:
        return [], ["is not listed by its header"]
    if header.traces != listed_traces(Path(stem + TRACES).name, content):
        return [], ["is not the file that its header lists: its SHA-256 or name differs"]
    spec = BENCHMARK[task]
    evaluations = len(traced_episodes(spec, header.episodes))
    try:
        _, _, actions = read_traces(content, spec, evaluations, spec.horizon)
    except BadTracesError as error:
        return [], [shown(str(error))]
    return list(actions), []


def _lacking_traces(found: list[FoundRun]) -> Iterator[str]:
    lacking = [run.stem for run in found if run.header and not run.header.traces]
    if lacking:
        more = f" (and of {len(lacking) - 1} more runs)" if len(lacking) > 1 else ""
        yield f"{lacking[0]}{TRACES}: is missing: new submissions need the traces of each run{more}"


def _path(header: Header) -> str | None:
    """Where a run of this header belongs; None if its labels cannot name a path."""
    if not all(map(LABEL.fullmatch, (header.preset, header.agent))):
        return None
    return run_path(header.preset, header.agent, header.task, header.seed, "")


def _disagreements(found: list[FoundRun]) -> Iterator[str]:
    """What must be equal between headers and is not."""
    yield from _differing(found, "versions", lambda run: "", lambda header: header.versions)
    for what, value in _PER_TASK.items():
        yield from _differing(found, what, lambda run: run.task, value)


_PER_TASK: dict[str, Callable[[Header], object]] = {
    "config": lambda header: header.config,
    "budget": lambda header: header.episodes,
    "code": lambda header: header.code,
    "source": lambda header: header.source,
}


def _differing(
    found: list[FoundRun], what: str, group: Callable[[FoundRun], str],
    value: Callable[[Header], object],
) -> Iterator[str]:  # fmt: skip
    """A line for each run whose value is not that of the first run of its group."""
    firsts: dict[str, tuple[str, str]] = {}
    for run in found:
        if run.header is None:
            continue
        mine = json.dumps(value(run.header), sort_keys=True)  # where true is not 1
        stem, first = firsts.setdefault(group(run), (run.stem, mine))
        if mine != first:
            yield f"{run.stem}.json: its {what} is not that of {stem}.json"


def _copied_rows(found: list[FoundRun]) -> Iterator[str]:
    """A line for each run whose rows are those of another seed of its task, noise or not."""
    runs = [run for run in found if run.rows]
    scored = [scored_rows(run.task, run.seed, run.rows) for run in runs]
    earliest: dict[int, Match] = {}
    for match in matches(scored):
        if scored[match.first].varies or scored[match.second].varies:
            earliest.setdefault(match.second, match)
    for first, second, what in earliest.values():
        nearly = "" if what == "episodes" else "nearly "
        yield f"{runs[second].stem}.csv: has {nearly}the same {what} as seed {runs[first].seed}"


def _copied_actions(found: list[FoundRun]) -> Iterator[str]:
    """A line for each run with an evaluation whose actions are those of another seed, or nearly."""
    for task in dict.fromkeys(run.task for run in found):
        runs = [run for run in found if run.task == task]
        earliest: dict[int, int] = {}
        for first, second in same_actions([run.actions for run in runs]):
            earliest.setdefault(second, first)
        for second, first in earliest.items():
            seed = runs[first].seed
            yield f"{runs[second].stem}{TRACES}: an evaluation has the actions of seed {seed}"
