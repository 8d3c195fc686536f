"""The leaderboard: rows of all methods, as a page and as Markdown.

The steps: `gather` the runs and submissions, make `rows` of them, write these down.
"""

import logging
from pathlib import Path

from analysis.leaderboard.entries import Board, gather
from analysis.leaderboard.html import html
from analysis.leaderboard.markdown import markdown
from analysis.leaderboard.rows import Row, rows
from explore_suite.cli.console import say
from explore_suite.files import replace_text

__all__ = ["Board", "Row", "gather", "rows", "write", "write_page"]

TITLE = "explore_suite leaderboard"
_log = logging.getLogger(__name__)


def write(root: Path, out: Path, preset: str) -> None:
    """Writes OUT/leaderboard.md and OUT/leaderboard.html; they show every preset."""
    board = _gather(root, told=preset)  # the figures of the same report have told of its runs
    found = rows(board)
    out.mkdir(parents=True, exist_ok=True)
    replace_text(out / "leaderboard.md", markdown(found))
    replace_text(out / "leaderboard.html", html(board, found, TITLE))


def write_page(
    root: Path | str, out_file: Path | str, title: str = TITLE, last: int | None = None
) -> tuple[list[Row], list[str]]:
    """Writes the page of a store, with curves, visited states and rows, to one file.

    Returns the rows, and a line for whatever was refused. With `last`, scores are of the last that
    many evaluations of each run.
    """
    path = Path(out_file)
    board = _gather(root, last)
    found = rows(board)
    path.parent.mkdir(parents=True, exist_ok=True)
    replace_text(path, html(board, found, title))
    return found, board.refused


def _gather(root: Path | str, last: int | None = None, told: str | None = None) -> Board:
    """The board; says what is left out, and why, but for runs of a preset told of before."""
    board = gather(root, last)
    for one in board.left_out:
        if one.path.parts[0] != told:
            say(f"  left out: {one.why}")
    for line in board.refused:
        say(f"  refused: {line}")
    _log.info("  %d runs of %d methods", len(board.runs), len(board.entries))
    return board
