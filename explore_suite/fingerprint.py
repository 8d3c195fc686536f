"""Fingerprints: a hash of how a task behaves, to notice changed physics, rewards or starts.

The fingerprint is a hash of short trajectories: from seeded starts under fixed actions, and from
stored states around the goal, where rewards begin. They are short, and values are rounded, so
that small differences between processors do not change the hash.
"""

import hashlib
from collections.abc import Iterator
from importlib import metadata
from typing import Any

import gymnasium
import numpy as np

from explore_suite.tasks import TaskSpec, lookup, measured

_RESETS = (0, 1, 2)
_STEPS = 25
_DECIMALS = 4
_PACKAGES = ("mujoco", "dm_control", "gymnasium", "numpy")


def fingerprint(task: str) -> str:
    """Sixteen hex digits: a hash of the task's starts, dynamics, rewards and success."""
    spec = lookup(task)
    digest = hashlib.sha256(spec.id.encode())
    with gymnasium.make(spec.id) as env:
        for values in (*_from_starts(env, spec), *_near_the_goal(env, spec)):
            digest.update(np.rint(np.array(values) * 10**_DECIMALS).astype("<i8").tobytes())
    return digest.hexdigest()[:16]


def changed(task: str, found: str | None = None) -> str | None:
    """None where the task behaves as published, else one line that says what differs.

    `found` is its fingerprint here, where that is known already.
    """
    spec = lookup(task)
    golden = measured("fingerprints").get(spec.name)
    if golden is None:  # a task of the user's own
        return None
    found = fingerprint(task) if found is None else found
    if found == golden["fingerprint"]:
        return None
    then, now = golden["versions"], physics_versions()
    moved = [f"{name} {then[name]} -> {now[name]}" for name in now if then[name] != now[name]]
    cause = ", ".join(moved) or "same package versions: the code or the processor differs"
    was = golden["fingerprint"]
    return f"{spec.id} no longer behaves as published: {was} -> {found} ({cause})"


def physics_versions() -> dict[str, str]:
    """Installed versions of the packages that decide how a task behaves."""
    return {name: metadata.version(name) for name in _PACKAGES}


def _from_starts(env: gymnasium.Env, spec: TaskSpec) -> Iterator[list[float]]:
    rng = np.random.default_rng(0)
    for seed in _RESETS:
        obs, _ = env.reset(seed=seed)
        yield [float(value) for value in obs]
        for _ in range(_STEPS):
            yield _outcome(env.step(_action(spec, rng)))


def _near_the_goal(env: gymnasium.Env, spec: TaskSpec) -> Iterator[list[float]]:
    """One step from each stored state around the first success of a known solution."""
    stored = measured("goal_states").get(spec.name, {"states": []})
    for state in stored["states"]:
        env.reset(seed=stored["seed"])
        env.unwrapped.set_state(np.array(state))  # type: ignore[attr-defined]
        still = 0 if spec.discrete else np.zeros(spec.action_dim)
        yield _outcome(env.step(still))


def _action(spec: TaskSpec, rng: np.random.Generator) -> np.ndarray | int:
    if spec.discrete:
        return int(rng.integers(spec.action_dim))
    return rng.uniform(-1, 1, spec.action_dim)


def _outcome(step: tuple[Any, ...]) -> list[float]:
    obs, reward, _, _, info = step
    return [*(float(value) for value in obs), float(reward), float(info["success"])]
