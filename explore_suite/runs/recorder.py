"""record(): a valid run from any agent of any library, written by the environment itself.

    env = explore_suite.record("BallInCupExplore", agent="my-method", seed=0)
    while not env.finished:
        ...  # one training episode in env, one of the policy without exploration in env.eval_env

Whatever `reset` is given, episodes start as the run's seed says, so that all methods meet the same
start states. Two rows are written when an evaluation ends; the last of the budget finishes the run
and leaves the actions of its last evaluations beside it (traces.py).
"""

import contextlib
import json
import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np

from explore_suite.errors import UserError
from explore_suite.runs import header_rules
from explore_suite.runs.format import Header
from explore_suite.runs.protocol import RunLog, run_envs
from explore_suite.runs.provenance import provenance
from explore_suite.runs.store import ResultStore, RunWriter
from explore_suite.tasks import lookup

SOURCE = "explore_suite.record"
Wrap = Callable[[gymnasium.Env], gymnasium.Env]
_log = logging.getLogger(__name__)


def record(
    task: str, agent: str, seed: int, results: Path | str = "results/runs", *,
    wrap: Wrap | None = None, episodes: int | None = None, preset: str = "external",
    config: dict[str, Any] | None = None, threads: int = 1, render_mode: str | None = None,
    overwrite: bool = False,
) -> "Recorder":  # fmt: skip
    """A training env of `task`, with its `eval_env`, whose episodes are recorded as a run.

    `wrap` puts wrappers around each of the two; what is recorded is always the task's own rewards
    and observations, and the actions that reach it (in evaluation as float32, for exact traces).
    `episodes` defaults to the end of the task's score window; `config` and `threads` are noted in
    the header; `render_mode` is that of `eval_env`. An unfinished run starts from scratch, a
    finished one only with `overwrite`.
    """
    if not isinstance(task, str):
        raise UserError(
            "record() takes the name of a task and makes its environments itself: "
            'record("BallInCupExplore", agent="my-method", seed=0, wrap=...)'
        )
    spec = lookup(task)
    header = Header(
        preset=preset, agent=agent, task=spec.id, seed=_whole("seed", seed, 0),
        episodes=_whole("episodes", spec.score_window[1] if episodes is None else episodes, 1),
        config=_plain({} if config is None else config), source=SOURCE,
        threads=_whole("threads", threads, 1), **provenance(spec.id),
    )  # fmt: skip
    header_rules.require(header)
    log = RunLog(spec.id, header.seed, header.episodes)
    envs = run_envs(spec.id, log, render_mode=render_mode)
    try:
        train, evaluation = envs if wrap is None else (_wrapped(env, wrap) for env in envs)
        return Recorder(train, evaluation, log, ResultStore(results), header, overwrite)
    except BaseException:
        for env in envs:
            env.close()
        raise


class Recorder(gymnasium.Wrapper):
    """The training environment of a recorded run, and with `eval_env` that of its evaluations."""

    def __init__(
        self, env: gymnasium.Env, eval_env: gymnasium.Env, log: RunLog,
        store: ResultStore, header: Header, overwrite: bool,
    ) -> None:  # fmt: skip
        """Made by `record`: opens the run; a UserError if it may not be written."""
        super().__init__(env)
        self.eval_env, self._run = eval_env, log
        self._path, held = store.path(header.key, ".json"), store.header(header.key)
        if held is not None and held.finished and not overwrite:
            raise UserError(f"{self._path} is finished; overwrite=True runs it again")
        self._files = contextlib.ExitStack()
        self._writer: RunWriter = self._files.enter_context(store.open(header, overwrite=overwrite))
        if held is not None:
            _log.warning("%s starts from scratch", self._path)
        log.on_episode = self._write

    @property
    def finished(self) -> bool:
        """Whether the whole budget is recorded."""
        return self._run.finished

    def close(self) -> None:
        """Closes both envs; a run whose budget is not spent stays unfinished, with a warning."""
        super().close()
        self.eval_env.close()
        self._release()

    def _write(self) -> None:
        """Appends the rows of an episode; the last one finishes the run."""
        run = self._run
        for row in run.rows:
            self._writer.append(row)
        trained, evaluated = run.rows
        _log.info(
            "episode %d/%d train %.1f eval %.1f coverage %.1f%%", trained.episode, run.episodes,
            trained.return_, evaluated.return_, 100 * trained.coverage,
        )  # fmt: skip
        if run.finished:
            self._writer.finish(run.traces.content())
            self._release()

    def _release(self) -> None:
        """Lets go of the run's files; harmless when that has been done."""
        run = self._run
        if not (run.closed or run.finished):
            done = f"{run.episode} of {run.episodes} episodes"
            _log.warning("%s is left unfinished after %s", self._path, done)
        run.closed = f"{self._path} was closed before its end: record the run from scratch"
        self._files.close()


def _wrapped(env: gymnasium.Env, wrap: Wrap) -> gymnasium.Env:
    layer = outermost = wrap(env)
    while layer is not env:
        if not isinstance(layer, gymnasium.Wrapper):
            raise UserError("wrap must return the environment it is given, wrapped")
        layer = layer.env
    return outermost


def _whole(name: str, value: Any, least: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
        raise UserError(f"{name} must be a whole number of at least {least}, got {value!r}")
    return int(value)


def _plain(config: dict[str, Any]) -> dict[str, Any]:
    """The config as it will be read back from JSON."""
    try:
        if isinstance(config, dict):
            return json.loads(json.dumps(config, allow_nan=False))
    except (TypeError, ValueError, RecursionError) as error:
        raise UserError(f"config must hold what JSON can: {error}") from error
    raise UserError(f"config must be a dictionary, got {config!r}")
