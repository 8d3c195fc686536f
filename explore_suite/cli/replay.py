"""`explore-suite replay`: plays the stored actions of runs and checks that returns agree."""

import argparse
from pathlib import Path

from explore_suite.cli.console import say
from explore_suite.errors import UserError
from explore_suite.runs.traces import replay_run


def main(arguments: list[str]) -> int:
    """Prints `equal` or the first difference for each run; exit code 0 if all are equal, else 1."""
    options = _parser().parse_args(arguments)
    return max([_report(run) for run in options.runs])


def _report(run: Path) -> int:
    try:
        differences = replay_run(run)
    except (UserError, OSError) as error:  # such as a folder in place of the CSV
        say(f"not replayed: {run}: {error}")
        return 1
    if not differences:
        say(f"equal: {run}: the actions stored of its last evaluations earn what their rows say")
        return 0
    more = f" (differences in all: {len(differences)})" if len(differences) > 1 else ""
    say(f"differs: {run}: {differences[0]}{more}")
    return 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="explore-suite replay",
        description="Play the stored actions of a run's last evaluations (its .traces.npz file) in "
        "the environment, and compare return, length and success steps exactly with its rows. "
        "Nothing is trained: it takes about a second per run and needs no torch. Exit code 0 if "
        "all runs are equal, 1 if one differs or cannot be replayed.",
    )
    parser.add_argument(
        "runs", type=Path, nargs="+", metavar="RUN", help="the .csv or .json file of a run"
    )
    return parser
