"""The cells of a sweep (one run each), estimates of the time left, and the progress table."""

import math
import sys
import time
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from statistics import mean
from typing import Any, NamedTuple

from baselines.training.run import RunSpec, check_finished
from explore_suite.cli.console import say
from explore_suite.errors import UserError
from explore_suite.runs.format import Header, read_rows
from explore_suite.runs.store import ResultStore
from explore_suite.tasks import lookup

CELL_STATES = ("running", "done", "failed", "waiting")
LOCKED, DONE_ELSEWHERE = "locked", "done elsewhere"  # another process writes it, or finished it
_LINE_SECONDS = 60.0  # between two lines of progress when no run starts or ends
# Rough seconds per episode of preset `cpu` on one core: the estimate until a run has been timed.
_ROUGH_SECONDS = {"sac": 2.5, "sac_bbe": 3.2, "sac_2q": 4.9, "sac_deep": 7.3,
                  "sac_noise": 2.5, "sac_oac": 2.6, "sac_maxinfo": 4.5, "ddqn": 0.6,
                  "ddqn_bbe": 0.6, "ddqn_deep": 1.4, "random": 0.2}  # fmt: skip


class Reached(NamedTuple):
    """How far a run is: its last evaluation."""

    episode: int = 0
    return_: float = math.nan
    seconds: float = 0.0


@dataclass(eq=False)
class Cell:
    """One run of a sweep and its state."""

    spec: RunSpec
    log: Path
    state: str = "waiting"  # one of CELL_STATES, LOCKED or DONE_ELSEWHERE
    reached: Reached = Reached()
    why: str = ""  # the last line of a failed cell's output

    @property
    def name(self) -> str:
        """Agent, task and seed in one word."""
        return f"{self.spec.agent}/{lookup(self.spec.task).name}/{self.spec.seed}"


def cell_of(spec: RunSpec, store: ResultStore) -> Cell:
    """The cell of a run, as the store has it.

    A UserError if the run is finished with other settings, or with a budget that is larger or that
    it cannot be lengthened from.
    """
    held = _finished_header(store, spec)
    if held is not None:
        check_finished(held, spec, store)
    state = "done" if held is not None and held.episodes == spec.episodes else "waiting"
    log = store.root / ".logs" / spec.key.path.with_suffix(".log")
    return Cell(spec, log, state, reached(store, spec))


def is_finished(store: ResultStore, spec: RunSpec) -> bool:
    """Whether a run is finished, with all of its budget and all of its rows."""
    held = _finished_header(store, spec)
    return held is not None and held.episodes >= spec.episodes


def reached(store: ResultStore, spec: RunSpec) -> Reached:
    """How far a run is by its CSV; episode 0 if that is missing or unreadable."""
    try:
        rows = read_rows(store.path(spec.key, ".csv"), finished=False)
    except (UserError, OSError):  # the run itself reports what is wrong with its file
        return Reached()
    evals = [row for row in rows[-2:] if row.phase == "eval"]
    return Reached(evals[-1].episode, evals[-1].return_, evals[-1].seconds) if evals else Reached()


def seconds_left(cells: list[Cell]) -> dict[Cell, float]:
    """Time that each cell still needs.

    It is estimated by its own pace, by other runs of the same agent and task, or by a rough table.
    """
    paces = defaultdict(list)
    for cell in cells:
        if cell.reached.episode:
            paces[_kind(cell)].append(cell.reached.seconds / cell.reached.episode)
    left = {}
    for cell in cells:
        rough = _ROUGH_SECONDS.get(cell.spec.agent.partition(".")[0], 5.0)
        pace = mean(paces[_kind(cell)] or [rough])
        if cell.reached.episode:
            pace = cell.reached.seconds / cell.reached.episode
        over = cell.state not in ("running", "waiting")
        left[cell] = 0.0 if over else (cell.spec.episodes - cell.reached.episode) * pace
    return left


def total_left(cells: list[Cell], at_a_time: int) -> float:
    """Seconds until all cells are over."""
    seconds = seconds_left(cells).values()
    return max([sum(seconds) / at_a_time, *seconds])


def minutes(seconds: float) -> str:
    """Seconds as minutes with one decimal."""
    return f"{seconds / 60:.1f}"


class ProgressTable:
    """A live table on a terminal; elsewhere, or without rich, a line of progress now and then."""

    def __init__(self, cells: list[Cell]) -> None:
        """Shows nothing before `show`."""
        self.cells = cells
        self._live = _live()
        self._counts, self._printed = "", 0.0  # the last line, without its estimate, and its time

    def __enter__(self) -> "ProgressTable":
        if self._live is not None:
            self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._live is not None:
            self._live.stop()

    def show(self) -> None:
        """Updates the table, or prints a line if a run started or ended or the last line is old."""
        states = [cell.state for cell in self.cells]
        rare = [state for state in (LOCKED, DONE_ELSEWHERE) if state in states]
        counts = ", ".join(f"{states.count(state)} {state}" for state in (*CELL_STATES, *rare))
        running = states.count("running")
        left = f"; about {minutes(total_left(self.cells, running))} min left" if running else ""
        if self._live is not None:
            content = _table(counts + left, self.cells) if running else counts
            self._live.update(content, refresh=True)
        elif counts != self._counts or time.monotonic() - self._printed > _LINE_SECONDS:
            say(counts + left)
            self._counts, self._printed = counts, time.monotonic()


def _finished_header(store: ResultStore, spec: RunSpec) -> Header | None:
    """The header of a run that is finished, whatever its budget; None if rows of it are missing."""
    try:
        run = store.run(spec.key)
    except UserError:  # the run itself reports what is wrong with its files
        return None
    return run.header if run is not None and run.header.finished else None


def _kind(cell: Cell) -> tuple[str, str]:
    return cell.spec.agent, cell.spec.task


def _live() -> Any:
    if not sys.stdout.isatty():
        return None
    try:
        from rich.live import Live
    except ImportError:
        return None
    return Live(auto_refresh=False)


def _table(title: str, cells: list[Cell]) -> Any:
    """The running cells, as a table of the package rich."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    table = Table(title=title, title_justify="left", box=SIMPLE_HEAD, padding=(0, 1, 0, 0))
    table.add_column("run", no_wrap=True)
    for column in ("episode", "evaluation return", "minutes left"):
        table.add_column(column, justify="right", no_wrap=True)
    left = seconds_left(cells)
    for cell in (cell for cell in cells if cell.state == "running"):
        return_ = f"{cell.reached.return_:.1f}" if cell.reached.episode else "-"
        episode = f"{cell.reached.episode}/{cell.spec.episodes}"
        table.add_row(cell.name, episode, return_, minutes(left[cell]))
    return table
