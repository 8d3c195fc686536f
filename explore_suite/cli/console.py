"""What commands share: lines and tables on standard output, and exit codes."""

import os
import sys
from collections.abc import Callable, Sequence

from explore_suite.errors import UserError

_CONTROLS = {*range(0x20), *range(0x7F, 0xA0)} - set(map(ord, "\t\n"))
_ESCAPES = {code: f"\\x{code:02x}" for code in _CONTROLS}
CLOSED = 141  # exit code of a program that a closed pipe ends: 128 + SIGPIPE


def say(line: str = "") -> None:
    """Prints one line and flushes it; control characters, which a file may hold, are escaped."""
    sys.stdout.write(printable(line) + "\n")
    sys.stdout.flush()


def printable(text: str) -> str:
    """The text with escapes for all that could move a terminal's cursor or change its colours."""
    return text.translate(_ESCAPES)


def table(title: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Prints a table: with rich in a terminal, else as plain aligned columns."""
    try:
        from rich.box import SIMPLE_HEAD
        from rich.console import Console
        from rich.table import Table
        from rich.text import Text
    except ImportError:
        _plain(title, columns, rows)
        return
    if not sys.stdout.isatty():
        _plain(title, columns, rows)
        return
    pretty = Table(title=title, title_justify="left", box=SIMPLE_HEAD, padding=(0, 1, 0, 0))
    for column in columns:
        pretty.add_column(column, no_wrap=column != columns[-1])
    for row in rows:
        pretty.add_row(*(Text(printable(cell)) for cell in row))  # text, not markup
    Console().print(pretty)


def _plain(title: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    lines = [columns, *rows]
    widths = [max(len(line[i]) for line in lines) for i in range(len(columns))]
    say(title)
    for line in lines:
        say("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip())


def exit_code(name: str, command: Callable[[], int | None]) -> int:
    """Runs a command and returns its exit code; wrong input is one line instead of a traceback."""
    try:
        return command() or 0
    except UserError as error:
        sys.stderr.write(printable(f"{name}: {error}") + "\n")
        return error.exit_code
    except BrokenPipeError:
        silence_stdout()
        return CLOSED  # not 0: the command ended before it could report a failure
    except KeyboardInterrupt:
        sys.stderr.write(f"{name}: stopped\n")
        return 130  # 128 + SIGINT


def silence_stdout() -> None:
    """Ignores a closed stdout pipe (`explore-suite list | head`): all further output is dropped."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
