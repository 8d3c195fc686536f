"""Flags that several commands of the analysis share."""

import argparse
from pathlib import Path

from explore_suite.errors import UserError


def add_stores(parser: argparse.ArgumentParser) -> None:
    """--results: the stores to read."""
    parser.add_argument(
        "--results", type=Path, nargs="+", metavar="STORE", help="stores of runs (default: runs in "
        "the working directory and the published runs, where they exist)",
    )  # fmt: skip


def add_last(parser: argparse.ArgumentParser) -> None:
    """--last N: score the last N evaluations of each run; N must be 1 or more."""
    parser.add_argument(
        "--last", type=_one_or_more, metavar="N", help="score the last N evaluations of each run "
        "instead of the task's score window, for a look at short runs",
    )  # fmt: skip


def _one_or_more(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise UserError(f"--last must be 1 or more, got {text}")
    return int(text)
