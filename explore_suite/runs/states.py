"""The states file of a run, for figures: where it has been, and what its agent thought of it.

{"episode": 100, "axes": [{"name": "row", "low": -0.5, "high": 39.5, "bins": 40}, ...],
 "visits": <a number by bin>, "trajectory": [<a point>, ...], "maps": {"bonus": <a number by bin>}}
"""

import json
import math
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from explore_suite.errors import UserError
from explore_suite.files import read_bytes
from explore_suite.projections import Axis


class States(NamedTuple):
    """The content of a states file."""

    episode: int  # of training, at whose end it was written
    axes: tuple[Axis, ...]  # of the task's projection
    visits: np.ndarray  # of each bin, in all of training
    trajectory: np.ndarray  # (points, axes), of the last training episode
    maps: dict[str, np.ndarray]  # values of the agent at the centre of each bin, by name


def read_states(path: Path) -> States | None:
    """Reads a states file; None if there is none, a UserError names what is wrong with it."""
    content = read_bytes(path)
    if content is None:
        return None
    try:
        values = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise UserError(f"{path} is not a readable states file: {error}") from error
    try:
        return _states(values)
    except (AttributeError, KeyError, TypeError, ValueError, OverflowError) as error:
        raise UserError(f"{path} is not a states file: {error!r}") from error


def _states(values: dict[str, Any]) -> States:
    axes = tuple(
        Axis(str(axis["name"]), float(axis["low"]), float(axis["high"]), int(axis["bins"]))
        for axis in values["axes"]
    )
    if len(axes) < 2 or not all(-math.inf < axis.low < axis.high < math.inf for axis in axes):
        raise ValueError("its axes must be two or more, each from a number to a larger one")
    shape = tuple(axis.bins for axis in axes)
    visits = np.array(values["visits"], dtype=np.int64)
    trajectory = np.array(values["trajectory"], dtype=float)
    maps = {name: np.array(found, dtype=float) for name, found in values["maps"].items()}
    if any(found.shape != shape for found in (visits, *maps.values())):
        raise ValueError(f"its visits and maps must have the shape of its axes, {shape}")
    if trajectory.ndim != 2 or trajectory.shape[1] != len(axes):
        raise ValueError(f"its trajectory must be points of {len(axes)} numbers")
    return States(int(values["episode"]), axes, visits, trajectory, maps)
