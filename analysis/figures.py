"""FIGURES: every figure by file name. A new one is a function of Numbers and a line here."""

from collections.abc import Callable

from matplotlib.figure import Figure

from analysis import figures_control, figures_grid, figures_suite
from analysis.look import render
from analysis.numbers import Numbers

FIGURES: dict[str, Callable[[Numbers], Figure]] = {
    "learning_curves": figures_control.learning_curves,
    "after_100_episodes": figures_control.after_100_episodes,
    "two_q": figures_control.two_q,
    "hallway": figures_control.hallway,
    "grid_warm_start": figures_grid.warm_start,
    "grid_pure_exploration": figures_grid.pure_exploration,
    "grid_states": figures_grid.states,
    "suite_sample_efficiency": figures_suite.sample_efficiency,
    "suite_profiles": figures_suite.performance_profiles,
    "suite_aggregates": figures_suite.aggregates,
    "suite_improvement": figures_suite.improvement,
}


def draw(name: str, numbers: Numbers) -> dict[str, bytes]:
    """The figure as {"svg": ..., "png": ...}; NotEnoughRuns if the store lacks its runs."""
    return render(lambda: FIGURES[name](numbers))
