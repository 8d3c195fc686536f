"""The sweep's first engine: processes of this machine, one run each."""

import signal
import subprocess
import sys

from baselines.sweep_progress import Cell, reached
from baselines.train import How
from explore_suite.console import say
from explore_suite.results import ResultStore


class LocalEngine:
    """Runs cells as `explore-suite train` does, each in a process of its own with its own log."""

    def __init__(self, store: ResultStore, how: How) -> None:
        """Starts nothing yet."""
        self.store, self.how = store, how
        self._processes: dict[Cell, subprocess.Popen] = {}
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
                # -SIGINT: it was asked before it could listen.
                stopped = self._stopping and code in (130, -signal.SIGINT, -signal.SIGKILL)
                cell.state = "done" if code == 0 else "waiting" if stopped else "failed"
                self._read(cell)

    def progress(self) -> None:
        """Reads how far the active cells are, where their files have grown."""
        for cell in self._processes:
            path = self.store.path(cell.spec.key, ".csv")
            size = path.stat().st_size if path.is_file() else 0
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
        with cell.log.open("a") as log:
            # A group of its own: Ctrl-C reaches it from here alone, and once.
            return subprocess.Popen(
                self._command(cell), stdout=log, stderr=subprocess.STDOUT, start_new_session=True
            )

    def _read(self, cell: Cell) -> None:
        cell.reached = reached(self.store, cell.spec)

    def _command(self, cell: Cell) -> list[str]:
        spec, how = cell.spec, self.how
        return [
            sys.executable, "-m", "explore_suite", "train", "--agent", spec.agent,
            "--task", spec.task, "--seed", str(spec.seed), "--preset", spec.preset,
            "--episodes", str(spec.episodes), "--results", str(self.store.root),
            "--device", how.device, "--threads", str(how.threads),
            "--checkpoint-minutes", str(how.checkpoint_seconds / 60),
        ]  # fmt: skip
