"""FIGURES: every figure by file name. To add one, write a function of `Results` and a line here.

In: stats. Out: pictures as SVG and PNG, and the styles of methods.
"""

from collections.abc import Callable

from matplotlib.figure import Figure

from analysis.figures import control, grid, suite
from analysis.figures.style import render
from analysis.stats.results import Results

FIGURES: dict[str, Callable[[Results], Figure]] = {
    "learning_curves": control.learning_curves,
    "after_100_episodes": control.after_100_episodes,
    "cost_of_exploring": control.cost_of_exploring,
    "two_q": control.two_q,
    "hallway": control.hallway,
    "longer_runs": control.longer_runs,
    "classic": control.classic,
    "classic_cost_of_exploring": control.classic_cost_of_exploring,
    "other_tasks": control.other_tasks,
    "grid_learning": grid.learning,
    "grid_warm_start": grid.warm_start,
    "grid_pure_exploration": grid.pure_exploration,
    "grid_states": grid.states,
    "suite_sample_efficiency": suite.sample_efficiency,
    "suite_profiles": suite.performance_profiles,
    "suite_aggregates": suite.aggregates,
    "suite_improvement": suite.improvement,
    "all_methods": suite.all_methods,
}


def draw(name: str, results: Results) -> dict[str, bytes]:
    """The figure as {"svg": bytes, "png": bytes}; NotEnoughRuns if its runs are missing."""
    return render(lambda: FIGURES[name](results))
