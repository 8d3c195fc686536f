"""`explore-suite validate`: checks a submission and prints every problem."""

import argparse
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from analysis.leaderboard.accepted import accept, digests, read_accepted
from analysis.leaderboard.entries import conflicts_of
from analysis.stats.formatting import count
from analysis.stats.stores import published
from analysis.submissions.replay import MAX_RUNS
from analysis.submissions.schema import Submission, files_digest, schema_text
from analysis.submissions.unicode_checks import shown
from analysis.submissions.validate import Validation, replay_traces, validate
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
    results = options.results or results_beside(options.folder)
    if options.accept and (results is None or options.no_replay):
        raise UserError(
            "--accept replays every run, so --no-replay cannot go with it"
            if options.no_replay
            else "--accept is for a folder of results/submissions, or with --results"
        )
    known = digests(read_accepted(results)) if results else set()
    report = with_conflicts(options.folder, validate(options.folder, known), results)
    if not options.no_replay:
        report = replay_traces(report, every=options.accept)
    code = print_report(options.folder, report)
    if options.accept and code == 0:
        assert results is not None and report.submission is not None, "checked above"
        done = report.replay is not None and report.replay.replayed == len(report.runs)
        today = datetime.now(UTC).date().isoformat()
        accept(results, report.submission, today, replayed=done)
        say(f"  accepted: {results / 'accepted.json'}")
    return code


def results_beside(folder: Path) -> Path | None:
    """The results folder that a submission is compared with.

    It is the one that holds it, as results/submissions/my-method, else `results` in the working
    directory, else the published results.
    """
    parent = folder.absolute().parent
    if parent.name == "submissions":
        return parent.parent
    if Path("results/submissions").is_dir():
        return Path("results")
    runs = published()
    return None if runs is None else runs.parent


def with_conflicts(folder: Path, report: Validation, results: Path | None) -> Validation:
    """Adds to the report of a sound submission its conflicts with the entries of `results`."""
    if results is None or report.problems:
        return report
    return replace(report, problems=conflicts_of(folder, report, results))


def print_report(folder: Path, report: Validation) -> int:
    """Prints what validation found; returns the exit code, even if the output pipe is closed."""
    found = report.submission
    sound = found is not None and not report.problems
    lines = (
        _sound_lines(folder, found, report) if found and sound else _problem_lines(folder, report)
    )
    try:
        for line in lines:
            say(line)
    except BrokenPipeError:
        silence_stdout()
    return 0 if sound else 1


def _sound_lines(folder: Path, found: Submission, report: Validation) -> list[str]:
    size = f"{found.agent}, {count(len(found.tasks), 'task')} x {len(found.seeds)} seeds"
    if report.replay is not None:
        verdict = "sound"
        replayed = f"replayed: the traces of {report.replay.replayed} of {len(report.runs)} runs"
    elif report.traces:
        verdict, replayed = "sound, but not replayed", "not replayed, because of --no-replay"
    else:
        verdict = "sound, but not replayed"
        replayed = "not replayed, because it was accepted before runs left traces"
    return [
        f"{verdict}: {size} in {shown(str(folder))}",
        f"  {replayed}",
        *(f"  {task}  {score:.1f}" for task, score in found.scores.items()),
        f"  digest of all run files: {files_digest(found.files)}",
    ]


def _problem_lines(folder: Path, report: Validation) -> list[str]:
    """The problems, indented: GitHub Actions takes a line that begins with `::` for a command."""
    lines = [f" {problem}" for problem in report.problems]
    if report.replay is not None:  # the problem may be this machine's physics
        lines.append("  `explore-suite doctor` checks that the tasks behave as published here")
    problems = count(len(report.problems), "problem")
    return [*lines, f"refused: {problems} in {shown(str(folder))}"]


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="explore-suite validate",
        description="Check a submission: recompute every score from its rows, refuse impossible "
        f"values, replay the traces of its runs (of at most {MAX_RUNS}), compare it with the "
        "entries of the leaderboard, and print all problems, one line each. No symlink is followed "
        "and no code of the submission is run. Exit code 0 if it is sound, 1 if not. The rules are "
        "in results/README.md.",
    )
    add = parser.add_argument
    add("folder", type=Path, nargs="?", help="the submission: submission.json and runs/")
    add(
        "--results", type=Path, help="folder of runs/ and submissions/ to compare with (default: "
        "the one that holds the submission, else results/)",
    )  # fmt: skip
    add(
        "--no-replay", action="store_true", help="do not play the stored actions (about 0.3 s each)"
    )
    add(
        "--accept", action="store_true", help="for maintainers: replay every run, and note the "
        "submission in accepted.json if it is sound",
    )  # fmt: skip
    add("--schema", action="store_true", help="print the JSON Schema of submission.json instead")
    return parser
