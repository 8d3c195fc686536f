"""From run files to scores: table of episodes -> score per run -> (seed, task) matrix.

A *return* belongs to an episode; a *score* is the mean evaluation return of a run over its task's
`score_window`. A *method* is what tables and figures compare: an agent's label, with preset or
origin in brackets where the label is ambiguous. Intervals are in `intervals`, curves in `curves`.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from analysis.stats.intervals import ScoreMatrix
from analysis.stats.stores import LOCAL, REFERENCE, default_stores, is_published
from explore_suite.errors import UserError
from explore_suite.runs.format import COLUMNS, EpisodeRow, Header, Run
from explore_suite.runs.store import LeftOut, ResultStore
from explore_suite.tasks import TaskSpec, lookup

RUN = ["method", "task", "seed"]  # columns that identify a run
ORIGIN = ["origin", "preset", "agent"]  # columns that identify a method
EPISODE_COLUMNS = [*RUN, *COLUMNS, "finished", "episodes", *ORIGIN]
SCORE_COLUMNS = [*RUN, "score", "normalised", "coverage", "seconds", "finished"]
_PLAIN_PRESETS = ("cpu", "external")  # part of a method's name only where it is ambiguous


@dataclass(frozen=True)
class StoredRun:
    """A run, the method it belongs to and the store it was read from."""

    method: str
    origin: str  # REFERENCE, LOCAL, or a submission
    store: Path
    header: Header
    rows: list[EpisodeRow]


def load(stores: Sequence[Path | str]) -> tuple[list[StoredRun], list[LeftOut]]:
    """Reads all runs of several stores; returns the usable ones with their methods, and the rest.

    Raises UserError for a store that does not exist.
    """
    found, left_out = list[tuple[str, Path, Run]](), list[LeftOut]()
    for root in map(Path, stores):
        if not root.is_dir():
            raise UserError(f"there is no store {root}: explore-suite train makes one")
        origin = REFERENCE if is_published(root) else LOCAL
        sound, unusable = ResultStore(root).sound_runs()
        found += [(origin, root, run) for run in sound]
        left_out += unusable
    return named(found), left_out


def named(found: Sequence[tuple[str, Path, Run]]) -> list[StoredRun]:
    """Names the method of each (origin, store, run); a run found in two stores is kept once."""
    names = method_names([(origin, run.header) for origin, _, run in found])
    runs: dict[tuple[str, str, int], StoredRun] = {}
    for origin, root, (header, rows) in found:
        method = names[origin, header.preset, header.agent]
        run = StoredRun(method, origin, root, header, rows)
        runs.setdefault((method, header.task, header.seed), run)
    return list(runs.values())


def method_names(found: Iterable[tuple[str, Header]]) -> dict[tuple[str, str, str], str]:
    """(origin, preset, agent) -> method name, with preset and origin in brackets if ambiguous.

    The plain label goes to reference runs before local ones, to preset `cpu` before others.
    """
    keys = dict.fromkeys((origin, header.preset, header.agent) for origin, header in found)

    def priority(key: tuple[str, str, str]) -> tuple[bool, bool, str]:
        return key[0] != REFERENCE, key[1] not in _PLAIN_PRESETS, key[1]

    names: dict[tuple[str, str, str], str] = {}
    for key in sorted(keys, key=priority):
        origin, preset, agent = key
        preset_words = [preset] if preset not in _PLAIN_PRESETS else []
        choices = [
            [] if not preset_words or origin == REFERENCE else preset_words,
            preset_words,
            [*preset_words, origin],
            [preset, origin],
        ]
        taken = set(names.values())
        labels = (f"{agent} ({', '.join(words)})" if words else agent for words in choices)
        names[key] = next(label for label in labels if label not in taken)
    return names


def episode_table(runs: Iterable[StoredRun]) -> pd.DataFrame:
    """One row per episode; `task` is the short name, `episodes` the budget of the run."""
    rows = [
        (run.method, lookup(run.header.task).name, run.header.seed, *row, run.header.finished,
         run.header.episodes, run.origin, run.header.preset, run.header.agent)
        for run in runs
        for row in run.rows
    ]  # fmt: skip
    return pd.DataFrame(rows, columns=EPISODE_COLUMNS)


def load_results(*stores: Path | str) -> pd.DataFrame:
    """A table of all episodes of all runs in these stores, with columns EPISODE_COLUMNS.

    Default: the store `runs` in the working directory, if it exists, and the published runs.
    """
    return episode_table(load(stores or default_stores())[0])


def headers(runs: Iterable[StoredRun]) -> pd.DataFrame:
    """One row per run: agent, task, seed, code version, package versions, machine and source."""
    return pd.DataFrame([_record(run.header) for run in runs])


def run_scores(table: pd.DataFrame, last: int | None = None) -> pd.DataFrame:
    """One row per run of an episode table, with columns SCORE_COLUMNS.

    `normalised` is 0 at the return of random actions and 1 at the best known; `coverage` is that of
    training at the end of the window; `seconds` are per 100 training episodes. Score and coverage
    are NaN if the run has not evaluated every episode of its window; the score is also NaN if a
    return in the window is not finite. With `last`, the window is the last `last` evaluations of
    each run, to look at runs too short for a score.
    """
    runs = [
        dict(zip(RUN, key, strict=True)) | _score(rows, last)
        for key, rows in table.groupby(RUN, sort=True)
    ]
    return pd.DataFrame(runs, columns=SCORE_COLUMNS)


def normalise(returns: Any, spec: TaskSpec) -> Any:
    """Number, Series or table of returns -> 0 for random actions, 1 for the best known return."""
    return (returns - spec.random_return) / (spec.best_return - spec.random_return)


def matrix(
    scores: pd.DataFrame, method: str, tasks: Sequence[str], column: str = "normalised"
) -> ScoreMatrix:
    """A method's scores on all of these tasks; incomplete seeds are listed in `missing`."""
    rows = scores[(scores.method == method) & scores.task.isin(tasks)]
    cells = rows.pivot(index="seed", columns="task", values=column)
    cells = cells.reindex(columns=pd.Index(tasks, name="task")).astype(float)
    complete = cells.dropna()
    return ScoreMatrix(method, complete, _missing(method, cells, complete))


def _missing(method: str, cells: pd.DataFrame, complete: pd.DataFrame) -> tuple[str, ...]:
    """One line per task that lacks seeds of other tasks, and one line for the seeds in use."""
    gaps = cells.isna()
    bare = [task for task in cells.columns if gaps[task].all()]
    lines = [f"{method}: no run with a score on {', '.join(bare)}"] if bare else []
    lines += [
        f"{method} {task}: {_seeds(cells.index[gaps[task]])} missing"
        for task in cells.columns
        if gaps[task].any() and task not in bare
    ]
    if lines and len(complete):
        used = _seeds(complete.index)
        lines.append(f"{method}: over all tasks together {used} alone, with a score on each")
    return tuple(lines)


def _seeds(seeds: Iterable[int]) -> str:
    numbers = list(map(str, seeds))
    return f"seed{'s' if len(numbers) > 1 else ''} {', '.join(numbers)}"


def _score(rows: pd.DataFrame, last: int | None) -> dict[str, object]:
    spec = lookup(rows.task.iloc[0])
    # Bare arrays: pandas takes ten times as long for tables as small as a run.
    episode, phase = rows.episode.to_numpy(), rows.phase.to_numpy()
    evaluation = phase == "eval"
    first, final = spec.score_window if last is None else _latest(episode[evaluation], last)
    inside = (episode >= first) & (episode <= final)
    evaluated = rows["return"].to_numpy()[inside & evaluation]
    whole = set(range(first, final + 1)) <= set(episode[inside & evaluation].tolist())
    finite = whole and len(evaluated) > 0 and np.isfinite(evaluated).all()
    score = evaluated.mean() if finite else np.nan
    trained = rows.coverage.to_numpy()[inside & (phase == "train")]
    return {
        "score": score,
        "normalised": normalise(score, spec),
        "coverage": trained[-1] if whole and len(trained) else np.nan,
        "seconds": 100 * rows.seconds.max() / episode.max(),
        "finished": bool(rows.finished.iloc[0]),
    }


def _latest(evaluated: np.ndarray, last: int) -> tuple[int, int]:
    """First and final episode of a run's last `last` evaluations; (1, 0) if it has none."""
    final = int(evaluated.max()) if len(evaluated) else 0
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
