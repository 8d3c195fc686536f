"""Replays submitted traces: whether the stored actions earn the returns that the rows report.

The tasks are deterministic, so that a replay is exact. The actions are a stranger's, so they are
played in a process of their own, with limits on its time and memory. Little is imported here,
because that process imports this file.
"""

import base64
import json
import math
import os
import random
import resource
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import NamedTuple

from analysis.submissions.unicode_checks import shown
from explore_suite.errors import UserError
from explore_suite.python_process import python_command
from explore_suite.runs import traces
from explore_suite.runs.format import EpisodeRow, Header

MAX_RUNS = 40  # replayed of a submission, unless all are asked for; and per process
# Limits of a process. It takes about 2 seconds to start, 0.25 per run, and 0.5 GB of addresses.
START_SECONDS, RUN_SECONDS, MEMORY = 60, 10, 4 * 2**30
_ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}  # each would reserve memory


class TracedRun(NamedTuple):
    """A run with the content of its traces file."""

    path: str  # of the traces file, for messages
    header: Header
    rows: list[EpisodeRow]
    content: bytes


class ReplayOutcome(NamedTuple):
    """The outcome of a replay."""

    replayed: int  # runs
    problems: list[str]


def replay_runs(runs: Sequence[TracedRun], seed: str, *, every: bool = False) -> ReplayOutcome:
    """Replays MAX_RUNS of the runs, drawn by the seed, or every one; a line for each difference."""
    chosen = list(runs)
    if len(runs) > MAX_RUNS and not every:
        places = random.Random(seed).sample(range(len(runs)), MAX_RUNS)
        chosen = [runs[place] for place in sorted(places)]
    problems = [
        problem
        for first in range(0, len(chosen), MAX_RUNS)
        for problem in _replay_batch(chosen[first : first + MAX_RUNS])
    ]
    return ReplayOutcome(len(chosen), problems)


def differences(header: Header, rows: list[EpisodeRow], content: bytes) -> list[str]:
    """How the rows differ from what the actions earn, in this process; nothing if they do not."""
    try:
        return traces.replay(header, rows, content)
    except UserError as error:
        return [str(error)]


def serve() -> None:
    """Replays the runs on standard input, a JSON line each, within the limits in sys.argv."""
    seconds, memory = map(int, sys.argv[1:])
    _limit(resource.RLIMIT_CPU, seconds)
    _limit(resource.RLIMIT_AS, memory)
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "w")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # whatever else is printed is no answer
    for line in sys.stdin:
        header, rows, content = json.loads(line)
        run = Header(**header), [EpisodeRow(*row) for row in rows], base64.b64decode(content)
        answers.write(json.dumps(differences(*run)) + "\n")
        answers.flush()


def _replay_batch(runs: Sequence[TracedRun]) -> Iterator[str]:
    """Replays runs in one process; fails for a run without an answer."""
    answers, ending = _ask(runs)
    for run, found in zip(runs, answers, strict=False):
        if found:
            more = f" (differences in all: {len(found)})" if len(found) > 1 else ""
            yield f"{run.path}: {shown(found[0])}{more}"
    if len(answers) < len(runs):
        yield f"{runs[len(answers)].path}: cannot be replayed: {ending}"


def _ask(runs: Sequence[TracedRun]) -> tuple[list[list[str]], str]:
    """The differences of each run that a process got to, and how that process ended."""
    seconds = START_SECONDS + RUN_SECONDS * len(runs)
    code = "from analysis.submissions.replay import serve; serve()"
    try:
        process = subprocess.run(
            python_command(code, str(math.ceil(seconds)), str(MEMORY)),
            input=b"".join(map(_as_line, runs)), capture_output=True, timeout=seconds, check=False,
            env=os.environ | _ONE_THREAD,
        )  # fmt: skip
    except subprocess.TimeoutExpired as error:
        return _answers(error.stdout or b""), f"not done within {seconds:g} seconds"
    last = process.stderr.decode(errors="replace").strip().rpartition("\n")[2]
    return _answers(process.stdout), f"exit code {process.returncode}, {shown(last)}"


def _as_line(run: TracedRun) -> bytes:
    content = base64.b64encode(run.content).decode()
    return json.dumps([asdict(run.header), run.rows, content]).encode() + b"\n"


def _answers(output: bytes) -> list[list[str]]:
    """The complete lines of a process's output."""
    return [json.loads(line) for line in output.split(b"\n")[:-1]]


def _limit(kind: int, value: int) -> None:
    _, hard = resource.getrlimit(kind)
    value = value if hard == resource.RLIM_INFINITY else min(value, hard)
    resource.setrlimit(kind, (value, value))
