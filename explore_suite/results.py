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
import math
import os
import re
import secrets
from collections.abc import Callable, Iterator, Sequence
from dataclasses import MISSING, asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any, NamedTuple, get_origin

from explore_suite.errors import UserError
from explore_suite.run_lock import locked
from explore_suite.tasks import TASKS

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


class LeftOut(NamedTuple):
    """A run of a store that cannot be used."""

    path: Path  # of its header, below the store's root
    why: str  # one line that names the file
    header: Header | None  # None where the header is what cannot be used


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
        return self._own_header(path) if _exists(path) else None

    def run(self, key: RunKey) -> Run | None:
        """The run with its rows, or None if there is no such run; a UserError if it is damaged."""
        header = self.header(key)
        return None if header is None else _with_rows(self.path(key, ".json"), header)

    def seeds(self, key: RunKey) -> list[Header]:
        """The readable headers of this run and of all that differ from it in the seed alone."""
        found = []
        for path in sorted(self.path(key, "").parent.glob("seed-*.json")):
            if not path.name.endswith(STATES):
                with contextlib.suppress(UserError):  # its own run will say what is wrong with it
                    found.append(self._own_header(path))
        return found

    def states(self, key: RunKey) -> dict[str, Any] | None:
        """What the run's states file holds, or None if there is none."""
        path = self.path(key, STATES)
        if not _exists(path):
            return None
        try:
            return json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise UserError(f"{path} is not a readable states file: {error}") from error

    def runs(self) -> Iterator[Run]:
        """Every run, in the order of their paths; a UserError names the first that is damaged."""
        for path in self._headers():
            yield _with_rows(path, self._own_header(path))

    def sound_runs(self) -> tuple[list[Run], list[LeftOut]]:
        """Every run that can be used, in the order of their paths, and those that cannot."""
        sound, left_out = [], []
        for path in self._headers():
            header = None
            try:
                header = self._own_header(path)
                sound.append(_with_rows(path, header))
            except UserError as error:
                left_out.append(LeftOut(path.relative_to(self.root), str(error), header))
        return sound, left_out

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
                raise UserError(f"{_what_is_there(path, held)}; --overwrite runs it again")
            keep = keep_rows() if callable(keep_rows) else keep_rows
            rows = _kept_rows(path.with_suffix(".csv"), header, keep) if keep else []
            for draft in path.parent.glob(f"{path.stem}.*.tmp"):  # of a writer that was killed
                draft.unlink(missing_ok=True)
            if held is not None and held.finished:  # it must not say so of rows that are gone
                replace_text(path, dump_header(header))
            writer = RunWriter(path, header, rows)
            try:
                yield writer
            finally:
                writer.close()

    def _headers(self) -> list[Path]:
        found = sorted(self.root.glob("*/*/*/seed-*.json"))
        return [path for path in found if not path.name.endswith(STATES)]

    def _own_header(self, path: Path) -> Header:
        """The header in a file of this store; a UserError if it belongs to another place."""
        header = read_header(path)
        try:
            place = header.key.place
        except UserError as error:
            raise UserError(f"{path}: {error}") from error
        if self.path(header.key, ".json") != path:
            raise UserError(
                f"{path} holds the header of {str(place)!r}: a copied or moved file; move it back, "
                "or out of the store"
            )
        return header


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
        """Lets no power cut take the rows appended so far; a UserError if their file is gone."""
        os.fsync(self._file.fileno())
        path = self._path.with_suffix(".csv")
        try:
            mine = os.path.samestat(os.fstat(self._file.fileno()), path.stat())
        except (FileNotFoundError, NotADirectoryError):
            mine = False
        if not mine:
            raise UserError(
                f"{path} was removed, moved or replaced while this run was writing it; the run "
                "stops here, and resumes from its last checkpoint where that is still in place"
            )

    def write_states(self, states: dict[str, Any]) -> None:
        """Leaves a states file beside the run."""
        path = self._path.with_name(self._path.stem + STATES)
        replace_text(path, json.dumps(states, separators=(",", ":")) + "\n")

    def finish(self, traces: bytes = b"") -> None:
        """Declares the run complete, once its rows and the traces file, if any, are on disk.

        A UserError if its file does not hold all of its rows.
        """
        self.sync()
        _with_rows(self._path, replace(self._header, finished=True))
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
    except (OSError, ValueError, RecursionError) as error:
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
    content = _read_bytes(path)
    if content is None:
        if finished:
            raise UserError(f"{path} is missing, but its header says finished")
        return []
    if not finished:
        content = content[: content.rfind(b"\n") + 1]
    return _rows(path, content)


def _rows(path: Path, content: bytes) -> list[EpisodeRow]:
    try:
        text = content.decode("utf-8")
        lines = list(csv.reader(text.splitlines()))
    except (ValueError, csv.Error) as error:
        raise UserError(f"{path} is not text: {error}") from error
    if lines and tuple(lines[0]) != COLUMNS:
        raise UserError(f"{path} does not begin with the columns {','.join(COLUMNS)}")
    return [_row(path, number, line) for number, line in enumerate(lines[1:], start=2)]


def _kept_rows(path: Path, header: Header, keep: int) -> list[EpisodeRow]:
    """The first rows of an unfinished run; whatever follows them is not looked at."""
    lines = (_read_bytes(path) or b"").splitlines(keepends=True)[: 1 + keep]
    rows = _rows(path, b"".join(line for line in lines if line.endswith(b"\n")))
    if len(rows) < keep:
        raise UserError(
            f"{path} has {len(rows)} of the {keep} rows that its checkpoint counts; "
            "--overwrite begins the run anew"
        )
    problem = fault(replace(header, finished=False), rows)
    if problem is not None:
        raise UserError(f"{path}: {problem}; --overwrite begins the run anew")
    return rows


def _with_rows(path: Path, header: Header) -> Run:
    """The run of a header that was read from `path`; a UserError if its rows are damaged."""
    if header.task not in TASKS:
        raise UserError(f"{path}: this version of explore-suite has no task {header.task!r}")
    table = path.with_suffix(".csv")
    rows = read_rows(table, finished=header.finished)
    problem = fault(header, rows)
    if problem is not None:
        raise UserError(f"{table}: {problem}")
    return Run(header, rows)


def _what_is_there(path: Path, header: Header) -> str:
    """That a run is finished, or what keeps it from being so although its header says it is."""
    try:
        _with_rows(path, header)
    except UserError as error:
        return str(error)
    return f"{path} is finished"


def fault(header: Header, rows: Sequence[EpisodeRow]) -> str | None:
    """What is wrong with the rows of a run, or None.

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
    draft = path.with_name(f"{path.name}.{secrets.token_hex(4)}.tmp")  # of this writer alone
    try:
        with draft.open("xb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
    except BaseException as error:  # Ctrl-C, too; and on a full disk every byte counts
        with contextlib.suppress(OSError):  # the first error is the one to be told
            draft.unlink(missing_ok=True)
        if isinstance(error, OSError):  # it is about the file; its draft means nothing to people
            error.filename, error.filename2 = str(path), None
        raise


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except OSError as error:
        raise UserError(f"cannot read {path}: {error.strerror}") from error


def _read_bytes(path: Path) -> bytes | None:
    """The content of a file, or None if there is none."""
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise UserError(f"cannot read {path}: {error.strerror}") from error


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
