"""The leaderboard as one HTML file that opens from disk: no request leaves it, no name is markup.

Names of strangers reach the page as escaped text, as escaped attributes and as JSON in which Jinja2
encodes `<`, `>`, `&` and `'`. Its policy lets only the scripts and styles of `page/` run, by hash.
"""

import base64
import hashlib
from collections.abc import Sequence
from importlib import metadata, resources
from pathlib import Path

from jinja2 import Environment, StrictUndefined
from markupsafe import Markup

from analysis import leaderboard_text, page_data
from analysis.curves import WINDOWS
from analysis.entries import LENGTHS, PACKAGES, Board
from analysis.leaderboard_row import Row
from analysis.leaderboard_sections import SECTIONS
from analysis.look import style
from explore_suite.tasks import TASKS, TaskSheet

_SCRIPTS = ("start.js", "tables.js", "paths.js", "chart.js", "heat.js", "filters.js")
_TEMPLATES = ("macros.html", "page.html")
_GROUPS = {"control": "Control suite", "hallway": "Hallway", "grid": "Grid world"}
# Pictures of the tasks: in an installed package, and in a checkout.
_PICTURES = (
    Path(__file__).parent / "page" / "tasks",
    Path(__file__).parents[1] / "docs" / "tasks",
)


def html(board: Board, rows: Sequence[Row], title: str) -> str:
    """The page: the same bytes for the same runs."""
    css = _file("page.css") + _colours(board)
    script = "\n".join(map(_file, _SCRIPTS))
    heat = page_data.heat_maps(board)
    data = {
        "charts": page_data.charts(board, rows),
        "heat": {panel["id"]: panel for panels in heat.values() for panel in panels},
        "ramp": page_data.ramp(),
    }
    return _environment().from_string("".join(map(_file, _TEMPLATES))).render(
        title=title, board=board, rows=rows, sections=SECTIONS, groups=_GROUPS, packages=PACKAGES,
        write=leaderboard_text, windows=WINDOWS, lengths=LENGTHS,
        method=page_data.method_classes(board), tasks=_tasks(rows), picture=_picture,
        search=page_data.search, heat=heat, data=data,
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
        f".{name} {{ --method: {style(label, board.entries).colour}; }}\n"
        for label, name in page_data.method_classes(board).items()
    )


def _tasks(rows: Sequence[Row]) -> list[tuple[TaskSheet, list[list[Row]]]]:
    """Each task of which it or its partner has a run, and its rows by section."""
    found = {}
    for sheet in TASKS.values():
        tables = [
            [row for row in rows if row.section == section and row.by_task[sheet.name].runs]
            for section in SECTIONS
            if sheet.name in section.tasks
        ]
        found[sheet.name] = sheet, [table for table in tables if table]
    return [
        (sheet, tables)
        for sheet, tables in found.values()
        if tables or (sheet.partner and found[sheet.partner][1])
    ]


def _picture(task: str) -> str | None:
    """A task's picture as a data address, or None where the pictures were not installed."""
    for folder in _PICTURES:
        path = folder / f"{task}.png"
        if path.is_file():
            return f"data:image/png;base64,{base64.b64encode(path.read_bytes()).decode()}"
    return None


def _file(name: str) -> str:
    return resources.files("analysis").joinpath("page", name).read_text(encoding="utf-8")
