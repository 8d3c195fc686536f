"""The figure of `explore-suite compare`: score differences of two methods, task by task."""

from collections.abc import Sequence

from matplotlib.figure import Figure

from analysis.figures import style
from analysis.stats.comparison import TOLERANCE, Answer, TaskComparison
from analysis.stats.intervals import MIN_SEEDS
from explore_suite.tasks import lookup


def comparison(
    first: str, second: str, tasks: Sequence[TaskComparison], answers: Sequence[Answer]
) -> Figure:
    """Normalised score differences with intervals, one row per task, below the answers."""
    figure, (axes,) = style.page(1, 1, height=1.2 + 0.28 * len(tasks) + 0.2 * len(answers))
    colour = style.style(first).colour
    for place, one in enumerate(tasks):
        span = lookup(one.task).best_return - lookup(one.task).random_return
        low, value, high = (
            number / span
            for number in (one.difference.low, one.difference.value, one.difference.high)
        )
        axes.plot([low, high], [place, place], color=colour, linewidth=5, alpha=0.35)
        axes.plot(value, place, color=colour, marker=style.style(first).marker, markersize=4)
        if one.improvement.seeds >= MIN_SEEDS:
            axes.text(1.02, place, f"{one.improvement.value:.0%}", fontsize=7, color=style.GREY,
                      transform=axes.get_yaxis_transform(), va="center")  # fmt: skip
    axes.axvline(0, color=style.GREY, linewidth=0.7, linestyle=(0, (4, 3)))
    axes.set_yticks(range(len(tasks)), [one.task for one in tasks])
    axes.set_ylim(len(tasks) - 0.5, -0.5)
    left, right = axes.get_xlim()
    axes.set_xlim(min(left, -TOLERANCE), max(right, TOLERANCE))  # small differences look small
    axes.grid(visible=False, axis="y")
    axes.grid(visible=True, axis="x")
    names = [style.style(method).label for method in (first, second)]
    axes.set_xlabel(
        f"Normalised score of {names[0]} minus that of {names[1]}, 95 % bootstrap interval "
        f"(none below {MIN_SEEDS} seeds).\n"
        "Right: probability that a run of the first beats one of the second"
    )
    lines = [f"{one.question} {one.sentence}" for one in answers]
    figure.suptitle("\n".join(lines), fontsize=7, wrap=True)
    return figure
