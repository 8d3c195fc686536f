"""Flags that several commands of the analysis share."""

import argparse
from pathlib import Path


def add_stores(parser: argparse.ArgumentParser) -> None:
    """--results: the stores to read."""
    parser.add_argument(
        "--results",
        type=Path,
        nargs="+",
        metavar="STORE",
        help="stores of runs (default: runs in the working directory and the published runs, "
        "where they exist)",
    )
