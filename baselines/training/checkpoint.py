"""Checkpoints: nested states on disk without pickle, tensors as safetensors, the rest as JSON."""

import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors import SafetensorError
from safetensors.torch import load as load_bytes
from safetensors.torch import save as save_bytes

from baselines.agent import State
from explore_suite.errors import UserError
from explore_suite.files import replace_bytes
from explore_suite.runs.format import Header, RunKey

_SEPARATOR = "/"
_JSON = "json"  # name of the tensor of bytes that holds everything that is no tensor
_DIGEST_BYTES = 32  # a SHA-256 at the end of the file
_OWNER = "run"  # name in the state under which a checkpoint names its run


class DamagedCheckpointError(Exception):
    """A file that is cut off, altered or no checkpoint at all."""


def save(path: Path, state: State) -> None:
    """Writes a state as one file, whole or not at all."""
    tensors: dict[str, torch.Tensor] = {}
    others: dict[str, Any] = {}
    for name, value in _flatten(state):
        if isinstance(value, torch.Tensor | np.ndarray):
            tensors[f"{_SEPARATOR}{name}"] = torch.as_tensor(value).cpu().contiguous()
        else:
            others[name] = value
    tensors[_JSON] = torch.frombuffer(bytearray(json.dumps(others).encode()), dtype=torch.uint8)
    content = save_bytes(tensors)
    replace_bytes(path, content + hashlib.sha256(content).digest())


def load(path: Path) -> State:
    """Inverse of `save`; arrays come back as tensors. Raises DamagedCheckpointError."""
    try:
        content = path.read_bytes()
    except OSError as error:  # not damaged: it may be readable again later
        raise UserError(f"cannot read {path}: {error.strerror}") from error
    content, digest = content[:-_DIGEST_BYTES], content[-_DIGEST_BYTES:]
    if hashlib.sha256(content).digest() != digest:
        raise DamagedCheckpointError(f"{path} is damaged: its checksum does not fit")
    try:
        tensors = load_bytes(content)
        others = json.loads(bytes(tensors.pop(_JSON).numpy()))
    except (SafetensorError, KeyError, ValueError) as error:
        raise DamagedCheckpointError(f"{path} is no checkpoint: {error}") from error
    state: State = {}
    for name, value in [*tensors.items(), *others.items()]:
        _insert(state, name.removeprefix(_SEPARATOR), value)
    return state


def owner(header: Header) -> State:
    """The run that a checkpoint belongs to, with a digest of the settings in its header."""
    config = json.dumps(header.config, sort_keys=True).encode()
    return header.key._asdict() | {"config": hashlib.sha256(config).hexdigest()}


class Checkpoints:
    """The last few states of one run; the newest sound one is loaded."""

    def __init__(self, folder: Path, owned_by: State | None = None, keep: int = 2) -> None:
        """The folder need not exist yet; `owned_by` is the run's `owner`."""
        self.folder, self.owned_by, self.keep = folder, owned_by, keep

    def save(self, episode: int, state: State) -> None:
        """Adds the state after an episode, then removes the oldest beyond `keep`."""
        self.folder.mkdir(parents=True, exist_ok=True)
        mine = {} if self.owned_by is None else {_OWNER: self.owned_by}
        save(self.folder / f"episode-{episode:06d}.safetensors", state | mine)
        for old in self.files()[self.keep :]:
            old.unlink()

    def load(self) -> tuple[State | None, list[str]]:
        """The newest sound state, or None; and a line on each damaged one passed over.

        Damaged ones are removed where an older sound one takes their place; so are drafts, which
        a process that was killed has left. A UserError names a checkpoint of another run.
        """
        for draft in self.folder.glob("*.tmp"):
            draft.unlink()
        damaged: dict[Path, str] = {}
        for path in self.files():
            try:
                state = load(path)
            except DamagedCheckpointError as error:
                damaged[path] = str(error)
                continue
            self._check_owner(path, state.pop(_OWNER, None))
            for passed_over in damaged:  # they would outlive the next states, which are older
                passed_over.unlink()
            return state, list(damaged.values())
        return None, list(damaged.values())

    def clear(self, but_newest: int = 0) -> None:
        """Removes them all, or all but the newest; a finished run needs none to be complete."""
        if not self.folder.exists():
            return
        kept = self.files()[:but_newest]
        kept += [path for path in self.folder.iterdir() if not path.is_file()]
        for path in set(self.folder.iterdir()).difference(kept):
            path.unlink()
        if not kept:  # folders of others are not ours to remove
            self.folder.rmdir()

    def files(self) -> list[Path]:
        """The checkpoints on disk, sound or not, newest first."""
        return sorted(self.folder.glob("episode-*.safetensors"), reverse=True)

    def _check_owner(self, path: Path, found: State | None) -> None:
        """A UserError for another run's; those of earlier versions do not say whose they are."""
        if found is None or self.owned_by is None or found == self.owned_by:
            return
        same = all(found.get(name) == self.owned_by[name] for name in RunKey._fields)
        key = "/".join(str(found.get(name)) for name in RunKey._fields)
        whose = "this run with other settings" if same else key
        raise UserError(
            f"{path} is a checkpoint of {whose}; remove it to resume from an older one, or "
            "--overwrite starts the run from scratch"
        )


def _flatten(state: State, prefix: str = "") -> list[tuple[str, Any]]:
    flat = []
    for name, value in state.items():
        if _SEPARATOR in name:
            raise ValueError(f"a name in a state must not contain {_SEPARATOR!r}: {name!r}")
        if isinstance(value, dict):
            flat += _flatten(value, f"{prefix}{name}{_SEPARATOR}")
        else:
            flat.append((prefix + name, value))
    return flat


def _insert(state: State, name: str, value: Any) -> None:
    *parents, last = name.split(_SEPARATOR)
    for parent in parents:
        state = state.setdefault(parent, {})
    state[last] = value
