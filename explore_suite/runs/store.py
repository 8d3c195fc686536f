"""A folder of runs: reading them, and writing one at a time under a lock.

store = ResultStore("runs")
with store.lock(key) as run:              # alone with this run's files
    with run.open(header) as writer:
        writer.append(row)
        writer.finish()
"""

import contextlib
import errno
import json
import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from explore_suite.errors import RunLockedError, UserError
from explore_suite.files import read_bytes, replace_bytes, replace_text
from explore_suite.runs.format import (
    COLUMNS,
    STATES,
    TRACES,
    WEIGHTS,
    EpisodeRow,
    Header,
    Run,
    RunKey,
    dump_header,
    fault,
    format_row,
    listed_traces,
    parse_rows,
    read_header,
    read_rows,
)
from explore_suite.runs.states import States, read_states
from explore_suite.tasks import TASKS

DEFAULT_STORE = Path("runs")  # of the commands that write runs, in the working directory
_FROM_SCRATCH = "train --overwrite, or record without resume, starts it from scratch"


class LeftOut(NamedTuple):
    """A run that cannot be used, and why."""

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
        return self.root / key.path.parent / (key.path.name + suffix)

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
                with contextlib.suppress(UserError):  # reported when that run itself is used
                    found.append(self._own_header(path))
        return found

    def states(self, key: RunKey) -> States | None:
        """What the run's states file holds, or None if there is none."""
        return read_states(self.path(key, STATES))

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
                left_out.append(self._left_out(path, error, header))
        for table in sorted(self.root.glob("*/*/*/seed-*.csv")):
            path = table.with_suffix(".json")
            try:
                if not _exists(path):
                    _refuse_rows(path)
            except UserError as error:
                left_out.append(self._left_out(path, error, None))
        return sound, left_out

    @contextlib.contextmanager
    def lock(self, key: RunKey) -> Iterator["LockedRun"]:
        """Locks the run: no other process writes its files until the context ends."""
        path = self.path(key, ".json")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise UserError(f"cannot write to {path.parent}: {error.strerror}") from error
        with _locked(path.with_suffix(".lock")):
            yield LockedRun(path, self.header(key))

    def is_locked(self, key: RunKey) -> bool:
        """Whether another process writes the run."""
        try:
            with self.lock(key):
                return False
        except RunLockedError:
            return True

    @contextlib.contextmanager
    def open(
        self, header: Header, *, keep_rows: int = 0, overwrite: bool = False
    ) -> Iterator["RunWriter"]:
        """Locks a run and opens it for writing, as `LockedRun.open` does."""
        with (
            self.lock(header.key) as run,
            run.open(header, keep_rows=keep_rows, overwrite=overwrite) as writer,
        ):
            yield writer

    def _headers(self) -> list[Path]:
        found = sorted(self.root.glob("*/*/*/seed-*.json"))
        return [path for path in found if not path.name.endswith(STATES)]

    def _left_out(self, path: Path, error: UserError, header: Header | None) -> LeftOut:
        below = path.relative_to(self.root)
        return LeftOut(Path(_printable(str(below))), _printable(str(error)), header)

    def _own_header(self, path: Path) -> Header:
        """The header in a file of this store; a UserError if it belongs to another path."""
        header = read_header(path)
        try:
            below = header.key.path
        except UserError as error:
            raise UserError(f"{path}: {error}") from error
        if self.path(header.key, ".json") != path:
            raise UserError(
                f"{path} holds the header of {str(below)!r}: a copied or moved file; move it back, "
                "or out of the store"
            )
        return header


class LockedRun:
    """The files of one run while this process holds its lock; made by `ResultStore.lock`."""

    def __init__(self, path: Path, header: Header | None) -> None:
        self._path = path
        self.header = header  # what the store holds of it so far

    def refuse_orphans(self, *, overwrite: bool) -> None:
        """A UserError if rows are there without their header, unless they may be overwritten."""
        if self.header is None and not overwrite:
            _refuse_rows(self._path)

    @contextlib.contextmanager
    def open(
        self, header: Header, *, keep_rows: int = 0, overwrite: bool = False
    ) -> Iterator["RunWriter"]:
        """Opens the run for writing; of an unfinished one the first `keep_rows` rows are kept.

        A finished run is refused without `overwrite`.
        """
        path, held = self._path, self.header
        if held is not None and held.finished and not overwrite:
            raise UserError(f"{_what_is_there(path, held)}; --overwrite runs it again")
        self.refuse_orphans(overwrite=overwrite)
        rows = _kept_rows(path.with_suffix(".csv"), header, keep_rows) if keep_rows else []
        for draft in path.parent.glob(f"{path.stem}.*.tmp"):  # of a writer that was killed
            draft.unlink(missing_ok=True)
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
        """Starts the files from scratch with the given rows; used by `LockedRun.open`."""
        self._path = path
        self._header = replace(header, traces={})  # listed when they are there
        if not rows:  # what an earlier run of this name left does not belong to this one
            for companion in (STATES, WEIGHTS, TRACES):
                path.with_name(path.stem + companion).unlink(missing_ok=True)
        text = "".join(format_row(row) for row in [COLUMNS, *rows])
        replace_text(path.with_suffix(".csv"), text)
        replace_text(path, dump_header(self._header))
        self._file = path.with_suffix(".csv").open("a", encoding="utf-8", newline="")

    def append(self, row: EpisodeRow) -> None:
        """Adds one episode."""
        self._file.write(format_row(row))
        self._file.flush()

    def sync(self) -> None:
        """Makes the rows so far survive a power cut; a UserError if their file is gone."""
        os.fsync(self._file.fileno())
        path = self._path.with_suffix(".csv")
        try:
            mine = os.path.samestat(os.fstat(self._file.fileno()), path.stat())
        except (FileNotFoundError, NotADirectoryError):
            mine = False
        if not mine:
            raise UserError(
                f"{path} was removed, moved or replaced while this run was writing it; the run "
                "stops here, and resumes from its last checkpoint if that still exists"
            )

    def write_states(self, states: dict[str, Any]) -> None:
        """Writes a states file (visited states, for figures) beside the run."""
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
        """Closes the CSV; a run that was not finished stays unfinished."""
        self._file.close()


def _kept_rows(path: Path, header: Header, keep: int) -> list[EpisodeRow]:
    """The first `keep` rows of an unfinished run; whatever follows them is ignored."""
    lines = (read_bytes(path) or b"").splitlines(keepends=True)[: 1 + keep]
    rows = parse_rows(path, b"".join(line for line in lines if line.endswith(b"\n")))
    if len(rows) < keep:
        raise UserError(
            f"{path} has {len(rows)} of the {keep} rows that its checkpoint counts; {_FROM_SCRATCH}"
        )
    problem = fault(replace(header, finished=False), rows)
    if problem is not None:
        raise UserError(f"{path}: {problem}; {_FROM_SCRATCH}")
    return rows


def _with_rows(path: Path, header: Header) -> Run:
    """The run of a header that was read from `path`; a UserError if its rows are damaged."""
    if header.task not in TASKS:
        raise UserError(
            f"{path}: there is no task {header.task!r} here (EXPLORE_SUITE_IMPORT names modules "
            "that register tasks of your own)"
        )
    table = path.with_suffix(".csv")
    rows = read_rows(table, finished=header.finished)
    problem = fault(header, rows)
    if problem is not None:
        raise UserError(f"{table}: {problem}")
    return Run(header, rows)


def _what_is_there(path: Path, header: Header) -> str:
    """`PATH is finished`, or what is wrong with the files of a run whose header says so."""
    try:
        _with_rows(path, header)
    except UserError as error:
        return str(error)
    return f"{path} is finished"


def _refuse_rows(path: Path) -> None:
    """A UserError if rows are there, but no header at `path`."""
    table = path.with_suffix(".csv")
    if (read_bytes(table) or b"").count(b"\n") > 1:
        raise UserError(
            f"{table} holds rows, but its header {path.name} is missing: put it back or move the "
            "rows away; --overwrite, or overwrite=True of record, replaces them"
        )


def _printable(text: str) -> str:
    """A text with escapes for the bytes of a file's name that are not UTF-8."""
    return text.encode(errors="backslashreplace").decode()


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except OSError as error:
        raise UserError(f"cannot read {path}: {error.strerror}") from error


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[None]:
    """A lock file, held by one process at a time; the system releases it when that one dies."""
    import fcntl  # here, so that the environments import where it does not exist

    try:
        file = path.open("w")
    except OSError as error:
        raise UserError(f"cannot write to {path.parent}: {error.strerror}") from error
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            mine = os.path.samestat(os.fstat(file.fileno()), path.stat())
        except (BlockingIOError, FileNotFoundError):  # held, or released just now
            mine = False
        except OSError as error:
            raise UserError(f"cannot lock {path}: {error.strerror}{_advice(error)}") from error
        if not mine:
            raise RunLockedError(f"{path.with_suffix('')} is being written by another process")
        try:
            yield
        finally:
            _remove(file.fileno(), path)


def _remove(descriptor: int, path: Path) -> None:
    """Removes the lock file while it is locked: nobody else can hold a lock of this name then.

    If it was removed by hand, a file of this name may be the lock of another process. A file that
    cannot be removed is harmless, because the lock on it ends with this process.
    """
    with contextlib.suppress(OSError):
        if os.path.samestat(os.fstat(descriptor), path.stat()):
            path.unlink()


def _advice(error: OSError) -> str:
    if error.errno in (errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOSYS):
        return (
            "; the file system of this folder has no file locks: choose a folder on another one "
            "(Lustre has them if mounted with -o flock)"
        )
    return ""
