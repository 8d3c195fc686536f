"""`explore-suite submit`: build a submission from the runs of a store, and validate it."""

import argparse
import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from analysis.cli.validate import print_report, results_beside, with_conflicts
from analysis.stats.formatting import count
from analysis.submissions.check_manifest import mean_score
from analysis.submissions.read_folder import MANIFEST
from analysis.submissions.schema import FEWEST_SEEDS, GROUPS, MOST_SEEDS, digest, run_path
from analysis.submissions.validate import Validation, check, check_runs, replay_traces, validate
from explore_suite.cli.console import say
from explore_suite.errors import UserError
from explore_suite.runs.format import TRACES, Run, RunKey
from explore_suite.runs.store import DEFAULT_STORE, ResultStore

_EXAMPLE = """example:
  explore-suite submit my-method --agent my-method \\
    --name "My Method" --author "A. Person" --contact a.person@example.org \\
    --description "SAC with another bonus." --not-tuned
then open a pull request that adds the folder as results/submissions/my-method.
"""


def main(arguments: list[str]) -> int:
    """Writes the folder if the submission is sound; returns 0, or 1 after printing all problems."""
    options = _parser().parse_args(arguments)
    _check_flags(options)
    store = ResultStore(options.results)
    tasks = _tasks(store, options)
    seeds = _seeds(store, options, tasks)
    what = f"{count(len(tasks), 'task')} x {seeds} seeds"
    say(f"{options.agent}: looking for {what} in {options.results}")
    files = _run_files(store, options, tasks, seeds)
    runs, problems = check_runs(files)
    if problems:
        return print_report(options.results, Validation(None, runs, problems))
    files[MANIFEST] = manifest(options, tasks, seeds, runs, files)
    report = with_conflicts(options.folder, check(files), results_beside(options.folder))
    report = replay_traces(report)
    if report.problems:
        return print_report(options.folder, report)
    _write(options.folder, files)
    return print_report(options.folder, replace(validate(options.folder), replay=report.replay))


def manifest(
    options: argparse.Namespace, tasks: Sequence[str], seeds: int, runs: list[Run],
    files: dict[str, bytes],
) -> bytes:  # fmt: skip
    """The text of submission.json, from the flags and the runs."""
    code = {"url": options.code, "commit": options.commit} if options.code else None
    values: dict[str, Any] = {
        "version": 1,
        "name": options.name,
        "agent": options.agent,
        "preset": options.preset,
        "authors": options.author,
        "contact": options.contact,
        "paper": options.paper,
        "code": code,
        "description": options.description,
        "tuned_on_benchmark": options.tuned,
        "hardware": options.hardware or _hardware(runs),
        "suite_version": runs[0].header.versions["explore-suite"],
        "tasks": list(tasks),
        "seeds": list(range(seeds)),
        "scores": {
            task: mean_score(task, [run.rows for run in runs if run.header.task == task])
            for task in tasks
        },
        "files": {path: digest(data) for path, data in files.items()},
    }
    return (json.dumps(values, indent=1) + "\n").encode()


def _check_flags(options: argparse.Namespace) -> None:
    if options.folder.exists():
        raise UserError(f"{options.folder} exists; name a new folder")
    if options.seeds is not None and not FEWEST_SEEDS <= options.seeds <= MOST_SEEDS:
        raise UserError(f"--seeds must be {FEWEST_SEEDS} to {MOST_SEEDS}, got {options.seeds}")
    if options.commit and not options.code:
        raise UserError("--commit needs --code")


def _tasks(store: ResultStore, options: argparse.Namespace) -> list[str]:
    """The tasks of the groups asked for, or of all groups with a run of this agent."""
    begun = {
        name: any(_has(store, options, task, 0) for task in tasks) for name, tasks in GROUPS.items()
    }
    groups = options.groups or [name for name in GROUPS if begun[name]]
    if not groups:
        raise UserError(
            f"{store.root} has no run of agent {options.agent!r} with preset {options.preset!r} "
            "and seed 0"
        )
    return [task for name, tasks in GROUPS.items() if name in groups for task in tasks]


def _seeds(store: ResultStore, options: argparse.Namespace, tasks: Sequence[str]) -> int:
    """How many seeds from 0 on; by default, as many as the task with most seeds has."""
    if options.seeds is not None:
        return options.seeds
    seeds = FEWEST_SEEDS
    while seeds < MOST_SEEDS and any(_has(store, options, task, seeds) for task in tasks):
        seeds += 1
    return seeds


def _has(store: ResultStore, options: argparse.Namespace, task: str, seed: int) -> bool:
    return store.path(RunKey(options.preset, options.agent, task, seed), ".json").exists()


def _run_files(
    store: ResultStore, options: argparse.Namespace, tasks: Sequence[str], seeds: int
) -> dict[str, bytes]:
    """Path in the submission -> content, of every run; a UserError lists the runs missing."""
    files, missing = {}, []
    for task in tasks:
        for seed in range(seeds):
            for suffix in (".json", ".csv", TRACES):
                path = store.path(RunKey(options.preset, options.agent, task, seed), suffix)
                if path.is_file():
                    target = run_path(options.preset, options.agent, task, seed, suffix)
                    files[target] = path.read_bytes()
                elif suffix == ".json":
                    missing.append(f"{task} seed {seed}")
    if missing:
        raise UserError(
            f"runs are missing: {', '.join(missing)}; groups are only taken whole, with the same "
            f"seeds 0, 1, ... everywhere, at least {FEWEST_SEEDS} (--groups and --seeds choose)"
        )
    return files


def _hardware(runs: list[Run]) -> str:
    """The machines that the headers name."""
    machines = [run.header.machine for run in runs]
    names = sorted({f"{m.get('processor')}, {m.get('cores')} cores" for m in machines})
    return "; ".join(names)


def _write(folder: Path, files: dict[str, bytes]) -> None:
    try:
        for path, data in files.items():
            target = folder / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(data)
    except OSError as error:
        raise UserError(f"cannot write to {folder}: {error.strerror}") from error


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="explore-suite submit",
        description="Build a submission for the leaderboard from finished runs and their traces, "
        "and validate it. Nothing is written if the validator would refuse it. Runs of your own "
        "code are recorded with explore_suite.record; the rules are in results/README.md.",
        epilog=_EXAMPLE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("folder", type=Path, help="folder to write; must not exist yet")
    runs = parser.add_argument_group("which runs")
    runs.add_argument(
        "--results", type=Path, default=DEFAULT_STORE, help="store (default: %(default)s)"
    )
    runs.add_argument("--agent", required=True, help="label of the method in the store")
    runs.add_argument(
        "--preset", default="external", help="preset in the store (default: %(default)s)"
    )
    runs.add_argument(
        "--groups", nargs="+", choices=GROUPS, help="groups of tasks (default: all with runs)"
    )
    runs.add_argument("--seeds", type=int, help="number of seeds, from 0 on (default: all)")
    _describe(parser.add_argument_group("about the method"))
    return parser


def _describe(group: Any) -> None:
    add = group.add_argument
    add("--name", required=True, help="name of the method, as the leaderboard shows it")
    add("--author", required=True, action="append", help="name of an author; once for each")
    add("--description", required=True, help="what the method does, in a few sentences")
    tuned = group.add_mutually_exclusive_group(required=True)
    tuned.add_argument("--tuned", action="store_true", help="settings were chosen on these tasks")
    tuned.add_argument(
        "--not-tuned",
        dest="tuned",
        action="store_false",
        help="settings were not chosen on these tasks",
    )
    add("--contact", help="mail address or other way to reach an author")
    add("--paper", help="https address of the paper")
    add("--code", help="https address of the method's repository")
    add("--commit", help="its commit with which the runs were made; needs --code")
    add("--hardware", help="machines of the runs (default: as in their headers)")
