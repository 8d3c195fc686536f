"""Overhead of runs: two workers against one, and a whole run against its agent and environment."""

import os
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

from baselines.runner import EpisodeResult, Trainer
from baselines.training.run import RunOptions, RunSpec, train
from explore_suite.python_process import python_command
from explore_suite.runs.store import ResultStore

_AGENT, _TASK = "sac", "BallInCupExplore"
_EPISODES = 6


def two_workers_vs_one() -> float:
    """Episodes per second of a sweep with two workers over those of one; wall clock, two cores."""
    alone, together = (_seconds_per_episode(workers) for workers in (1, 2))
    return 2 * alone / together


def _seconds_per_episode(workers: int) -> float:
    """Mean wall-clock time of an episode with `workers` runs in parallel."""
    with tempfile.TemporaryDirectory() as root:
        command = python_command(
            "from explore_suite.__main__ import main; sys.exit(main())",
            "sweep", "--agents", _AGENT, "--tasks", _TASK,
            "--seeds", f"0-{workers - 1}", "--episodes", str(_EPISODES),
            "--workers", str(workers), "--results", root,
        )  # fmt: skip
        every_core = set(range(os.cpu_count() or 1))
        subprocess.run(
            command, check=True, stdout=subprocess.DEVNULL,
            preexec_fn=lambda: os.sched_setaffinity(0, every_core),
        )  # fmt: skip
        # The first episode of a run has uniform actions and no updates; the others are typical.
        runs = [[row.seconds for row in run.rows] for run in ResultStore(root).runs()]
        return sum(rows[-1] - rows[0] for rows in runs) / (len(runs) * (_EPISODES - 1))


def runner_vs_agent() -> float:
    """Processor time of a whole run, checkpoints included, over its agent's and environment's."""
    spec = RunSpec.of(_AGENT, _TASK, 0, "cpu", _EPISODES)
    spent, marks = [0.0], list[tuple[float, float]]()

    def watch(trainer: Trainer, result: EpisodeResult) -> None:
        if not marks:  # measured from the end of the first episode on
            for owner in (trainer.agent, trainer.env, trainer.eval_env):
                _clock(owner, spent)
        marks.append((time.process_time(), spent[0]))

    with tempfile.TemporaryDirectory() as root:
        # A checkpoint after every episode is far more often than every few minutes.
        train(spec, ResultStore(Path(root)), RunOptions(checkpoint_seconds=0), watch)
    (began, before), (ended, after) = marks[0], marks[-1]
    return (ended - began) / (after - before)


def _clock(owner: Any, spent: list[float]) -> None:
    """Adds the processor time of each act, observe, update, step and reset to `spent`."""
    for name in ("act", "observe", "update", "step", "reset"):
        method = getattr(owner, name, None)
        if method is None:
            continue

        def timed(*arguments: Any, _method: Any = method, **options: Any) -> Any:
            start = time.process_time()
            result = _method(*arguments, **options)
            spent[0] += time.process_time() - start
            return result

        setattr(owner, name, timed)
