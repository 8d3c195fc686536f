"""Nested states on disk, without pickle: tensors as safetensors, the rest as JSON beside them."""

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
from explore_suite.results import replace_bytes

_SEPARATOR = "/"
_JSON = "json"  # name of the tensor of bytes that holds everything that is no tensor
_DIGEST_BYTES = 32  # a SHA-256 at the end of the file


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
    content = path.read_bytes()
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


class Checkpoints:
    """The last few states of one run, newest first to be tried."""

    def __init__(self, folder: Path, keep: int = 2) -> None:
        """The folder need not exist yet."""
        self.folder, self.keep = folder, keep

    def save(self, episode: int, state: State) -> None:
        """Adds the state after an episode, then removes the oldest beyond `keep`."""
        self.folder.mkdir(parents=True, exist_ok=True)
        save(self.folder / f"episode-{episode:06d}.safetensors", state)
        for old in self._files()[self.keep :]:
            old.unlink()

    def load(self) -> tuple[State | None, list[str]]:
        """The newest sound state, or None; and a line on each damaged one passed over.

        Damaged ones are removed where an older sound one takes their place.
        """
        damaged: dict[Path, str] = {}
        for path in self._files():
            try:
                state = load(path)
            except DamagedCheckpointError as error:
                damaged[path] = str(error)
                continue
            for passed_over in damaged:  # they would outlive the next states, which are older
                passed_over.unlink()
            return state, list(damaged.values())
        return None, list(damaged.values())

    def clear(self) -> None:
        """Removes them all; a finished run needs none."""
        if self.folder.exists():
            for path in self.folder.iterdir():
                path.unlink()
            self.folder.rmdir()

    def _files(self) -> list[Path]:
        return sorted(self.folder.glob("episode-*.safetensors"), reverse=True)


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
