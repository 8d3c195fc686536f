"""Builds the leaderboard: writes the rows of all methods as an HTML page and as Markdown.

Three steps: `gather` the runs and submissions, make `rows` of them, write these to files.
"""

import logging
from pathlib import Path

from analysis.leaderboard.entries import Board
from analysis.leaderboard.html import html
from analysis.leaderboard.markdown import markdown
from analysis.leaderboard.rows import Row, rows
from explore_suite.cli.console import say
from explore_suite.files import replace_text

TITLE = "explore_suite leaderboard"
_log = logging.getLogger(__name__)


def write(
    board: Board, page: Path, markdown_file: Path | None = None, title: str = TITLE
) -> list[Row]:
    """Writes the page, and the Markdown if asked for; prints what was refused; returns the rows."""
    for line in board.refused:
        say(f"  refused: {line}")
    _log.info("  %d runs of %d methods", len(board.runs), len(board.entries))
    found = rows(board)
    page.parent.mkdir(parents=True, exist_ok=True)
    if markdown_file is not None:
        replace_text(markdown_file, markdown(found))
    replace_text(page, html(board, found, title))
    return found
