"""What no run of a task can show, whoever plays: bounds that follow from the task's sheet alone."""

import math

import numpy as np

from explore_suite.coverage import PROJECTIONS
from explore_suite.tasks import TaskSheet

# The least reward of a step with success, where other steps pay too: the walker's stand pays
# (3 + upright) / 4, the goal of a hallway one. Elsewhere a step with success pays one, others none.
LEAST_PAY = {
    "WalkerWalk": 0.75,
    "WalkerExplore": 0.75,
    "HallwayLocalOptimum": 1.0,
    "HallwayAdversarial": 1.0,
    "HallwayShort": 1.0,
}
_HALLWAY_START_GAP = 0.1  # metres between the left end and the start
_HALLWAY_SPEED = 1.0  # metres per second, at most
# The walker's torso is a capsule around its own middle (dm_control's walker.xml), in metres: turned
# by the pitch, it would stick in the floor at a height of less than this.
_TORSO_HALF_LENGTH, _TORSO_RADIUS = 0.3, 0.07
_PENETRATION = 0.15  # metres that it can sink into the soft floor: 0.08 in 120 episodes of falls
_BEST_ROUNDING = 0.05  # best returns of the catalogue have one decimal
_SLACK = 1e-6  # of a division that should be whole


def least_budget(sheet: TaskSheet) -> int:
    """Training episodes that a run needs for its score: all up to the end of the window."""
    return sheet.score_window[1]


def highest_return(sheet: TaskSheet) -> float:
    """No return is higher. One per step is only earned where a start may lie at the goal."""
    if not sheet.best_is_bound:
        return sheet.best_return + _BEST_ROUNDING
    always_paid = sheet.group == "original" and sheet.name not in LEAST_PAY
    return sheet.best_return if always_paid else math.nextafter(sheet.best_return, 0)


def earliest_success(sheet: TaskSheet) -> int:
    """No episode succeeds at an earlier step, counted from 1."""
    if sheet.group == "grid":
        return sum(axis.bins - 1 for axis in PROJECTIONS[sheet.name][1])
    if sheet.group == "hallway":
        return math.ceil(_way(sheet) / (_HALLWAY_SPEED * sheet.control_step) - _SLACK)
    return 2 if sheet.group == "explore" else 1


def bins(sheet: TaskSheet) -> int:
    """Of the task's coverage."""
    return math.prod(axis.bins for axis in PROJECTIONS[sheet.name][1])


def bins_to_success(sheet: TaskSheet) -> int:
    """Training that succeeded has visited at least so many bins, start and goal included."""
    if sheet.group == "grid":
        return earliest_success(sheet) + 1
    if sheet.group == "hallway":
        return math.floor(_way(sheet) / PROJECTIONS[sheet.name][1][0].width + _SLACK)
    return 2 if sheet.group == "explore" else 1


def reachable_bins(sheet: TaskSheet) -> int:
    """Bins of the task's coverage that any state can lie in, or all where that is not known.

    All of the grid world and of the hallways can be visited, and have been. Of the walker's, those
    are left out in which its torso would stick in the floor.
    """
    if not sheet.name.startswith("Walker"):
        return bins(sheet)
    height, pitch = PROJECTIONS[sheet.name][1]
    tops = height.low + height.width * np.arange(1, height.bins + 1)
    edges = pitch.low + pitch.width * np.arange(pitch.bins + 1)
    upright = np.abs(np.cos(edges))
    lying = np.minimum(upright[:-1], upright[1:])  # least within a bin, whose edges hold pi / 2
    lowest = _TORSO_HALF_LENGTH * lying + _TORSO_RADIUS - _PENETRATION
    return int((tops[:, None] > lowest).sum())


def _way(sheet: TaskSheet) -> float:
    """Metres from a hallway's start to the rim of its best goal."""
    x, radius, _ = max(sheet.kwargs["goals"], key=lambda goal: goal[2])
    return x - radius + sheet.kwargs["length"] / 2 - _HALLWAY_START_GAP
