"""The sweep's first engine: processes of this machine, one run each."""

import os
import signal
import subprocess
from typing import BinaryIO

from baselines.sweep_progress import DONE_ELSEWHERE, LOCKED, Cell, is_finished, reached
from baselines.train import How
from explore_suite.console import say
from explore_suite.errors import RunLockedError
from explore_suite.python_process import python_command
from explore_suite.results import ResultStore

# Until the run listens, Ctrl-C ends its process at once and in silence: in the middle of an import
# it would end in a traceback, of numpy's or torch's making.
_WORK = (
    "import signal; signal.signal(signal.SIGINT, signal.SIG_DFL); "
    "from baselines.sweep_worker import work; sys.exit(work())"
)
_LAST_BYTES = 4096  # of a log: enough for its last line
_MAX_LINE = 500  # characters of it that are shown


class LocalEngine:
    """Runs cells as `explore-suite train` does, each in a process of its own with its own log."""

    def __init__(self, store: ResultStore, how: How) -> None:
        """Starts nothing yet."""
        self.store, self.how = store, how
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
        spec, how = cell.spec, self.how
        return python_command(
            _WORK, "--agent", spec.agent,
            "--task", spec.task, "--seed", str(spec.seed), "--preset", spec.preset,
            "--episodes", str(spec.episodes), "--results", str(self.store.root),
            "--device", how.device, "--threads", str(how.threads),
            "--checkpoint-minutes", str(how.checkpoint_seconds / 60),
        )  # fmt: skip


def _last_line(log: BinaryIO) -> str:
    """What a process said last: if it failed, why."""
    log.seek(0, os.SEEK_END)
    log.seek(max(0, log.tell() - _LAST_BYTES))
    lines = log.read().decode(errors="replace").split("\n")
    return next((line.strip()[:_MAX_LINE] for line in reversed(lines) if line.strip()), "")
