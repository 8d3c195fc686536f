"""Nested states on disk, without pickle: tensors as safetensors, the rest as JSON beside them."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors import safe_open
from safetensors.torch import save_file

from baselines.agent import State

_SEPARATOR = "/"


def save(path: Path, state: State) -> None:
    """Writes a state as one file, whole or not at all."""
    tensors: dict[str, torch.Tensor] = {}
    others: dict[str, Any] = {}
    for name, value in _flatten(state):
        if isinstance(value, torch.Tensor | np.ndarray):
            tensors[name] = torch.as_tensor(value).cpu().contiguous()
        else:
            others[name] = value
    draft = path.with_name(path.name + ".tmp")
    save_file(tensors, draft, metadata={"json": json.dumps(others)})
    draft.replace(path)


def load(path: Path) -> State:
    """Inverse of `save`; arrays come back as tensors."""
    state: State = {}
    with safe_open(path, framework="pt") as file:
        for name in file.keys():  # noqa: SIM118
            _insert(state, name, file.get_tensor(name))
        for name, value in json.loads(file.metadata()["json"]).items():
            _insert(state, name, value)
    return state


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
