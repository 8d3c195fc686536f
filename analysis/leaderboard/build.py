"""The leaderboard: rows of all methods, as a page and as Markdown.

The steps: `gather` the runs and submissions, make `rows` of them, write these down.
"""

import logging
from collections.abc import Sequence
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


def write(stores: Sequence[Path], out: Path) -> None:
    """Writes OUT/leaderboard.md and OUT/leaderboard.html; reports no run that is left out."""
    board = gather(stores)
    _report_refused(board)
    found = rows(board)
    out.mkdir(parents=True, exist_ok=True)
    replace_text(out / "leaderboard.md", markdown(found))
    replace_text(out / "leaderboard.html", html(board, found, TITLE))


def write_page(
    stores: Sequence[Path | str],
    out_file: Path | str,
    title: str = TITLE,
    last: int | None = None,
) -> tuple[list[Row], list[str]]:
    """Writes the page of some stores, with curves, visited states and rows, to one file.

    Returns the rows, and a line for whatever was refused. With `last`, scores are of the last that
    many evaluations of each run.
    """
    path = Path(out_file)
    board = gather(stores, last)
    for one in board.left_out:
        say(f"  left out: {one.why}")
    _report_refused(board)
    found = rows(board)
    path.parent.mkdir(parents=True, exist_ok=True)
    replace_text(path, html(board, found, title))
    return found, board.refused


def _report_refused(board: Board) -> None:
    for line in board.refused:
        say(f"  refused: {line}")
    _log.info("  %d runs of %d methods", len(board.runs), len(board.entries))
