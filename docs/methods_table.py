"""Fills in what each method scores, covers and costs in docs/methods.md; `make report` runs it.

A row of the page's first table begins with a method's label and ends with its numbers, which are
made from the committed runs and submissions; the cells between are kept.
"""

from pathlib import Path

import pandas as pd
from fragments import board

from analysis.stats.results import Results
from explore_suite.tasks import CONTROL, EXPLORE, ORIGINAL

PAGE = Path(__file__).with_name("methods.md")
NUMBERS = ["score, explore", "score, original", "coverage, explore", "time", "seeds"]


def filled(page: str, results: Results) -> str:
    """The page with the numbers of these results."""
    before, head, after = page.partition(f" {' | '.join(NUMBERS)} |\n")
    body, gap, rest = after.partition("\n\n")
    scores = results.scores
    scores = scores[scores.task.isin(CONTROL) & scores.finished]
    lines = [_filled(line, scores) for line in body.splitlines()]
    return before + head + "\n".join(lines) + gap + rest


def _filled(line: str, scores: pd.DataFrame) -> str:
    cells = [cell.strip() for cell in line.strip("|").split("|")]
    if not cells[0].startswith("`"):  # the line below the head
        return line
    numbers = _numbers(scores, cells[0].strip("`"))
    return f"| {' | '.join([*cells[: -len(NUMBERS)], *numbers])} |"


def _numbers(scores: pd.DataFrame, label: str) -> list[str]:
    """Means over seeds, then over tasks; dashes where the label has no runs."""
    mine = scores[scores.method == label]
    if mine.empty:
        return ["–"] * len(NUMBERS)
    means, sac = (
        found.groupby("task")[["normalised", "coverage", "seconds"]].mean()
        for found in (mine, scores[scores.method == "sac"])
    )
    time = (means.seconds / sac.seconds).mean()  # of the tasks that both have
    return [
        _mean(means.normalised, EXPLORE), _mean(means.normalised, ORIGINAL),
        _mean(means.coverage, EXPLORE), f"{time:.1f}",
        str(mine.groupby("task").seed.count().min()),
    ]  # fmt: skip


def _mean(values: pd.Series, tasks: tuple[str, ...]) -> str:
    """Over these tasks, with a note where some have no value."""
    found = values.reindex(tasks).dropna()
    if found.empty:
        return "–"
    mean = round(found.mean(), 2) + 0.0  # never -0.0
    return f"{mean:.2f}" + ("" if len(found) == len(tasks) else f" ({len(found)} tasks)")


if __name__ == "__main__":
    PAGE.write_text(filled(PAGE.read_text(), board().results))
