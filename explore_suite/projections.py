"""Projections: the two or three numbers of an observation whose bins coverage counts."""

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

_PI = math.pi


class Axis(NamedTuple):
    """One number of a projection: its range, and the bins that the range is cut into."""

    name: str
    low: float
    high: float
    bins: int

    @property
    def width(self) -> float:
        """Width of one bin."""
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


def _cart_and_pole(obs: Sequence[float]) -> tuple[float, ...]:
    return obs[0], math.atan2(obs[2], obs[1])


def _swing(obs: Sequence[float]) -> tuple[float, ...]:
    return math.atan2(obs[1], obs[0]), obs[2]


def _run(obs: Sequence[float]) -> tuple[float, ...]:
    return obs[8], (obs[1] + _PI) % (2 * _PI) - _PI


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
_POLE = Axis("pole angle (rad)", -_PI, _PI, 24)  # 0 is upright
_CARTPOLE_AXES = (Axis("cart (m)", -2.0, 2.0, 20), _POLE)
_PENDULUM_AXES = (_POLE, Axis("velocity (rad/s)", -12.0, 12.0, 24))
_CHEETAH_AXES = (
    Axis("speed (m/s)", -5.0, 10.0, 15),  # of the root
    Axis("torso pitch (rad, mod 2 pi)", -_PI, _PI, 24),
)


class Projection(NamedTuple):
    """A function from an observation to a few numbers, and the axis of each."""

    project: Callable[[Sequence[float]], tuple[float, ...]]
    axes: tuple[Axis, ...]


BALL = Projection(_ball, _BALL_AXES)
ARM = Projection(_arm, _ARM_AXES)
FINGER = Projection(_spinner_and_finger, _FINGER_AXES)
TORSO = Projection(_torso, _TORSO_AXES)
HALLWAY = Projection(_first_two, _HALLWAY_AXES)
SHORT_HALLWAY = Projection(_first_two, _SHORT_HALLWAY_AXES)
GRID = Projection(_first_two, _GRID_AXES)
CARTPOLE = Projection(_cart_and_pole, _CARTPOLE_AXES)
PENDULUM = Projection(_swing, _PENDULUM_AXES)
CHEETAH = Projection(_run, _CHEETAH_AXES)


def first_elements(features: Sequence[tuple[str, float, float]], bins: int = 20) -> Projection:
    """The default projection: the first two elements over their typical range."""
    axes = tuple(Axis(name, low, high, bins) for name, low, high in features[:2])
    return Projection(lambda obs: tuple(obs[: len(axes)]), axes)
