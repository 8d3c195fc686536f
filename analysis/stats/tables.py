"""How a number is made: run files -> table of episodes -> score per run -> (seed, task) matrix.

A *return* belongs to an episode; a *score* is the mean evaluation return of a run over its task's
`score_window`. Estimates and curves over seeds are in `bootstrap` and `curves`.
"""

from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from analysis.stats.curves import curve, suite_curve
from analysis.stats.intervals import (
    Estimate,
    ScoreMatrix,
    estimate,
    performance_profile,
    probability_of_improvement,
)
from explore_suite.runs.format import COLUMNS, Header, Run
from explore_suite.runs.store import LeftOut, ResultStore
from explore_suite.tasks import lookup

__all__ = [
    "Estimate", "ScoreMatrix", "curve", "estimate", "headers", "load", "matrix",
    "performance_profile", "probability_of_improvement", "run_scores", "suite_curve",
]  # fmt: skip

RUN = ["preset", "agent", "task", "seed"]  # what makes a run the same run
EPISODE_COLUMNS = [*RUN, *COLUMNS, "finished", "episodes"]
SCORE_COLUMNS = [*RUN, "score", "normalised", "coverage", "seconds", "finished"]


def load(root: Path | str) -> tuple[pd.DataFrame, list[LeftOut]]:
    """One row per episode of a store's runs, with the EPISODE_COLUMNS; and the unusable runs."""
    runs, left_out = ResultStore(root).sound_runs()
    return episode_table(runs), left_out


def episode_table(runs: Iterable[Run]) -> pd.DataFrame:
    """One row per episode of these runs; `task` is the short name, `episodes` the budget."""
    rows = [
        (header.preset, header.agent, lookup(header.task).name, header.seed, *row,
         header.finished, header.episodes)
        for header, episodes in runs
        for row in episodes
    ]  # fmt: skip
    return pd.DataFrame(rows, columns=EPISODE_COLUMNS)


def headers(runs: Iterable[Run]) -> pd.DataFrame:
    """One row per run: what it was, on what code, versions and machine, and who wrote it."""
    return pd.DataFrame([_record(run.header) for run in runs])


def run_scores(table: pd.DataFrame, last: int | None = None) -> pd.DataFrame:
    """One row per run of an episode table, with the SCORE_COLUMNS.

    `normalised` is 0 at the return of random actions and 1 at the best known; `coverage` is that of
    training at the end of the window; `seconds` are per 100 training episodes. A run that has not
    evaluated every episode of its window has no score and no coverage: NaN; nor has one of whose
    evaluations there one is not finite a score. With `last`, the window is the last that many
    evaluations of each run, for a look at short runs.
    """
    runs = [
        dict(zip(RUN, key, strict=True)) | _score(rows, last)
        for key, rows in table.groupby(RUN, sort=True)
    ]
    return pd.DataFrame(runs, columns=SCORE_COLUMNS)


def matrix(
    scores: pd.DataFrame,
    agent: str,
    tasks: Sequence[str],
    preset: str,
    column: str = "normalised",
) -> ScoreMatrix:
    """An agent's scores by seed and task; what other seeds lack is listed in `missing`."""
    mine = scores[(scores.preset == preset) & (scores.agent == agent) & scores.task.isin(tasks)]
    cells = mine.pivot(index="seed", columns="task", values=column)
    cells = cells.reindex(columns=pd.Index(tasks, name="task")).astype(float)
    complete = cells.dropna()
    return ScoreMatrix(agent, complete, _missing(agent, cells, complete))


def _missing(agent: str, cells: pd.DataFrame, complete: pd.DataFrame) -> tuple[str, ...]:
    """One line per task that lacks seeds other tasks have, and one that says what is used then."""
    gaps = cells.isna()
    bare = [task for task in cells.columns if gaps[task].all()]
    lines = [f"{agent}: no run with a score on {', '.join(bare)}"] if bare else []
    lines += [
        f"{agent} {task}: {_seeds(cells.index[gaps[task]])} missing"
        for task in cells.columns
        if gaps[task].any() and task not in bare
    ]
    if lines and len(complete):
        lines.append(f"{agent}: {_seeds(complete.index)} used, which all tasks have")
    return tuple(lines)


def _seeds(seeds: Iterable[int]) -> str:
    numbers = list(map(str, seeds))
    return f"seed{'s' if len(numbers) > 1 else ''} {', '.join(numbers)}"


def _score(rows: pd.DataFrame, last: int | None) -> dict[str, object]:
    spec = lookup(rows.task.iloc[0])
    first, final = spec.score_window if last is None else _latest(rows, last)
    window = rows[rows.episode.between(first, final)]
    evaluated = window[window.phase == "eval"].set_index("episode")["return"]
    whole = set(range(first, final + 1)) <= set(evaluated.index)
    # pandas would leave NaN out of the mean, and score the run by its other evaluations.
    score = evaluated.mean() if whole and np.isfinite(evaluated).all() else np.nan
    trained = window[window.phase == "train"].coverage
    return {
        "score": score,
        "normalised": (score - spec.random_return) / (spec.best_return - spec.random_return),
        "coverage": trained.iloc[-1] if whole and len(trained) else np.nan,
        "seconds": 100 * rows.seconds.max() / rows.episode.max(),
        "finished": bool(rows.finished.iloc[0]),
    }


def _latest(rows: pd.DataFrame, last: int) -> tuple[int, int]:
    """First and final episode of a run's last evaluations; (1, 0) if it has none."""
    final = int(rows[rows.phase == "eval"].episode.max()) if (rows.phase == "eval").any() else 0
    return max(1, final - last + 1), final


def _record(header: Header) -> dict[str, object]:
    return {
        "preset": header.preset,
        "agent": header.agent,
        "task": lookup(header.task).name,
        "seed": header.seed,
        "episodes": header.episodes,
        "finished": header.finished,
        "commit": header.code.get("commit", ""),
        "dirty": header.code.get("dirty", False),
        "fingerprint": header.fingerprint,
        "versions": header.versions,
        "machine": header.machine,
        "threads": header.threads,
        "source": header.source,
    }
