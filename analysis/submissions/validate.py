"""Whether a submission is sound: every statement recomputed from its rows, every fault listed."""

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from analysis.submissions import check_headers, check_manifest
from analysis.submissions.check_manifest import SUFFIXES, Evidence, FoundRun
from analysis.submissions.check_rows import check_rows
from analysis.submissions.duplicate_runs import Match, matches, told_by
from analysis.submissions.read_folder import ABOUT, read_tree
from analysis.submissions.schema import Submission, run_path
from explore_suite.runs.format import LABEL, TRACES, EpisodeRow, Header, Run, listed_traces
from explore_suite.tasks import BENCHMARK, NAMESPACE

_PLACE = re.compile(r"runs/([^/]+)/([^/]+)/([^/]+)/seed-([0-9]+)")


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
    found, run_problems = _check_runs(files)
    if ABOUT in files:
        submission, told, faults = check_manifest.read_about(files[ABOUT])
    else:
        submission, told, faults = None, {}, ["is missing"]
    problems = [f"{ABOUT}: {fault}" for fault in faults]
    problems += check_manifest.faults(told, Evidence(files, found))
    return Report(submission, _whole(found), list(dict.fromkeys(problems + run_problems)))


def check_runs(files: dict[str, bytes]) -> tuple[list[Run], list[str]]:
    """The runs among the files that can be read, and the faults of each and of all together."""
    found, problems = _check_runs(files)
    return _whole(found), problems


def _check_runs(files: dict[str, bytes]) -> tuple[list[FoundRun], list[str]]:
    found, problems = [], []
    stems = sorted({_stem(path) for path in files if path != ABOUT})
    for stem in stems:
        run, faults = _check_run(stem, files)
        problems += faults
        if run is not None:
            found.append(run)
    return found, problems + list(_disagreements(found)) + list(_copies(found))


def _stem(path: str) -> str:
    """The path of a run without the suffix of this file of it."""
    folder, name = path.rsplit("/", 1)
    return f"{folder}/{name.split('.')[0]}"


def _whole(found: list[FoundRun]) -> list[Run]:
    return [Run(run.header, run.rows) for run in found if run.header and run.rows]


def _check_run(stem: str, files: dict[str, bytes]) -> tuple[FoundRun | None, list[str]]:
    """What can be read of a run, None if it is of no task; and its faults, each with its file."""
    place = _PLACE.fullmatch(stem)
    assert place is not None, "read_tree and build make no other paths"
    task = f"{NAMESPACE}/{place[3]}"
    if task not in BENCHMARK:
        return None, [f"{stem}.json: unknown task or version {task}"]
    problems = [f"{stem}{suffix}: is missing" for suffix in SUFFIXES if stem + suffix not in files]
    header, faults = _check_header(stem, task, files)
    problems += [f"{stem}.json: {fault}" for fault in faults]
    rows, faults = _check_csv(stem, task, files, header)
    problems += [f"{stem}.csv: {fault}" for fault in faults]
    problems += [f"{stem}{TRACES}: {fault}" for fault in _check_traces(stem, files, header)]
    return FoundRun(stem, task, int(place[4]), header, [] if faults else rows), problems


def _check_header(stem: str, task: str, files: dict[str, bytes]) -> tuple[Header | None, list[str]]:
    if stem + ".json" not in files:
        return None, []
    header, faults = check_headers.read(files[stem + ".json"])
    if header is not None:
        if header.task != task or _path(header) != stem:
            faults.append("preset, agent, task and seed of the header are not those of its path")
        faults += check_headers.check(header, BENCHMARK[task])
    return header, faults


def _check_csv(
    stem: str, task: str, files: dict[str, bytes], header: Header | None
) -> tuple[list[EpisodeRow], list[str]]:
    if stem + ".csv" not in files:
        return [], []
    return check_rows(files[stem + ".csv"], BENCHMARK[task], header.episodes if header else None)


def _check_traces(stem: str, files: dict[str, bytes], header: Header | None) -> Iterator[str]:
    """Whether the traces file is the one that the header lists; its actions are not played here."""
    content = files.get(stem + TRACES)
    if header is None:
        return
    if content is None and header.traces:
        yield "is missing"
    elif content is not None and not header.traces:
        yield "is not listed by its header"
    elif content is not None and header.traces != listed_traces(Path(stem + TRACES).name, content):
        yield "is not the file that its header lists: its SHA-256 or name differs"


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


def _copies(found: list[FoundRun]) -> Iterator[str]:
    """A line for each run that tells what another seed of its task tells."""
    runs = [run for run in found if run.rows]
    told = [told_by(run.task, run.seed, run.rows) for run in runs]
    earliest: dict[int, Match] = {}
    for match in matches(told):
        if told[match.first].varies or told[match.second].varies:
            earliest.setdefault(match.second, match)
    for first, second, what in earliest.values():
        nearly = "" if what == "episodes" else "nearly "
        yield f"{runs[second].stem}.csv: has {nearly}the same {what} as seed {runs[first].seed}"
