"""`explore-suite verify`: re-run a finished run and check that it reproduces."""

import argparse
import contextlib
import logging
import signal
from collections.abc import Iterator
from pathlib import Path

from tqdm import tqdm

from baselines.training.verification import differing_conditions, disagreements, first_difference
from explore_suite.cli.console import say
from explore_suite.errors import UserError
from explore_suite.runs.format import EpisodeRow, Header, read_header, read_rows
from explore_suite.runs.provenance import processor

_AGAIN_SECONDS = 0.05  # between two attempts to stop when the time is over
EQUAL, DIFFERS, NOT_COMPARABLE = 0, 1, 3  # exit codes; 2 is wrong input, as of every command
_EPILOG = """\
examples:
  explore-suite verify runs/cpu/sac_deep/WalkerExplore-v0/seed-000.csv
  explore-suite verify runs/cpu/sac_deep/WalkerExplore-v0/seed-000.csv --episodes 2

Learning repeats bit for bit only on the same CPU capability (instruction set) and with the same
package versions. Where they differ, verify reports how, checks what must agree on every machine
(the task's fingerprint, order and length of the rows, what the stored actions earn), and reports
how far the rows agree. `explore-suite replay` checks the stored actions alone, in seconds.

exit codes:
  0  equal
  1  differs on the same CPU capability and versions, or in what must agree on every machine
  2  wrong input
  3  not comparable here: rows differ, on another CPU capability or with other versions
"""


def main(arguments: list[str]) -> int:
    """Prints `equal`, or the first difference; --help explains the exit codes."""
    options = _parser().parse_args(arguments)
    logging.getLogger("absl").setLevel(logging.WARNING)
    path = options.run.with_suffix(".json")
    header, rows = _read(path)
    if options.episodes is not None and options.episodes < 1:
        raise UserError(f"--episodes must be at least 1, got {options.episodes}")
    if options.timeout is not None and not options.timeout > 0:
        raise UserError(f"--timeout must be positive, got {options.timeout:g}")
    elsewhere = differing_conditions(header)
    if elsewhere:
        say(f"made under other conditions, its rows may differ here: {'; '.join(elsewhere)}")
        for wrong in disagreements(path, header, rows):
            say(f"differs in what must agree on every machine: {wrong}")
            return DIFFERS
    compared = rows[: 2 * (options.episodes or header.episodes)]
    with _time_limit(options.timeout):
        difference = first_difference(header, tqdm(compared, unit="row"))
    if difference is None:
        say(f"equal: {len(compared)} rows of {options.run}")
        return EQUAL
    if elsewhere:
        say(f"not comparable here: equal up to line {difference.line - 1}; {difference}")
        return NOT_COMPARABLE
    say(f"{difference}{_other_processor(header)}")
    return DIFFERS


def _read(path: Path) -> tuple[Header, list[EpisodeRow]]:
    """The header and the rows of all complete episodes; a UserError if there are too few."""
    header = read_header(path)
    rows = read_rows(path.with_suffix(".csv"), finished=header.finished)
    if header.finished and len(rows) != 2 * header.episodes:
        raise UserError(
            f"{path} says finished, but {len(rows)} of {2 * header.episodes} rows are there"
        )
    if len(rows) < 2:
        raise UserError(f"{path} has no complete episode to compare")
    return header, rows[: len(rows) // 2 * 2]


@contextlib.contextmanager
def _time_limit(seconds: float | None) -> Iterator[None]:
    """Raises UserError in the code inside it when the time is over; no limit for None."""

    def stop(number: int, frame: object) -> None:
        raise UserError(f"stopped after {seconds:g} seconds (--timeout) without a result")

    if seconds is None:
        yield
        return
    before = signal.signal(signal.SIGALRM, stop)
    # Repeated, because an exception raised inside a destructor or a callback would be lost.
    signal.setitimer(signal.ITIMER_REAL, seconds, _AGAIN_SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def _other_processor(header: Header) -> str:
    """A hint if the run was made on another processor, even one with the same instruction set."""
    then, here = header.machine.get("processor"), processor()
    return "" if then == here else f"\n  made on {then}; this is {here}"


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="explore-suite verify",
        description="Train a run again with its header's settings and compare it row by row.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("run", type=Path, help="its .csv or .json file")
    parser.add_argument("--episodes", type=int, help="compare only the first N (default: all)")
    parser.add_argument(
        "--timeout", type=float, metavar="SECONDS", help="give up after this time (default: never)"
    )
    return parser
