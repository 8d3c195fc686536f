"""Files: writes are atomic, so that a reader sees the old content or the new one, never a part."""

import contextlib
import os
import secrets
from pathlib import Path

from explore_suite.errors import UserError


def replace_text(path: Path, text: str) -> None:
    """Replaces the text of a file atomically."""
    replace_bytes(path, text.encode())


def replace_bytes(path: Path, content: bytes) -> None:
    """Replaces the content of a file atomically, and makes it survive a power cut."""
    draft = path.with_name(f"{path.name}.{secrets.token_hex(4)}.tmp")  # of this writer alone
    try:
        with draft.open("xb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
    except BaseException as error:  # Ctrl-C, too; and on a full disk every byte counts
        with contextlib.suppress(OSError):  # the first error is the one to report
            draft.unlink(missing_ok=True)
        if isinstance(error, OSError):  # name the file, not its draft
            error.filename, error.filename2 = str(path), None
        raise


def read_bytes(path: Path, at_most: int = -1) -> bytes | None:
    """The content of a file, or its first `at_most` bytes; None if there is none.

    A UserError if it cannot be read, or is no regular file: a pipe would be waited for.
    """
    try:
        if path.exists() and not path.is_file():
            raise UserError(f"cannot read {path}: it is no regular file")
        with path.open("rb") as file:
            return file.read(at_most)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise UserError(f"cannot read {path}: {error.strerror}") from error
