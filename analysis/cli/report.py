"""`explore-suite report`: every figure and page that the runs of a store are enough for."""

import argparse
import logging
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from analysis.claims.report import write_reproduction
from analysis.cli.options import add_stores
from analysis.figures import FIGURES, draw
from analysis.leaderboard import build
from analysis.stats.results import NotEnoughRuns, Results
from analysis.stats.stores import default_stores
from explore_suite.cli.console import say
from explore_suite.errors import UserError
from explore_suite.files import replace_bytes


class Request(NamedTuple):
    """What a report is made of, and where it goes."""

    stores: Sequence[Path]
    results: Results  # of all stores; figures show its chosen methods
    preset: str  # whose runs the claims are judged by
    out: Path


def write_figures(request: Request) -> None:
    """Draws OUT/figures/*.svg and *.png; says which figures lack runs, and removes older ones."""
    folder = request.out / "figures"
    folder.mkdir(parents=True, exist_ok=True)
    for line in request.results.missing():
        say(f"  {line}")
    for index, name in enumerate(FIGURES, start=1):
        try:
            files = draw(name, request.results)
        except NotEnoughRuns as reason:
            for suffix in ("svg", "png"):
                (folder / f"{name}.{suffix}").unlink(missing_ok=True)
            say(f"  {index}/{len(FIGURES)} {name}: not drawn, {reason}")
            continue
        for suffix, content in files.items():
            replace_bytes(folder / f"{name}.{suffix}", content)
        say(f"  {index}/{len(FIGURES)} {name}")


def write_leaderboard(request: Request) -> None:
    """Writes OUT/leaderboard.md and OUT/leaderboard.html."""
    build.write(request.stores, request.out)


def write_claims(request: Request) -> None:
    """Writes OUT/REPRODUCTION.md."""
    write_reproduction(request.results.reference(request.preset), request.out, request.preset)


# What a report consists of, in this order.
OUTPUTS: dict[str, Callable[[Request], None]] = {
    "figures": write_figures,
    "leaderboard": write_leaderboard,
    "reproduction": write_claims,
}


def main(arguments: list[str]) -> None:
    """Writes every output; wrong input is a UserError."""
    options = _parser().parse_args(arguments)
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    stores, out = options.results or default_stores(), Path(options.out)
    results = Results.of(*stores)
    if results.table.empty:
        where = " and ".join(map(str, stores))
        raise UserError(f"no runs in {where}: explore-suite train makes one")
    if options.agents:
        results = results.only(options.agents)
    request = Request(stores, results, options.preset, out)
    for name, write in OUTPUTS.items():
        say(name)
        try:
            write(request)
        except BrokenPipeError:  # of the reader of our output, not of the folder
            raise
        except OSError as error:
            raise UserError(f"cannot write to {out}: {error.strerror}") from error
    say(f"written to {out}")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="explore-suite report",
        description="Draw every figure and write every page that the runs are enough for: "
        "figures/, leaderboard.md, leaderboard.html and REPRODUCTION.md.",
        epilog="example: explore-suite report --results runs --agents sac sac_deep my-method",
    )
    add_stores(parser)
    parser.add_argument("--out", default="report", help="folder to write to (%(default)s)")
    parser.add_argument(
        "--agents",
        nargs="+",
        metavar="METHOD",
        help="methods in the figures (default: the paper's, and all of your own)",
    )
    parser.add_argument(
        "--preset", default="cpu", help="whose runs the claims are judged by (%(default)s)"
    )
    return parser
