"""Parts of pages that are computed: settings of agents, costs, figures, the leaderboard."""

import functools
import importlib
import inspect
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, fields, is_dataclass
from pathlib import Path
from textwrap import indent
from typing import Any, get_args

import pandas as pd

from analysis.figures import FIGURES
from analysis.leaderboard.build import TITLE
from analysis.leaderboard.entries import Board, gather
from analysis.leaderboard.html import html
from analysis.leaderboard.rows import Row, rows
from baselines import AGENTS
from baselines.settings import VARIANTS, resolve
from explore_suite.tasks import CLASSIC, CONTROL, GRID, HALLWAYS, lookup

ROOT = Path(__file__).parents[1]
RUNS = ROOT / "results" / "runs"
_SEEDS = 5  # the fewest of a submission
# Titles of the figures whose file names do not read well.
_FIGURE_TITLES = {
    "after_100_episodes": "Scores after 100 episodes",
    "two_q": "SAC 2Q, with separate critics for reward and bonus",
    "hallway": "Hallways",
    "classic": "Learning curves, classic tasks",
    "classic_cost_of_exploring": "Cost of exploring, classic tasks",
    "other_tasks": "Tasks outside of the benchmark",
    "grid_learning": "Grid world: learning from scratch",
    "grid_warm_start": "Grid world: warm start",
    "grid_pure_exploration": "Grid world: exploration only",
    "grid_states": "Grid world: maps of visits, bonuses and values",
    "suite_sample_efficiency": "Sample efficiency on all tasks",
    "suite_profiles": "Performance profiles",
    "suite_aggregates": "Aggregate scores",
    "suite_improvement": "Probability of improvement",
}
_GROUPS = {"control": CONTROL, "hallway": HALLWAYS, "grid": GRID, "classic": CLASSIC}


@functools.cache
def board() -> Board:
    """The committed runs and submissions."""
    return gather([RUNS])


@functools.cache
def leaderboard_rows() -> list[Row]:
    """The rows of the leaderboard."""
    return rows(board())


def leaderboard_page() -> str:
    """The leaderboard as one HTML file, as `explore-suite report` writes it."""
    return html(board(), leaderboard_rows(), TITLE)


def table(columns: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    """A Markdown table."""
    head = [columns, ["---"] * len(columns)]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in [*head, *lines])


def costs() -> str:
    """Hours on one core for the fewest seeds of a submission, by agent and group of tasks."""
    scores = board().results.scores
    ours = {run.method for run in board().runs if run.origin == "reference"}
    groups = {name: tasks for name, tasks in _GROUPS.items() if scores.task.isin(tasks).any()}
    lines = []
    for agent in (agent for agent in AGENTS if agent in ours):
        mine = scores[(scores.method == agent) & scores.finished]
        cells = [_hours(mine, tasks) if _plays(agent, tasks) else "–" for tasks in groups.values()]
        lines.append([f"`{agent}`", *cells])
    heads = [f"{group}: {_budget(tasks)}" for group, tasks in groups.items()]
    return table(["agent", *heads], lines)


def _plays(agent: str, tasks: Sequence[str]) -> bool:
    """Whether the agent has actions of the tasks' kind; None is both."""
    return AGENTS[agent].discrete in (None, lookup(tasks[0]).discrete)


def _budget(tasks: Sequence[str]) -> str:
    episodes = _SEEDS * sum(lookup(task).score_window[1] for task in tasks)
    noun = "task" if len(tasks) == 1 else "tasks"
    return f"{len(tasks)} {noun}, {episodes:,} episodes"


def _hours(mine: pd.DataFrame, tasks: Sequence[str]) -> str:
    """By the mean of the measured tasks, where not all are."""
    seconds = mine[mine.task.isin(tasks)].groupby("task").seconds.mean() / 100  # per episode
    if seconds.empty:
        return "not measured"
    filled = seconds.reindex(tasks).fillna(seconds.mean())
    total = sum(filled[task] * lookup(task).score_window[1] for task in tasks) * _SEEDS / 3600
    measured = "" if len(seconds) == len(tasks) else f" (by {len(seconds)} of {len(tasks)} tasks)"
    hours = f"{total:.1f} h" if total >= 1 else f"{60 * total:.0f} min"
    return hours + measured


def settings() -> str:
    """Every agent's settings in both presets, and what each setting means."""
    return "\n".join(_settings_of(agent) for agent in AGENTS)


def _settings_of(agent: str) -> str:
    kind = AGENTS[agent]
    task = "BallInCupExplore" if kind.discrete is False else "GridWorld"
    cpu, paper = (_flat(asdict(resolve(preset, agent, task))) for preset in ("cpu", "paper"))
    comments = field_comments(kind.Config)
    lines = [
        [f"`{name}`", _value(paper[name]), _changed(value, paper[name]), comments.get(name, "")]
        for name, value in cpu.items()
    ]
    first = (inspect.getdoc(kind) or "").splitlines()[0]
    shown = table(["setting", "`paper`", "`cpu`", "what it is; source"], lines)
    return f'??? abstract "{agent}"\n\n' + indent(f"{first} On {task}:\n\n{shown}", "    ")


def _flat(values: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    """By dotted name; of bonuses to choose from, only the chosen one's settings."""
    flat: dict[str, Any] = {}
    for name, value in values.items():
        if not isinstance(value, dict):
            flat[prefix + name] = value
        elif values.get("kind", name) == name:
            flat |= _flat(value, f"{prefix}{name}.")
    return flat


def _value(value: Any) -> str:
    if type(value) is float:
        return str(float(f"{value:.4g}"))
    return "" if value is None else f"{value:,}" if type(value) is int else str(value)


def _changed(value: Any, published: Any) -> str:
    return "" if value == published else f"**{_value(value)}**"


def field_comments(config: type, prefix: str = "") -> dict[str, str]:
    """What is said beside each field of a dataclass and of its parts, by dotted name."""
    found: dict[str, str] = {}
    for kind in reversed(config.__mro__):
        if is_dataclass(kind):
            found |= {prefix + name: said for name, said in _comments(kind)}
    for item in fields(config):
        default = item.default_factory
        if isinstance(default, type) and is_dataclass(default):
            found |= field_comments(default, f"{prefix}{item.name}.")
    return found


def _comments(kind: type) -> Iterable[tuple[str, str]]:
    """A comment stands beside its field, or on the lines before it."""
    above: list[str] = []
    for line in inspect.getsource(kind).splitlines():
        if alone := re.fullmatch(r"    # (.*)", line):
            above.append(alone[1])
        elif field := re.match(r"    (\w+): .*?(?:  # (.*))?$", line):
            yield field[1], " ".join([*above, field[2] or ""]).strip()
            above = []
        else:
            above = []


def fields_of(path: str) -> str:
    """The fields of a dataclass or named tuple."""
    module, _, name = path.rpartition(".")
    kind = getattr(importlib.import_module(module), name)
    said = dict(_comments(kind))
    lines = [
        [f"`{field}`", f"`{_type(hint)}`", said.get(field, "")]
        for field, hint in inspect.get_annotations(kind).items()
    ]
    return table(["field", "type", "meaning"], lines)


def _type(hint: Any) -> str:
    name = hint.__name__ if isinstance(hint, type) and not get_args(hint) else str(hint)
    return re.sub(r"\b(\w+\.)+", "", name)


def variants() -> str:
    """The named settings."""
    lines = [
        [f"`{name}`", ", ".join(f"`{field}` = {_value(value)}" for field, value in values.items())]
        for name, values in VARIANTS.items()
    ]
    return table(["variant", "what differs"], lines)


def figures() -> str:
    """Every figure that the committed runs are enough for, with what it shows."""
    parts, missing = [], []
    for name, function in FIGURES.items():
        said = " ".join((inspect.getdoc(function) or "").split())
        path = ROOT / "results" / "figures" / f"{name}.svg"
        title = _FIGURE_TITLES.get(name, name.replace("_", " ").capitalize())
        if path.exists():
            source = f"{function.__module__}.{function.__name__}"
            parts.append(
                f"## {title}\n\n{said}\n\n"
                f"![{said}](../results/figures/{name}.svg)\n\n"
                f"Drawn by `{source}`.\n"
            )
        else:
            missing.append(f"- `{name}`: {said}")
    if missing:
        parts.append("## Not drawn yet\n\nThese lack runs:\n\n" + "\n".join(missing) + "\n")
    return "\n".join(parts)


FRAGMENTS: dict[str, Callable[..., str]] = {
    "costs": costs,
    "fields": fields_of,
    "figures": figures,
    "settings": settings,
    "variants": variants,
}
