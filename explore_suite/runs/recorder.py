"""record(): environments that write a valid run, whatever agent or library plays in them.

    env = explore_suite.record("BallInCupExplore", agent="my-method", seed=0)
    while not env.finished:
        ...  # one training episode in env, one of the policy without exploration in env.eval_env

Whatever `reset` is given, episodes start as the run's seed says, so that all methods meet the same
start states. Two rows are written when an evaluation ends; the last of the budget finishes the run
and leaves the actions of its last evaluations beside it (traces.py).
"""

import contextlib
import hashlib
import io
import json
import logging
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np

from explore_suite.errors import UserError
from explore_suite.files import replace_bytes
from explore_suite.runs import header_rules
from explore_suite.runs.format import MAX_WHOLE, Header
from explore_suite.runs.protocol import RunLog, run_envs
from explore_suite.runs.provenance import provenance, script_checkout
from explore_suite.runs.store import DEFAULT_STORE, ResultStore, RunWriter
from explore_suite.runs.traces import BAD_ARCHIVE
from explore_suite.tasks import lookup

SOURCE = "explore_suite.record"
Wrap = Callable[[gymnasium.Env], gymnasium.Env]
_log = logging.getLogger(__name__)


def record(
    task: str, agent: str, seed: int, results: Path | str = DEFAULT_STORE, *,
    wrap: Wrap | None = None, episodes: int | None = None, preset: str = "external",
    config: dict[str, Any] | None = None, threads: int = 1, render_mode: str | None = None,
    overwrite: bool = False, resume: bool = False,
) -> "Recorder":  # fmt: skip
    """Makes a training environment, and its `eval_env`, that record their episodes as a run.

    `wrap` puts wrappers around each of the two; what is recorded is always the task's own rewards
    and observations, and the actions that reach it (in evaluation as float32, for exact traces).
    `episodes` defaults to the end of the task's score window; `config` and `threads` are noted in
    the header; `render_mode` is that of `eval_env`.

    A finished run is recorded again only with `overwrite`. An unfinished one starts from scratch,
    or keeps its complete episodes with `resume`: for agents that can be restored to the state they
    had after episode `env.episode`.
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
        threads=_whole("threads", threads, 1),
        **provenance(spec.id, code=script_checkout(Path(results))),
    )  # fmt: skip
    header_rules.require(header)
    log = RunLog(spec.id, header.seed, header.episodes)
    envs = run_envs(spec.id, log, render_mode=render_mode)
    try:
        train, evaluation = envs if wrap is None else (_wrapped(env, wrap) for env in envs)
        store = ResultStore(results)
        return Recorder(train, evaluation, log, store, header, overwrite=overwrite, resume=resume)
    except BaseException:
        for env in envs:
            env.close()
        raise


class Recorder(gymnasium.Wrapper):
    """The training environment of a recorded run; `eval_env` is that of its evaluations."""

    def __init__(
        self, env: gymnasium.Env, eval_env: gymnasium.Env, log: RunLog,
        store: ResultStore, header: Header, *, overwrite: bool, resume: bool,
    ) -> None:  # fmt: skip
        """Opens the run, as `record` says; a UserError if it may not be written."""
        super().__init__(env)
        self.eval_env, self._run = eval_env, log
        self._path = store.path(header.key, ".json")
        self._checkpoint = store.root / ".checkpoints" / header.key.path.with_suffix(".npz")
        with contextlib.ExitStack() as files:
            run = files.enter_context(store.lock(header.key))
            run.refuse_orphans(overwrite=overwrite)
            if run.header is not None and run.header.finished and not overwrite:
                raise UserError(f"{self._path} is finished; overwrite=True runs it again")
            if run.header is not None and not run.header.finished and resume:
                header = _resumed(self._path, run.header, header)
                _load(self._checkpoint, log, _owner(header))
                _log.info("%s resumes after episode %d", self._path, log.episode)
            elif run.header is not None:
                _log.warning("%s starts from scratch", self._path)
            self._owner = _owner(header)
            # Before rows are dropped: a checkpoint must not count more rows than there are.
            _save(self._checkpoint, log, self._owner)
            rows = 2 * log.episode
            self._writer: RunWriter = files.enter_context(
                run.open(header, keep_rows=rows, overwrite=overwrite)
            )
            self._files = files.pop_all()
        log.on_episode = self._write

    @property
    def episode(self) -> int:
        """How many training episodes are recorded, each with its evaluation."""
        return self._run.episode

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
            self._checkpoint.unlink(missing_ok=True)
            self._release()
        else:  # rows first: those beyond the checkpoint are dropped when the run resumes
            self._writer.sync()
            _save(self._checkpoint, run, self._owner)

    def _release(self) -> None:
        """Closes the run's files and unlocks it; harmless when that has been done."""
        run = self._run
        if not (run.closed or run.finished):
            done = f"{run.episode} of {run.episodes} episodes"
            _log.warning("%s is left unfinished after %s; resume=True keeps them", self._path, done)
        run.closed = f"{self._path} was closed before its end: record() it again"
        self._files.close()


def _resumed(path: Path, held: Header, new: Header) -> Header:
    """The header of a run that resumes: its own, noting where other code or packages take over."""
    fixed = ("config", "episodes", "threads")
    different = [name for name in fixed if getattr(held, name) != getattr(new, name)]
    if different:
        raise UserError(
            f"{path} was begun with another {' and '.join(different)}; "
            "without resume=True it starts from scratch"
        )
    begun_by = held.code.get("begun_by", held.code)
    if begun_by == new.code and held.versions == new.versions:
        return held
    _log.warning("%s was begun by other code or versions: it cannot be submitted", path)
    return replace(held, code=new.code | {"begun_by": begun_by}, versions=new.versions)


_OWNER = "run"  # name of the array that says whose a checkpoint is
_PROGRESS, _TRACE = ("episode", "env_steps", "seconds"), "trace-"  # names of arrays in a checkpoint


def _owner(header: Header) -> str:
    """The run that a checkpoint belongs to, and a digest of its config."""
    config = json.dumps(header.config, sort_keys=True).encode()
    return f"{header.key.path.as_posix()} {hashlib.sha256(config).hexdigest()}"


def _save(path: Path, log: RunLog, owner: str) -> None:
    """Writes what the rows of later episodes depend on, as plain arrays."""
    state = log.state_dict()
    arrays: dict[str, Any] = {name: np.array(state["progress"][name]) for name in _PROGRESS}
    arrays[_OWNER] = np.array(owner)
    arrays |= {f"{_TRACE}{episode}": actions for episode, actions in state["traces"].items()}
    content = io.BytesIO()
    np.savez_compressed(content, visits=state["coverage"]["visits"], **arrays)
    path.parent.mkdir(parents=True, exist_ok=True)
    replace_bytes(path, content.getvalue())


def _load(path: Path, log: RunLog, owner: str) -> None:
    """Inverse of `_save`; a UserError for a file that is missing, damaged or of another run."""
    try:
        with np.load(path, allow_pickle=False) as file:
            arrays = dict(file)
        found = str(arrays.pop(_OWNER, owner))  # earlier versions do not say whose it is
        if found != owner:
            raise ValueError(f"it belongs to another run or config, {found.split()[0]}")
        traces = {name: array for name, array in arrays.items() if name.startswith(_TRACE)}
        log.load_state_dict(
            {
                "coverage": {"visits": arrays["visits"]},
                "traces": {name.removeprefix(_TRACE): array for name, array in traces.items()},
                "progress": {name: arrays[name].item() for name in _PROGRESS},
            }
        )
    except BAD_ARCHIVE as error:
        raise UserError(
            f"cannot resume from {path} ({error}); without resume=True the run starts from scratch"
        ) from error


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
    if value > MAX_WHOLE:
        raise UserError(f"{name} must be below 2^63")
    return int(value)


def _plain(config: dict[str, Any]) -> dict[str, Any]:
    """The config as it will be read back from JSON: tuples become lists."""
    try:
        if isinstance(config, dict):
            return json.loads(json.dumps(config, allow_nan=False))
    except (TypeError, ValueError, RecursionError) as error:
        raise UserError(f"config must hold what JSON can: {error}") from error
    raise UserError(f"config must be a dictionary, got {config!r}")
