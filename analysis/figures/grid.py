"""Figures of the grid world: learning, warm start, pure exploration, and maps of the grid."""

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LogNorm
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter

from analysis.figures import style
from analysis.figures.control import EPISODES, RETURN, dashed, smoothed
from analysis.stats.results import WARM_EPISODES, NotEnoughRuns, Results
from explore_suite.runs.states import States
from explore_suite.tasks import GRID, lookup

(TASK,) = GRID
WARM = ("ddqn.warm", "ddqn_bbe.warm", "ddqn_deep.warm")
PURE = ("random", "ddqn_bbe.pure", "ddqn_deep.pure_slow", "ddqn_deep.pure_plain", "ddqn_deep.pure")
LEARNERS = ("ddqn", "ddqn_bbe", "ddqn_deep")
# Columns of the figure `states` after visits and trajectory: key of an agent's `maps` -> title.
MAPS = {
    "bonus": "Bonus of the\nmost tried action",
    "exploration_value": "Exploration\nvalue",
    "optimistic_value": "Optimistic\nvalue",
    "task_value": "Task value",
}


def learning(results: Results) -> Figure:
    """Return (a) and coverage (b) of agents that learn from scratch."""
    return _two_panels(results, results.shown(LEARNERS), 0, EPISODES)


def warm_start(results: Results) -> Figure:
    """Return (a) and coverage (b) after a warm start of 20 episodes by a scripted expert."""
    return _two_panels(results, WARM, WARM_EPISODES, f"{EPISODES} after the warm start")


def pure_exploration(results: Results) -> Figure:
    """Coverage over training of agents whose behaviour ignores the reward."""
    figure, (axes,) = style.page(1, 1, width=style.COLUMN, height=3.0)
    seeds = _draw(axes, results, PURE, "coverage")
    _percent(axes)
    axes.set_xlabel(EPISODES)
    style.legend(figure, seeds, "Mean", columns=2)
    return figure


def states(results: Results) -> Figure:
    """Maps of the grid, one row per method: visits, last trajectory, bonuses and values."""
    found = {method: results.states(method, TASK) for method in LEARNERS}
    rows = {method: seed_and_states for method, seed_and_states in found.items() if seed_and_states}
    if not rows:
        raise NotEnoughRuns(f"no run of {', '.join(LEARNERS)} on {TASK} left a states file")
    columns = 2 + len(MAPS)
    figure, panels = style.page(len(rows), columns, height=0.4 + 1.4 * len(rows))
    for index, (method, (seed, state)) in enumerate(rows.items()):
        _state_row(figure, panels[index * columns : (index + 1) * columns], state)
        which = f"episode {state.episode}, seed {seed}"
        panels[index * columns].set_ylabel(f"{style.style(method).label}\n{which}", fontsize=7)
    for axes, title in zip(
        panels, ("Visits (log scale)", "Last trajectory", *MAPS.values()), strict=False
    ):
        axes.set_title(title)
    figure.suptitle(
        "Start lower left, goal upper right; white: never visited, grey: visited before. Values "
        "are\nof the best action; the task value of DDQN+BBE is of reward and bonus together.",
        fontsize=7,
    )
    return figure


def _two_panels(results: Results, methods: Sequence[str], skip: int, x_label: str) -> Figure:
    """Curves of return (a) and coverage (b), without the first `skip` episodes."""
    figure, (returns, coverage) = style.page(1, 2, height=2.6)
    seeds = _draw(returns, results, methods, "return", skip)
    _draw(coverage, results, methods, "coverage", skip)
    style.draw_best(returns, lookup(TASK).best_return)
    returns.set(title="(a) Return", ylabel=RETURN)
    _percent(coverage)
    coverage.set_title("(b) Coverage")
    figure.supxlabel(x_label, fontsize=8)
    style.legend(figure, seeds, f"{dashed([TASK])} {smoothed('Returns', TASK)}. Mean")
    return figure


def _draw(
    axes: Axes, results: Results, methods: Sequence[str], column: str, skip: int = 0
) -> dict[str, list[int]]:
    """Draws the curve of each method that has runs; returns the fewest and most seeds of each."""
    seeds = {}
    for method in methods:
        line = results.curve(method, TASK, column, skip)
        if line is not None:
            style.draw_band(axes, line, style.style(method), "episode", "mean")
            seeds[method] = [line.seeds.min(), line.seeds.max()]
    if not seeds:
        raise NotEnoughRuns(f"no runs of {', '.join(methods)} on {TASK}")
    style.count_episodes(axes)
    return seeds


def _percent(axes: Axes) -> None:
    axes.set_ylim(0, 1.02)
    axes.set_ylabel("States visited")
    axes.yaxis.set_major_formatter(PercentFormatter(1.0))


def _state_row(figure: Figure, panels: Sequence[Axes], state: States) -> None:
    row, column = state.axes
    extent = (column.low, column.high, row.low, row.high)
    _map(
        figure, panels[0], np.ma.masked_equal(state.visits, 0), extent, "viridis", logarithmic=True
    )
    _trajectory(panels[1], state.trajectory, state.visits, extent)
    for axes, name in zip(panels[2:], MAPS, strict=True):
        if name in state.maps:
            _map(figure, axes, state.maps[name], extent, "cividis")
        else:
            style.draw_nothing(axes, "not used")
    for axes in panels:
        axes.set(xticks=[], yticks=[], aspect="equal")
        axes.grid(visible=False)
        axes.spines[:].set_visible(True)


def _map(
    figure: Figure,
    axes: Axes,
    values: np.ndarray,
    extent: tuple[float, float, float, float],
    colours: str,
    *,
    logarithmic: bool = False,
) -> None:
    """Draws a map with a colour bar of its own: values differ by orders of magnitude."""
    norm = LogNorm(1, max(2, values.max())) if logarithmic else None
    image = axes.imshow(values, colours, norm, origin="lower", extent=extent, interpolation="none")
    low, high = image.get_clim()
    bar = figure.colorbar(
        image, cax=axes.inset_axes((0, -0.11, 1, 0.05)), orientation="horizontal", ticks=[low, high]
    )
    bar.ax.set_xticklabels([f"{low:.2g}", f"{high:.3g}"])
    first, last = bar.ax.get_xticklabels()
    first.set_horizontalalignment("left")
    last.set_horizontalalignment("right")
    bar.ax.tick_params(length=0)
    bar.ax.minorticks_off()
    bar.outline.set_visible(False)


def _trajectory(
    axes: Axes, path: np.ndarray, visits: np.ndarray, extent: tuple[float, float, float, float]
) -> None:
    """Draws the last training episode over the states visited in all of training."""
    axes.imshow(visits > 0, "Greys", vmin=0, vmax=6, origin="lower", extent=extent)
    axes.plot(path[:, 1], path[:, 0], color=style.STYLES["ddqn_deep"].colour, linewidth=1)
    axes.plot(*path[-1, ::-1], color=style.STYLES["sac_bbe"].colour, marker="o", markersize=3)
