"""The page of a task: its catalogue entry, the specification in its class, its results."""

import html
import importlib
import inspect
import re
from collections.abc import Iterator
from pathlib import Path

from fragments import board, leaderboard_rows, table
from matplotlib.figure import Figure

from analysis.figures import control, render, style
from analysis.leaderboard.markdown import plain
from analysis.leaderboard.rows import Row, Section
from analysis.stats import formatting
from explore_suite.cli.list import best
from explore_suite.tasks import BENCHMARK, TaskSpec

DOCS = Path(__file__).parent
_ORDER = ("Arguments", "Observation", "Action", "Reward", "Success", "Start", "End")


def task_page(spec: TaskSpec) -> str:
    """The Markdown of one task's page."""
    summary, said = specification(spec)
    parts = [
        f"# {spec.name}",
        html.escape(summary, quote=False),
        f"![A picture of the task](../tasks/{spec.name}.png){{ .task }}",
        *_films(spec),
        _code(spec),
        "## Specification",
        *(f"**{name}**: {text}" for name, text in said.items()),
        "## In numbers",
        _facts(spec),
        "## Observation",
        "Typical ranges are scales for counts and networks: nothing is clipped to them.",
        table(
            ["", "element", "low", "high"],
            [
                [str(index), f"`{name}`", _number(low), _number(high)]
                for index, (name, low, high) in enumerate(spec.features)
            ],
        ),
        "## Coverage",
        _coverage(spec),
        "## Results",
        _results(spec),
    ]
    return "\n\n".join(parts)


def films(spec: TaskSpec) -> list[Path]:
    """Films of agents on this task."""
    return sorted((DOCS / "films").glob(f"*_{spec.name}.gif"))


def _films(spec: TaskSpec) -> list[str]:
    """The films side by side, each with the agent that acts in it; nothing if there is none."""
    agents = {path: path.stem.removesuffix(f"_{spec.name}") for path in films(spec)}
    shown = [
        f'<figure markdown="span">\n![{agent} acts](../films/{path.name})\n'
        f"<figcaption><code>{agent}</code>, trained</figcaption>\n</figure>"
        for path, agent in agents.items()
    ]
    return ['<div class="films" markdown>', *shown, "</div>"] if shown else []


def specification(spec: TaskSpec) -> tuple[str, dict[str, str]]:
    """First paragraph of the class's docstring, and its fields; those it shares are its parent's.

    A field is `Name: text`, whose further lines are indented.
    """
    module, name = spec.entry_point.split(":")
    kind = getattr(importlib.import_module(module), name)
    summary, said = _parsed(kind)
    _, inherited = _parsed(kind.__mro__[1])
    for together in [name for name, text in said.items() if text.startswith("as ")]:
        said.pop(together)  # as in "Observation, action: as WalkerWalk."
        names = [part.strip().capitalize() for part in together.split(",")]
        said |= {key: text for key, text in inherited.items() if key.split(" (")[0] in names}
    if spec.kwargs:  # what other ids of the class are given is on their pages
        values = ", ".join(f"`{key}` = {value}" for key, value in spec.kwargs.items())
        said["Arguments"] = f"{said['Arguments'].split('. ')[0]}. Here {values}."
    first = [key for word in _ORDER for key in said if key.startswith(word)]
    rest = [key for key in said if key not in first]
    return summary, {key: html.escape(said[key], quote=False) for key in [*first, *rest]}


def _parsed(kind: type) -> tuple[str, dict[str, str]]:
    summary, *rest = (inspect.getdoc(kind) or "").split("\n\n", 1)
    found: dict[str, str] = {}
    for line in "\n".join(rest).splitlines():
        if not line.startswith(" ") and (field := re.match(r"([A-Z][^:]*): (.*)", line)):
            name, text = field.groups()
            found[name] = text
        elif found:
            found[name] += " " + line.strip()
    return " ".join(summary.split()), found


def _code(spec: TaskSpec) -> str:
    module = spec.entry_point.split(":")[0].replace(".", "/") + ".py"
    partner = f" Its partner is [{spec.partner}]({spec.partner}.md)." if spec.partner else ""
    outside = "" if spec.id in BENCHMARK else " It is not part of the benchmark."
    return (
        f'```python\nimport gymnasium\nimport explore_suite\n\nenv = gymnasium.make("{spec.id}")\n'
        f"```\n\nWritten in [`{module}`](../../{module}).{partner}{outside}"
    )


def _facts(spec: TaskSpec) -> str:
    first, last = spec.score_window
    clock = f" of {spec.control_step} s" if spec.control_step else ""
    actions = f"1 of {spec.action_dim}" if spec.discrete else f"{spec.action_dim} in [-1, 1]"
    return table(
        ["", ""],
        [
            ["id", f"`{spec.id}`"],
            ["observation, action", f"{spec.obs_dim} numbers, {actions}"],
            ["horizon", f"{spec.horizon} steps{clock}"],
            ["return of random actions", f"{spec.random_return:.1f}"],
            ["best return known", html.escape(best(spec))],
            ["score window", f"episodes {first} to {last}"],
            ["kernel width of counts", f"{spec.count_scale}" if spec.count_scale else "exact"],
        ],
    )


def _coverage(spec: TaskSpec) -> str:
    axes = spec.coverage_projection.axes
    bins = 1
    for axis in axes:
        bins *= axis.bins
    lines = [[axis.name, _number(axis.low), _number(axis.high), str(axis.bins)] for axis in axes]
    return f"The share of these {bins:,} bins that training has visited.\n\n" + table(
        ["axis", "low", "high", "bins"], lines
    )


def _results(spec: TaskSpec) -> str:
    """Who has scores on the task, best first in each section of the leaderboard."""
    parts = []
    for section, members in _sections(spec):
        found = [(row, row.by_task[spec.name]) for row in members]
        found.sort(key=lambda pair: -(formatting.score(pair[1].score, spec.name).sort or 0))
        lines = [
            [
                plain(row.entry.name), f"`{row.entry.label}`", row.preset,
                _written(formatting.score(numbers.score, spec.name)), str(numbers.score.seeds),
                _written(formatting.percent(numbers.coverage)),
            ]
            for row, numbers in found
        ]  # fmt: skip
        parts.append(f"{section.title}:")
        parts.append(table(["method", "label", "preset", "score", "seeds", "coverage"], lines))
        parts.append(f"![Learning curves on {spec.name}](../figures/{_file(spec, section)})")
        chart = f"chart-{spec.name}-{section.setting}"
        parts.append(f"[Coverage and single seeds](../leaderboard_page.html#{chart})")
    if not parts:
        return "No runs yet."
    told = (
        "Scores are mean evaluation returns over the score window, with 95 % intervals over seeds "
        "where there are three or more."
    )
    return "\n\n".join([told, *parts])


def curves(spec: TaskSpec) -> dict[str, bytes]:
    """By file name: the learning curves on the task, one figure per section of the leaderboard."""
    return {
        _file(spec, section): render(lambda rows=rows: _curves(spec, rows))["svg"]
        for section, rows in _sections(spec)
    }


def _sections(spec: TaskSpec) -> Iterator[tuple[Section, list[Row]]]:
    """Each section of the leaderboard with runs on the task, and its rows that have some."""
    for section in dict.fromkeys(row.section for row in leaderboard_rows()):
        if spec.name in section.tasks:
            rows = [row for row in leaderboard_rows() if row.section == section]
            if begun := [row for row in rows if row.by_task[spec.name].runs]:
                yield section, begun


def _file(spec: TaskSpec, section: Section) -> str:
    return f"curves_{spec.name}{section.setting and '_'}{section.setting}.svg"


def _curves(spec: TaskSpec, rows: list[Row]) -> Figure:
    methods = [row.entry.label for row in rows]
    figure, panels = style.page(1, 1, height=2.2 + 0.1 * len(methods))
    control.draw_curves(figure, panels, board().results, methods, [spec.name], [""])
    return figure


def _written(found: formatting.Written) -> str:
    return found.value if found.interval == formatting.NO_INTERVAL else found.line


def _number(value: float) -> str:
    return f"{value:.4g}".replace("-", "−")
