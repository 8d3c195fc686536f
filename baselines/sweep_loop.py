"""The loop of a sweep: cells to an engine, a few at a time, until all are over."""

import signal
import time
from typing import Protocol

from baselines.sweep_progress import DONE_ELSEWHERE, LOCKED, Board, Cell
from explore_suite.console import say

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
