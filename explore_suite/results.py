"""The result format: one run is a JSON header and a CSV of episodes, read and written here alone.

<root>/<preset>/<agent>/<task>/seed-000.json    who ran what, on what; finished or not
<root>/<preset>/<agent>/<task>/seed-000.csv     one line per episode, training and evaluation

and, where its maker left them, the actions of its last evaluations (explore_suite.traces), and a
states file for pictures: where the run has been.

<root>/<preset>/<agent>/<task>/seed-000.traces.npz
<root>/<preset>/<agent>/<task>/seed-000.states.json
"""

import contextlib
import csv
import hashlib
import json
import os
import re
from collections.abc import Callable, Iterator
from dataclasses import MISSING, asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any, NamedTuple, get_origin

from explore_suite.errors import UserError
from explore_suite.run_lock import locked

SCHEMA = 1
LABEL = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]{0,63}")  # of agents, presets; path-safe
# Files that may lie beside a run.
STATES, WEIGHTS, TRACES = ".states.json", ".weights.safetensors", ".traces.npz"
PHASES = ("train", "eval")
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
    """What a run was. Everything but `traces` and `finished` is fixed when it begins.

    A field that a file lacks has its default: headers outlive the versions that wrote them.
    """

    preset: str
    agent: str  # what is ranked: an algorithm's name, or algorithm.variant
    task: str  # full id, with version
    seed: int
    episodes: int  # the budget, in training episodes
    config: dict[str, Any]  # the agent's resolved settings
    source: str  # what wrote the run, e.g. "explore-suite train"
    code: dict[str, Any] = field(default_factory=dict)  # commit, and whether the tree was dirty
    versions: dict[str, str] = field(default_factory=dict)
    fingerprint: str = ""  # how the task behaved
    machine: dict[str, Any] = field(default_factory=dict)
    threads: int = 1
    schema: int = SCHEMA
    traces: dict[str, str] = field(default_factory=dict)  # name and SHA-256 of the traces file
    finished: bool = False

    @property
    def key(self) -> "RunKey":
        """Where the run belongs."""
        return RunKey(self.preset, self.agent, self.task, self.seed)


_FIELDS = {item.name: item for item in fields(Header)}
_NEEDED = {
    name
    for name, item in _FIELDS.items()
    if item.default is MISSING and item.default_factory is MISSING
}


class RunKey(NamedTuple):
    """What makes a run the same run."""

    preset: str
    agent: str
    task: str
    seed: int

    @property
    def place(self) -> Path:
        """Path below the store's root, without suffix; a UserError for names unfit for it."""
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


class ResultStore:
    """A folder of runs, written by one process each and read by anyone."""

    def __init__(self, root: Path | str) -> None:
        """The folder need not exist yet."""
        self.root = Path(root)

    def path(self, key: RunKey, suffix: str) -> Path:
        """The run's file with this suffix."""
        return self.root / key.place.parent / (key.place.name + suffix)

    def header(self, key: RunKey) -> Header | None:
        """The run's header, or None if there is no such run."""
        path = self.path(key, ".json")
        return read_header(path) if path.exists() else None

    def seeds(self, key: RunKey) -> list[Header]:
        """The readable headers of this run and of all that differ from it in the seed alone."""
        found = []
        for path in sorted(self.path(key, "").parent.glob("seed-*.json")):
            if not path.name.endswith(STATES):
                with contextlib.suppress(UserError):  # its own run will say what is wrong with it
                    found.append(read_header(path))
        return found

    def states(self, key: RunKey) -> dict[str, Any] | None:
        """What the run's states file holds, or None if there is none."""
        path = self.path(key, STATES)
        if not path.exists():
            return None
        try:
            return json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise UserError(f"{path} is not a readable states file: {error}") from error

    def runs(self) -> Iterator[Run]:
        """Every run, in the order of their paths."""
        for path in sorted(self.root.glob("*/*/*/seed-*.json")):
            if path.name.endswith(STATES):
                continue
            header = read_header(path)
            yield Run(header, read_rows(path.with_suffix(".csv"), finished=header.finished))

    @contextlib.contextmanager
    def open(
        self, header: Header, *, keep_rows: Callable[[], int] | int = 0, overwrite: bool = False
    ) -> Iterator["RunWriter"]:
        """A writer for one run, alone with it until the context ends.

        An unfinished run is cut back to its first `keep_rows` rows (a function is asked once the
        run is locked, before anything is written); a finished one is refused without `overwrite`.
        """
        path = self.path(header.key, ".json")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise UserError(f"cannot write to {path.parent}: {error.strerror}") from error
        with locked(path.with_suffix(".lock")):
            held = self.header(header.key)
            if held is not None and held.finished and not overwrite:
                raise UserError(f"{path} is finished; --overwrite runs it again")
            keep = keep_rows() if callable(keep_rows) else keep_rows
            rows = read_rows(path.with_suffix(".csv"), finished=False)[:keep] if keep else []
            if len(rows) < keep:
                raise UserError(
                    f"{path.with_suffix('.csv')} has {len(rows)} of the {keep} rows that its "
                    "checkpoint counts; --overwrite begins the run anew"
                )
            if held is not None and held.finished:  # it must not say so of rows that are gone
                replace_text(path, dump_header(header))
            writer = RunWriter(path, header, rows)
            try:
                yield writer
            finally:
                writer.close()


class RunWriter:
    """Appends episodes to one run; every line is on disk before the next episode begins."""

    def __init__(self, path: Path, header: Header, rows: list[EpisodeRow]) -> None:
        """Starts the files anew with the given rows; used by ResultStore.open."""
        self._path = path
        self._header = replace(header, traces={})  # listed when they are there
        if not rows:  # begun anew: what an earlier run of this name left is not of this one
            for companion in (STATES, WEIGHTS, TRACES):
                path.with_name(path.stem + companion).unlink(missing_ok=True)
        text = "".join(_line(row) for row in [COLUMNS, *rows])
        replace_text(path.with_suffix(".csv"), text)
        replace_text(path, dump_header(self._header))
        self._file = path.with_suffix(".csv").open("a", encoding="utf-8", newline="")

    def append(self, row: EpisodeRow) -> None:
        """Adds one episode."""
        self._file.write(_line(row))
        self._file.flush()

    def sync(self) -> None:
        """Lets no power cut take the rows appended so far."""
        os.fsync(self._file.fileno())

    def write_states(self, states: dict[str, Any]) -> None:
        """Leaves a states file beside the run."""
        path = self._path.with_name(self._path.stem + STATES)
        replace_text(path, json.dumps(states, separators=(",", ":")) + "\n")

    def finish(self, traces: bytes = b"") -> None:
        """Declares the run complete, once its rows and the traces file, if any, are on disk."""
        self.sync()
        listed = {}
        if traces:
            path = self._path.with_suffix(TRACES)
            replace_bytes(path, traces)
            listed = listed_traces(path.name, traces)
        self._header = replace(self._header, traces=listed, finished=True)
        replace_text(self._path, dump_header(self._header))

    def close(self) -> None:
        """Closes the CSV; the header keeps saying what it says."""
        self._file.close()


def read_header(path: Path) -> Header:
    """The header in a JSON file; a UserError names what is wrong with it."""
    try:
        values = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
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
    return Header(**values)


def read_rows(path: Path, *, finished: bool) -> list[EpisodeRow]:
    """The episodes of a CSV. The last line of an unfinished run may be cut off, and is left out."""
    if not path.exists():
        if finished:
            raise UserError(f"{path} is missing, but its header says finished")
        return []
    try:
        text = path.read_text(encoding="utf-8")
    except ValueError as error:
        raise UserError(f"{path} is not text: {error}") from error
    if not finished:
        text = text[: text.rfind("\n") + 1]
    lines = list(csv.reader(text.splitlines()))
    if lines and tuple(lines[0]) != COLUMNS:
        raise UserError(f"{path} does not begin with the columns {','.join(COLUMNS)}")
    return [_row(path, number, line) for number, line in enumerate(lines[1:], start=2)]


def dump_header(header: Header) -> str:
    """The header as readable JSON, always the same for the same header."""
    values = asdict(header)
    if not header.traces:  # as before there were any: what such headers were hashed as stays true
        del values["traces"]
    return json.dumps(values, indent=1, sort_keys=True) + "\n"


def listed_traces(name: str, content: bytes) -> dict[str, str]:
    """How a header lists a traces file of this name and content."""
    return {"file": name, "sha256": hashlib.sha256(content).hexdigest()}


def replace_text(path: Path, text: str) -> None:
    """Replaces a file as a whole: whoever reads it sees the old text or the new one."""
    replace_bytes(path, text.encode())


def replace_bytes(path: Path, content: bytes) -> None:
    """Replaces a file as a whole: whoever reads it sees the old content or the new one."""
    draft = path.with_name(path.name + ".tmp")
    try:
        with draft.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
    except OSError:
        draft.unlink(missing_ok=True)  # on a full disk every byte counts
        raise


def _line(row: tuple[Any, ...]) -> str:
    return ",".join(map(str, row)) + "\n"


def _row(path: Path, number: int, line: list[str]) -> EpisodeRow:
    try:
        phase, episode, env_steps, return_, length, success_steps, coverage, seconds = line
        row = EpisodeRow(
            phase, int(episode), int(env_steps), float(return_), int(length),
            int(success_steps), float(coverage), float(seconds),
        )  # fmt: skip
    except ValueError as error:
        raise UserError(f"{path}, line {number}: not an episode: {error}") from error
    if phase not in PHASES:
        raise UserError(f"{path}, line {number}: phase must be one of {PHASES}, got {phase!r}")
    return row
