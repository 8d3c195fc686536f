"""Bounds on what a run of a task can show, for any method; they follow from the task's spec."""

import math

import numpy as np

from explore_suite.tasks import EXPLORE, TaskSpec

# What is a constant of an environment too is repeated here, since that file imports MuJoCo; a test
# compares the two.

# The least reward of a step with success, where it is not one or other steps pay too: the walker's
# stand pays (3 + upright) / 4, the goal of a hallway one, a standing pole in the middle 0.9975
# (upright) x 0.982 (centered) x 0.8 (control) x 0.5 (velocity). Elsewhere a step with success pays
# one, others none.
LEAST_PAY = {
    "WalkerWalk": 0.75,
    "WalkerExplore": 0.75,
    "HallwayLocalOptimum": 1.0,
    "HallwayAdversarial": 1.0,
    "HallwayShort": 1.0,
    "CartpoleSwingup": 0.39,
    "CheetahRun": 0.25,
    "CheetahRunSparse": 0.25,
}
# The most that a step without success pays, where that is less than one.
MOST_PAY_WITHOUT = {"CheetahRun": 0.25, "CheetahRunSparse": 0.0}
# Tasks of which a start may lie at the goal, so that every step may be paid one.
_STARTS_AT_GOAL = ("BallInCupCatch", "ReacherHard", "FingerTurnHard", "PendulumSwingup")
# Tasks whose start and first step never lie at the goal, nor in the goal's bin.
_STARTS_ELSEWHERE = (*EXPLORE, "CheetahRun", "CheetahRunSparse")
# Tasks that start with a hanging pole. Until it is up for the first time it turns by less than a
# bin of its angle in a step (26 rad/s of the cart-pole, 13 of the pendulum), so that it passes all
# bins on one side of the circle.
_STARTS_HANGING = ("CartpoleSwingup", "CartpoleSwingupSparse", "PendulumExplore")
HALLWAY_START_GAP = 0.1  # metres between the left end and the start
_HALLWAY_SPEED = 1.0  # metres per second, at most
# The walker's torso is a capsule around its own middle (dm_control's walker.xml), in metres: turned
# by the pitch, it would stick in the floor at a height of less than this.
_TORSO_HALF_LENGTH, _TORSO_RADIUS = 0.3, 0.07
_PENETRATION = 0.15  # metres that it can sink into the soft floor: 0.08 in 120 episodes of falls
_BEST_ROUNDING = 0.05  # best returns of the catalogue have one decimal
_SLACK = 1e-6  # of a division that should be whole


def least_budget(spec: TaskSpec) -> int:
    """Training episodes that a run needs for its score: all up to the end of the window."""
    return spec.score_window[1]


def highest_return(spec: TaskSpec) -> float:
    """No return is higher. One per step is only earned where a start may lie at the goal."""
    if not spec.best_is_bound:
        return spec.best_return + _BEST_ROUNDING
    always_paid = spec.name in _STARTS_AT_GOAL
    return spec.best_return if always_paid else math.nextafter(spec.best_return, 0)


def earliest_success(spec: TaskSpec) -> int:
    """No episode succeeds at an earlier step, counted from 1."""
    if spec.group == "grid":
        return sum(axis.bins - 1 for axis in spec.coverage_projection.axes)
    if spec.group == "hallway":
        return math.ceil(_way(spec) / (_HALLWAY_SPEED * spec.control_step) - _SLACK)
    if spec.name in _STARTS_HANGING:
        return _half_circle(spec) - 1
    return 2 if spec.name in _STARTS_ELSEWHERE else 1


def bins(spec: TaskSpec) -> int:
    """Of the task's coverage."""
    return math.prod(axis.bins for axis in spec.coverage_projection.axes)


def bins_to_success(spec: TaskSpec) -> int:
    """Training that succeeded has visited at least so many bins, start and goal included."""
    if spec.group == "grid":
        return earliest_success(spec) + 1
    if spec.group == "hallway":
        return math.floor(_way(spec) / spec.coverage_projection.axes[0].width + _SLACK)
    if spec.name in _STARTS_HANGING:
        return _half_circle(spec)
    return 2 if spec.name in _STARTS_ELSEWHERE else 1


def reachable_bins(spec: TaskSpec) -> int:
    """Bins of the task's coverage that any state can lie in, or all where that is not known.

    All of the grid world and of the hallways can be visited, and have been. Of the walker's, those
    are left out in which its torso would stick in the floor.
    """
    if not spec.name.startswith("Walker"):
        return bins(spec)
    height, pitch = spec.coverage_projection.axes
    tops = height.low + height.width * np.arange(1, height.bins + 1)
    edges = pitch.low + pitch.width * np.arange(pitch.bins + 1)
    upright = np.abs(np.cos(edges))
    lying = np.minimum(upright[:-1], upright[1:])  # least within a bin, whose edges hold pi / 2
    lowest = _TORSO_HALF_LENGTH * lying + _TORSO_RADIUS - _PENETRATION
    return int((tops[:, None] > lowest).sum())


def _half_circle(spec: TaskSpec) -> int:
    """Bins of a pole's angle from hanging to upright, both included."""
    (angle,) = (axis for axis in spec.coverage_projection.axes if axis.name.startswith("pole"))
    return angle.bins // 2


def _way(spec: TaskSpec) -> float:
    """Metres from a hallway's start to the rim of its best goal."""
    x, radius, _ = max(spec.kwargs["goals"], key=lambda goal: goal[2])
    return x - radius + spec.kwargs["length"] / 2 - HALLWAY_START_GAP
