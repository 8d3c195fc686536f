"""How much of a task's state space has been visited, whatever agent does the visiting.

Each task is looked at through a projection of its observation to the two or three numbers that
matter, cut into bins. Coverage is the fraction of bins seen so far. Bins that no policy can reach
count too, so compare coverage between agents on one task, not between tasks.
"""

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from explore_suite.tasks import lookup

_PI = math.pi
Projection = Callable[[Sequence[float]], tuple[float, ...]]


class Axis(NamedTuple):
    """One number of a projection, its range and bins; what lies beyond counts in the outer bins."""

    name: str
    low: float
    high: float
    bins: int

    @property
    def width(self) -> float:
        """Of one bin."""
        return (self.high - self.low) / self.bins


def _first_two(obs: Sequence[float]) -> tuple[float, ...]:
    return obs[0], obs[1]


def _ball(obs: Sequence[float]) -> tuple[float, ...]:
    return obs[2], obs[3]


def _arm(obs: Sequence[float]) -> tuple[float, ...]:
    return obs[0] % (2 * _PI), obs[1]


def _spinner_and_finger(obs: Sequence[float]) -> tuple[float, ...]:
    return math.atan2(obs[2], obs[3]), obs[0], obs[1]


def _torso(obs: Sequence[float]) -> tuple[float, ...]:
    return obs[14], math.atan2(obs[1], obs[0])


# Ranges hold what random, bang-bang and goal-reaching actions visit, nearly always.
_BALL_AXES = (Axis("ball_x (m)", -0.6, 0.6, 20), Axis("ball_z (m)", -0.2, 0.8, 20))
_ARM_AXES = (Axis("shoulder (rad, mod 2 pi)", 0.0, 2 * _PI, 24), Axis("wrist (rad)", -3.0, 3.0, 24))
_FINGER_AXES = (
    Axis("spinner angle (rad)", -_PI, _PI, 12),
    Axis("proximal (rad)", -2.25, 2.25, 8),
    Axis("distal (rad)", -2.25, 2.25, 8),
)
_TORSO_AXES = (Axis("torso height (m)", 0.0, 1.5, 15), Axis("torso pitch (rad)", -_PI, _PI, 24))
_HALLWAY_AXES = (Axis("x (m)", -2.0, 2.0, 40), Axis("y (m)", -0.1, 0.1, 4))
_SHORT_HALLWAY_AXES = (Axis("x (m)", -1.5, 1.5, 30), Axis("y (m)", -0.1, 0.1, 4))
_GRID_AXES = (Axis("row", -0.5, 39.5, 40), Axis("column", -0.5, 39.5, 40))

PROJECTIONS: dict[str, tuple[Projection, tuple[Axis, ...]]] = {
    "BallInCupCatch": (_ball, _BALL_AXES),
    "BallInCupExplore": (_ball, _BALL_AXES),
    "ReacherHard": (_arm, _ARM_AXES),
    "ReacherExplore": (_arm, _ARM_AXES),
    "FingerTurnHard": (_spinner_and_finger, _FINGER_AXES),
    "FingerExplore": (_spinner_and_finger, _FINGER_AXES),
    "WalkerWalk": (_torso, _TORSO_AXES),
    "WalkerExplore": (_torso, _TORSO_AXES),
    "HallwayLocalOptimum": (_first_two, _HALLWAY_AXES),
    "HallwayAdversarial": (_first_two, _HALLWAY_AXES),
    "HallwayShort": (_first_two, _SHORT_HALLWAY_AXES),
    "GridWorld": (_first_two, _GRID_AXES),
}


class Coverage:
    """Counts visits per bin; feed it observations, read `fraction`."""

    def __init__(self, task: str) -> None:
        """`task` is a name or id of the catalogue."""
        self.task = lookup(task).name
        self.project, self.axes = PROJECTIONS[self.task]
        self.visits = np.zeros([axis.bins for axis in self.axes], np.int64)  # one entry per bin
        self._flat = self.visits.reshape(-1)
        self._visited = 0
        self._binning = [
            (axis.low, axis.bins / (axis.high - axis.low), axis.bins) for axis in self.axes
        ]

    def add(self, obs: np.ndarray) -> None:
        """Counts one observation."""
        index = 0
        for value, (low, per_unit, bins) in zip(
            self.project(obs.tolist()), self._binning, strict=True
        ):
            place = int((value - low) * per_unit)
            index = index * bins + (0 if place < 0 else bins - 1 if place >= bins else place)
        if not self._flat[index]:
            self._visited += 1
        self._flat[index] += 1

    @property
    def fraction(self) -> float:
        """Visited bins over all bins, from 0 to 1."""
        return self._visited / self._flat.size

    def state_dict(self) -> dict[str, np.ndarray]:
        """The visits, to go on from later."""
        return {"visits": self.visits.copy()}

    def load_state_dict(self, state: dict[str, np.ndarray]) -> None:
        """Inverse of `state_dict`."""
        self.visits[...] = state["visits"]
        self._visited = int(np.count_nonzero(self.visits))
