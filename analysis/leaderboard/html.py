"""The leaderboard as one HTML file that opens from disk: no request leaves it, no name is markup.

Names of strangers reach the page as escaped text, as escaped attributes and as JSON in which Jinja2
encodes `<`, `>`, `&` and `'`. Its policy lets only the scripts and styles of `page/` run, by hash.
"""

import base64
import hashlib
import logging
import math
from collections.abc import Sequence
from importlib import metadata, resources
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
import pandas as pd
from jinja2 import Environment, StrictUndefined
from markupsafe import Markup
from matplotlib.colors import to_hex

from analysis.figures.style import style
from analysis.leaderboard.entries import LENGTHS, PACKAGES, Board
from analysis.leaderboard.rows import Row, sections
from analysis.stats import formatting
from analysis.stats.curves import width
from explore_suite.errors import UserError
from explore_suite.tasks import TASKS, TaskSpec, lookup

_log = logging.getLogger(__name__)
_SHADES = 24  # of the heat maps
_DIGITS = {"return": 2, "coverage": 4}  # of the curves
_SCRIPTS = ("start.js", "tables.js", "paths.js", "chart.js", "heat.js", "filters.js")
_TEMPLATES = ("macros.html", "page.html")
_GROUPS = {
    "control": "Control suite", "hallway": "Hallway", "grid": "Grid world", "other": "Other tasks",
}  # fmt: skip
# Pictures of the tasks: in an installed package, and in a checkout.
_PICTURES = (
    Path(__file__).parent / "page" / "tasks",
    Path(__file__).parents[2] / "docs" / "tasks",
)


def html(board: Board, rows: Sequence[Row], title: str) -> str:
    """The page: the same bytes for the same runs."""
    css = _file("page.css") + _colours(board)
    script = "\n".join(map(_file, _SCRIPTS))
    heat = heat_maps(board)
    data = {
        "charts": charts(board, rows),
        "heat": {panel["id"]: panel for panels in heat.values() for panel in panels},
        "ramp": ramp(),
    }
    return _environment().from_string("".join(map(_file, _TEMPLATES))).render(
        title=title, board=board, rows=rows, sections=sections(), groups=_GROUPS, packages=PACKAGES,
        write=formatting, width=width, lengths=LENGTHS,
        method=method_classes(board), tasks=_tasks(rows), picture=_picture,
        search=search, heat=heat, data=data,
        version=metadata.version("explore-suite"), css=Markup(css), script=Markup(script),
        policy=_policy(css, script),
    ).lstrip()  # fmt: skip


def _environment() -> Environment:
    environment = Environment(
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.policies["json.dumps_kwargs"] = {"allow_nan": False, "separators": (",", ":")}
    return environment


def _policy(css: str, script: str) -> str:
    """The page's Content-Security-Policy: its own style and script, pictures inside, no more."""
    style_hash, script_hash = (
        base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in (css, script)
    )
    return (
        f"default-src 'none'; style-src 'sha256-{style_hash}'; script-src 'sha256-{script_hash}'; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )


def _colours(board: Board) -> str:
    """A rule for each method: inline styles would need a weaker policy."""
    return "".join(
        f".{name} {{ --method: {style(label).colour}; }}\n"
        for label, name in method_classes(board).items()
    )


def _tasks(rows: Sequence[Row]) -> list[tuple[TaskSpec, list[list[Row]]]]:
    """Each task of which it or its partner has a run, and its rows by section."""
    found = {}
    for spec in TASKS.values():
        tables = [
            [row for row in rows if row.section == section and row.by_task[spec.name].runs]
            for section in sections()
            if spec.name in section.tasks
        ]
        found[spec.name] = spec, [table for table in tables if table]
    return [
        (spec, tables)
        for spec, tables in found.values()
        if tables or (spec.partner in found and found[spec.partner][1])
    ]


def _picture(task: str) -> str | None:
    """A task's picture as a data address, or None where the pictures were not installed."""
    for folder in _PICTURES:
        path = folder / f"{task}.png"
        if path.is_file():
            return f"data:image/png;base64,{base64.b64encode(path.read_bytes()).decode()}"
    return None


def _file(name: str) -> str:
    return (
        resources.files("analysis.leaderboard").joinpath("page", name).read_text(encoding="utf-8")
    )


def method_classes(board: Board) -> dict[str, str]:
    """By label: the class that gives a method its colour."""
    return {label: f"method-{index}" for index, label in enumerate(board.entries)}


def search(row: Row) -> str:
    """The text in which the reader's words are looked for."""
    entry = row.entry
    authors = entry.submission.authors if entry.submission else []
    told = [entry.name, entry.label, row.preset, entry.badge, *authors]
    return " ".join(told).lower()  # as the page lowers the words; casefold would part ß from itself


def charts(board: Board, rows: Sequence[Row]) -> dict[str, Any]:
    """By id: one chart per task and section that has runs of it."""
    found = {}
    for spec in TASKS.values():
        for section in sections():
            members = [row for row in rows if row.section == section and spec.name in row.by_task]
            members.sort(key=lambda row: list(board.entries).index(row.entry.label))
            begun = [row for row in members if row.by_task[spec.name].runs]
            places = _places(begun, spec.name)
            lines = [
                _line(board, row, spec.name) | {"place": place}
                for row, place in zip(begun, places, strict=True)
            ]
            if lines:
                _log.info("  curves of %s (%s)", spec.name, section.title)
                found[f"chart-{spec.name}-{section.setting}"] = {
                    "best": spec.best_return,
                    "window": None if board.last else spec.score_window,
                    "column": "coverage" if section.rank_by == "coverage" else "return",
                    "lines": lines,
                }
    return found


def heat_maps(board: Board) -> dict[str, list[dict[str, Any]]]:
    """By task: where each method has been, as far as a run of it left a states file."""
    panels: dict[str, list[dict[str, Any]]] = {}
    for spec in TASKS.values():
        for label, entry in board.entries.items():
            state = board.results.states(label, spec.name)
            if state is not None:
                mine = panels.setdefault(spec.name, [])
                panel = {"id": f"heat-{spec.name}-{len(mine)}", "name": entry.name,
                         "preset": entry.preset, "label": label}  # fmt: skip
                mine.append(panel | _panel(state, f"{label} on {spec.name}"))
    return panels


def ramp() -> list[str]:
    """Colours of the heat maps, from few visits to many; those of the figures."""
    colours = matplotlib.colormaps["viridis"]
    return [to_hex(colours(step / (_SHADES - 1))) for step in range(_SHADES)]


def _line(board: Board, row: Row, task: str) -> dict[str, Any]:
    """A method's curves on a task, and how they are called and drawn."""
    label, results = row.entry.label, board.results
    last = None if board.last else LENGTHS * lookup(task).score_window[1]
    return {
        "name": row.entry.name,
        "label": label,
        "preset": row.preset,
        "suffix": f" ({row.preset})" if len(board.presets) > 1 else "",
        "search": search(row),
        "method": method_classes(board)[label],
        "dash": _dash(style(label).line),
    } | {
        column: _curve(results.curve(label, task, column), digits, last)
        for column, digits in _DIGITS.items()
    }


def _places(rows: Sequence[Row], task: str) -> list[int]:
    """By row: how many of them did better on the task, so that the best can be drawn first."""
    numbers = [getattr(row.by_task[task], "coverage" if row.section.rank_by == "coverage"
                       else "score").value for row in rows]  # fmt: skip
    values = np.nan_to_num(np.array(numbers, dtype=float), nan=-np.inf)
    return np.argsort(np.argsort(-values, kind="stable")).tolist()


def _curve(
    found: pd.DataFrame | None, digits: int, last: int | None
) -> dict[str, list[Any]] | None:
    """A curve up to an episode, if one is named: a run a hundred times as long hides the others."""
    if found is None:
        return None
    found = found if last is None else found[found.episode <= last]
    numbers = {
        name: [_rounded(value, digits) for value in found[name]] for name in ("mean", "low", "high")
    }
    return {"episode": found.episode.tolist(), "seeds": found.seeds.tolist()} | numbers


def _rounded(value: float, digits: int) -> float | None:
    return None if math.isnan(value) else round(float(value), digits)


def _dash(line: Any) -> str:
    """A line style of matplotlib as SVG's, for a line 2 pixels wide."""
    return "" if line == "-" else " ".join(f"{2 * length:g}" for length in line[1])


def _panel(state: dict[str, Any], whose: str) -> dict[str, Any]:
    """Visits by bin, lines from bottom to top; of three axes the third is summed over."""
    try:
        visits, axes = np.array(state["visits"], dtype=np.int64), state["axes"]
        names = [str(axis["name"]) for axis in axes]
        ends = [(float(axis["low"]), float(axis["high"])) for axis in axes]
        episode, seed = int(state["episode"]), int(state["seed"])
    except (KeyError, TypeError, ValueError) as error:
        raise UserError(f"the states file of {whose} holds no visits by bin") from error
    share = float((visits > 0).mean())
    flat = visits.sum(axis=tuple(range(2, visits.ndim)))  # (first axis, second axis)
    across = (1, 0) if names[0] == "row" else (0, 1)  # rows of a grid go up, all else goes across
    return {
        "episode": episode, "seed": seed, "share": share,
        "names": [names[index] for index in across], "ends": [ends[index] for index in across],
        "visits": flat.transpose(across[::-1]).tolist(),
    }  # fmt: skip
