"""The result format: one run is a JSON header and a CSV of episodes.

<root>/<preset>/<agent>/<task>/seed-000.json    who ran what, on what; finished or not
<root>/<preset>/<agent>/<task>/seed-000.csv     one line per episode, training and evaluation

and, where they were left, the actions of its last evaluations (see traces.py), and a states file
for figures: where the run has been.

<root>/<preset>/<agent>/<task>/seed-000.traces.npz
<root>/<preset>/<agent>/<task>/seed-000.states.json
"""

import csv
import hashlib
import json
import math
import re
from collections.abc import Sequence
from dataclasses import MISSING, Field, asdict, dataclass, field, fields
from pathlib import Path
from typing import Any, NamedTuple, get_args, get_origin

from explore_suite.errors import UserError
from explore_suite.files import read_bytes

SCHEMA = 1
LABEL = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]{0,63}")  # of agents, presets; path-safe
# Files that may lie beside a run.
STATES, WEIGHTS, TRACES = ".states.json", ".weights.safetensors", ".traces.npz"
PHASES = ("train", "eval")
MAX_WHOLE = 2**63 - 1  # of any whole number in a run: what a table can hold
COLUMNS = (
    "phase", "episode", "env_steps", "return", "length", "success_steps", "coverage", "seconds",
)  # fmt: skip


class EpisodeRow(NamedTuple):
    """One episode: a line of the CSV, in the order of COLUMNS."""

    phase: str  # train or eval
    episode: int  # from 1; an evaluation carries the number of the training episode before it
    env_steps: int  # training steps taken so far
    return_: float  # sum of the environment's rewards
    length: int  # steps of this episode
    success_steps: int  # steps at which the goal condition held
    coverage: float  # fraction of the task's bins that training has visited so far
    seconds: float  # since the run began, pauses left out


@dataclass(frozen=True)
class Header:
    """Who ran what, with which settings and code; only `traces` and `finished` change after start.

    Except that a finished run can be lengthened, to more `episodes`. A field that a file lacks has
    its default: headers outlive the versions that wrote them.
    """

    preset: str
    agent: str  # what is ranked: an algorithm's name, or algorithm.variant
    task: str  # full id, with version
    seed: int
    episodes: int  # the budget, in training episodes
    config: dict[str, Any]  # the agent's resolved settings
    source: str  # what wrote the run, e.g. "explore-suite train"
    code: dict[str, Any] = field(default_factory=dict)  # commit, and whether files differed from it
    versions: dict[str, str] = field(default_factory=dict)
    fingerprint: str = ""  # hash of how the task behaved, see fingerprint.py
    machine: dict[str, Any] = field(default_factory=dict)
    threads: int = 1
    schema: int = SCHEMA
    date: str = ""  # UTC day on which the run began, YYYY-MM-DD
    traces: dict[str, str] = field(default_factory=dict)  # name and SHA-256 of the traces file
    finished: bool = False

    @property
    def key(self) -> "RunKey":
        """Identity of the run, from which its path follows."""
        return RunKey(self.preset, self.agent, self.task, self.seed)


_FIELDS = {item.name: item for item in fields(Header)}
_NEEDED = {
    name
    for name, item in _FIELDS.items()
    if item.default is MISSING and item.default_factory is MISSING
}
_LEAST = {"seed": 0, "threads": 1}


class RunKey(NamedTuple):
    """Identity of a run: preset, agent, task and seed."""

    preset: str
    agent: str
    task: str
    seed: int

    @property
    def path(self) -> Path:
        """Path below the store's root, without suffix; a UserError for names unfit for a path."""
        for name in (self.preset, self.agent):
            if not (isinstance(name, str) and LABEL.fullmatch(name)):
                raise UserError(
                    f"{name!r} cannot name an agent or preset: letters, digits and . _ + - only, "
                    "beginning with a letter or digit, at most 64"
                )
        task = self.task.split("/")[-1]
        return Path(self.preset, self.agent, task, f"seed-{self.seed:03d}")


class Run(NamedTuple):
    """A run as read from the store."""

    header: Header
    rows: list[EpisodeRow]


def read_header(path: Path) -> Header:
    """Reads a header from a JSON file; a UserError names what is wrong with it."""
    content = read_bytes(path)
    if content is None:
        raise UserError(f"{path} is not a readable header: there is no such file")
    try:
        values = json.loads(content.decode())
        json.dumps(values, ensure_ascii=False).encode()  # a lone surrogate cannot be written again
    except (ValueError, RecursionError) as error:
        raise UserError(f"{path} is not a readable header: {error}") from error
    if not isinstance(values, dict):
        raise UserError(f"{path} is not a header: it holds no object")
    schema = values.get("schema")
    if isinstance(schema, int) and schema > SCHEMA:
        raise UserError(f"{path} has schema {schema}, newer than {SCHEMA}: update explore-suite")
    wrong = sorted((_NEEDED - values.keys()) | (values.keys() - _FIELDS.keys()))
    if wrong:
        raise UserError(f"{path} has unknown or missing fields: {', '.join(wrong)}")
    for item in (_FIELDS[name] for name in values):
        kind: Any = get_origin(item.type) or item.type
        if type(values[item.name]) is not kind:
            raise UserError(f"{path}: {item.name} must be a {kind.__name__}")
        if problem := _value_problem(item, values[item.name]):
            raise UserError(f"{path}: {item.name} {problem}")
    return Header(**values)


def read_rows(path: Path, *, finished: bool) -> list[EpisodeRow]:
    """Reads the rows of a CSV; an unfinished run's last line is dropped if it is cut off."""
    content = read_bytes(path)
    if content is None:
        if finished:
            raise UserError(f"{path} is missing, but its header says finished")
        return []
    if not finished:
        content = content[: content.rfind(b"\n") + 1]
    rows = parse_rows(path, content)
    if rows and not content.endswith(b"\n"):
        raise UserError(f"{path} is cut off: its header says finished, its last line has no end")
    return rows


def parse_rows(path: Path, content: bytes) -> list[EpisodeRow]:
    """Parses the content of a CSV into rows; `path` is for messages."""
    try:
        text = content.decode("utf-8")
        lines = list(csv.reader(text.splitlines()))
    except (ValueError, csv.Error) as error:
        raise UserError(f"{path} is not text: {error}") from error
    if lines and tuple(lines[0]) != COLUMNS:
        raise UserError(f"{path} does not begin with the columns {','.join(COLUMNS)}")
    return [_row(path, number, line) for number, line in enumerate(lines[1:], start=2)]


def fault(header: Header, rows: Sequence[EpisodeRow]) -> str | None:
    """What is wrong with the rows of a run, or None if nothing is.

    Each episode has a training row, then an evaluation row, all numbers finite. A finished run has
    these of every episode of its budget.
    """
    if header.episodes < 1:
        return f"its header has a budget of {header.episodes} episodes"
    for index, (phase, episode, _, return_, _, _, coverage, seconds) in enumerate(rows):
        if episode != index // 2 + 1 or phase != PHASES[index % 2]:
            return f"line {index + 2} is {phase} episode {episode}, out of order"
        if not math.isfinite(return_ + coverage + seconds):
            return f"line {index + 2} holds a number that is not finite"
    if len(rows) > 2 * header.episodes or (header.finished and len(rows) < 2 * header.episodes):
        state = "finished" if header.finished else "unfinished"
        return f"has {len(rows)} rows of {2 * header.episodes}, and its header says {state}"
    return None


def dump_header(header: Header) -> str:
    """The header as readable JSON, always the same for the same header."""
    values = asdict(header)
    for name in ("date", "traces"):  # headers older than these lack them: their hashes stay valid
        if not values[name]:
            del values[name]
    return json.dumps(values, indent=1, sort_keys=True) + "\n"


def listed_traces(name: str, content: bytes) -> dict[str, str]:
    """A header's entry for a traces file: its name and SHA-256."""
    return {"file": name, "sha256": hashlib.sha256(content).hexdigest()}


def format_row(row: tuple[Any, ...]) -> str:
    """A line of the CSV."""
    return ",".join(map(str, row)) + "\n"


def _value_problem(item: Field[Any], value: Any) -> str | None:
    """What is wrong with a value of a header that has the type of its field, or None."""
    if item.type is int and not _LEAST.get(item.name, -MAX_WHOLE) <= value <= MAX_WHOLE:
        return "is out of range"
    if get_args(item.type) == (str, str) and not all(type(text) is str for text in value.values()):
        return "must hold texts alone"
    if item.name == "code" and not isinstance(value.get("commit"), str | None):
        return "must name its commit by a text, or by null"
    return None


def _row(path: Path, number: int, line: list[str]) -> EpisodeRow:
    try:
        phase, episode, env_steps, return_, length, success_steps, coverage, seconds = line
        row = EpisodeRow(
            phase, int(episode), int(env_steps), float(return_), int(length),
            int(success_steps), float(coverage), float(seconds),
        )  # fmt: skip
    except ValueError as error:
        raise UserError(f"{path}, line {number}: not an episode: {error}") from error
    if max(map(abs, (row.episode, row.env_steps, row.length, row.success_steps))) > MAX_WHOLE:
        raise UserError(f"{path}, line {number}: not an episode: a number is too large")
    if phase not in PHASES:
        raise UserError(f"{path}, line {number}: phase must be one of {PHASES}, got {phase!r}")
    return row
