"""Comparison of two methods: task by task, and on the suite's two questions.

Does the first explore better, and does it cost anything where exploration is not needed?
"""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from analysis.stats.formatting import count
from analysis.stats.intervals import (
    MIN_SEEDS,
    Estimate,
    estimate,
    mean_difference,
    probability_of_improvement,
)
from analysis.stats.results import Results
from explore_suite.errors import UserError
from explore_suite.tasks import CLASSIC_PAIRS, CONTROL_PAIRS, TASKS

# Word before "original" and "explore" in sentences -> pairs of tasks.
_PAIRS = {"": CONTROL_PAIRS, "classic ": CLASSIC_PAIRS}
_ENOUGH_SEEDS = 5  # with fewer a bootstrap interval is too narrow: with 3 it covers about 75 %
_TIE_DIGITS = 6
TOLERANCE = 0.1  # of normalised scores: smaller differences count as equal


class TaskComparison(NamedTuple):
    """Scores of two methods on one task, and their difference."""

    task: str
    first: Estimate  # mean score of the first method
    second: Estimate
    difference: Estimate  # first minus second
    improvement: Estimate  # probability that a run of the first beats one of the second; NaN if few


class Answer(NamedTuple):
    """The answer to one question: a mean difference of normalised scores, and a sentence."""

    question: str
    tasks: tuple[str, ...]
    difference: Estimate
    sentence: str


def compare(
    results: Results, first: str, second: str, tasks: Sequence[str] = ()
) -> list[TaskComparison]:
    """Compares two methods on the given tasks, by default on all where both have scores.

    Raises UserError if the two are one, a method has no runs or a given task lacks scores.
    """
    if first == second:
        raise UserError(f"{first} is compared with itself")
    for method in (first, second):
        if method not in results.methods:
            raise UserError(f"no runs of {method}; there are {', '.join(results.methods)}")
    wanted = tasks or [spec.name for spec in TASKS.values()]
    found = [_on_task(results, first, second, task) for task in wanted]
    scored = [one for one in found if one.first.seeds and one.second.seeds]
    lacking = [one.task for one in found if one not in scored]
    if tasks and lacking:
        missing = f"{first} and {second} do not both have scores on {', '.join(lacking)}"
        raise UserError(missing + _namesakes(results, first, second))
    if not scored:
        missing = f"{first} and {second} have no task on which both have scores"
        raise UserError(missing + _namesakes(results, first, second))
    return scored


def _namesakes(results: Results, first: str, second: str) -> str:
    """What to try instead: runs of the same labels from other stores, and scores of short runs."""
    others = [name for name in results.methods if name.partition(" (")[0] in (first, second)]
    found = [f'"{name}"' for name in others if name not in (first, second)]
    there = f"; there is also {' and '.join(found)}" if found else ""
    short = "" if results.last else "; --last N scores runs that are too short for a score"
    return there + short


def answers(results: Results, first: str, second: str, tasks: Sequence[str]) -> list[Answer]:
    """Answers the suite's two questions for each set of pairs that has such tasks."""
    found = []
    for name, pairs in _PAIRS.items():
        original = tuple(task for task, _ in pairs if task in tasks)
        explore = tuple(task for _, task in pairs if task in tasks)
        if explore:
            gain = _difference(results, first, second, explore)
            decided = ("Yes", "No: it is worse", "No: it does as well")
            words = _sentence(gain, explore, f"{name}explore", decided)
            question = f"Does {first} explore better than {second}?"
            found.append(Answer(question, explore, gain, words))
        if original:
            gain = _difference(results, first, second, original)
            decided = ("No: it is better", "Yes", "No")
            words = _sentence(gain, original, f"{name}original", decided)
            question = "Does it cost anything where exploration is not needed?"
            found.append(Answer(question, original, gain, words))
    return found


def _on_task(results: Results, first: str, second: str, task: str) -> TaskComparison:
    x, y = (results.matrix(method, [task], "score") for method in (first, second))
    # Rounded, so that scores that no table tells apart are ties.
    normalised = (
        replace(found, cells=found.cells.round(_TIE_DIGITS))
        for found in (results.matrix(method, [task]) for method in (first, second))
    )
    better = probability_of_improvement(*normalised)
    return TaskComparison(
        task,
        first=estimate(x, "mean"),
        second=estimate(y, "mean"),
        difference=mean_difference(x, y),
        improvement=better if better.seeds >= MIN_SEEDS else better._replace(value=math.nan),
    )


def _difference(results: Results, first: str, second: str, tasks: Sequence[str]) -> Estimate:
    """Mean normalised score of the first minus that of the second, over the tasks."""
    return mean_difference(*(results.matrix(method, tasks) for method in (first, second)))


def _sentence(
    found: Estimate, tasks: Sequence[str], kind: str, decided: tuple[str, str, str]
) -> str:
    """The answer with its difference; `decided` are the words for above, below and near 0."""
    where = f"on {count(len(tasks), f'{kind} task')}"
    if found.seeds == 0:
        return f"No common seeds {where}."
    number = f"{found.value:+.2f}"
    if found.seeds < MIN_SEEDS:
        return f"Too few seeds to say ({number} in normalised score {where})."
    number = f"{number} [{found.low:+.2f}, {found.high:+.2f}] in normalised score {where}"
    if found.seeds < _ENOUGH_SEEDS:
        number = f"as far as {found.seeds} seeds tell, {number}"
    if -TOLERANCE < found.low and found.high < TOLERANCE:
        return f"{decided[2]}, {number}."
    if found.low > 0:
        return f"{decided[0]}, {number}."
    if found.high < 0:
        return f"{decided[1]}, {number}."
    return f"Not clear: {number}; the interval contains 0."
