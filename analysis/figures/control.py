"""Figures of the control tasks: learning curves, scores after 100 episodes, the hallways."""

import math
import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import seaborn
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from analysis.figures import style
from analysis.stats.curves import width
from analysis.stats.intervals import Estimate, interval, mean
from analysis.stats.methods import ordered
from analysis.stats.results import NotEnoughRuns, Results
from explore_suite.tasks import (
    BENCHMARK,
    CLASSIC,
    CLASSIC_PAIRS,
    CONTROL,
    CONTROL_PAIRS,
    TASKS,
    lookup,
)

COMPARED = ("sac", "sac_bbe", "sac_deep")
SUITE_METHODS = ("random", "sac", "sac_bbe", "sac_2q", "sac_deep")
LONG_METHODS = ("sac.long", "sac_deep.long")
LONG_TASKS = ("FingerTurnHard", "FingerExplore", "WalkerExplore")
LATE_WINDOW = (241, 260)  # episodes that are marked besides the task's score window
RETURN = "Evaluation return"
EPISODES = "Training episodes"
_OTHER_COLUMNS = 3


def learning_curves(results: Results) -> Figure:
    """Learning curves on the eight control tasks: originals above, explore variants below."""
    return _suite_curves(results, results.shown(COMPARED), CONTROL)


def classic(results: Results) -> Figure:
    """Learning curves on the six classic tasks: originals above, explore variants below."""
    return _suite_curves(results, results.shown(COMPARED), CLASSIC)


def two_q(results: Results) -> Figure:
    """Learning curves of the ablation SAC 2Q, with separate critics for reward and bonus."""
    if not any(results.seeds("sac_2q", task) for task in CONTROL):
        raise NotEnoughRuns(f"sac_2q has no runs on {', '.join(CONTROL)}")
    return _suite_curves(results, ("sac_bbe", "sac_2q"), CONTROL)


def hallway(results: Results) -> Figure:
    """Learning curves on the hallways: the near goal is a local optimum (a) or the best one (b)."""
    figure, panels = style.page(1, 2, height=2.5)
    tasks = ("HallwayLocalOptimum", "HallwayAdversarial")
    titles = [f"({letter}) {task}" for letter, task in zip("ab", tasks, strict=True)]
    draw_curves(figure, panels, results, results.shown(COMPARED), tasks, titles)
    return figure


def longer_runs(results: Results) -> Figure:
    """Learning curves of 300 episodes, on tasks where 110 episodes are few."""
    figure, panels = style.page(1, len(LONG_TASKS), height=2.5)
    windows = lookup(LONG_TASKS[0]).score_window, LATE_WINDOW
    grey = " and ".join(f"{first}–{last}" for first, last in windows)
    draw_curves(
        figure, panels, results, LONG_METHODS, LONG_TASKS, LONG_TASKS, f"Grey: episodes {grey}.\n"
    )
    for axes in panels:
        for window in windows:
            axes.axvspan(*window, color=style.GREY, alpha=0.25, linewidth=0)
    return figure


def other_tasks(results: Results) -> Figure:
    """Learning curves on tasks outside of the benchmark, one panel each."""
    found = dict.fromkeys(results.table.task)
    tasks = [spec.name for id, spec in TASKS.items() if id not in BENCHMARK and spec.name in found]
    if not tasks:
        raise NotEnoughRuns("no runs on tasks outside of the benchmark")
    columns = min(len(tasks), _OTHER_COLUMNS)
    rows = -(-len(tasks) // columns)
    figure, panels = style.page(rows, columns, height=0.8 + 1.7 * rows)
    for axes in panels[len(tasks) :]:
        axes.set_visible(False)
    methods = ordered(results.table[results.table.task.isin(tasks)].method.unique())
    draw_curves(figure, panels[: len(tasks)], results, methods, tasks, tasks)
    return figure


def after_100_episodes(results: Results) -> Figure:
    """Bar chart of the score of each method on each control task, with a dot per seed."""
    methods, scores = results.shown(COMPARED), results.scores.dropna(subset="score")
    drawn = scores[scores.task.isin(CONTROL) & scores.method.isin(methods)]
    if drawn.empty:
        raise NotEnoughRuns(f"no scores of {', '.join(methods)} on the control suite")
    methods = [method for method in methods if method in set(drawn.method)]
    figure, (axes,) = style.page(1, 1, height=2.7)
    grouped: dict[str, Any] = {
        "data": drawn, "x": "task", "y": "score", "order": _paired_tasks(),
        "hue": "method", "hue_order": methods, "legend": False, "ax": axes,
    }  # fmt: skip
    seaborn.barplot(
        **grouped, palette={method: style.style(method).colour for method in methods},
        saturation=1, alpha=style.BAR_ALPHA, linewidth=0, width=0.81, gap=0.07,
        errorbar=_mean_interval, capsize=0.1, err_kws={"color": "black", "linewidth": 1},
    )  # fmt: skip
    seaborn.stripplot(
        **grouped, palette=dict.fromkeys(methods, "white"), dodge=True, jitter=False, size=2.2,
        edgecolor="black", linewidth=0.4, clip_on=False, zorder=3,
    )  # fmt: skip
    _decorate_bars(axes)
    for group, task in enumerate(_paired_tasks()):
        if task not in set(drawn.task):
            axes.text(group, 20, "no score yet", rotation=90, ha="center", color=style.GREY)
    counts = drawn.groupby(["method", "task"]).size()
    seeds = {method: counts[method].tolist() for method in methods}
    style.legend(figure, seeds, f"{dashed(CONTROL)} A dot per seed, their mean", kind="bar")
    return figure


def cost_of_exploring(results: Results) -> Figure:
    """Scatter plot: score on each original control task (x) against its explore variant (y).

    Below the diagonal a method does worse when it has to explore.
    """
    return _original_against_explore(results, CONTROL_PAIRS)


def classic_cost_of_exploring(results: Results) -> Figure:
    """Scatter plot: score on each original classic task (x) against its explore variant (y)."""
    return _original_against_explore(results, CLASSIC_PAIRS)


def _original_against_explore(results: Results, pairs: Sequence[tuple[str, str]]) -> Figure:
    methods = results.shown(SUITE_METHODS)
    scored = {pair: _scored(results, methods, *pair) for pair in pairs}
    if not any(scored.values()):
        raise NotEnoughRuns("no method has scores on an original task and its explore variant")
    figure, panels = style.page(1, len(pairs), height=2.3)
    seeds: dict[str, list[int]] = {}
    for axes, (original, variant) in zip(panels, pairs, strict=True):
        best = lookup(original).best_return
        axes.plot([0, best], [0, best], color=style.GREY, linewidth=0.7, linestyle=(0, (4, 3)))
        for method in scored[original, variant]:
            x, y = results.score(method, original)[0], results.score(method, variant)[0]
            _cross(axes, x, y, method)
            seeds.setdefault(method, []).extend((x.seeds, y.seeds))
        limits = (-0.04 * best, 1.04 * best)
        axes.set(xlim=limits, ylim=limits, aspect="equal", anchor="N")
        axes.set(title=_family(original), xlabel=original, ylabel=variant)
        axes.set(xticks=(0, best / 2, best), yticks=(0, best / 2, best))
    drawn = {method: seeds[method] for method in methods if method in seeds}
    what = "Dashed: having to explore costs nothing. Mean score"
    style.legend(figure, drawn, what, kind="point")
    return figure


def draw_curves(
    figure: Figure,
    panels: Sequence[Axes],
    results: Results,
    methods: Sequence[str],
    tasks: Sequence[str],
    titles: Sequence[str],
    note: str = "",
) -> None:
    """Draws the learning curves of each task into its panel; the legend begins with `note`."""
    seeds: dict[str, list[int]] = {}
    for axes, task, title in zip(panels, tasks, titles, strict=True):
        lines = {method: results.curve(method, task) for method in methods}
        for method, line in lines.items():
            if line is not None:
                style.draw_band(axes, line, style.style(method), "episode", "mean")
                seeds.setdefault(method, []).extend((line.seeds.min(), line.seeds.max()))
        style.draw_best(axes, lookup(task).best_return)
        style.count_episodes(axes)
        axes.set_title(title)
        if all(line is None for line in lines.values()):
            style.draw_nothing(axes)
    if not seeds:
        raise NotEnoughRuns(f"no runs of {', '.join(methods)} on {', '.join(tasks)}")
    figure.supxlabel(EPISODES, fontsize=8)
    panels[0].set_ylabel(RETURN)
    drawn = {method: seeds[method] for method in methods if method in seeds}
    style.legend(
        figure, drawn, f"{note}{dashed(tasks)} {smoothed('Runs', tasks[0])}. Mean",
    )  # fmt: skip


def dashed(tasks: Sequence[str]) -> str:
    """Caption for the dashed line in a figure of these tasks."""
    bound = all(lookup(task).best_is_bound for task in tasks)
    return "Dashed: maximum possible return." if bound else "Dashed: best return known."


def smoothed(what: str, task: str) -> str:
    """Caption for the smoothing of a task's curves."""
    return f"{what} smoothed over {width(lookup(task).smoothing)} evaluations"


def _suite_curves(results: Results, methods: Sequence[str], tasks: Sequence[str]) -> Figure:
    """A panel per task; the second half of the tasks goes below the first."""
    columns = len(tasks) // 2
    figure, panels = style.page(2, columns, height=3.9)
    draw_curves(figure, panels, results, methods, tasks, tasks)
    panels[columns].set_ylabel(RETURN)
    for axes in [*panels[1:columns], *panels[columns + 1 :]]:
        axes.tick_params(labelleft=False)
    return figure


def _scored(results: Results, methods: Sequence[str], *tasks: str) -> list[str]:
    """The methods that have a score on each of the tasks, by the same seeds or not."""
    return [
        method
        for method in methods
        if all(results.matrix(method, [task], "score").seeds for task in tasks)
    ]


def _paired_tasks() -> list[str]:
    """The control tasks, each original followed by its explore variant."""
    return [task for pair in CONTROL_PAIRS for task in pair]


def _mean_interval(scores: Sequence[float]) -> tuple[float, float]:
    """The ends of the bootstrap interval of the mean, given one score per seed."""
    band = interval([np.asarray(scores)[:, None, None]], mean)
    return float(band.low[0]), float(band.high[0])


def _cross(axes: Axes, x: Estimate, y: Estimate, method: str) -> None:
    """Draws a method at (x, y), with the interval of each as an error bar."""
    drawn = style.style(method)
    axes.errorbar(
        x.value, y.value, _error_bar(y), _error_bar(x), color=drawn.colour, marker=drawn.marker,
        markersize=4, elinewidth=1, clip_on=False, zorder=3,
    )  # fmt: skip


def _error_bar(found: Estimate) -> list[list[float]]:
    """Lengths of the error bar below and above the value; 0 without an interval."""
    ends = (found.value - found.low, found.high - found.value)
    return [[0.0 if math.isnan(end) else end] for end in ends]


def _family(task: str) -> str:
    """The task's name without its last word: BallInCupCatch -> Ball in cup."""
    *words, _ = re.findall("[A-Z][a-z]+", task)
    return " ".join(words).capitalize().replace(" turn", "")


def _decorate_bars(axes: Axes) -> None:
    first, last = lookup(CONTROL[0]).score_window
    axes.set(xlabel="", ylabel=f"Evaluation return,\nepisodes {first}–{last}")
    labels = [re.sub(r"(?=[A-Z][a-z]+$)", "\n", task) for task in _paired_tasks()]
    axes.set_xticks(range(len(CONTROL)), labels)
    axes.tick_params(axis="x", length=0)
    axes.set_xlim(-0.5, len(CONTROL) - 0.5)
    style.draw_best(axes, lookup(CONTROL[0]).best_return)
