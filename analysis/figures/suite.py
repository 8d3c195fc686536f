"""Figures of the whole suite: rliable's aggregates of normalised scores over tasks."""

from itertools import combinations

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from analysis.figures import style
from analysis.figures.control import EPISODES, SUITE_METHODS, smoothed
from analysis.stats.intervals import (
    Estimate,
    ScoreMatrix,
    estimate,
    performance_profile,
    probability_of_improvement,
)
from analysis.stats.methods import METHODS, ordered
from analysis.stats.results import NotEnoughRuns, Results
from explore_suite.tasks import CONTROL, EXPLORE, ORIGINAL

THRESHOLDS = tuple(step / 50 for step in range(51))  # of normalised scores
TASK_SETS = {"Original tasks": ORIGINAL, "Explore tasks": EXPLORE, "All eight tasks": CONTROL}
STATISTIC_TITLES = {
    "iqm": "IQM ↑", "median": "Median ↑", "mean": "Mean ↑", "optimality_gap": "Optimality gap ↓",
}  # fmt: skip
NORMALISED = "normalised score (0: random actions, 1: best return known or its bound)"


def sample_efficiency(results: Results) -> Figure:
    """Sample efficiency: interquartile mean of normalised returns over training."""
    figure, panels = style.page(1, 3, height=2.5)
    seeds: dict[str, list[int]] = {}
    for axes, (title, found) in zip(panels, _groups(results).items(), strict=True):
        for method, cells in found.items():
            line = results.suite_curve(cells)
            style.draw_band(axes, line, style.style(method), "episode", "mean")
            seeds.setdefault(method, []).append(len(cells.seeds))
        style.count_episodes(axes)
        _decorate(axes, title, bool(found))
    panels[0].set_ylabel("IQM of normalised return")
    figure.supxlabel(EPISODES, fontsize=8)
    _legend(figure, seeds, f"{smoothed('Runs', CONTROL[0])}. Interquartile mean")
    return figure


def performance_profiles(results: Results) -> Figure:
    """Performance profiles: the fraction of runs above each normalised score."""
    figure, panels = style.page(1, 3, height=2.5)
    seeds: dict[str, list[int]] = {}
    for axes, (title, found) in zip(panels, _groups(results).items(), strict=True):
        for method, cells in found.items():
            line = performance_profile(cells, THRESHOLDS)
            style.draw_band(axes, line, style.style(method), "threshold", "value")
            seeds.setdefault(method, []).append(len(cells.seeds))
        axes.set_xlim(0, 1)
        _decorate(axes, title, bool(found))
    panels[0].set_ylabel("Share of runs above")
    figure.supxlabel(NORMALISED[0].upper() + NORMALISED[1:], fontsize=8)
    _legend(figure, seeds, "Share of runs")
    return figure


def aggregates(results: Results) -> Figure:
    """IQM, median, mean and optimality gap of the scores on all eight tasks."""
    found = results.complete(CONTROL, results.shown(SUITE_METHODS))
    if not found:
        raise NotEnoughRuns(f"no method has scores on all of {', '.join(CONTROL)}")
    figure, panels = style.page(1, 4, height=1.15 + 0.22 * len(found))
    for axes, (name, title) in zip(panels, STATISTIC_TITLES.items(), strict=True):
        for row, (method, cells) in enumerate(found.items()):
            _point(axes, row, estimate(cells, name), method)
        _name_rows(axes, [style.style(method).label for method in found], axes is panels[0])
        axes.set_title(title)
        axes.set_xlim(min(0, axes.dataLim.x0), max(1, axes.dataLim.x1))  # worse than random shows
    figure.supxlabel(NORMALISED[0].upper() + NORMALISED[1:], fontsize=8)
    seeds = {method: [len(cells.seeds)] for method, cells in found.items()}
    _legend(figure, seeds, "Estimate over all eight control tasks", "point")
    return figure


def all_methods(results: Results) -> Figure:
    """Mean normalised score of every method on the explore tasks and on the originals."""
    found = {
        title: results.complete(TASK_SETS[title], results.shown(list(METHODS)))
        for title in ("Explore tasks", "Original tasks")
    }
    explore, original = found.values()
    if not (explore.keys() | original.keys()) - set(SUITE_METHODS):
        raise NotEnoughRuns(
            "no method beyond the paper's has scores on all explore tasks or all originals"
        )
    means = {method: estimate(cells, "mean").value for method, cells in explore.items()}
    methods = sorted(means, key=lambda method: -means[method])  # the best first, then those without
    methods += [method for method in original if method not in means]
    figure, panels = style.page(1, 2, height=1.15 + 0.2 * len(methods))
    seeds: dict[str, list[int]] = {}
    for axes, (title, cells) in zip(panels, found.items(), strict=True):
        for row, method in enumerate(methods):
            if method in cells:
                _point(axes, row, estimate(cells[method], "mean"), method)
                seeds.setdefault(method, []).append(len(cells[method].seeds))
        _name_rows(axes, [style.style(method).label for method in methods], axes is panels[0])
        axes.set(title=title, xlim=(min(0, axes.dataLim.x0), max(1, axes.dataLim.x1)))
    figure.supxlabel(f"Mean {NORMALISED}", fontsize=8)
    _legend(figure, seeds, "Estimate", "point")
    return figure


def improvement(results: Results) -> Figure:
    """Probability of improvement: that a run of one method beats a run of another on a task."""
    groups = _groups(results)
    pairs = _method_pairs(ordered({method for found in groups.values() for method in found}))
    if not pairs:
        raise NotEnoughRuns("two methods with scores on the same tasks are needed")
    figure, panels = style.page(1, 3, height=1.1 + 0.22 * len(pairs))
    seeds: dict[str, list[int]] = {}
    for axes, (title, found) in zip(panels, groups.items(), strict=True):
        for row, (worse, better) in enumerate(pairs):
            if worse in found and better in found:
                value = probability_of_improvement(found[better], found[worse])
                _point(axes, row, value, better)
        for method, cells in found.items():
            seeds.setdefault(method, []).append(len(cells.seeds))
        _name_rows(axes, [_versus(*pair) for pair in pairs], axes is panels[0])
        axes.axvline(0.5, color=style.GREY, linewidth=0.7, linestyle=(0, (4, 3)))
        axes.set(title=title, xlim=(0, 1))
    figure.supxlabel("Probability of improvement", fontsize=8)
    _legend(figure, seeds, "Estimate", "point")
    return figure


def _groups(results: Results) -> dict[str, dict[str, ScoreMatrix]]:
    """By title: the methods with scores on all tasks of the set; NotEnoughRuns if there is none."""
    found = {
        title: results.complete(tasks, results.shown(SUITE_METHODS))
        for title, tasks in TASK_SETS.items()
    }
    if not any(found.values()):
        raise NotEnoughRuns("no method has scores on all original or on all explore tasks")
    return found


def _method_pairs(methods: list[str]) -> list[tuple[str, str]]:
    """All pairs of the paper's methods, and every user's method against SAC."""
    ours = [method for method in methods if method in SUITE_METHODS]
    users = [method for method in methods if method not in SUITE_METHODS]
    base = "sac" if "sac" in ours or not methods else methods[0]
    return [*combinations(ours, 2), *((base, method) for method in users if method != base)]


def _decorate(axes: Axes, title: str, drawn: bool) -> None:
    axes.set_title(title)
    axes.set_ylim(min(0, axes.dataLim.y0) if drawn else 0, 1.02)  # worse than random shows
    if not drawn:
        style.draw_nothing(axes, "no method has runs on all tasks yet")


def _point(axes: Axes, row: int, value: Estimate, method: str) -> None:
    """Draws an estimate and its interval at y = `row`."""
    drawn = style.style(method)
    axes.plot([value.low, value.high], [row, row], color=drawn.colour, linewidth=5, alpha=0.35,
              solid_capstyle="butt", clip_on=False)  # fmt: skip
    axes.plot(value.value, row, color=drawn.colour, marker=drawn.marker, markersize=3.5,
              clip_on=False, zorder=3)  # fmt: skip
    # Ends taller than the marker, so that an interval narrower than the marker is visible.
    axes.plot([value.low, value.high], [row, row], color=drawn.colour, linestyle="", marker="|",
              markersize=7, markeredgewidth=0.8, clip_on=False, zorder=4)  # fmt: skip


def _name_rows(axes: Axes, labels: list[str], named: bool) -> None:
    """Makes the y axis one row per label, the first on top."""
    axes.set_yticks(range(len(labels)), labels if named else [""] * len(labels))
    axes.set_ylim(len(labels) - 0.5, -0.5)
    axes.grid(visible=False, axis="y")
    axes.grid(visible=True, axis="x")


def _versus(worse: str, better: str) -> str:
    names = [style.style(method).label for method in (better, worse)]
    return " > ".join(names)


def _legend(figure: Figure, seeds: dict[str, list[int]], what: str, kind: str = "line") -> None:
    in_order = {method: seeds[method] for method in ordered(seeds)}
    style.legend(figure, in_order, what, kind=kind)
