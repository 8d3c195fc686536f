"""`explore-suite report`: every figure and page that the runs of a store are enough for."""

import argparse
import logging
from collections.abc import Callable
from pathlib import Path

from analysis.claims.report import write_reproduction
from analysis.figures import FIGURES, draw
from analysis.leaderboard import build
from analysis.stats.results import NotEnoughRuns, Results
from explore_suite.cli.console import say
from explore_suite.errors import UserError
from explore_suite.files import replace_bytes


def write_figures(root: Path, out: Path, preset: str) -> None:
    """Draws OUT/figures/*.svg and *.png; says which figures lack runs, and removes older ones."""
    results = Results(root, preset)
    folder = out / "figures"
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


# What a report consists of: name -> function of (store, output folder, preset), in this order.
OUTPUTS: dict[str, Callable[[Path, Path, str], None]] = {
    "figures": write_figures,
    "leaderboard": build.write,
    "reproduction": write_reproduction,
}


def main(arguments: list[str]) -> None:
    """Writes every output; wrong input is a UserError."""
    options = _parser().parse_args(arguments)
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    logging.getLogger("absl").setLevel(logging.WARNING)  # rliable announces every interval
    root, out = Path(options.results), Path(options.out)
    if not any((root / options.preset).glob("*/*/seed-*.json")):
        raise UserError(
            f"no runs of preset {options.preset!r} in {root}: explore-suite train makes one"
        )
    for name, write in OUTPUTS.items():
        say(name)
        try:
            write(root, out, options.preset)
        except BrokenPipeError:  # whoever reads what we say, not the folder
            raise
        except OSError as error:
            raise UserError(f"cannot write to {out}: {error.strerror}") from error
    say(f"written to {out}")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="explore-suite report",
        description="Draw every figure and write every page that the runs are enough for.",
    )
    parser.add_argument("--results", default="results/runs", help="store of runs (%(default)s)")
    parser.add_argument("--out", default="results", help="where to write (%(default)s)")
    parser.add_argument("--preset", default="cpu", help="whose runs to show (%(default)s)")
    return parser
