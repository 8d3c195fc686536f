"""`explore-suite validate`: the flags and the output of checking a submission."""

import argparse
from datetime import UTC, datetime
from pathlib import Path

from analysis.leaderboard.accepted import accept
from analysis.leaderboard.entries import clashes_of
from analysis.submissions.schema import Submission, files_digest, schema_text
from analysis.submissions.unicode_checks import shown
from analysis.submissions.validate import Report, validate
from explore_suite.cli.console import say, silence_stdout
from explore_suite.errors import UserError


def main(arguments: list[str]) -> int:
    """Prints every problem of a submission; 0 if it is sound, 1 if not."""
    options = _parser().parse_args(arguments)
    if options.schema:
        say(schema_text().rstrip())
        return 0
    if options.folder is None:
        raise UserError("name the folder of a submission, e.g. results/submissions/my-method")
    report, results = beside_others(options.folder, validate(options.folder), options.results)
    code = tell(options.folder, report)
    if options.accept and code == 0:
        if results is None or report.submission is None:
            raise UserError("--accept is for a folder of results/submissions, or with --results")
        accept(results, report.submission, datetime.now(UTC).date().isoformat())
        say(f"  accepted: {results / 'accepted.json'}")
    return code


def beside_others(folder: Path, report: Report, results: Path | None) -> tuple[Report, Path | None]:
    """The report with what clashes with other entries, and the results that hold these, if any.

    Without `results`, they are where the folder lies, as in results/submissions/my-method, or
    `results` of the working directory.
    """
    place = folder.absolute().parent
    if results is None and place.name == "submissions":
        results = place.parent
    elif results is None:
        results = Path("results") if Path("results/submissions").is_dir() else None
    if results is None or report.problems:
        return report, results
    return report._replace(problems=clashes_of(folder, report, results)), results


def tell(folder: Path, report: Report) -> int:
    """Says what validation found; the exit code, whether or not anyone listens to the end."""
    found = report.submission
    sound = found is not None and not report.problems
    lines = _sound_lines(folder, found) if found and sound else _problem_lines(folder, report)
    try:
        for line in lines:
            say(line)
    except BrokenPipeError:
        silence_stdout()
    return 0 if sound else 1


def _sound_lines(folder: Path, found: Submission) -> list[str]:
    where = shown(str(folder))
    return [
        f"sound: {found.agent}, {len(found.tasks)} tasks x {len(found.seeds)} seeds in {where}",
        *(f"  {task}  {score:.1f}" for task, score in found.scores.items()),
        f"  digest of all run files: {files_digest(found.files)}",
    ]


def _problem_lines(folder: Path, report: Report) -> list[str]:
    """The problems, each after a space: no line of a log may begin with a stranger's `::`."""
    count = len(report.problems)
    ending = f"refused: {count} problem{'s' if count > 1 else ''} in {shown(str(folder))}"
    return [*(f" {problem}" for problem in report.problems), ending]


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="explore-suite validate",
        description="Check a submission: recompute every statement from its rows, refuse what "
        "cannot be, and print all problems, one line each. No link is followed, nothing in it is "
        "run, and nothing else is read but the entries that it is to stand beside: a sound one is "
        "compared with these. Exit code 0 if it is sound, 1 if not. The rules are in "
        "results/README.md.",
    )
    parser.add_argument("folder", type=Path, nargs="?", help="with its submission.json and runs/")
    parser.add_argument(
        "--results", type=Path, help="runs/ and submissions/ to compare with (where the folder "
        "lies, or results/ if there is one)",
    )  # fmt: skip
    parser.add_argument(
        "--accept", action="store_true", help="for maintainers: note it in accepted.json if sound"
    )
    parser.add_argument(
        "--schema", action="store_true", help="print the JSON Schema of submission.json instead"
    )
    return parser
