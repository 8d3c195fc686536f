"""`explore-suite sweep`: runs every (agent, task, seed) combination that is not finished."""

import argparse
import logging
import re
import shlex
import tempfile
from pathlib import Path

from baselines.cli.train import add_run_flags, run_options_of
from baselines.settings import can_act
from baselines.sweep.cells import Cell, cell_of, minutes, seconds_left, total_left
from baselines.sweep.engine import Engine, LocalEngine, Sweep
from baselines.training.flags import label, parse_config, split_config, train_flags
from baselines.training.run import RunOptions, RunSpec
from explore_suite.cli.console import say, table
from explore_suite.errors import UserError
from explore_suite.installation import install_command
from explore_suite.runs.provenance import checkout, warn_of_changes, warn_of_other_physics
from explore_suite.runs.store import ResultStore
from explore_suite.tasks import TASK_GROUPS, task_names

ENGINES = ("local", "ray")
MAX_SWEEP_SEEDS = 10_000
_EPILOG = """\
examples:
  explore-suite sweep --agents sac sac_deep --tasks explore --seeds 0-4 --workers 4
  explore-suite sweep --agents sac_deep --tasks explore --seeds 0-2 --variant wide \\
    --config.explorer.hidden 512            # your own settings, filed under sac_deep.wide
  explore-suite sweep --agents sac --tasks all --seeds 0-9 --print-commands > commands.txt
    parallel --jobs 8 < commands.txt                                     # GNU parallel
    sh -c "$(sed -n "${SLURM_ARRAY_TASK_ID}p" commands.txt)"             # a Slurm array job

Run the same command again to resume: finished runs are skipped, unfinished ones resume. A run that
fails stops no other. `explore-suite train --agent AGENT --task TASK --help` lists the settings.
"""


def main(arguments: list[str]) -> int:
    """Runs all missing runs; 0 if none failed, 1 if some did, 130 if interrupted."""
    options = parse(arguments)
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    run_options = run_options_of(options)
    store = ResultStore(options.results)
    cells = [cell_of(spec, store) for spec in specs(options)]
    missing = [cell for cell in cells if cell.state != "done"]
    if options.print_commands:
        for cell in missing:
            flags = train_flags(cell.spec, store.root, run_options)
            say(shlex.join(["explore-suite", "train", *flags]))
        return 0
    say(f"{len(cells)} runs, {len(cells) - len(missing)} finished, {len(missing)} to do")
    if options.dry_run:
        _list(cells, options.workers or 1)
        return 0
    if not missing:
        return 0
    _check_writable(options.results)
    warn_of_changes(checkout(), "the checkout of explore-suite")
    for task in dict.fromkeys(cell.spec.task for cell in missing):
        warn_of_other_physics(task)
    engine = _engine(options, store, run_options)
    return Sweep(cells, engine, options.workers or len(cells)).run()


def parse(arguments: list[str]) -> argparse.Namespace:
    """The options of the command; `config` has the --config.* flags as name -> text."""
    config, others = split_config(arguments)
    options = _parser().parse_args(others, argparse.Namespace(config=config))
    if options.workers is None and options.engine == "local":
        options.workers = 2
    if options.workers is not None and options.workers < 1:
        raise UserError(f"--workers must be at least 1, got {options.workers}")
    if options.gpus_per_run is None:
        options.gpus_per_run = float(options.device.startswith("cuda"))
    if options.gpus_per_run < 0:
        raise UserError(f"--gpus-per-run must be 0 or more, got {options.gpus_per_run:g}")
    return options


def specs(options: argparse.Namespace) -> list[RunSpec]:
    """All runs; seeds outermost, so that every agent and task gets one seed before any gets two."""
    preset, tasks = options.preset, task_names(options.tasks)
    pairs = [(agent, task) for task in tasks for agent in options.agents if can_act(agent, task)]
    if not pairs:
        raise UserError("none of these agents can act in any of these tasks")
    for agent in options.agents:
        left = [task for task in tasks if not can_act(agent, task)]
        if left:
            logging.warning("left out: %s cannot act in %s", agent, ", ".join(left))
    configs = {}
    for agent, task in dict.fromkeys(pairs):
        config = parse_config(preset, agent, task, options.config)
        name = label(preset, agent, task, config, options.variant)
        if (name, task) in configs:
            raise UserError(
                f"two of these agents would be filed under {name}; sweep them one at a time, each "
                "with a --variant name of its own"
            )
        configs[name, task] = config
    return [
        RunSpec.of(name, task, seed, preset, options.episodes, config)
        for seed in seeds(options.seeds)
        for (name, task), config in configs.items()
    ]


def seeds(text: str) -> list[int]:
    """Seeds from `3`, `0-7` or `0,2,5-6`; at most MAX_SWEEP_SEEDS."""
    chosen: dict[int, None] = {}
    for part in text.split(","):
        first, _, last = part.partition("-")
        if not re.fullmatch(r"[0-9]{1,18}(-[0-9]{1,18})?", part):
            raise UserError(
                f"--seeds takes numbers and ranges such as 0-7 or 0,2,5, got {text[:80]!r}"
            )
        members = range(int(first), int(last or first) + 1)
        if not members:
            raise UserError(f"--seeds {text[:80]!r}: a range goes upwards, e.g. {last}-{first}")
        chosen |= dict.fromkeys(members[: MAX_SWEEP_SEEDS + 1])
        if len(chosen) > MAX_SWEEP_SEEDS:
            raise UserError(f"--seeds {text[:80]!r}: more than {MAX_SWEEP_SEEDS} seeds")
    return list(chosen)


def _check_writable(root: Path) -> None:
    try:
        root.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=root).close()
    except OSError as error:
        raise UserError(f"cannot write to {root}: {error.strerror}") from error


def _engine(options: argparse.Namespace, store: ResultStore, run_options: RunOptions) -> Engine:
    if options.engine == "local":
        return LocalEngine(store, run_options)
    try:
        from baselines.sweep.ray import RayEngine
    except ModuleNotFoundError as error:
        if error.name != "ray":
            raise
        raise UserError(f"--engine ray needs ray: {install_command('ray')}") from error
    return RayEngine(store, run_options, options.address, options.gpus_per_run)


def _list(cells: list[Cell], at_a_time: int) -> None:
    """Prints the missing runs, with an estimate of the time that each takes."""
    left = seconds_left(cells)
    rows = [
        (cell.name, f"{cell.reached.episode}/{cell.spec.episodes}", minutes(left[cell]))
        for cell in cells
        if cell.state != "done"
    ]
    table("to do", ("run", "episodes", "minutes"), rows)
    say(f"about {minutes(total_left(cells, at_a_time))} min in all, {at_a_time} at a time")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="explore-suite sweep",
        usage="explore-suite sweep --agents AGENT ... --tasks TASK ... [options]",
        description="Run all missing combinations of agents, tasks and seeds.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    add = parser.add_argument
    add("--agents", nargs="+", required=True, metavar="AGENT", help="see `explore-suite agents`")
    tasks = f"see `explore-suite list`; or groups: {', '.join(TASK_GROUPS)}, all"
    add("--tasks", nargs="+", required=True, metavar="TASK", help=tasks)
    add("--seeds", default="0", help="e.g. 0-7 or 0,2,5 (default: 0)")
    add_run_flags(parser)
    add("--dry-run", action="store_true", help="only list the missing runs and estimate the time")
    add("--print-commands", action="store_true", help="only print the `train` commands to run")
    add("--workers", type=int, help="runs at a time (default: 2; with Ray, all that fit)")
    add("--engine", choices=ENGINES, default="local", help="this machine or a Ray cluster")
    add("--address", default="auto", help="of the Ray cluster (default: this machine's)")
    add("--gpus-per-run", type=float, help="e.g. 0.25: four runs share one GPU of the Ray cluster")
    return parser
