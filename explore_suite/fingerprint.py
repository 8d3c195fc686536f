"""A short name for how a task behaves, so that a changed physics version is noticed.

The fingerprint is a hash of a short trajectory from fixed seeds and fixed actions, rounded so far
that another processor gives the same one and another MuJoCo does not.
"""

import hashlib
from importlib import metadata

import gymnasium
import numpy as np

from explore_suite.tasks import lookup, measured

_RESETS = (0, 1, 2)
_STEPS = 25
_DECIMALS = 4
_PACKAGES = ("mujoco", "dm_control", "gymnasium", "numpy")


def fingerprint(task: str) -> str:
    """Sixteen hex digits that stand for the task's starts, dynamics and rewards."""
    sheet = lookup(task)
    digest = hashlib.sha256(sheet.id.encode())
    actions = np.random.default_rng(0)
    with gymnasium.make(sheet.id) as env:
        for seed in _RESETS:
            obs, _ = env.reset(seed=seed)
            digest.update(_text(obs))
            for _ in range(_STEPS):
                obs, reward, *_ = env.step(_action(sheet.discrete, sheet.action_dim, actions))
                digest.update(_text(np.array([*obs, float(reward)])))
    return digest.hexdigest()[:16]


def changed(task: str) -> str | None:
    """None where the task behaves as published, else one line that says what differs."""
    sheet = lookup(task)
    golden = measured("fingerprints")
    found = fingerprint(task)
    if found == golden[sheet.name]["fingerprint"]:
        return None
    then, now = golden[sheet.name]["versions"], versions()
    moved = [f"{name} {then[name]} -> {now[name]}" for name in now if then[name] != now[name]]
    cause = ", ".join(moved) or "same package versions: the code or the processor differs"
    was = golden[sheet.name]["fingerprint"]
    return f"{sheet.id} no longer behaves as published: {was} -> {found} ({cause})"


def versions() -> dict[str, str]:
    """Installed versions of the packages that decide how a task behaves."""
    return {name: metadata.version(name) for name in _PACKAGES}


def _action(discrete: bool, dim: int, rng: np.random.Generator) -> np.ndarray | int:
    return int(rng.integers(dim)) if discrete else rng.uniform(-1, 1, dim)


def _text(values: np.ndarray) -> bytes:
    rounded = np.round(values.astype(np.float64), _DECIMALS) + 0.0  # no negative zeros
    return np.array2string(rounded, precision=_DECIMALS, max_line_width=10**6).encode()
