"""The leaderboard as one HTML file that works from disk, without a network.

Texts of submissions reach the page as escaped text, as escaped attributes and as JSON in which
Jinja2 encodes `<`, `>`, `&` and `'`. The page's Content-Security-Policy names the hashes of its own
script and style, so that nothing else can run.
"""

import base64
import hashlib
from collections.abc import Sequence
from importlib import metadata, resources
from pathlib import Path
from typing import NamedTuple

import numpy as np
from jinja2 import Environment, StrictUndefined
from markupsafe import Markup

from analysis.figures.style import style
from analysis.leaderboard import scatter
from analysis.leaderboard.charts import DRAWN, MAX_SINGLE_SEEDS, charts, heat_maps, ramp
from analysis.leaderboard.descriptions import describe
from analysis.leaderboard.entries import (
    CURVE_LENGTH,
    REPLAY_CHECKED,
    SELF_REPORTED,
    VERIFIED,
    Board,
    method_classes,
    shown_name,
)
from analysis.leaderboard.provenance import core_hours, provenance
from analysis.leaderboard.rows import Row, search, sections
from analysis.leaderboard.story import story
from analysis.stats import formatting
from analysis.stats.curves import width
from analysis.stats.methods import ordered
from analysis.stats.stores import LOCAL, REFERENCE
from explore_suite.tasks import CONTROL_PAIRS, TASKS, TaskSpec

_SCRIPTS = (
    "start.js", "tables.js", "paths.js", "chart.js", "heat.js", "scatter.js", "filters.js",
)  # fmt: skip
_TEMPLATES = ("macros.html", "page.html")
_GROUP_TITLES = {
    "control": "Control suite", "hallway": "Hallway", "grid": "Grid world", "classic": "Classic",
    "other": "Other tasks",
}  # fmt: skip
# What a badge says, from the least checked to the most.
BADGES = {
    REFERENCE: "ours, from the runs that this project publishes",
    LOCAL: "from a store on this machine, not checked",
    SELF_REPORTED: "the validator found the submission sound; its runs were not replayed",
    REPLAY_CHECKED: "the actions of its last evaluations were replayed and earned what it reports",
    VERIFIED: "a maintainer ran part of it again, and the results agree",
}
# Pictures of tasks and films of trained policies: in an installed package, and in a checkout.
_PICTURES = (
    Path(__file__).parent / "page" / "tasks",
    Path(__file__).parents[2] / "docs" / "tasks",
)
FILMS = (
    Path(__file__).parent / "page" / "films",
    Path(__file__).parents[2] / "docs" / "films",
)
MAX_FILMS = 12_000_000  # bytes of all films of a page; films beyond it are only named


class Film(NamedTuple):
    """A film of a trained policy on a task."""

    label: str
    name: str  # of the method
    address: str | None  # as a data URL; None if the page has no room for it


def html(board: Board, rows: Sequence[Row], title: str) -> str:
    """The whole page as text; the same runs give the same bytes."""
    css = _file("page.css") + _colours(board)
    script = "\n".join(map(_file, _SCRIPTS))
    heat = heat_maps(board)
    data = {
        "charts": charts(board, rows),
        "heat": {panel["id"]: panel for panels in heat.values() for panel in panels},
        "ramp": ramp(),
        "drawn": DRAWN,
        "maxSeeds": MAX_SINGLE_SEEDS,
    }
    panels, tasks = scatter.panels(board), _tasks(rows)
    return _environment().from_string("".join(map(_file, _TEMPLATES))).render(
        title=title, board=board, rows=rows, sections=sections(), groups=_GROUP_TITLES,
        story=story(board, rows), panels=panels, scatter=scatter, badges=BADGES,
        unpaired=_unpaired(panels), write=formatting, width=width, curve_length=CURVE_LENGTH,
        method=method_classes(board), tasks=tasks, picture=_picture, films=_films(board, tasks),
        describe=describe, provenance=provenance, core_hours=core_hours(board),
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
    """The page's Content-Security-Policy: its own style and script, embedded pictures, no more."""
    style_hash, script_hash = (
        base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in (css, script)
    )
    return (
        f"default-src 'none'; style-src 'sha256-{style_hash}'; script-src 'sha256-{script_hash}'; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )


def _colours(board: Board) -> str:
    """CSS rules with each method's colour: inline styles would need a weaker security policy."""
    return "".join(
        f".{name} {{ --method: {style(label).colour}; }}\n"
        for label, name in method_classes(board).items()
    )


def _unpaired(panels: Sequence[scatter.Panel]) -> list[str]:
    """The pairs of tasks for which the scatter plot has no panel, as text."""
    drawn = [panel.original for panel in panels]
    return [
        f"{original} and {variant}" for original, variant in CONTROL_PAIRS if original not in drawn
    ]


def _tasks(rows: Sequence[Row]) -> list[tuple[TaskSpec, list[list[Row]]]]:
    """Each task with runs, or whose partner has runs, with a table per section, best rows first."""
    found = {}
    for spec in TASKS.values():
        tables = [
            _best_first(
                [row for row in rows if row.section == section and row.by_task[spec.name].runs],
                spec.name,
            )
            for section in sections()
            if spec.name in section.tasks
        ]
        found[spec.name] = spec, [table for table in tables if table]
    return [
        (spec, tables)
        for spec, tables in found.values()
        if tables or (spec.partner in found and found[spec.partner][1])
    ]


def _best_first(rows: Sequence[Row], task: str) -> list[Row]:
    """Rows sorted by the number that ranks their section, on one task; missing ones last."""
    values = [row.on_task(task).value for row in rows]
    order = np.argsort([np.inf if np.isnan(value) else -value for value in values], kind="stable")
    return [rows[index] for index in order]


def _films(
    board: Board, tasks: Sequence[tuple[TaskSpec, list[list[Row]]]]
) -> dict[str, list[Film]]:
    """By task: the films of trained policies of the agents on the page, AGENT_TASK.gif."""
    agents = ordered({entry.agent for entry in board.entries.values() if not entry.submission})
    found: dict[str, list[Film]] = {}
    room = MAX_FILMS
    for spec, _ in tasks:
        for agent in agents:
            path = _first_file(FILMS, f"{agent}_{spec.name}.gif")
            if path is None:
                continue
            size = path.stat().st_size
            address = _data_url(path, "image/gif") if size <= room else None
            room -= size if address else 0
            found.setdefault(spec.name, []).append(Film(agent, shown_name(agent), address))
    return found


def _picture(task: str) -> str | None:
    """A task's picture as a data URL, or None where the pictures were not installed."""
    path = _first_file(_PICTURES, f"{task}.png")
    return _data_url(path, "image/png") if path else None


def _first_file(folders: Sequence[Path], name: str) -> Path | None:
    return next((folder / name for folder in folders if (folder / name).is_file()), None)


def _data_url(path: Path, kind: str) -> str:
    return f"data:{kind};base64,{base64.b64encode(path.read_bytes()).decode()}"


def _file(name: str) -> str:
    return (
        resources.files("analysis.leaderboard").joinpath("page", name).read_text(encoding="utf-8")
    )
