"""The data that the page's scripts draw: learning curves, and maps of visited states."""

import logging
import math
from collections.abc import Sequence
from typing import Any

import matplotlib
import numpy as np
import pandas as pd
from matplotlib.colors import to_hex

from analysis.figures.style import style
from analysis.leaderboard.entries import CURVE_LENGTH, Board, method_classes
from analysis.leaderboard.rows import Row, search, sections
from explore_suite.runs.states import States
from explore_suite.tasks import TASKS, lookup

DRAWN = 10  # curves visible at first, the best ones; only these have the curves of single seeds
MAX_SINGLE_SEEDS = 10  # a method with more seeds has no curves of single seeds
_POINTS = 60  # at most, in the curve of a single seed, so that the page stays small
_SHADES = 24  # colours of the heat maps
_DIGITS = {"return": 2, "coverage": 4}  # decimals of the curves, by column
_log = logging.getLogger(__name__)


def charts(board: Board, rows: Sequence[Row]) -> dict[str, Any]:
    """By id: the learning curves of one task and section, as the scripts read them."""
    found = {}
    for spec in TASKS.values():
        for section in sections():
            members = [row for row in rows if row.section == section and spec.name in row.by_task]
            members.sort(key=lambda row: list(board.entries).index(row.entry.label))
            begun = [row for row in members if row.by_task[spec.name].runs]
            places = _places(begun, spec.name)  # 0 is the best
            lines = [
                _line(board, row, spec.name) | {"place": place}
                | {"runs": _single_seeds(board, row, spec.name) if place < DRAWN else None}
                for row, place in zip(begun, places, strict=True)
            ]  # fmt: skip
            if lines:
                where = "" if section.title == spec.name else f" ({section.title})"
                _log.info("  curves of %s%s", spec.name, where)
                found[f"chart-{spec.name}-{section.setting}"] = {
                    "best": spec.best_return,
                    "window": None if board.last else spec.score_window,
                    "cut": any(_is_cut(board, row, spec.name) for row in begun),
                    "column": "coverage" if section.rank_by == "coverage" else "return",
                    "lines": lines,
                }
    return found


def heat_maps(board: Board) -> dict[str, list[dict[str, Any]]]:
    """By task: visits by state, for each method with a states file."""
    panels: dict[str, list[dict[str, Any]]] = {}
    for spec in TASKS.values():
        for label, entry in board.entries.items():
            found = board.results.states(label, spec.name)
            if found is not None:
                mine = panels.setdefault(spec.name, [])
                panel = {"id": f"heat-{spec.name}-{len(mine)}", "name": entry.name,
                         "preset": entry.preset, "label": label}  # fmt: skip
                mine.append(panel | _heat_map(*found))
    return panels


def ramp() -> list[str]:
    """Colours of the heat maps, from few visits to many; the colour map of the figures."""
    colours = matplotlib.colormaps["viridis"]
    return [to_hex(colours(step / (_SHADES - 1))) for step in range(_SHADES)]


def _line(board: Board, row: Row, task: str) -> dict[str, Any]:
    """A method's curves on a task, with its name and style."""
    label = row.entry.label
    return {
        "name": row.entry.name,
        "label": label,
        "preset": row.preset,
        "suffix": f" ({row.preset})" if len(board.presets) > 1 else "",
        "search": search(row.entry),
        "method": method_classes(board)[label],
        "dash": _dash(style(label).line),
    } | {column: _curve(board, task, label, column) for column in _DIGITS}


def _single_seeds(board: Board, row: Row, task: str) -> dict[str, Any] | None:
    """The curve of each seed, at up to 60 episodes; None without runs or with too many seeds.

    By column: `episode`, and in `values` a list per seed, rounded to a thousandth of the best.
    """
    found = {}
    for column in _DIGITS:
        runs = _drawn(board, board.results.seed_curves(row.entry.label, task, column), task)
        if runs.empty or runs.shape[1] > MAX_SINGLE_SEEDS:
            continue
        step = -(-len(runs) // _POINTS)
        some = runs.iloc[::-1].iloc[::step].iloc[::-1]  # the last episode is always one of them
        scale = 1.0 if column == "coverage" else lookup(task).best_return
        digits = max(0, 3 - math.ceil(math.log10(scale)))
        found[column] = {
            "episode": some.index.tolist(),
            "values": [[_rounded(value, digits) for value in some[seed]] for seed in some],
        }
    return found or None


def _places(rows: Sequence[Row], task: str) -> list[int]:
    """The place of each row on the task, from 0 for the best; rows without a number come last."""
    numbers = [row.on_task(task).value for row in rows]
    values = np.nan_to_num(np.array(numbers, dtype=float), nan=-np.inf)
    return np.argsort(np.argsort(-values, kind="stable")).tolist()


def _curve(board: Board, task: str, label: str, column: str) -> dict[str, list[Any]] | None:
    """The mean curve of a method, with its interval."""
    found = board.results.curve(label, task, column)
    if found is None:
        return None
    found = _drawn(board, found.set_index("episode"), task)
    numbers = {
        name: [_rounded(value, _DIGITS[column]) for value in found[name]]
        for name in ("mean", "low", "high")
    }
    return {"episode": found.index.tolist(), "seeds": found.seeds.tolist()} | numbers


def _drawn(board: Board, by_episode: pd.DataFrame, task: str) -> pd.DataFrame:
    """The drawn part of a curve: cut off, so that one very long run does not squeeze all others."""
    if board.last:
        return by_episode
    return by_episode[by_episode.index <= CURVE_LENGTH * lookup(task).score_window[1]]


def _is_cut(board: Board, row: Row, task: str) -> bool:
    """Whether runs of a method go on after the drawn part of its curves."""
    runs = board.results.seed_curves(row.entry.label, task)
    return len(_drawn(board, runs, task)) < len(runs)


def _rounded(value: float, digits: int) -> float | None:
    if math.isnan(value):
        return None
    return round(float(value), digits) if digits else round(float(value))


def _dash(line: Any) -> str:
    """A line style of matplotlib as SVG's, for a line 2 pixels wide."""
    return "" if line == "-" else " ".join(f"{2 * length:g}" for length in line[1])


def _heat_map(seed: int, states: States) -> dict[str, Any]:
    """Visits by bin as a heat map, rows from bottom to top; a third axis is summed over."""
    visits, axes = states.visits, states.axes
    flat = visits.sum(axis=tuple(range(2, visits.ndim)))  # (first axis, second axis)
    across = (1, 0) if axes[0].name == "row" else (0, 1)  # a grid's rows go on y
    return {
        "episode": states.episode, "seed": seed, "share": float((visits > 0).mean()),
        "names": [axes[index].name for index in across],
        "ends": [(axes[index].low, axes[index].high) for index in across],
        "visits": flat.transpose(across[::-1]).tolist(),
    }  # fmt: skip
