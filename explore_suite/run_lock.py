"""A lock on a run, held by the process that writes it and by no other."""

import contextlib
import errno
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
