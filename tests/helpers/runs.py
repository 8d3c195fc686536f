"""Runs in tests: nobody watches them, episodes are short, and rows are compared without seconds."""

import time
from collections.abc import Callable
from pathlib import Path

import gymnasium

from explore_suite.runs.store import ResultStore


def quiet(trainer, rows):
    """Watches nothing."""


def shorten_episodes(monkeypatch, steps: int) -> None:
    """Every environment made from now on truncates its episodes after so many steps."""
    make, short = gymnasium.make, {"max_episode_steps": steps}
    monkeypatch.setattr(gymnasium, "make", lambda task, **more: make(task, **short, **more))


def rows_of(store: ResultStore) -> list[tuple]:
    """The rows of the only run of a store, without their seconds."""
    (run,) = store.runs()
    return [row[:-1] for row in run.rows]


def files(store: ResultStore) -> dict[Path, bytes]:
    """Every file of a store."""
    return {path: path.read_bytes() for path in store.root.rglob("*") if path.is_file()}


def after(calls: int, real: Callable, deadly: Callable) -> Callable:
    """`real` for a number of calls, then `deadly`."""
    left = [calls]

    def call(*arguments):
        left[0] -= 1
        return (deadly if left[0] < 0 else real)(*arguments)

    return call


def wait_for(condition: Callable, process=None, seconds: float = 180) -> None:
    """Until the condition holds; fails after some time, or if the process ends before."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        assert process is None or process.poll() is None
        time.sleep(0.05)
