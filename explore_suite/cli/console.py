"""Text for people: lines and tables on standard output, prettier where rich is installed."""

import os
import sys
from collections.abc import Sequence

CLOSED = 141  # exit code of a program that a closed pipe ends: 128 + SIGPIPE


def say(line: str = "") -> None:
    """One line on standard output, at once."""
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def table(title: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """A titled table; plain aligned columns without rich or when the output is not a terminal."""
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
        pretty.add_row(*map(Text, row))  # a stranger's name is text, not markup
    Console().print(pretty)


def _plain(title: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    lines = [columns, *rows]
    widths = [max(len(line[i]) for line in lines) for i in range(len(columns))]
    say(title)
    for line in lines:
        say("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip())


def silence_stdout() -> None:
    """Ignores a closed stdout pipe (`explore-suite list | head`): all further output is dropped."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
