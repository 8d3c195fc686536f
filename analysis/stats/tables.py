"""How a number is made: run files -> table of episodes -> score per run -> (seed, task) matrix.

A *return* belongs to an episode; a *score* is the mean evaluation return of a run over its task's
`score_window`. A *method* is what tables and figures compare: an agent's label, and in brackets
what tells it from others of that label. Intervals are in `intervals`, curves in `curves`.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from analysis.stats.intervals import ScoreMatrix
from analysis.stats.stores import LOCAL, REFERENCE, default_stores, is_published
from explore_suite.errors import UserError
from explore_suite.runs.format import COLUMNS, EpisodeRow, Header, Run
from explore_suite.runs.store import LeftOut, ResultStore
from explore_suite.tasks import lookup

RUN = ["method", "task", "seed"]  # what makes a run the same run
ORIGIN = ["origin", "preset", "agent"]  # where a method comes from
EPISODE_COLUMNS = [*RUN, *COLUMNS, "finished", "episodes", *ORIGIN]
SCORE_COLUMNS = [*RUN, "score", "normalised", "coverage", "seconds", "finished"]
_PLAIN_PRESETS = ("cpu", "external")  # not named beside a method unless they must be


@dataclass(frozen=True)
class StoredRun:
    """A run, the method it belongs to and where it came from."""

    method: str
    origin: str  # REFERENCE, LOCAL, or of a submission
    store: Path
    header: Header
    rows: list[EpisodeRow]


def load(stores: Sequence[Path | str]) -> tuple[list[StoredRun], list[LeftOut]]:
    """The runs of several stores, each with its method, and the runs that cannot be used."""
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
    """Runs, given with origin and store, with their methods; of one run in two stores the first."""
    names = method_names([(origin, run.header) for origin, _, run in found])
    runs: dict[tuple[str, str, int], StoredRun] = {}
    for origin, root, (header, rows) in found:
        method = names[origin, header.preset, header.agent]
        run = StoredRun(method, origin, root, header, rows)
        runs.setdefault((method, header.task, header.seed), run)
    return list(runs.values())


def method_names(found: Iterable[tuple[str, Header]]) -> dict[tuple[str, str, str], str]:
    """By origin, preset and agent: the method's name, with no more in brackets than is needed.

    Reference runs have an agent's plain label before local ones, preset `cpu` before others.
    """
    keys = dict.fromkeys((origin, header.preset, header.agent) for origin, header in found)

    def seniority(key: tuple[str, str, str]) -> tuple[bool, bool, str]:
        return key[0] != REFERENCE, key[1] not in _PLAIN_PRESETS, key[1]

    names: dict[tuple[str, str, str], str] = {}
    for key in sorted(keys, key=seniority):
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
    """One row per episode of these runs; `task` is the short name, `episodes` the budget."""
    rows = [
        (run.method, lookup(run.header.task).name, run.header.seed, *row, run.header.finished,
         run.header.episodes, run.origin, run.header.preset, run.header.agent)
        for run in runs
        for row in run.rows
    ]  # fmt: skip
    return pd.DataFrame(rows, columns=EPISODE_COLUMNS)


def load_results(*stores: Path | str) -> pd.DataFrame:
    """One tidy table of the episodes of all runs of these stores, with the EPISODE_COLUMNS.

    Without stores: `runs` of the working directory if there is one, and the published runs.
    """
    return episode_table(load(stores or default_stores())[0])


def headers(runs: Iterable[StoredRun]) -> pd.DataFrame:
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
    scores: pd.DataFrame, method: str, tasks: Sequence[str], column: str = "normalised"
) -> ScoreMatrix:
    """A method's scores by seed and task; what other seeds lack is listed in `missing`."""
    mine = scores[(scores.method == method) & scores.task.isin(tasks)]
    cells = mine.pivot(index="seed", columns="task", values=column)
    cells = cells.reindex(columns=pd.Index(tasks, name="task")).astype(float)
    complete = cells.dropna()
    return ScoreMatrix(method, complete, _missing(method, cells, complete))


def _missing(method: str, cells: pd.DataFrame, complete: pd.DataFrame) -> tuple[str, ...]:
    """One line per task that lacks seeds other tasks have, and one that says what is used then."""
    gaps = cells.isna()
    bare = [task for task in cells.columns if gaps[task].all()]
    lines = [f"{method}: no run with a score on {', '.join(bare)}"] if bare else []
    lines += [
        f"{method} {task}: {_seeds(cells.index[gaps[task]])} missing"
        for task in cells.columns
        if gaps[task].any() and task not in bare
    ]
    if lines and len(complete):
        lines.append(f"{method}: {_seeds(complete.index)} used, which all tasks have")
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
