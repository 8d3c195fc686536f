"""The loop of a sweep, and its default engine: one process of this machine per run.

Sweep          starts cells, a few at a time, and reports what became of them
Engine         base class of what runs cells; baselines/sweep/ray.py has the other one
LocalEngine    runs each cell as `explore-suite train` in a process with its own log
"""

import os
import signal
import subprocess
import time
from abc import ABC, abstractmethod
from typing import Any, BinaryIO

from baselines.sweep.cells import DONE_ELSEWHERE, LOCKED, Cell, ProgressTable, is_finished, reached
from baselines.training.flags import train_flags
from baselines.training.run import RunOptions
from explore_suite.cli.console import say
from explore_suite.errors import RunLockedError, UserError
from explore_suite.python_process import python_command
from explore_suite.runs.store import ResultStore

_POLL_SECONDS, _SHOW_SECONDS = 0.2, 1.0
_LAST_BYTES = 4096  # of a log: enough for its last line
_MAX_LINE = 500  # characters of it that are shown
# What a process of the local engine executes. Until the run handles Ctrl-C, it ends the process at
# once and silently: in the middle of importing numpy or torch it would leave a traceback.
_WORKER = (
    "import signal; signal.signal(signal.SIGINT, signal.SIG_DFL); "
    "from baselines.sweep.worker import work; sys.exit(work())"
)


class Engine(ABC):
    """What runs cells: local processes, or the tasks of a cluster."""

    def __init__(self, store: ResultStore, options: RunOptions) -> None:
        """Starts nothing yet."""
        self.store, self.options = store, options
        self.jobs: dict[Cell, Any] = {}  # the process or task of every active cell
        self.stopping = False

    @property
    def active(self) -> list[Cell]:
        """Cells that were started and have not ended."""
        return list(self.jobs)

    @abstractmethod
    def start(self, cell: Cell) -> None:
        """Starts or resumes one run."""

    @abstractmethod
    def poll(self) -> None:
        """Sets the state of the cells that have ended."""

    @abstractmethod
    def progress(self) -> None:
        """Updates how far the active cells are."""

    def stop(self, *, at_once: bool) -> None:
        """Asks the active cells to end their episode and save a checkpoint, or kills them."""
        self.stopping = True
        for job in self.jobs.values():
            self.end(job, at_once=at_once)

    @abstractmethod
    def end(self, job: Any, *, at_once: bool) -> None:
        """Asks one process or task to end, or kills it."""

    @abstractmethod
    def close(self) -> None:
        """Releases everything."""


class Sweep:
    """Runs cells on an engine, a few at a time; a failure is reported and stops no other.

    A cell that another process writes, such as one that a killed sweep has left, is followed: it is
    done once that process has finished it, and run here if that process ends before.
    """

    def __init__(self, cells: list[Cell], engine: Engine, at_a_time: int) -> None:
        """Starts nothing yet."""
        self.cells, self.engine, self.at_a_time = cells, engine, at_a_time
        self.interrupts = 0  # Ctrl-C or SIGTERM so far
        self._passed_on = 0  # those of them that the engine knows of
        self._followed: set[Cell] = set()  # cells found to be written by another process

    def run(self) -> int:
        """Runs until nothing is left or Ctrl-C; 0, or 1 if cells failed, or 130 if interrupted."""
        numbers = (signal.SIGINT, signal.SIGTERM)
        before = {number: signal.signal(number, self._interrupt) for number in numbers}
        try:
            self._loop()
        finally:
            self.engine.close()
            for number, handler in before.items():
                signal.signal(number, handler)
        return self._report()

    def _loop(self) -> None:
        shown = -_SHOW_SECONDS
        with ProgressTable(self.cells) as table:
            while self._step():
                if time.monotonic() - shown >= _SHOW_SECONDS:
                    self._follow()
                    self.engine.progress()
                    table.show()
                    shown = time.monotonic()
                time.sleep(_POLL_SECONDS)
            table.show()

    def _step(self) -> bool:
        """Collects what has ended and starts what fits; False when nothing is left to do."""
        self._pass_interrupts_on()
        self.engine.poll()
        active = set(self.engine.active)
        if not self.interrupts:
            idle = [cell for cell in self._in_state("waiting") if cell not in active]
            for cell in idle[: self.at_a_time - len(active)]:
                self.engine.start(cell)
        # A cell that could not be started leaves nothing active, and others still to be tried.
        left = self._in_state("waiting") + self._in_state(LOCKED)
        return bool(self.engine.active) or (bool(left) and not self.interrupts)

    def _follow(self) -> None:
        """Names the cells that other processes write, and takes those that they have let go of."""
        for cell in self._in_state(LOCKED):
            if cell not in self._followed:
                say(f"being written by another process, which is waited for: {cell.name}")
                self._followed.add(cell)
            if is_finished(self.engine.store, cell.spec):
                cell.state = DONE_ELSEWHERE
            elif not _is_locked(self.engine.store, cell):
                cell.state = "waiting"

    def _interrupt(self, number: int, frame: object) -> None:
        # Only counted here: a signal handler must not call an engine in the middle of something.
        self.interrupts += 1

    def _pass_interrupts_on(self) -> None:
        """The first interrupt lets the runs save a checkpoint and end, the second kills them."""
        if self.interrupts > self._passed_on:
            if not self._passed_on:
                say(
                    "Stopping after the running episodes (progress is saved). Press Ctrl-C again "
                    "to quit at once."
                )
            self._passed_on = self.interrupts
            self.engine.stop(at_once=self.interrupts > 1)

    def _report(self) -> int:
        """Names the cells that were not run to their end here; the exit code of the sweep."""
        for cell in self._in_state(DONE_ELSEWHERE):
            say(f"finished meanwhile by another process: {cell.name}")
        for cell in self._in_state(LOCKED):
            say(f"still written by another process: {cell.name}")
        failed = self._in_state("failed")
        for cell in failed:
            say(f"failed: {cell.name}, see {cell.log}")
            if cell.why:
                say(f"  {cell.why}")
        if self.interrupts:
            say("Interrupted. Run the same command again to resume.")
            return 130
        return int(bool(failed))

    def _in_state(self, state: str) -> list[Cell]:
        return [cell for cell in self.cells if cell.state == state]


class LocalEngine(Engine):
    """Runs each cell as `explore-suite train` in a process of its own, with its own log."""

    def __init__(self, store: ResultStore, options: RunOptions) -> None:
        """Starts nothing yet."""
        super().__init__(store, options)
        self._logs: dict[Cell, BinaryIO] = {}  # kept open: a log may be removed with its store
        self._sizes: dict[Cell, int] = {}  # of the CSV files when they were last read

    def start(self, cell: Cell) -> None:
        """Starts or resumes one run; one that cannot be started has failed."""
        try:
            self.jobs[cell] = self._launch(cell)
            cell.state = "running"
        except OSError as error:
            cell.state = "failed"
            say(f"cannot start {cell.name}: {error}")

    def poll(self) -> None:
        """Sets the state of the cells whose process has ended."""
        for cell, process in list(self.jobs.items()):
            code = process.poll()
            if code is not None:
                del self.jobs[cell]
                process.communicate()  # closes its standard input
                cell.state = self._state(cell, code)
                cell.reached = reached(self.store, cell.spec)
                with self._logs.pop(cell) as log:
                    cell.why = _last_line(log) if cell.state == "failed" else ""

    def progress(self) -> None:
        """Reads how far the active cells are, where their CSV has grown."""
        for cell in self.jobs:
            try:
                size = self.store.path(cell.spec.key, ".csv").stat().st_size
            except OSError:  # not there yet, or removed: the run itself reports that
                size = 0
            if size != self._sizes.get(cell, 0):
                self._sizes[cell] = size
                cell.reached = reached(self.store, cell.spec)

    def end(self, job: subprocess.Popen, *, at_once: bool) -> None:
        """Interrupts one process, or kills it."""
        job.send_signal(signal.SIGKILL if at_once else signal.SIGINT)

    def close(self) -> None:
        """Nothing is left to be released once no cell is active."""

    def _launch(self, cell: Cell) -> subprocess.Popen:
        command = python_command(_WORKER, *train_flags(cell.spec, self.store.root, self.options))
        cell.log.parent.mkdir(parents=True, exist_ok=True)
        log = cell.log.open("ab+")
        try:
            # In a session of its own: Ctrl-C reaches it only through `stop`, and once. By its
            # standard input, a pipe, it notices the end of this process.
            process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=log, stderr=subprocess.STDOUT,
                start_new_session=True,
            )  # fmt: skip
        except OSError:
            log.close()
            raise
        self._logs[cell] = log
        return process

    def _state(self, cell: Cell, code: int) -> str:
        """What the exit code of a cell's process means."""
        if code == 0:
            return "done"
        # -SIGINT: it was asked to stop before it handled Ctrl-C.
        if self.stopping and code in (130, -signal.SIGINT, -signal.SIGKILL):
            return "waiting"
        if code == RunLockedError.exit_code:
            return LOCKED
        return DONE_ELSEWHERE if is_finished(self.store, cell.spec) else "failed"


def _is_locked(store: ResultStore, cell: Cell) -> bool:
    try:
        return store.is_locked(cell.spec.key)
    except UserError:  # the run itself reports what is wrong with its files
        return False


def _last_line(log: BinaryIO) -> str:
    """The last line that a process printed: if it failed, why."""
    log.seek(0, os.SEEK_END)
    log.seek(max(0, log.tell() - _LAST_BYTES))
    lines = log.read().decode(errors="replace").split("\n")
    return next((line.strip()[:_MAX_LINE] for line in reversed(lines) if line.strip()), "")
