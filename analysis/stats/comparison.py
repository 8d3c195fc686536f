"""Two methods compared: by task, and on the two questions that the suite asks."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from analysis.stats.intervals import (
    MIN_SEEDS,
    Estimate,
    interval,
    mean,
    probability_of_improvement,
)
from analysis.stats.results import Results
from explore_suite.errors import UserError
from explore_suite.tasks import EXPLORE, ORIGINAL, TASKS

TOLERANCE = 0.1  # of normalised scores: differences within are as good as none


class TaskComparison(NamedTuple):
    """What one method scores above another on a task."""

    task: str
    first: Estimate  # mean score of the first method
    second: Estimate
    difference: Estimate  # first minus second
    improvement: Estimate  # how likely a run of the first beats one of the second


class Answer(NamedTuple):
    """What a group of tasks says: a mean difference of normalised scores, and in words."""

    question: str
    tasks: tuple[str, ...]
    difference: Estimate
    sentence: str


def compare(
    results: Results, first: str, second: str, tasks: Sequence[str] = ()
) -> list[TaskComparison]:
    """By task; all tasks on which both methods have scores unless some are named."""
    for method in (first, second):
        if method not in results.methods:
            raise UserError(f"no runs of {method}; there are {', '.join(results.methods)}")
    wanted = tasks or [spec.name for spec in TASKS.values()]
    found = [_on_task(results, first, second, task) for task in wanted]
    scored = [one for one in found if one.first.seeds and one.second.seeds]
    lacking = [one.task for one in found if one not in scored]
    if tasks and lacking:
        raise UserError(f"{first} and {second} do not both have scores on {', '.join(lacking)}")
    if not scored:
        raise UserError(f"{first} and {second} have no task on which both have scores")
    return scored


def answers(results: Results, first: str, second: str, tasks: Sequence[str]) -> list[Answer]:
    """The two questions, as far as these tasks can answer them."""
    explore = tuple(task for task in EXPLORE if task in tasks)
    original = tuple(task for task in ORIGINAL if task in tasks)
    found = []
    if explore:
        gain = _difference(results, first, second, explore)
        words = _sentence(
            gain, explore, "explore", ("Yes", "No: it is worse", "No: it does as well")
        )
        found.append(Answer(f"Does {first} explore better than {second}?", explore, gain, words))
    if original:
        gain = _difference(results, first, second, original)
        words = _sentence(gain, original, "original", ("No: it is better", "Yes", "No"))
        question = "Does it cost anything where exploration is not needed?"
        found.append(Answer(question, original, gain, words))
    return found


def _on_task(results: Results, first: str, second: str, task: str) -> TaskComparison:
    x, y = (results.matrix(method, [task]) for method in (first, second))
    scores = [results.matrix(method, [task], "score").values for method in (first, second)]
    mean_x, mean_y = (_estimate([array]) for array in scores)
    improvement = probability_of_improvement(x, y)
    return TaskComparison(task, mean_x, mean_y, _estimate(scores), improvement)


def _difference(results: Results, first: str, second: str, tasks: Sequence[str]) -> Estimate:
    """Mean normalised score of the first minus that of the second, over the tasks."""
    return _estimate([results.matrix(method, tasks).values for method in (first, second)])


def _estimate(arrays: Sequence[np.ndarray]) -> Estimate:
    """The mean of one (seeds, tasks) array, or the difference of two."""
    seeds = min(map(len, arrays))
    if seeds == 0:
        return Estimate(np.nan, np.nan, np.nan, 0)
    points = [array[..., None] for array in arrays]
    band = interval(points, lambda x, y=None: mean(x) if y is None else mean(x) - mean(y))
    return Estimate(float(band.value[0]), float(band.low[0]), float(band.high[0]), seeds)


def _sentence(
    found: Estimate, tasks: Sequence[str], kind: str, decided: tuple[str, str, str]
) -> str:
    """The answer and its number; `decided` are the words for above, below and near 0."""
    where = f"on {len(tasks)} {kind} task{'' if len(tasks) == 1 else 's'}"
    if found.seeds == 0:
        return f"No common seeds {where}."
    number = f"{found.value:+.2f}"
    if found.seeds < MIN_SEEDS:
        return f"Too few seeds to say ({number} in normalised score {where})."
    number = f"{number} [{found.low:+.2f}, {found.high:+.2f}] in normalised score {where}"
    if -TOLERANCE < found.low and found.high < TOLERANCE:
        return f"{decided[2]}, {number}."
    if found.low > 0:
        return f"{decided[0]}, {number}."
    if found.high < 0:
        return f"{decided[1]}, {number}."
    return f"Not clear: {number}; the interval contains 0."
