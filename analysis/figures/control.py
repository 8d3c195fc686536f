"""Figures of the control tasks: learning curves, scores after 100 episodes, the hallways."""

import math
import re
from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from analysis.figures import style as look
from analysis.stats.curves import width
from analysis.stats.intervals import Estimate
from analysis.stats.methods import ordered
from analysis.stats.results import NotEnoughRuns, Results
from explore_suite.tasks import BENCHMARK, CONTROL, EXPLORE, ORIGINAL, TASKS, lookup

COMPARED = ("sac", "sac_bbe", "sac_deep")
SUITE_METHODS = ("random", "sac", "sac_bbe", "sac_2q", "sac_deep")
RETURN = "Evaluation return"
EPISODES = "Training episodes"
_OTHER_COLUMNS = 3


def learning_curves(results: Results) -> Figure:
    """The eight tasks: originals above, their explore variants below."""
    return _suite_curves(results, results.shown(COMPARED))


def two_q(results: Results) -> Figure:
    """The ablation with two critics and one policy, against the bonus it is made of."""
    if not any(results.seeds("sac_2q", task) for task in CONTROL):
        raise NotEnoughRuns(f"sac_2q has no runs on {', '.join(CONTROL)}")
    return _suite_curves(results, ("sac_bbe", "sac_2q"))


def hallway(results: Results) -> Figure:
    """A near goal that distracts (a), and one that chance finds sooner (b)."""
    figure, panels = look.page(1, 2, height=2.5)
    tasks = ("HallwayLocalOptimum", "HallwayAdversarial")
    titles = [f"({letter}) {task}" for letter, task in zip("ab", tasks, strict=True)]
    draw_curves(figure, panels, results, results.shown(COMPARED), tasks, titles)
    return figure


def other_tasks(results: Results) -> Figure:
    """Tasks outside of the benchmark, a panel each."""
    found = dict.fromkeys(results.table.task)
    tasks = [spec.name for id, spec in TASKS.items() if id not in BENCHMARK and spec.name in found]
    if not tasks:
        raise NotEnoughRuns("no runs on tasks outside of the benchmark")
    columns = min(len(tasks), _OTHER_COLUMNS)
    rows = -(-len(tasks) // columns)
    figure, panels = look.page(rows, columns, height=0.8 + 1.7 * rows)
    for axes in panels[len(tasks) :]:
        axes.set_visible(False)
    agents = ordered(results.table[results.table.task.isin(tasks)].method.unique())
    draw_curves(figure, panels[: len(tasks)], results, agents, tasks, tasks)
    return figure


def after_100_episodes(results: Results) -> Figure:
    """The score of each method on each task, a dot per seed."""
    methods = results.shown(COMPARED)
    found = {
        method: {
            task: results.score(method, task) for task in CONTROL if results.seeds(method, task)
        }
        for method in methods
    }
    seeds = {
        method: [score.seeds for score, _ in scores.values() if score.seeds]
        for method, scores in found.items()
    }
    seeds = {method: counts for method, counts in seeds.items() if counts}
    if not seeds:
        raise NotEnoughRuns(f"no scores of {', '.join(methods)} on the control suite")
    figure, (axes,) = look.page(1, 1, height=2.7)
    step = 0.81 / len(methods)
    for place, method in enumerate(methods):
        for group, task in enumerate(_pairs()):
            if task in found[method] and found[method][task][0].seeds:
                x = group + step * (place - (len(methods) - 1) / 2)
                _bar(axes, x, 0.93 * step, *found[method][task], look.style(method))
    _decorate_bars(axes)
    for group, task in enumerate(_pairs()):
        if not any(scores[task][0].seeds for scores in found.values() if task in scores):
            axes.text(group, 20, "no score yet", rotation=90, ha="center", color=look.GREY)
    look.legend(figure, seeds, f"{dashed(CONTROL)} A dot per seed, their mean", kind="bar")
    return figure


def cost_of_exploring(results: Results) -> Figure:
    """Score on each original task against that on its explore variant, where one must explore.

    On the diagonal having to explore costs nothing; the further below it, the more.
    """
    methods = results.shown(SUITE_METHODS)
    figure, panels = look.page(1, len(ORIGINAL), height=2.5)
    seeds: dict[str, list[int]] = {}
    for axes, original, variant in zip(panels, ORIGINAL, EXPLORE, strict=True):
        best = lookup(original).best_return
        axes.plot([0, best], [0, best], color=look.GREY, linewidth=0.7, linestyle=(0, (4, 3)))
        for method in methods:
            x, y = results.score(method, original)[0], results.score(method, variant)[0]
            if x.seeds and y.seeds:
                _cross(axes, x, y, look.style(method))
                seeds.setdefault(method, []).extend((x.seeds, y.seeds))
        axes.set(xlim=(-0.04 * best, 1.04 * best), ylim=(-0.04 * best, 1.04 * best), aspect="equal")
        axes.set(title=_family(original), xlabel=original, ylabel=variant)
        axes.set(xticks=(0, best / 2, best), yticks=(0, best / 2, best))
    if not seeds:
        raise NotEnoughRuns("no method has scores on an original task and its explore variant")
    drawn = {method: seeds[method] for method in methods if method in seeds}
    what = "Dashed: having to explore costs nothing. Mean score"
    look.legend(figure, drawn, what, kind="point")
    return figure


def draw_curves(
    figure: Figure,
    panels: Sequence[Axes],
    results: Results,
    agents: Sequence[str],
    tasks: Sequence[str],
    titles: Sequence[str],
) -> None:
    """One panel of evaluation returns per task, and the legend."""
    seeds: dict[str, list[int]] = {}
    for axes, task, title in zip(panels, tasks, titles, strict=True):
        lines = {agent: results.curve(agent, task) for agent in agents}
        for agent, line in lines.items():
            if line is not None:
                look.draw_band(axes, line, look.style(agent), "episode", "mean")
                seeds.setdefault(agent, []).extend((line.seeds.min(), line.seeds.max()))
        look.draw_best(axes, lookup(task).best_return)
        look.count_episodes(axes)
        axes.set_title(title)
        if all(line is None for line in lines.values()):
            look.draw_nothing(axes)
    if not seeds:
        raise NotEnoughRuns(f"no runs of {', '.join(agents)} on {', '.join(tasks)}")
    figure.supxlabel(EPISODES, fontsize=8)
    panels[0].set_ylabel(RETURN)
    drawn = {agent: seeds[agent] for agent in agents if agent in seeds}
    look.legend(
        figure, drawn, f"{dashed(tasks)} {smoothed('Runs', tasks[0])}. Mean",
    )  # fmt: skip


def dashed(tasks: Sequence[str]) -> str:
    """What the dashed line of a figure of these tasks is."""
    bound = all(lookup(task).best_is_bound for task in tasks)
    return "Dashed: maximum possible return." if bound else "Dashed: best return known."


def smoothed(what: str, task: str) -> str:
    """What a curve of returns of this task shows."""
    return f"{what} smoothed over {width(lookup(task).smoothing)} evaluations"


def _suite_curves(results: Results, agents: Sequence[str]) -> Figure:
    figure, panels = look.page(2, 4, height=3.9)
    draw_curves(figure, panels, results, agents, CONTROL, CONTROL)
    panels[4].set_ylabel(RETURN)
    for axes in [*panels[1:4], *panels[5:]]:
        axes.tick_params(labelleft=False)
    return figure


def _pairs() -> list[str]:
    """Each original beside its explore variant."""
    return [task for pair in zip(ORIGINAL, EXPLORE, strict=True) for task in pair]


def _bar(
    axes: Axes, x: float, width: float, score: Estimate, runs: list[float], style: look.Style
) -> None:
    axes.bar(x, score.value, width, color=style.colour, alpha=look.BAR_ALPHA, linewidth=0)
    spread = x + width * np.linspace(-0.32, 0.32, len(runs)) if len(runs) > 1 else [x]
    axes.scatter(spread, runs, s=4, color="white", edgecolors="black", linewidths=0.4,
                 clip_on=False, zorder=3)  # fmt: skip
    axes.errorbar(x, score.value, _reach(score), color="black", elinewidth=1, capsize=2, capthick=1)


def _cross(axes: Axes, x: Estimate, y: Estimate, style: look.Style) -> None:
    axes.errorbar(
        x.value, y.value, _reach(y), _reach(x), color=style.colour, marker=style.marker,
        markersize=4, elinewidth=1, clip_on=False, zorder=3,
    )  # fmt: skip


def _reach(found: Estimate) -> list[list[float]]:
    """How far the interval reaches below and above; not at all without one."""
    ends = (found.value - found.low, found.high - found.value)
    return [[0.0 if math.isnan(end) else end] for end in ends]


def _family(task: str) -> str:
    """BallInCupCatch -> Ball in cup: the name without its last word."""
    *words, _ = re.findall("[A-Z][a-z]+", task)
    return " ".join(words).capitalize().replace(" turn", "")


def _decorate_bars(axes: Axes) -> None:
    first, last = lookup(CONTROL[0]).score_window
    axes.set_ylabel(f"Evaluation return,\nepisodes {first}–{last}")
    labels = [re.sub(r"(?=[A-Z][a-z]+$)", "\n", task) for task in _pairs()]
    axes.set_xticks(range(len(CONTROL)), labels)
    axes.tick_params(axis="x", length=0)
    axes.set_xlim(-0.5, len(CONTROL) - 0.5)
    look.draw_best(axes, lookup(CONTROL[0]).best_return)
