"""Figures of the suite as a whole: aggregates of normalised scores over tasks, as rliable asks."""

from itertools import combinations

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from analysis.figures import style as look
from analysis.figures.control import EPISODES, SUITE_METHODS, smoothed
from analysis.stats.intervals import (
    Estimate,
    ScoreMatrix,
    estimate,
    performance_profile,
    probability_of_improvement,
)
from analysis.stats.methods import ordered
from analysis.stats.results import NotEnoughRuns, Results
from explore_suite.tasks import CONTROL, EXPLORE, ORIGINAL

THRESHOLDS = tuple(step / 50 for step in range(51))  # of normalised scores
GROUPS = {"Original tasks": ORIGINAL, "Explore tasks": EXPLORE, "All eight tasks": CONTROL}
STATISTICS = {
    "iqm": "IQM ↑", "median": "Median ↑", "mean": "Mean ↑", "optimality_gap": "Optimality gap ↓",
}  # fmt: skip
NORMALISED = "normalised score (0: random actions, 1: best return known or its bound)"


def sample_efficiency(results: Results) -> Figure:
    """Interquartile mean of normalised returns over training."""
    figure, panels = look.page(1, 3, height=2.5)
    seeds: dict[str, list[int]] = {}
    for axes, (title, found) in zip(panels, _groups(results).items(), strict=True):
        for agent, cells in found.items():
            line = results.suite_curve(cells)
            look.draw_band(axes, line, look.style(agent), "episode", "mean")
            seeds.setdefault(agent, []).append(len(cells.seeds))
        look.count_episodes(axes)
        _decorate(axes, title, bool(found))
    panels[0].set_ylabel("IQM of normalised return")
    figure.supxlabel(EPISODES, fontsize=8)
    _legend(figure, seeds, f"{smoothed('Runs', CONTROL[0])}. Interquartile mean")
    return figure


def performance_profiles(results: Results) -> Figure:
    """The share of runs above each normalised score."""
    figure, panels = look.page(1, 3, height=2.5)
    seeds: dict[str, list[int]] = {}
    for axes, (title, found) in zip(panels, _groups(results).items(), strict=True):
        for agent, cells in found.items():
            line = performance_profile(cells, THRESHOLDS)
            look.draw_band(axes, line, look.style(agent), "threshold", "value")
            seeds.setdefault(agent, []).append(len(cells.seeds))
        axes.set_xlim(0, 1)
        _decorate(axes, title, bool(found))
    panels[0].set_ylabel("Share of runs above")
    figure.supxlabel(NORMALISED[0].upper() + NORMALISED[1:], fontsize=8)
    _legend(figure, seeds, "Share of runs")
    return figure


def aggregates(results: Results) -> Figure:
    """Four aggregates of the scores on all eight tasks."""
    found = results.complete(CONTROL, results.shown(SUITE_METHODS))
    figure, panels = look.page(1, 4, height=1.15 + 0.22 * len(found))
    for axes, (name, title) in zip(panels, STATISTICS.items(), strict=True):
        for place, (agent, cells) in enumerate(found.items()):
            _point(axes, place, estimate(cells, name), look.style(agent))
        _rows(axes, [look.style(agent).label for agent in found], axes is panels[0])
        axes.set_title(title)
        axes.set_xlim(min(0, axes.dataLim.x0), max(1, axes.dataLim.x1))  # worse than random shows
    figure.supxlabel(NORMALISED[0].upper() + NORMALISED[1:], fontsize=8)
    seeds = {agent: [len(cells.seeds)] for agent, cells in found.items()}
    _legend(figure, seeds, "Estimate", "point")
    return figure


def improvement(results: Results) -> Figure:
    """How likely a run of one agent scores above a run of another on the same task."""
    groups = _groups(results)
    pairs = _compared(_agents(groups))
    if not pairs:
        raise NotEnoughRuns("two agents with scores on the same tasks are needed")
    figure, panels = look.page(1, 3, height=1.1 + 0.22 * len(pairs))
    seeds: dict[str, list[int]] = {}
    for axes, (title, found) in zip(panels, groups.items(), strict=True):
        for place, (worse, better) in enumerate(pairs):
            if worse in found and better in found:
                value = probability_of_improvement(found[better], found[worse])
                _point(axes, place, value, look.style(better))
        for agent, cells in found.items():
            seeds.setdefault(agent, []).append(len(cells.seeds))
        _rows(axes, [_versus(*pair) for pair in pairs], axes is panels[0])
        axes.axvline(0.5, color=look.GREY, linewidth=0.7, linestyle=(0, (4, 3)))
        axes.set(title=title, xlim=(0, 1))
    figure.supxlabel("Probability of improvement", fontsize=8)
    _legend(figure, seeds, "Estimate", "point")
    return figure


def _groups(results: Results) -> dict[str, dict[str, ScoreMatrix]]:
    """The complete agents of each group of tasks; a group may have none, but not all."""
    found: dict[str, dict[str, ScoreMatrix]] = {}
    for title, tasks in GROUPS.items():
        try:
            found[title] = results.complete(tasks, results.shown(SUITE_METHODS))
        except NotEnoughRuns:
            found[title] = {}
    if not any(found.values()):
        raise NotEnoughRuns("no agent has scores on all original or on all explore tasks")
    return found


def _compared(methods: list[str]) -> list[tuple[str, str]]:
    """All pairs of the paper's methods, and every guest against SAC."""
    ours = [method for method in methods if method in SUITE_METHODS]
    guests = [method for method in methods if method not in SUITE_METHODS]
    base = "sac" if "sac" in ours or not methods else methods[0]
    return [*combinations(ours, 2), *((base, guest) for guest in guests if guest != base)]


def _agents(groups: dict[str, dict[str, ScoreMatrix]]) -> list[str]:
    return ordered({agent for found in groups.values() for agent in found})


def _decorate(axes: Axes, title: str, drawn: bool) -> None:
    axes.set_title(title)
    axes.set_ylim(min(0, axes.dataLim.y0) if drawn else 0, 1.02)  # worse than random shows
    if not drawn:
        look.draw_nothing(axes, "no method has runs on all tasks yet")


def _point(axes: Axes, place: int, value: Estimate, style: look.Style) -> None:
    axes.plot([value.low, value.high], [place, place], color=style.colour, linewidth=5, alpha=0.35,
              solid_capstyle="butt", clip_on=False)  # fmt: skip
    axes.plot(value.value, place, color=style.colour, marker=style.marker, markersize=3.5,
              clip_on=False, zorder=3)  # fmt: skip
    # Ends taller than the marker: an interval may be shorter than that is wide.
    axes.plot([value.low, value.high], [place, place], color=style.colour, linestyle="", marker="|",
              markersize=7, markeredgewidth=0.8, clip_on=False, zorder=4)  # fmt: skip


def _rows(axes: Axes, labels: list[str], named: bool) -> None:
    """One row per label, the first on top."""
    axes.set_yticks(range(len(labels)), labels if named else [""] * len(labels))
    axes.set_ylim(len(labels) - 0.5, -0.5)
    axes.grid(visible=False, axis="y")
    axes.grid(visible=True, axis="x")


def _versus(worse: str, better: str) -> str:
    names = [look.style(agent).label for agent in (better, worse)]
    return " > ".join(names)


def _legend(figure: Figure, seeds: dict[str, list[int]], what: str, kind: str = "line") -> None:
    in_order = {agent: seeds[agent] for agent in ordered(seeds)}
    look.legend(figure, in_order, what, kind=kind)
