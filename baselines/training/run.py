"""Run or resume one training run and write its result files."""

import contextlib
import errno
import logging
import signal
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch

from baselines.agent import State
from baselines.runner import EpisodeResult, Trainer
from baselines.settings import as_json, budget, build, config_of, resolve, settings_of
from baselines.training import artefacts, checkpoint
from baselines.training.arithmetic import CAPABILITY, arithmetic
from explore_suite.errors import UserError
from explore_suite.runs.format import MAX_WHOLE, WEIGHTS, Header, RunKey
from explore_suite.runs.header_rules import MAX_THREADS, OUR_SOURCE
from explore_suite.runs.provenance import device_of, provenance
from explore_suite.runs.store import ResultStore, RunWriter
from explore_suite.tasks import lookup

_THEN = ", then "  # between the CPU capabilities of a run that changed machines
Watcher = Callable[[Trainer, EpisodeResult], None]  # called after every episode
# What a write to an open file can fail of; such an error names no file.
_DISK_ERRORS = (
    errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS, errno.EACCES, errno.EPERM, errno.EIO,
    errno.ESTALE, errno.ENXIO, errno.ENODEV, errno.ETIMEDOUT, errno.ENOTCONN,
)  # fmt: skip


@dataclass(frozen=True)
class RunSpec:
    """What to run: enough to write the header of a run, and to make its agent again from it."""

    agent: str
    task: str
    seed: int
    preset: str
    episodes: int
    config: Any  # the agent's config

    @classmethod
    def of(
        cls, agent: str, task: str, seed: int, preset: str,
        episodes: int | None = None, config: Any = None,
    ) -> "RunSpec":  # fmt: skip
        """A spec with what is left out taken from the preset; a UserError for names unknown."""
        resolved = resolve(preset, agent, task) if config is None else config
        task = lookup(task).id
        episodes = budget(preset, agent, task) if episodes is None else episodes
        if not (0 <= seed <= MAX_WHOLE and 1 <= episodes <= MAX_WHOLE):
            raise UserError(
                f"seed must be 0 or more and episodes 1 or more, both below 2^63, got {seed}, "
                f"{episodes}"
            )
        return cls(agent, task, seed, preset, episodes, resolved)

    @property
    def key(self) -> RunKey:
        """Where the run belongs in a store."""
        return RunKey(self.preset, self.agent, self.task, self.seed)

    @property
    def settings(self) -> dict[str, Any]:
        """The config as a header holds it."""
        return as_json(self.config)

    def header(self, threads: int, device: str = "cpu") -> Header:
        """The header of a run of this spec, made here and now; of devices it holds the kind."""
        origin = provenance(self.task, torch.device(device).type)
        origin["machine"] |= arithmetic()
        return Header(
            preset=self.preset, agent=self.agent, task=self.task, seed=self.seed,
            episodes=self.episodes, config=self.settings,
            source=OUR_SOURCE, threads=threads, **origin,
        )  # fmt: skip


@dataclass(frozen=True)
class RunOptions:
    """Execution options. Only `device` and `threads` can affect results (apart from timings)."""

    device: str = "cpu"  # another kind draws other random numbers: it makes another run
    threads: int = 1  # another number may round otherwise, and learning lets that grow
    checkpoint_seconds: float = 180.0  # between checkpoints
    keep_checkpoint: bool = False  # keep the last one of a finished run, which can be lengthened
    overwrite: bool = False  # run a finished run again, from scratch
    restart: bool = False  # start an unfinished run from scratch if its checkpoints are damaged
    capture_video: bool = False  # film some evaluations

    def __post_init__(self) -> None:
        """A UserError for more threads than the header of a run may name."""
        if not 1 <= self.threads <= MAX_THREADS:
            raise UserError(f"threads must be 1 to {MAX_THREADS}, got {self.threads}")


def train(spec: RunSpec, store: ResultStore, options: RunOptions, watch: Watcher) -> bool:
    """Runs or resumes a run; True when it is finished, False when it was asked to stop.

    Interrupted by Ctrl-C or SIGTERM it ends the episode, saves a checkpoint and returns; killed, it
    resumes next time from its last checkpoint. Either way the rows are those of an undisturbed run.
    So are those of a finished run that is lengthened: called with more episodes, it resumes from
    the checkpoint that it kept (`keep_checkpoint`).
    """
    torch.set_num_threads(options.threads)
    videos = store.root / ".videos" / spec.key.path if options.capture_video else None
    trainer = Trainer(
        build(spec.agent, spec.task, spec.config, seed=spec.seed, device=options.device),
        spec.task, seed=spec.seed, videos=videos,
    )  # fmt: skip
    with (
        contextlib.closing(trainer),
        _stop_signal() as stopped,
        _clear_disk_errors(store),
        # Until the lock is held another process may be writing these rows and checkpoints.
        store.lock(spec.key) as run,
    ):
        run.refuse_orphans(overwrite=options.overwrite)  # before their checkpoints are cleared
        header = _header(spec, store, options, run.header)
        folder = checkpoint_folder(store, spec.key)
        checkpoints = checkpoint.Checkpoints(folder, checkpoint.owner(header))
        _resume(trainer, spec, store, checkpoints, options, run.header)
        overwrite = options.overwrite or _lengthens(spec, run.header)
        keep = 2 * trainer.log.episode
        with run.open(header, keep_rows=keep, overwrite=overwrite) as writer:
            finished = _episodes(trainer, spec, writer, checkpoints, options, watch, stopped)
            if finished:
                artefacts.save_policy(store.path(spec.key, WEIGHTS), trainer.agent)
                writer.finish(trainer.log.traces.content())
                checkpoints.clear(but_newest=int(options.keep_checkpoint))
    return finished


def checkpoint_folder(store: ResultStore, key: RunKey) -> Path:
    """Where a run's checkpoints lie: beside the results, never among them."""
    return store.root / ".checkpoints" / key.path


def check_finished(held: Header, spec: RunSpec, store: ResultStore) -> None:
    """A UserError unless a finished run is the one of this spec, or can be lengthened to it."""
    path = store.path(spec.key, ".json")
    if held.episodes > spec.episodes or settings_of(held) != spec.settings:
        raise UserError(
            f"{path} is finished with another budget or other settings; remove it, or choose "
            "another folder with --results"
        )
    kept = checkpoint.Checkpoints(checkpoint_folder(store, spec.key)).files()
    if held.episodes < spec.episodes and not kept:
        raise _cannot_lengthen(held, spec, store)


def _lengthens(spec: RunSpec, held: Header | None) -> bool:
    """Whether the store holds this run, finished with fewer episodes."""
    return held is not None and held.finished and held.episodes < spec.episodes


def _cannot_lengthen(held: Header, spec: RunSpec, store: ResultStore) -> UserError:
    return UserError(
        f"{store.path(spec.key, '.json')} is finished after {held.episodes} episodes and cannot be "
        f"lengthened to {spec.episodes}: no sound checkpoint of it was kept (--keep-checkpoint "
        "keeps the last one). `explore-suite train ... --overwrite` runs it from scratch, "
        "--results names another folder."
    )


def _episodes(
    trainer: Trainer, spec: RunSpec, writer: RunWriter, checkpoints: checkpoint.Checkpoints,
    options: RunOptions, watch: Watcher, stopped: threading.Event,
) -> bool:  # fmt: skip
    """Episodes until the budget is spent or a stop is asked for."""
    saved, log = time.monotonic(), trainer.log
    while log.episode < spec.episodes and not stopped.is_set():
        with _dumped_if_diverged(trainer, checkpoints.folder):
            result = trainer.next_episode()
        writer.append(result.train)
        writer.append(result.eval)
        watch(trainer, result)
        if log.episode == min(artefacts.SNAPSHOT_EPISODE, spec.episodes):
            writer.write_states(artefacts.snapshot(trainer))
        overdue = time.monotonic() - saved >= options.checkpoint_seconds
        last = log.episode == spec.episodes
        if stopped.is_set() or (options.keep_checkpoint if last else overdue):
            writer.sync()
            checkpoints.save(log.episode, trainer.state_dict())
            saved = time.monotonic()
    return log.episode >= spec.episodes


@contextlib.contextmanager
def _dumped_if_diverged(trainer: Trainer, folder: Path) -> Iterator[None]:
    """Leaves the agent's state in a file if one of its quantities stops being finite."""
    try:
        yield
    except FloatingPointError as error:
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / "dump.safetensors"
        checkpoint.save(path, trainer.agent.state_dict())
        raise FloatingPointError(f"{error} (the agent's state is in {path})") from error


def _resume(
    trainer: Trainer, spec: RunSpec, store: ResultStore, checkpoints: checkpoint.Checkpoints,
    options: RunOptions, held: Header | None,
) -> None:  # fmt: skip
    """Loads the newest sound checkpoint into the trainer, if the run has any."""
    if options.overwrite or held is None:  # a run that was removed takes its checkpoints along
        checkpoints.clear()
        return
    if held.finished and not _lengthens(spec, held):
        return
    state, problems = checkpoints.load()
    for problem in problems:
        logging.warning("%s", problem)
    if state is not None:
        _load(trainer, state, checkpoints.folder)
    elif held.finished:
        raise _cannot_lengthen(held, spec, store)
    elif problems and not options.restart:
        folder = checkpoints.folder
        raise UserError(
            f"no checkpoint in {folder} is sound; --restart starts the run from scratch"
        )
    elif problems:
        checkpoints.clear()


def _load(trainer: Trainer, state: State, folder: Path) -> None:
    try:
        trainer.load_state_dict(state)
    except (KeyError, ValueError, RuntimeError) as error:
        raise UserError(
            f"the checkpoints in {folder} are of another version of the agent ({error}); "
            "resume with that version, or --overwrite starts the run from scratch"
        ) from error


def _header(spec: RunSpec, store: ResultStore, options: RunOptions, held: Header | None) -> Header:
    """A new header; a run that is resumed or lengthened keeps its own, if it is the same run."""
    new = spec.header(options.threads, options.device)
    config_of(new)  # a UserError now for settings that could not be read back when it resumes
    _check_siblings(spec, store, new)
    if held is None or options.overwrite or (held.finished and not _lengthens(spec, held)):
        return new
    _check_same_run(held, new, store.path(spec.key, ".json"))
    begun_by = held.code.get("begun_by", held.code)
    code, machine = held.code, _machines(held, new)
    if begun_by != new.code or held.versions != new.versions:
        logging.warning("resuming a run that was begun by other code or versions")
        code = new.code | {"begun_by": begun_by}
    return replace(
        held, episodes=spec.episodes, traces={}, finished=False, machine=machine, code=code,
        versions=new.versions,
    )  # fmt: skip


def _machines(held: Header, new: Header) -> dict[str, Any]:
    """The run's machine; where it resumes on another CPU capability, the header names both."""
    then, here = held.machine.get(CAPABILITY), new.machine[CAPABILITY]
    if then is None or str(then).split(_THEN)[-1] == here:
        return held.machine
    logging.warning("resuming on CPU capability %s a run that was begun on %s", here, then)
    return held.machine | {CAPABILITY: f"{then}{_THEN}{here}"}


def _check_same_run(held: Header, new: Header, path: Path) -> None:
    """A run resumes as it was begun: with its settings, and with the random streams of its device.

    The state of a GPU's generator means nothing to a CPU's, nor the other way round.
    """
    advice = "--overwrite starts it from scratch, --results names another folder"
    different = [] if settings_of(held) == new.config else ["other settings"]
    counts = ("threads",) if held.finished else ("episodes", "threads")  # a finished one lengthens
    different += [
        f"{getattr(held, name)} {name} instead of {getattr(new, name)}"
        for name in counts
        if getattr(held, name) != getattr(new, name)
    ]
    if different:
        raise UserError(f"{path} was begun with {' and '.join(different)}; {advice}")
    begun_on, here = device_of(held), device_of(new)
    if begun_on != here:
        raise UserError(
            f"{path} was begun on {begun_on} and cannot be resumed on {here}; "
            f"--device {begun_on} resumes it, {advice}"
        )


def require_device(device: str, subject: str) -> None:
    """A UserError, "`subject` cannot be used here", unless torch can compute on the device."""
    try:
        torch.zeros(1, device=torch.device(device)).item()
    except (RuntimeError, AssertionError, TypeError) as error:
        raise UserError(f"{subject} cannot be used here: {str(error).splitlines()[0]}") from error


def _check_siblings(spec: RunSpec, store: ResultStore, header: Header) -> None:
    """Seeds of one agent on one task share their settings: nothing else may be averaged."""
    for other in store.seeds(spec.key):
        if other.seed != spec.seed and settings_of(other) != header.config:
            raise UserError(
                f"seed {other.seed} in {store.path(spec.key, '').parent} has other settings under "
                "the same name; --variant names yours, --results another folder"
            )


@contextlib.contextmanager
def _clear_disk_errors(store: ResultStore) -> Iterator[None]:
    """A disk that is full or cannot be written to is no fault of the code: one line says so."""
    try:
        yield
    except OSError as error:
        named = isinstance(error.filename, str | Path)
        where = Path(error.filename) if named else store.root
        if not (where.is_relative_to(store.root) if named else error.errno in _DISK_ERRORS):
            raise
        raise UserError(
            f"cannot write to {where}: {error.strerror}; nothing finished is lost, "
            "and once that is fixed the same command resumes"
        ) from error


@contextlib.contextmanager
def _stop_signal() -> Iterator[threading.Event]:
    """An event set by the first Ctrl-C or SIGTERM; the second one ends the process at once."""
    event = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield event
        return

    def stop(number: int, frame: object) -> None:
        event.set()
        signal.signal(
            number, signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL
        )
        logging.warning(
            "Stopping after this episode (progress is saved). Press Ctrl-C again to quit at once."
        )

    before = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield event
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
