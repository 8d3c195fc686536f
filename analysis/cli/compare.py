"""`explore-suite compare A B`: does A explore better than B, and does it cost anything?"""

import argparse
from functools import partial
from pathlib import Path

from analysis.cli.options import add_last, add_stores
from analysis.figures.comparison import comparison
from analysis.figures.style import render
from analysis.leaderboard.entries import gather
from analysis.stats import formatting
from analysis.stats.comparison import answers, compare
from analysis.stats.intervals import MIN_SEEDS
from analysis.stats.results import Results
from analysis.stats.stores import default_stores
from explore_suite.cli.console import say, table
from explore_suite.errors import UserError
from explore_suite.files import replace_bytes
from explore_suite.tasks import EXPLORE, ORIGINAL, TASK_GROUPS, task_names


def main(arguments: list[str]) -> None:
    """Prints differences by task and the two answers; draws them with --out."""
    options = _parser().parse_args(arguments)
    if options.out is not None and options.out.suffix not in (".svg", ".png"):
        raise UserError(f"--out must end in .svg or .png, got {options.out.name!r}")
    first, second = options.first, options.second
    stores = options.results or default_stores()
    results = Results.of(*stores, last=options.last)
    if not {first, second} <= set(results.methods):
        results = gather(stores, options.last).results  # with the submissions beside the stores
    tasks = compare(results, first, second, task_names(options.tasks))
    found = answers(results, first, second, [one.task for one in tasks])
    rows = [
        (
            one.task,
            formatting.score(one.first, one.task).line,
            formatting.score(one.second, one.task).line,
            formatting.score(one.difference, one.task).line,
            formatting.percent(one.improvement).line
            if one.improvement.seeds >= MIN_SEEDS
            else "too few seeds",
            f"{one.first.seeds}, {one.second.seeds}",
        )
        for one in tasks
    ]
    columns = ("task", first, second, "difference", f"P({first} better)", "seeds")
    table("Scores and their 95 % bootstrap intervals", columns, rows)
    for one in found:
        say(f"{one.question} {one.sentence}")
    if len(found) < 2:
        which = "The other question needs" if found else "The two questions of the suite need"
        say(
            f"{which} scores of both methods on the same explore tasks ({', '.join(EXPLORE)}) and "
            f"originals ({', '.join(ORIGINAL)})."
        )
    if options.out is not None:
        files = render(partial(comparison, first, second, tasks, found))
        try:
            options.out.parent.mkdir(parents=True, exist_ok=True)
            replace_bytes(options.out, files[options.out.suffix[1:]])
        except OSError as error:
            raise UserError(f"cannot write {options.out}: {error.strerror}") from error
        say(f"written to {options.out}")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="explore-suite compare",
        description="Compare two methods: by task the difference of scores with its interval and "
        "the probability of improvement; and over tasks whether the first explores better, and "
        "whether it costs anything where exploration is not needed.",
        epilog="example: explore-suite compare my-method sac_deep --out compare.png",
    )
    parser.add_argument("first", metavar="A", help="a method: label of an agent in the stores")
    parser.add_argument("second", metavar="B", help="the method to compare it with")
    parser.add_argument(
        "--tasks", nargs="+", default=[], metavar="TASK",
        help=f"tasks, or groups: {', '.join(TASK_GROUPS)}, all (default: all that both have)",
    )  # fmt: skip
    add_stores(parser)
    parser.add_argument("--out", type=Path, metavar="FILE", help="also draw it: .svg or .png")
    add_last(parser)
    return parser
