"""The loop of a sweep: cells to an engine, a few at a time, until all are over."""

import os
import signal
import subprocess
import time
from typing import BinaryIO, Protocol

from baselines.sweep.cells import DONE_ELSEWHERE, LOCKED, Board, Cell, is_finished, reached
from baselines.training.run import RunOptions
from explore_suite.cli.console import say
from explore_suite.errors import RunLockedError
from explore_suite.python_process import python_command
from explore_suite.runs.store import ResultStore

_POLL_SECONDS, _SHOW_SECONDS = 0.2, 1.0


class Engine(Protocol):
    """What runs cells: local processes, or the tasks of a cluster."""

    @property
    def active(self) -> list[Cell]:
        """Cells that were started and are not over."""

    def start(self, cell: Cell) -> None:
        """Begins or continues one run."""

    def poll(self) -> None:
        """Gives the cells that are over their new state."""

    def progress(self) -> None:
        """Brings what is known of the active cells up to date."""

    def stop(self, *, at_once: bool) -> None:
        """Asks the active cells to end their episode and save themselves, or kills them."""

    def close(self) -> None:
        """Lets go of everything."""


class Sweep:
    """So many cells at a time; a failure is reported and stops no other."""

    def __init__(self, cells: list[Cell], engine: Engine, at_a_time: int) -> None:
        """Starts nothing yet."""
        self.cells, self.engine, self.at_a_time = cells, engine, at_a_time
        self.interrupts = 0
        self._stops = 0  # interrupts that the engine has been told of

    def run(self) -> int:
        """Works until nothing is left; Ctrl-C lets the running cells save themselves first."""
        numbers = (signal.SIGINT, signal.SIGTERM)
        before = {number: signal.signal(number, self._interrupt) for number in numbers}
        try:
            self._work()
        finally:
            self.engine.close()
            for number, handler in before.items():
                signal.signal(number, handler)
        for cell in self._in_state(DONE_ELSEWHERE):
            say(f"finished meanwhile by another process: {cell.name}")
        for cell in self._in_state(LOCKED):
            say(f"being written by another process: {cell.name}")
        failed = self._in_state("failed")
        for cell in failed:
            say(f"failed: {cell.name}, see {cell.log}")
            if cell.why:
                say(f"  {cell.why}")
        if self.interrupts:
            say("interrupted; the same command goes on")
            return 130
        return int(bool(failed))

    def _in_state(self, state: str) -> list[Cell]:
        return [cell for cell in self.cells if cell.state == state]

    def _work(self) -> None:
        shown = -_SHOW_SECONDS
        with Board(self.cells) as board:
            while self._step():
                if time.monotonic() - shown >= _SHOW_SECONDS:
                    self.engine.progress()
                    board.show()
                    shown = time.monotonic()
                time.sleep(_POLL_SECONDS)
            board.show()

    def _step(self) -> bool:
        """Collects what has ended and starts what fits; False when all is over."""
        self._stop()
        self.engine.poll()
        active = set(self.engine.active)
        if not self.interrupts:
            idle = [cell for cell in self._in_state("waiting") if cell not in active]
            for cell in idle[: self.at_a_time - len(active)]:
                self.engine.start(cell)
        # A cell that could not be started leaves nothing active, and others still to be tried.
        untried = any(cell.state == "waiting" for cell in self.cells)
        return bool(self.engine.active) or (untried and not self.interrupts)

    def _stop(self) -> None:
        """Passes new interrupts on: first the cells save themselves, then they die."""
        if self.interrupts > self._stops:
            if not self._stops:
                say("stopping after the running episodes; once more stops at once")
            self._stops = self.interrupts
            self.engine.stop(at_once=self.interrupts > 1)

    def _interrupt(self, number: int, frame: object) -> None:
        # Only counted here: an engine in the middle of something must not be called.
        self.interrupts += 1


# Until the run listens, Ctrl-C ends its process at once and in silence: in the middle of an import
# it would end in a traceback, of numpy's or torch's making.
_WORK = (
    "import signal; signal.signal(signal.SIGINT, signal.SIG_DFL); "
    "from baselines.sweep.worker import work; sys.exit(work())"
)
_LAST_BYTES = 4096  # of a log: enough for its last line
_MAX_LINE = 500  # characters of it that are shown


class LocalEngine:
    """Runs cells as `explore-suite train` does, each in a process of its own with its own log."""

    def __init__(self, store: ResultStore, options: RunOptions) -> None:
        """Starts nothing yet."""
        self.store, self.options = store, options
        self._processes: dict[Cell, subprocess.Popen] = {}
        self._logs: dict[Cell, BinaryIO] = {}  # kept open: a log may be removed with its store
        self._sizes: dict[Cell, int] = {}  # of the files that were read
        self._stopping = False

    @property
    def active(self) -> list[Cell]:
        """Cells that were started and are not over."""
        return list(self._processes)

    def start(self, cell: Cell) -> None:
        """Begins or continues one run; one that cannot be started has failed, the others go on."""
        try:
            self._processes[cell] = self._launch(cell)
            cell.state = "running"
        except OSError as error:
            cell.state = "failed"
            say(f"cannot start {cell.name}: {error}")

    def poll(self) -> None:
        """Gives the cells that are over their new state."""
        for cell, process in list(self._processes.items()):
            code = process.poll()
            if code is not None:
                del self._processes[cell]
                process.communicate()  # closes its standard input
                cell.state = self._state(cell, code)
                with self._logs.pop(cell) as log:
                    cell.why = _last_line(log) if cell.state == "failed" else ""
                self._read(cell)

    def progress(self) -> None:
        """Reads how far the active cells are, where their files have grown."""
        for cell in self._processes:
            try:
                size = self.store.path(cell.spec.key, ".csv").stat().st_size
            except OSError:  # not there yet, or not any more: the run itself will say so
                size = 0
            if size != self._sizes.get(cell, 0):
                self._sizes[cell] = size
                self._read(cell)

    def stop(self, *, at_once: bool) -> None:
        """Asks the active cells to end their episode and save themselves, or kills them."""
        self._stopping = True
        for process in self._processes.values():
            process.send_signal(signal.SIGKILL if at_once else signal.SIGINT)

    def close(self) -> None:
        """Nothing is left to be closed once no cell is active."""

    def _launch(self, cell: Cell) -> subprocess.Popen:
        cell.log.parent.mkdir(parents=True, exist_ok=True)
        log = cell.log.open("ab+")
        try:
            # A group of its own: Ctrl-C reaches it from here alone, and once. Through its standard
            # input it notices the end of this process.
            process = subprocess.Popen(
                self._command(cell), stdin=subprocess.PIPE, stdout=log, stderr=subprocess.STDOUT,
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
        # -SIGINT: it was asked before it could listen.
        if self._stopping and code in (130, -signal.SIGINT, -signal.SIGKILL):
            return "waiting"
        if code == RunLockedError.exit_code:
            return LOCKED
        return DONE_ELSEWHERE if is_finished(self.store, cell.spec) else "failed"

    def _read(self, cell: Cell) -> None:
        cell.reached = reached(self.store, cell.spec)

    def _command(self, cell: Cell) -> list[str]:
        spec, options = cell.spec, self.options
        return python_command(
            _WORK, "--agent", spec.agent,
            "--task", spec.task, "--seed", str(spec.seed), "--preset", spec.preset,
            "--episodes", str(spec.episodes), "--results", str(self.store.root),
            "--device", options.device, "--threads", str(options.threads),
            "--checkpoint-minutes", str(options.checkpoint_seconds / 60),
        )  # fmt: skip


def _last_line(log: BinaryIO) -> str:
    """What a process said last: if it failed, why."""
    log.seek(0, os.SEEK_END)
    log.seek(max(0, log.tell() - _LAST_BYTES))
    lines = log.read().decode(errors="replace").split("\n")
    return next((line.strip()[:_MAX_LINE] for line in reversed(lines) if line.strip()), "")
