"""Traces: the actions of a run's last evaluations. Replayed, they must earn its returns.

A run leaves the file seed-000.traces.npz, listed and hashed in its header. It holds the last two
evaluations inside the task's score window and, of a longer run, the last two of all:

    episodes  (E,)        int64    number of each evaluation, as in the CSV
    seeds     (E,)        int64    what the environment was reset with
    actions   (E, T, A)   float32  every action; (E, T) uint8 for discrete actions

The environment is deterministic, so that the same start and actions earn the same return.
"""

import io
import re
import struct
import zipfile
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np

from explore_suite.errors import UserError
from explore_suite.files import read_bytes
from explore_suite.runs.format import (
    TRACES,
    EpisodeRow,
    Header,
    listed_traces,
    read_header,
    read_rows,
)
from explore_suite.runs.seeds import episode_seed
from explore_suite.tasks import TaskSpec, lookup

MAX_BYTES = 150_000  # of a traces file; the largest, of six actions, has less than 100 KB
_LAST = 2  # evaluations kept of the score window, and of the whole run
_MAX_ARRAY_HEADER = 1024  # bytes; NumPy's have 128
_ARRAY_HEADER = re.compile(
    rb"\x93NUMPY\x01\x00(?s:(..))\{'descr': '([^']{1,9})', 'fortran_order': False, "
    rb"'shape': \(([0-9, ]{0,60})\), \} *\n"
)
# What the standard library raises for archives that are cut off, altered or none at all.
BAD_ARCHIVE = (
    zipfile.BadZipFile, zlib.error, struct.error, EOFError, KeyError, NotImplementedError, OSError,
    OverflowError, RuntimeError, ValueError,
)  # fmt: skip


class BadTracesError(UserError):
    """A traces file that cannot be read or does not hold what it should; the message says what."""


def traced_episodes(spec: TaskSpec, evaluated: int) -> tuple[int, ...]:
    """Numbers of the evaluations that a run's traces hold after `evaluated` evaluations."""
    first, last = spec.score_window
    recent = range(max(1, evaluated - _LAST + 1), evaluated + 1)
    end = min(evaluated, last)
    scored = range(max(first, end - _LAST + 1), end + 1)
    return tuple(sorted({*recent, *scored}))


class TracedEnv(gymnasium.Wrapper):
    """Remembers the actions of the current episode, exactly as they reach the task.

    They reach it as a trace holds them: within the bounds, where the task would clip them itself,
    and in float32, the type of the action space.
    """

    def __init__(self, env: gymnasium.Env) -> None:
        """Wraps the task and its time limit, inside of all other wrappers."""
        super().__init__(env)
        self.actions: list[np.ndarray | int] = []

    def reset(self, **options: Any) -> tuple[Any, dict[str, Any]]:
        """Starts an episode, without actions yet."""
        self.actions = []
        return self.env.reset(**options)

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        """One step, remembered once the task has taken it."""
        action = _as_traced(self.action_space, action)
        result = self.env.step(action)
        self.actions.append(action)
        return result


class TraceKeeper:
    """Keeps the actions of those evaluations of a run that its traces file will hold."""

    def __init__(self, task: str, seed: int) -> None:
        """For a run with this seed that has evaluated nothing yet."""
        self._spec, self._seed = lookup(task), seed
        self._kept: dict[int, np.ndarray] = {}  # episode -> actions (T, A), or (T,) if discrete

    def add(self, episode: int, actions: Sequence[np.ndarray | int]) -> None:
        """Adds the actions of an evaluation, and drops those no longer needed."""
        kept = self._kept | {episode: np.array(actions, dtype=_action_type(self._spec))}
        wanted = traced_episodes(self._spec, episode)
        self._kept = {number: kept[number] for number in wanted if number in kept}

    def content(self) -> bytes:
        """The traces file, the same bytes for the same actions; empty before any evaluation."""
        if not self._kept:
            return b""
        seeds = [episode_seed(self._seed, "eval", episode) for episode in self._kept]
        file = io.BytesIO()
        np.savez_compressed(
            file,
            episodes=np.array(list(self._kept), dtype="<i8"),
            seeds=np.array(seeds, dtype="<i8"),
            actions=np.stack(list(self._kept.values())),
        )
        return file.getvalue()

    def state_dict(self) -> dict[str, Any]:
        """What is kept, for a checkpoint."""
        return {f"{episode}": actions for episode, actions in self._kept.items()}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Inverse of `state_dict`."""
        kept = {int(episode): np.asarray(actions) for episode, actions in state.items()}
        self._kept = dict(sorted(kept.items()))


def replay_run(run: Path) -> list[str]:
    """Plays the traces of a run, given by its .csv or .json file; its differences from the rows.

    An empty list means that the actions earn what the rows say. A UserError means that the run
    cannot be replayed: its files are missing or unreadable, or it left no traces.
    """
    path = run.with_suffix(".json")
    header = read_header(path)
    rows = read_rows(path.with_suffix(".csv"), finished=header.finished)
    traces = path.with_suffix(TRACES)
    if not header.finished:
        raise UserError("is not finished: a run leaves its traces when it ends")
    if not header.traces:
        raise UserError("has no traces: it was made before runs left them")
    try:
        content = read_bytes(traces, MAX_BYTES + 1)
    except UserError as error:
        raise BadTracesError(str(error)) from error
    if content is None:
        raise BadTracesError(f"{traces} is missing")
    if len(content) > MAX_BYTES:
        raise BadTracesError(f"{traces.name} is larger than {MAX_BYTES} bytes")
    if header.traces != listed_traces(traces.name, content):
        return [f"{traces.name} is not the file that the header lists: its SHA-256 or name differs"]
    return replay(header, rows, content)


def replay(header: Header, rows: list[EpisodeRow], content: bytes) -> list[str]:
    """Plays the content of a traces file; its differences from the rows, in order of episodes.

    Raises BadTracesError for a content that is no sound traces file of such a run.
    """
    spec = lookup(header.task)
    written = {row.episode: row for row in rows if row.phase == "eval"}
    if len(rows) != 2 * header.episodes or written.keys() != set(range(1, header.episodes + 1)):
        return [f"the rows are not those of {header.episodes} episodes"]
    expected = traced_episodes(spec, header.episodes)
    with gymnasium.make(spec.id) as env:
        episodes, seeds, actions = read_traces(content, spec, len(expected), _steps(env))
        if tuple(episodes.tolist()) != expected:
            return [f"traces are of episodes {episodes.tolist()} instead of {list(expected)}"]
        differences = []
        for episode, seed, played in zip(expected, seeds.tolist(), actions, strict=True):
            due = episode_seed(header.seed, "eval", episode)
            if seed != due:
                differences.append(
                    f"episode {episode}: its trace was reset with seed {seed} instead of {due}"
                )
                continue
            differences += _compare(written[episode], _play(env, seed, played))
    return differences


def _compare(row: EpisodeRow, earned: tuple[float, int, int]) -> list[str]:
    found = zip(("return", "length", "success_steps"), row[3:6], earned, strict=True)
    return [
        f"episode {row.episode}: {name} {was} was written, but its actions earn {now}"
        for name, was, now in found
        if was != now
    ]


def _play(env: gymnasium.Env, seed: int, actions: np.ndarray) -> tuple[float, int, int]:
    """Return, length and success steps of an episode with these actions."""
    env.reset(seed=seed)
    total, length, successes = 0.0, 0, 0
    for action in actions:
        _, reward, terminated, truncated, info = env.step(action)
        total, length = total + float(reward), length + 1
        successes += bool(info["success"])
        if terminated or truncated:
            break
    return total, length, successes


def read_traces(
    content: bytes, spec: TaskSpec, episodes: int, steps: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Episodes, seeds and actions of a traces file, which may come from an untrusted submission.

    Sizes are known beforehand and checked before anything is unpacked; nothing but plain numbers
    is ever made of the bytes.
    """
    shape = (episodes, steps) if spec.discrete else (episodes, steps, spec.action_dim)
    wanted = {
        "episodes.npy": (np.dtype("<i8"), (episodes,)),
        "seeds.npy": (np.dtype("<i8"), (episodes,)),
        "actions.npy": (_action_type(spec), shape),
    }
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            members = archive.infolist()
            if sorted(member.filename for member in members) != sorted(wanted):
                raise BadTracesError(f"traces must hold the arrays {', '.join(wanted)} alone")
            if {member.compress_type for member in members} - {
                zipfile.ZIP_STORED,
                zipfile.ZIP_DEFLATED,
            }:
                raise BadTracesError("traces are compressed in a way that NumPy does not use")
            read, seeds, actions = (
                _array(archive, name, kind, shape) for name, (kind, shape) in wanted.items()
            )
    except BAD_ARCHIVE as error:
        reason = f"{type(error).__name__}: {error}".splitlines()[0][:100]
        raise BadTracesError(f"traces are no sound npz file ({reason!r})") from error
    _check_actions(actions, spec)
    return read, seeds, actions


def _array(
    archive: zipfile.ZipFile, name: str, kind: np.dtype, shape: tuple[int, ...]
) -> np.ndarray:
    """One array of an npz file, of just this type and shape."""
    size = int(np.prod(shape)) * kind.itemsize
    with archive.open(name) as file:
        data = file.read(_MAX_ARRAY_HEADER + size + 1)
    match = _ARRAY_HEADER.match(data[:_MAX_ARRAY_HEADER])
    if match is None or int.from_bytes(match[1], "little") != match.end() - 10:
        raise BadTracesError(f"{name} in the traces is not an array as NumPy writes it")
    found = tuple(int(part) for part in match[3].decode().split(",") if part.strip())
    if match[2].decode("latin-1") != kind.str or found != shape:
        raise BadTracesError(
            f"{name} in the traces must be of type {kind.str!r} and shape {shape}, "
            f"not of type {match[2].decode('latin-1')!r} and shape {found}"
        )
    if len(data) != match.end() + size:
        raise BadTracesError(f"{name} in the traces has not the size that its shape says")
    return np.frombuffer(data, dtype=kind, offset=match.end()).reshape(shape)


def _check_actions(actions: np.ndarray, spec: TaskSpec) -> None:
    wrong = actions >= spec.action_dim if spec.discrete else ~(np.abs(actions) <= 1)
    if wrong.any():
        index = tuple(int(i) for i in np.argwhere(wrong)[0])
        low, high = (0, spec.action_dim - 1) if spec.discrete else (-1, 1)
        raise BadTracesError(
            f"action {actions[index]} at step {index[1] + 1} of trace {index[0] + 1} is not "
            f"within {low} to {high}"
        )


def _action_type(spec: TaskSpec) -> np.dtype:
    return np.dtype("u1") if spec.discrete else np.dtype("<f4")


def _steps(env: gymnasium.Env) -> int:
    """Length of every episode: only the time limit ends one."""
    assert env.spec is not None and env.spec.max_episode_steps is not None
    return env.spec.max_episode_steps


def _as_traced(space: gymnasium.Space, action: Any) -> Any:
    """The action as a trace holds it; an invalid one unchanged, for the task to refuse."""
    array = np.asarray(action)
    if isinstance(space, gymnasium.spaces.Discrete):
        whole = array.dtype.kind in "iu" and array.shape in ((), (1,))
        return int(array.item()) if whole else action
    assert isinstance(space, gymnasium.spaces.Box)
    if array.dtype.kind not in "fiu" or array.shape != space.shape or not np.isfinite(array).all():
        return action
    return np.clip(array, space.low, space.high).astype(np.float32)
