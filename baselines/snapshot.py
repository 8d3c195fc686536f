"""Pictures of a run for figures: where it has been, and what its agent thinks of each place."""

from typing import Any

import numpy as np

from baselines.runner import Trainer
from explore_suite.tasks import lookup

EPISODE = 100  # as in the published figure of the grid's states; a shorter run's last episode


def snapshot(trainer: Trainer) -> dict[str, Any]:
    """The content of a states file: bins, visits, the last training episode, maps over the bins."""
    coverage = trainer.coverage
    places = (coverage.project(obs.tolist()) for obs in trainer.trail)
    return {
        "episode": trainer.episode,
        "axes": [axis._asdict() for axis in coverage.axes],
        "visits": coverage.visits.tolist(),
        "trajectory": [[_short(x) for x in place] for place in places],
        "maps": _maps(trainer),
    }


def _maps(trainer: Trainer) -> dict[str, Any]:
    """The agent's own numbers at the centre of every bin, where a bin says all about a state."""
    agent, axes = trainer.agent, trainer.coverage.axes
    if not hasattr(agent, "maps") or len(axes) != lookup(trainer.task).obs_dim:
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
