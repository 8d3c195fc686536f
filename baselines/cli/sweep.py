"""`explore-suite sweep`: every (agent, task, seed) whose run is not finished."""

import argparse
import logging
import re
import tempfile
from collections.abc import Sequence
from pathlib import Path

from baselines.cli.train import RESULTS
from baselines.settings import PRESETS, can_act, settings_of
from baselines.sweep.cells import Cell, cell_of, minutes, seconds_left, total_left
from baselines.sweep.engine import Engine, LocalEngine, Sweep
from baselines.training.run import RunOptions, RunSpec
from explore_suite.cli.console import say, table
from explore_suite.errors import UserError
from explore_suite.runs.store import ResultStore
from explore_suite.tasks import BENCHMARK, lookup

GROUPS = ("explore", "original", "hallway", "grid")
ENGINES = ("local", "ray")
MAX_SEEDS = 10_000


def main(arguments: list[str]) -> int:
    """Runs what is missing; 0 if nothing failed, 1 if cells failed, 130 if interrupted."""
    options = _parser().parse_args(arguments)
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    _check(options)
    store = ResultStore(options.results)
    cells = [cell_of(spec, store) for spec in specs(options)]
    _refuse_other_settings(cells, store)
    missing = [cell for cell in cells if cell.state != "done"]
    say(f"{len(cells)} runs, {len(cells) - len(missing)} finished, {len(missing)} to do")
    if options.dry_run:
        _list(cells, options.workers or 1)
        return 0
    if not missing:
        return 0
    _check_writable(options.results)
    return Sweep(cells, _engine(options, store), options.workers or len(cells)).run()


def specs(options: argparse.Namespace) -> list[RunSpec]:
    """Seeds outermost, so that every cell gets one seed before any gets two."""
    tasks = task_names(options.tasks)
    pairs = [(agent, task) for task in tasks for agent in options.agents if can_act(agent, task)]
    if not pairs:
        raise UserError("none of these agents can act in any of these tasks")
    return [
        RunSpec.of(agent, task, seed, options.preset, options.episodes)
        for seed in seeds(options.seeds)
        for agent, task in dict.fromkeys(pairs)
    ]


def task_names(names: Sequence[str]) -> list[str]:
    """Task names from names and from groups, which hold those of the benchmark."""
    chosen: dict[str, None] = {}
    for name in names:
        if name in (*GROUPS, "all"):
            chosen |= {s.name: None for s in BENCHMARK.values() if name in (s.group, "all")}
        else:
            chosen[lookup(name).name] = None
    return list(chosen)


def seeds(text: str) -> list[int]:
    """Seeds from `3`, `0-7` or `0,2,5-6`; at most MAX_SEEDS."""
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
        chosen |= dict.fromkeys(members[: MAX_SEEDS + 1])
        if len(chosen) > MAX_SEEDS:
            raise UserError(f"--seeds {text[:80]!r}: more than {MAX_SEEDS} seeds")
    return list(chosen)


def _check(options: argparse.Namespace) -> None:
    if options.workers is None and options.engine == "local":
        options.workers = 2
    if options.workers is not None and options.workers < 1:
        raise UserError(f"--workers must be at least 1, got {options.workers}")
    if options.gpus_per_run is None:
        options.gpus_per_run = float(options.device.startswith("cuda"))
    if options.gpus_per_run < 0 or not options.checkpoint_minutes >= 0:
        raise UserError("--gpus-per-run and --checkpoint-minutes cannot be negative")


def _refuse_other_settings(cells: list[Cell], store: ResultStore) -> None:
    """A finished run of another budget or config is neither done nor to be overwritten."""
    for cell in cells:
        header = store.header(cell.spec.key) if cell.state == "done" else None
        wanted = cell.spec.episodes, cell.spec.settings
        if header is not None and (header.episodes, settings_of(header)) != wanted:
            raise UserError(
                f"{store.path(cell.spec.key, '.json')} is finished with another budget or other "
                "settings; remove it, or name another place with --results"
            )


def _check_writable(root: Path) -> None:
    try:
        root.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=root).close()
    except OSError as error:
        raise UserError(f"cannot write to {root}: {error.strerror}") from error


def _engine(options: argparse.Namespace, store: ResultStore) -> Engine:
    run_options = RunOptions(
        device=options.device, checkpoint_seconds=60 * options.checkpoint_minutes
    )
    if options.engine == "local":
        return LocalEngine(store, run_options)
    try:
        from baselines.sweep.ray import RayEngine
    except ModuleNotFoundError as error:
        if error.name != "ray":
            raise
        raise UserError("--engine ray needs ray: pip install 'explore-suite[ray]'") from error
    return RayEngine(store, run_options, options.address, options.gpus_per_run)


def _list(cells: list[Cell], at_a_time: int) -> None:
    """What is to do, and how long it may take."""
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
        description="Run all combinations that are not finished; started again, it goes on.",
    )
    add = parser.add_argument
    add("--agents", nargs="+", required=True, help="names of `explore-suite agents`")
    add("--tasks", nargs="+", required=True, help=f"tasks, or groups: {', '.join(GROUPS)}, all")
    add("--seeds", default="0", help="e.g. 0-7 or 0,2,5 (default: 0)")
    add("--preset", choices=PRESETS, default="cpu", help="default: cpu")
    add("--episodes", type=int, help="training episodes (default: the preset's)")
    add("--workers", type=int, help="runs at a time (default: 2; with Ray, what the cluster fits)")
    add("--results", type=Path, default=RESULTS, help=f"default: {RESULTS}")
    add("--device", default="cpu", help="cpu or cuda (default: cpu)")
    add("--checkpoint-minutes", type=float, default=3.0, help="between checkpoints (default: 3)")
    add("--dry-run", action="store_true", help="only list what is to do")
    add("--engine", choices=ENGINES, default="local", help="this machine or a Ray cluster")
    add("--address", default="auto", help="of the Ray cluster (default: the one of this machine)")
    add("--gpus-per-run", type=float, help="e.g. 0.25: four runs share one GPU of the Ray cluster")
    return parser
