"""`explore-suite sweep`: every (agent, task, seed) whose run is not finished, on this machine."""

import argparse
import logging
import re
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from baselines import AGENTS
from baselines.settings import PRESETS, can_act
from baselines.train import RunSpec
from baselines.train_command import RESULTS
from explore_suite.console import say, table
from explore_suite.errors import UserError
from explore_suite.results import ResultStore, read_rows
from explore_suite.tasks import TASKS, lookup

GROUPS = ("explore", "original", "hallway", "grid")
# Rough seconds per episode of preset `cpu` on one core: a guide for the estimate until a run has
# been timed, and nothing else.
_ROUGH_SECONDS = {"sac": 2.5, "sac_bbe": 3.2, "sac_2q": 4.9, "sac_deep": 7.3, "ddqn": 0.6,
                  "ddqn_bbe": 0.6, "ddqn_deep": 1.4, "random": 0.2}  # fmt: skip


@dataclass
class Cell:
    """One run of the sweep, and what has become of it."""

    spec: RunSpec
    state: str = "waiting"  # waiting, running, done, failed
    process: subprocess.Popen | None = None
    log: Path | None = None

    @property
    def name(self) -> str:
        """Agent, task and seed in one word."""
        return f"{self.spec.agent}/{lookup(self.spec.task).name}/{self.spec.seed}"


def main(arguments: list[str]) -> int:
    """Runs what is missing; 0 if all is finished, 1 if cells failed, 130 if interrupted."""
    options = _parser().parse_args(arguments)
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    store = ResultStore(options.results)
    specs = cells_of(options)
    missing = [Cell(spec) for spec in specs if not _finished(store, spec)]
    say(f"{len(specs)} runs, {len(specs) - len(missing)} finished, {len(missing)} to do")
    if options.dry_run:
        rows = [
            (cell.name, str(cell.spec.episodes), _minutes(_left(store, cell))) for cell in missing
        ]
        table("to do", ("run", "episodes", "minutes"), rows)
        say(f"about {_minutes(_total_left(store, missing, options.workers))} min in all")
        return 0
    return Sweep(missing, store, options.workers).run()


def cells_of(options: argparse.Namespace) -> list[RunSpec]:
    """Seeds outermost, so that every cell gets one seed before any gets two."""
    if options.workers < 1:
        raise UserError(f"--workers must be at least 1, got {options.workers}")
    for agent in options.agents:
        if agent not in AGENTS:
            raise UserError(f"unknown agent {agent!r}; agents are {', '.join(AGENTS)}")
    tasks = task_names(options.tasks)
    pairs = [(agent, task) for task in tasks for agent in options.agents if can_act(agent, task)]
    if not pairs:
        raise UserError("none of these agents can act in any of these tasks")
    return [
        RunSpec.of(agent, task, seed, options.preset, options.episodes)
        for seed in seeds(options.seeds)
        for agent, task in pairs
    ]


def task_names(names: Sequence[str]) -> list[str]:
    """Task names from names and groups (explore, original, hallway, grid, all)."""
    chosen: dict[str, None] = {}
    for name in names:
        if name in (*GROUPS, "all"):
            chosen |= {s.name: None for s in TASKS.values() if name in (s.group, "all")}
        else:
            chosen[lookup(name).name] = None
    return list(chosen)


def seeds(text: str) -> list[int]:
    """Seeds from `3`, `0-7` or `0,2,5-6`."""
    chosen: list[int] = []
    for part in text.split(","):
        first, _, last = part.partition("-")
        if not re.fullmatch(r"\d+(-\d+)?", part):
            raise UserError(f"--seeds takes numbers and ranges such as 0-7 or 0,2,5, got {text!r}")
        if int(last or first) < int(first):
            raise UserError(f"--seeds {text!r}: a range goes upwards, e.g. {last}-{first}")
        chosen += range(int(first), int(last or first) + 1)
    return list(dict.fromkeys(chosen))


class Sweep:
    """A few processes at a time, one run each; a failure is reported and stops no other."""

    def __init__(self, cells: list[Cell], store: ResultStore, workers: int) -> None:
        """Starts nothing yet."""
        self.cells, self.store, self.workers = cells, store, workers
        self.interrupted = False

    def run(self) -> int:
        """Works until nothing is left; Ctrl-C lets the running cells save themselves first."""
        before = signal.signal(signal.SIGINT, self._interrupt)
        try:
            while self._step():
                time.sleep(0.2)
        finally:
            signal.signal(signal.SIGINT, before)
        self._show()
        failed = [cell for cell in self.cells if cell.state == "failed"]
        for cell in failed:
            say(f"failed: {cell.name}, see {cell.log}")
        if self.interrupted:
            say("interrupted; the same command goes on")
            return 130
        return int(bool(failed))

    def _step(self) -> bool:
        """Collects what has ended and starts what fits; False when all is over."""
        running = [cell for cell in self.cells if cell.state == "running"]
        for cell in running:
            assert cell.process is not None
            code = cell.process.poll()
            if code is not None:
                interrupted = code == 130 and self.interrupted
                cell.state = "done" if code == 0 else "waiting" if interrupted else "failed"
                self._show()
        running = [cell for cell in running if cell.state == "running"]
        waiting = [cell for cell in self.cells if cell.state == "waiting"]
        if not self.interrupted:
            for cell in waiting[: self.workers - len(running)]:
                self._start(cell)
                running.append(cell)
        return bool(running)

    def _start(self, cell: Cell) -> None:
        spec = cell.spec
        cell.log = self.store.root / ".logs" / spec.key.place.with_suffix(".log")
        cell.log.parent.mkdir(parents=True, exist_ok=True)
        command = [
            sys.executable, "-m", "explore_suite", "train", "--agent", spec.agent,
            "--task", spec.task, "--seed", str(spec.seed), "--preset", spec.preset,
            "--episodes", str(spec.episodes), "--results", str(self.store.root),
        ]  # fmt: skip
        with cell.log.open("a") as log:
            # A group of its own: Ctrl-C reaches it from here alone, and once.
            cell.process = subprocess.Popen(
                command, stdout=log, stderr=subprocess.STDOUT, start_new_session=True
            )
        cell.state = "running"

    def _interrupt(self, number: int, frame: object) -> None:
        """First time: the cells end their episode and save. Second time: they die."""
        for cell in self.cells:
            if cell.state == "running" and cell.process is not None:
                cell.process.send_signal(signal.SIGKILL if self.interrupted else signal.SIGINT)
        if not self.interrupted:
            say("stopping after the running episodes; once more stops at once")
        self.interrupted = True

    def _show(self) -> None:
        states = [cell.state for cell in self.cells]
        counts = ", ".join(
            f"{states.count(s)} {s}" for s in ("running", "done", "failed", "waiting")
        )
        left = [cell for cell in self.cells if cell.state in ("running", "waiting")]
        say(f"{counts}; about {_minutes(_total_left(self.store, left, self.workers))} min left")


def _finished(store: ResultStore, spec: RunSpec) -> bool:
    header = store.header(spec.key)
    return header is not None and header.finished


def _left(store: ResultStore, cell: Cell) -> float:
    """Seconds that a cell still needs, by its own pace so far or a rough table."""
    spec = cell.spec
    try:
        rows = read_rows(store.path(spec.key, ".csv"), finished=False)
    except (UserError, OSError):  # the run itself will say what is wrong with its file
        rows = []
    done = len(rows) // 2
    pace = rows[-1].seconds / done if done else _ROUGH_SECONDS.get(spec.agent, 5.0)
    return (spec.episodes - done) * pace


def _total_left(store: ResultStore, cells: list[Cell], workers: int) -> float:
    seconds = [_left(store, cell) for cell in cells]
    return max([sum(seconds) / workers, *seconds])


def _minutes(seconds: float) -> str:
    return f"{seconds / 60:.1f}"


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="explore-suite sweep",
        description="Run all combinations that are not finished; started again, it goes on.",
    )
    parser.add_argument(
        "--agents", nargs="+", required=True, help="names of `explore-suite agents`"
    )
    parser.add_argument("--tasks", nargs="+", required=True,
                        help=f"tasks, or groups: {', '.join(GROUPS)}, all")  # fmt: skip
    parser.add_argument("--seeds", default="0", help="e.g. 0-7 or 0,2,5 (default: 0)")
    parser.add_argument("--preset", choices=PRESETS, default="cpu", help="default: cpu")
    parser.add_argument("--episodes", type=int, help="training episodes (default: the preset's)")
    parser.add_argument("--workers", type=int, default=2, help="runs at a time (default: 2)")
    parser.add_argument("--results", type=Path, default=RESULTS, help=f"default: {RESULTS}")
    parser.add_argument("--dry-run", action="store_true", help="only list what is to do")
    return parser
