"""The scatter plot that opens the page: score on each original task against its explore variant."""

import math
from collections.abc import Callable
from typing import NamedTuple

from matplotlib.markers import MarkerStyle
from matplotlib.path import Path

from analysis.figures.style import style
from analysis.leaderboard.entries import Board, Entry
from analysis.stats import formatting
from analysis.stats.intervals import Estimate
from explore_suite.tasks import CONTROL_PAIRS, lookup

SIZE, LEFT, BOTTOM, TOP, RIGHT = 220, 48, 44, 8, 18  # of a panel and its edges, in its own units
_MARKER = 10.0  # width of a marker, in the same units
_COMMANDS = {Path.MOVETO: "M", Path.LINETO: "L", Path.CURVE3: "Q", Path.CURVE4: "C"}


class Point(NamedTuple):
    """A method in a panel: position of its marker, ends of its intervals, numbers as text."""

    entry: Entry
    x: float
    y: float
    across: tuple[float, float] | None  # ends of the interval, if there is one
    up: tuple[float, float] | None
    words: str


class Panel(NamedTuple):
    """One pair of tasks."""

    original: str
    variant: str
    ticks: list[tuple[float, float, str]]  # across, up, and the return there
    points: list[Point]


def panels(board: Board) -> list[Panel]:
    """A panel for each pair of tasks with a learning method that has scores on both."""
    found = [_panel(board, *pair) for pair in CONTROL_PAIRS]
    return [panel for panel in found if any(point.entry.learns for point in panel.points)]


def marker(label: str) -> str:
    """The marker of a method in figures, as an SVG path around 0, 0."""
    shape = MarkerStyle(style(label).marker)
    path = shape.get_path().transformed(shape.get_transform())
    parts = []
    for points, code in path.iter_segments(simplify=False):
        if code == Path.CLOSEPOLY:
            parts.append("Z")
        else:
            pairs = points.reshape(-1, 2) * (_MARKER, -_MARKER)  # SVG counts downwards
            rounded = pairs.round(1) + 0.0  # without a minus before zero
            parts.append(_COMMANDS[code] + " ".join(f"{x:g},{y:g}" for x, y in rounded))
    return "".join(parts)


def _panel(board: Board, original: str, variant: str) -> Panel:
    best = lookup(original).best_return
    points = []
    for label, entry in board.entries.items():
        x, y = (board.results.score(label, task)[0] for task in (original, variant))
        if entry.is_method and x.seeds and y.seeds:
            words = "; ".join(
                f"{task} {formatting.score(found, task).line}, "
                f"{formatting.count(found.seeds, 'seed')}"
                for task, found in ((original, x), (variant, y))
            )
            across, up = _ends(x, best, _across), _ends(y, best, _up)
            points.append(
                Point(entry, _across(x.value / best), _up(y.value / best), across, up, words)
            )
    ticks = [(_across(part), _up(part), f"{part * best:g}") for part in (0.0, 0.5, 1.0)]
    return Panel(original, variant, ticks, points)


def _across(share: float) -> float:
    """The x coordinate of a share of the best return; values off the panel are put on its edge."""
    return round(LEFT + min(max(share, 0.0), 1.0) * (SIZE - LEFT - RIGHT), 1)


def _up(share: float) -> float:
    """The y coordinate, counted from the top, of a share of the best return."""
    return round(SIZE - BOTTOM - min(max(share, 0.0), 1.0) * (SIZE - BOTTOM - TOP), 1)


def _ends(
    found: Estimate, best: float, place: Callable[[float], float]
) -> tuple[float, float] | None:
    if math.isnan(found.low):
        return None
    return place(found.low / best), place(found.high / best)
