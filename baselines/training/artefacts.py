"""Files that a run leaves beside its rows: policy weights, and a states file for figures."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from safetensors import SafetensorError
from safetensors.torch import load as load_bytes
from safetensors.torch import save as save_bytes

from baselines.agent import Action, Agent
from baselines.runner import Trainer
from baselines.settings import build, config_of
from explore_suite.errors import UserError
from explore_suite.files import replace_bytes
from explore_suite.runs.format import WEIGHTS, read_header
from explore_suite.tasks import lookup

# The episode of the states file, as in the published figure; in a shorter run, its last episode.
SNAPSHOT_EPISODE = 100


def save_policy(path: Path, agent: Agent) -> None:
    """Writes what the agent needs to act without exploring."""
    weights = {name: tensor.cpu().contiguous() for name, tensor in agent.policy_dict().items()}
    replace_bytes(path, save_bytes(weights))


def load_policy(run: Path) -> tuple[str, Callable[[np.ndarray], Action]]:
    """The task of a run, given by its .csv or .json file, and its task policy: obs -> action."""
    path = run.with_suffix(".json")
    header = read_header(path)
    weights = path.with_suffix(WEIGHTS)
    if not header.finished:
        raise UserError(f"{path} is not finished: weights are written when a run finishes")
    if not weights.exists():
        raise UserError(f"{weights} is missing: only where a run was made are its weights")
    agent = build(header.agent, header.task, config_of(header), seed=header.seed)
    try:
        agent.load_policy_dict(load_bytes(weights.read_bytes()))
    except (SafetensorError, KeyError, RuntimeError) as error:
        raise UserError(f"{weights} does not fit its run: {error}") from error
    return header.task, lambda obs: agent.act(obs, explore=False)


def snapshot(trainer: Trainer) -> dict[str, Any]:
    """The content of a states file: bins, visits, the last training episode, maps over the bins."""
    log, coverage = trainer.log, trainer.log.coverage
    points = (coverage.project(obs.tolist()) for obs in log.trail)
    return {
        "episode": log.episode,
        "axes": [axis._asdict() for axis in coverage.axes],
        "visits": coverage.visits.tolist(),
        "trajectory": [[_short(x) for x in point] for point in points],
        "maps": _maps(trainer),
    }


def _maps(trainer: Trainer) -> dict[str, Any]:
    """The agent's values at the centre of every bin; none where a bin is not a whole state."""
    agent, coverage = trainer.agent, trainer.log.coverage
    axes = coverage.axes
    if not hasattr(agent, "maps") or len(axes) != lookup(coverage.task).obs_dim:
        return {}
    centres = [axis.low + (np.arange(axis.bins) + 0.5) * axis.width for axis in axes]
    obs = np.stack(np.meshgrid(*centres, indexing="ij"), axis=-1)
    maps = agent.maps(obs.reshape(-1, len(axes)).astype(np.float32))
    return {
        name: [[_short(x) for x in row] for row in values.reshape(obs.shape[:-1]).tolist()]
        for name, values in maps.items()
    }


def _short(x: float) -> float:
    """Enough digits for a picture."""
    return float(f"{x:.4g}")
