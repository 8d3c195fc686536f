"""`explore-suite replay`: play the stored actions of runs and compare what they earn."""

import argparse
from pathlib import Path

from explore_suite.cli.console import say
from explore_suite.errors import UserError
from explore_suite.runs.traces import replay_run


def main(arguments: list[str]) -> int:
    """Prints a line for each run, `equal` or its first difference; 0 if all are equal, else 1."""
    options = _parser().parse_args(arguments)
    return max([_tell(run) for run in options.runs])


def _tell(run: Path) -> int:
    try:
        differences = replay_run(run)
    except (UserError, OSError) as error:  # such as a folder in place of the CSV
        say(f"not replayed: {run}: {error}")
        return 1
    if not differences:
        say(f"equal: the traces of {run} earn what its rows say")
        return 0
    more = f" (and {len(differences) - 1} more differences)" if len(differences) > 1 else ""
    say(f"differs: {run}: {differences[0]}{more}")
    return 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="explore-suite replay",
        description="Play the stored actions of a run's last evaluations (its .traces.npz file) in "
        "the real environment, and compare return, length and success steps with its rows, "
        "exactly. Nothing is learnt: it takes about a second per run, and needs no torch. "
        "Exit code 0 if all runs are equal, 1 if one differs or cannot be replayed.",
    )
    parser.add_argument("runs", type=Path, nargs="+", metavar="RUN", help="its .csv or .json file")
    return parser
