"""Fills in the numbers of two tables, from the committed runs and submissions; for `make report`.

That of the methods in docs/methods.md: a row begins with a label and ends with what the method
scores, covers and costs. That of the tasks in the README: a row holds the mean scores of its
methods. Everything else on these pages is kept.
"""

from collections.abc import Callable
from pathlib import Path

import pandas as pd
from fragments import board

from explore_suite.tasks import CONTROL, EXPLORE, ORIGINAL

ROOT = Path(__file__).parents[1]
NUMBERS = ["score, explore", "score, original", "coverage, explore", "time", "seeds"]
COMPARED = ["random", "sac", "sac_bbe", "sac_2q", "sac_deep"]


def methods(page: str, scores: pd.DataFrame) -> str:
    """docs/methods.md with the numbers of these scores, one row per run."""
    scores = scores[scores.task.isin(CONTROL) & scores.finished]
    return _filled(
        page, f" {' | '.join(NUMBERS)} |\n",
        lambda row: [*row[: -len(NUMBERS)], *_of_method(scores, row[0].strip("`"))],
    )  # fmt: skip


def tasks(page: str, scores: pd.DataFrame) -> str:
    """The README with the numbers of these scores, one row per run."""
    scores = scores[scores.finished & scores.method.isin(COMPARED)]
    return _filled(
        page, f" {' | '.join(f'`{label}`' for label in COMPARED)} | seeds |\n",
        lambda row: [row[0], *_of_task(scores[scores.task == row[0]])],
    )  # fmt: skip


PAGES: dict[Path, Callable[[str, pd.DataFrame], str]] = {
    ROOT / "docs" / "methods.md": methods,
    ROOT / "README.md": tasks,
}


def _filled(page: str, head_end: str, fill: Callable[[list[str]], list[str]]) -> str:
    """The page with new cells in each row of the table whose first line ends like this."""
    before, head, after = page.partition(head_end)
    body, gap, rest = after.partition("\n\n")
    lines = []
    for line in body.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        below_head = not cells[0].strip("-")
        lines.append(line if below_head else f"| {' | '.join(fill(cells))} |")
    return before + head + "\n".join(lines) + gap + rest


def _of_method(scores: pd.DataFrame, label: str) -> list[str]:
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


def _mean(values: pd.Series, names: tuple[str, ...]) -> str:
    """Over these tasks, with a note where some have no value."""
    found = values.reindex(names).dropna()
    if found.empty:
        return "–"
    mean = round(found.mean(), 2) + 0.0  # never -0.0
    return f"{mean:.2f}" + ("" if len(found) == len(names) else f" ({len(found)} tasks)")


def _of_task(scores: pd.DataFrame) -> list[str]:
    """Mean score and its range over seeds by method, then the fewest seeds."""
    found = scores.groupby("method").score.agg(["mean", "min", "max", "count"]).reindex(COMPARED)
    cells = [
        f"{one['mean']:.0f} ({one['min']:.0f} to {one['max']:.0f})" if one["count"] > 0 else "–"
        for _, one in found.iterrows()
    ]
    return [*cells, f"{found['count'].fillna(0).min():.0f}"]


if __name__ == "__main__":
    SCORES = board().results.scores
    for path, fill_in in PAGES.items():
        path.write_text(fill_in(path.read_text(), SCORES))
