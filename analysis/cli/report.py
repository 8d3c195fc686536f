"""`explore-suite report`: every figure and page for which the stores have enough runs."""

import argparse
import logging
from pathlib import Path

from analysis.claims.report import write_reproduction
from analysis.cli.options import add_stores
from analysis.figures import FIGURES, draw
from analysis.leaderboard import build
from analysis.leaderboard.entries import gather
from analysis.stats.results import NotEnoughRuns, Results
from analysis.stats.stores import default_stores
from explore_suite.cli.console import say
from explore_suite.errors import UserError
from explore_suite.files import replace_bytes


def main(arguments: list[str]) -> None:
    """Writes figures, leaderboard and REPRODUCTION.md; wrong input is a UserError."""
    options = _parser().parse_args(arguments)
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    stores, out = options.results or default_stores(), Path(options.out)
    results = Results.of(*stores)
    if results.table.empty:
        where = " and ".join(map(str, stores))
        raise UserError(f"no runs in {where}: explore-suite train makes one")
    presets = sorted({run.header.preset for run in results.runs})
    if options.preset not in (None, *presets):
        raise UserError(f"no runs of preset {options.preset}; there are {', '.join(presets)}")
    preset = options.preset or "cpu"
    board = gather(stores, loaded=(results.runs, results.left_out))
    shown = results
    if options.agents:  # submissions beside the stores can be asked for, too
        known = set(options.agents) <= set(results.methods)
        shown = (results if known else board.results).only(options.agents)
    try:
        say("figures")
        write_figures(shown, out / "figures")
        say("leaderboard")
        build.write(board, out / "leaderboard.html", out / "leaderboard.md")
        say("reproduction")
        write_reproduction(results.reference(preset), out, preset)
    except BrokenPipeError:  # of the reader of our output, not of the folder
        raise
    except OSError as error:
        raise UserError(f"cannot write to {out}: {error.strerror}") from error
    say(f"written to {out}")


def write_figures(results: Results, folder: Path) -> None:
    """Draws FOLDER/*.svg and *.png; says which figures lack runs, and removes older ones."""
    folder.mkdir(parents=True, exist_ok=True)
    for line in results.missing():
        say(f"  {line}")
    for index, name in enumerate(FIGURES, start=1):
        try:
            files = draw(name, results)
        except NotEnoughRuns as reason:
            for suffix in ("svg", "png"):
                (folder / f"{name}.{suffix}").unlink(missing_ok=True)
            say(f"  {index}/{len(FIGURES)} {name}: not drawn, {reason}")
            continue
        for suffix, content in files.items():
            replace_bytes(folder / f"{name}.{suffix}", content)
        say(f"  {index}/{len(FIGURES)} {name}")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="explore-suite report",
        description="Draw every figure and write every page for which there are enough runs: "
        "figures/, leaderboard.md, leaderboard.html and REPRODUCTION.md.",
        epilog="example: explore-suite report --results runs --agents sac sac_deep my-method",
    )
    add_stores(parser)
    add = parser.add_argument
    add("--out", default="report", help="folder to write to (default: %(default)s)")
    add(
        "--agents", nargs="+", metavar="METHOD", help="methods in the figures (default: the "
        "paper's, and all of your own)",
    )  # fmt: skip
    add("--preset", help="judge claims by its runs (default: cpu)")
    return parser
