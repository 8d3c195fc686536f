"""What no run of a task can show, whoever plays: bounds that follow from the task's sheet alone."""

import math

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


def _way(sheet: TaskSheet) -> float:
    """Metres from a hallway's start to the rim of its best goal."""
    x, radius, _ = max(sheet.kwargs["goals"], key=lambda goal: goal[2])
    return x - radius + sheet.kwargs["length"] / 2 - _HALLWAY_START_GAP
