"""A lock on a run, held by the process that writes it and by no other."""

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

from explore_suite.errors import RunLockedError, UserError


@contextlib.contextmanager
def locked(path: Path) -> Iterator[None]:
    """Held by one process at a time; the system releases it when that process dies."""
    import fcntl  # here, so that the environments import where it does not exist

    try:
        file = path.open("w")
    except OSError as error:
        raise UserError(f"cannot write to {path.parent}: {error.strerror}") from error
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            mine = os.path.samestat(os.fstat(file.fileno()), path.stat())
        except (BlockingIOError, FileNotFoundError):  # held, or let go of just now
            mine = False
        if not mine:
            raise RunLockedError(f"{path.with_suffix('')} is being written by another process")
        try:
            yield
        finally:
            path.unlink()  # while it is locked: nobody else can hold a lock of this name then
