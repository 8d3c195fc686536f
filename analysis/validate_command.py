"""`explore-suite validate`: the flags and the output of checking a submission."""

import argparse
from pathlib import Path

from analysis.submission import schema_text
from analysis.validate import Report, validate
from explore_suite.console import say
from explore_suite.errors import UserError


def main(arguments: list[str]) -> int:
    """Prints every problem of a submission; 0 if it is sound, 1 if not."""
    options = _parser().parse_args(arguments)
    if options.schema:
        say(schema_text().rstrip())
        return 0
    if options.folder is None:
        raise UserError("name the folder of a submission, e.g. results/submissions/my-method")
    return tell(options.folder, validate(options.folder))


def tell(folder: Path, report: Report) -> int:
    """Says what validation found; the exit code."""
    for problem in report.problems:
        say(problem)
    if report.problems or report.submission is None:
        count = len(report.problems)
        say(f"refused: {count} problem{'s' if count > 1 else ''} in {folder}")
        return 1
    found = report.submission
    say(f"sound: {found.agent}, {len(found.tasks)} tasks x {len(found.seeds)} seeds in {folder}")
    for task, score in found.scores.items():
        say(f"  {task}  {score:.1f}")
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="explore-suite validate",
        description="Check a submission: recompute every statement from its rows, refuse what "
        "cannot be, and print all problems, one line each. Nothing outside the folder is read, no "
        "link is followed and nothing in it is run. Exit code 0 if it is sound, 1 if not. The "
        "rules are in results/README.md.",
    )
    parser.add_argument("folder", type=Path, nargs="?", help="with its submission.json and runs/")
    parser.add_argument(
        "--schema", action="store_true", help="print the JSON Schema of submission.json instead"
    )
    return parser
