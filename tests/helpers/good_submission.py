"""A sound submission made in a moment, for tests of the validator.

Its rows are invented but for the traced evaluations of the grid world and of the hallways: these
earn what their rows say. The traces of the control tasks hold actions that were never played.
"""

import json
import random
from dataclasses import replace
from functools import cache
from pathlib import Path

import gymnasium
import numpy as np

from analysis.submissions.check_manifest import mean_score
from analysis.submissions.schema import GROUPS, digest, run_path
from analysis.submissions.task_limits import bins_to_success, least_budget, reachable_bins
from explore_suite.coverage import Coverage
from explore_suite.runs.format import (
    COLUMNS,
    TRACES,
    EpisodeRow,
    Header,
    dump_header,
    listed_traces,
)
from explore_suite.runs.traces import TraceKeeper, traced_episodes
from explore_suite.tasks import TASKS, measured
from explore_suite.tools.measure import solution

AGENT, PRESET, SEEDS = "my-method", "external", 5
VERSIONS = {
    "python": "3.11.7", "explore-suite": "0.1.0", "mujoco": "3.17.0", "dm_control": "1.0.50",
    "gymnasium": "1.4.0", "numpy": "2.4.6",
}  # fmt: skip
SPARSE = ("BallInCup", "Reacher", "Finger", "GridWorld", "CartpoleSwingupSparse", "Pendulum",
          "CheetahRunSparse")  # fmt: skip


def rows_of(task: str, seed: int, episodes: int | None = None) -> list[EpisodeRow]:
    """Rows as a run of this task might have them."""
    spec, draw = TASKS[task], random.Random(f"{task} {seed}")
    budget = episodes or least_budget(spec)
    bins, visited, rows = Coverage(task).visits.size, bins_to_success(spec), []
    for episode in range(1, budget + 1):
        visited = min(reachable_bins(spec), visited + draw.randrange(3))
        for phase in ("train", "eval"):
            successes = draw.randrange(21)
            extra = 0.0 if spec.name.startswith(SPARSE) else draw.random()
            return_ = successes + extra
            if phase == "eval" and episode in traced_episodes(spec, budget):
                return_, successes = _earned(task) or (return_, successes)
            rows.append(
                EpisodeRow(
                    phase,
                    episode,
                    episode * spec.horizon,
                    return_,
                    spec.horizon,
                    successes,
                    visited / bins,
                    round(1.1 * episode, 3),
                )  # fmt: skip
            )
    return rows


def actions_of(task: str, seed: int) -> np.ndarray:
    """Actions of an evaluation; all of one task earn the same, those of the grid world differ."""
    spec = TASKS[task]
    if spec.group == "grid":
        moves = [0] * 39 + [1] * 39
        random.Random(seed).shuffle(moves)
        return np.array([*moves, *[0] * 22])
    actions = np.zeros((spec.horizon, spec.action_dim))
    if spec.group == "hallway":
        way = np.array(solution(spec)[1])
        actions[: len(way)] = way
    return actions


def traces_of(header: Header, luck: int = 0) -> bytes:
    """The traces file of a run."""
    keeper = TraceKeeper(header.task, header.seed)
    for episode in traced_episodes(TASKS[header.task], header.episodes):
        keeper.add(episode, actions_of(header.task, header.seed + luck))
    return keeper.content()


@cache
def _earned(task: str) -> tuple[float, int] | None:
    """Return and success steps of `actions_of`; None for the control tasks."""
    if TASKS[task].group not in ("grid", "hallway"):
        return None
    total, successes = 0.0, 0
    with gymnasium.make(task) as env:
        env.reset(seed=0)
        for action in actions_of(task, 0).astype(env.action_space.dtype):
            _, reward, _, _, info = env.step(action)
            total, successes = total + float(reward), successes + bool(info["success"])
    return total, successes


def header_of(task: str, seed: int, agent: str = AGENT, episodes: int | None = None) -> Header:
    """A header that fits `rows_of`, without traces."""
    return Header(
        preset=PRESET, agent=agent, task=task, seed=seed,
        episodes=episodes or least_budget(TASKS[task]),
        config={"rate": 0.001, "nested": {"on": True}}, source="explore_suite.record",
        code={"commit": None, "dirty": None}, versions=VERSIONS,
        fingerprint=measured("fingerprints")[TASKS[task].name]["fingerprint"],
        machine={"system": "Linux", "processor": "Abacus", "cores": 2}, finished=True,
    )  # fmt: skip


def csv_of(rows: list[EpisodeRow]) -> bytes:
    """The text of a run's CSV."""
    return "".join(",".join(map(str, row)) + "\n" for row in [COLUMNS, *rows]).encode()


def good_files(
    group: str = "hallway", agent: str = AGENT, luck: int = 0, episodes: int | None = None,
    **told: object,
) -> dict[str, bytes]:  # fmt: skip
    """The files of a sound submission: path -> content. `luck` makes other rows, `told` prose."""
    files, scores = {}, {}
    for task in GROUPS[group]:
        runs = [rows_of(task, seed + luck, episodes) for seed in range(SEEDS)]
        for seed, rows in enumerate(runs):
            header = header_of(task, seed, agent, episodes)
            files |= run_files(header, rows, traces_of(header, luck))
        scores[task] = mean_score(task, runs)
    about = json.loads(about_of(GROUPS[group], scores, files)) | {"agent": agent} | told
    return {"submission.json": json.dumps(about, indent=1).encode()} | files


def run_files(header: Header, rows: list[EpisodeRow], traces: bytes = b"") -> dict[str, bytes]:
    """The files of a run: path -> content. The header lists the traces, as a forger's would."""
    stem = run_path(*header.key, "")
    files = {stem + ".csv": csv_of(rows)}
    if traces:
        name = Path(stem + TRACES).name
        header, files[stem + TRACES] = replace(header, traces=listed_traces(name, traces)), traces
    return {stem + ".json": dump_header(header).encode()} | files


def about_of(tasks: list[str], scores: dict[str, float], files: dict[str, bytes]) -> bytes:
    """The text of submission.json."""
    values = {
        "version": 1, "name": "My <b>Method</b>", "agent": AGENT, "preset": PRESET,
        "authors": ["A. Person", "B. Pêrson"], "contact": "a@example.org", "paper": None,
        "code": {"url": "https://example.org/method", "commit": "0123abc"},
        "description": "Explores.", "tuned_on_benchmark": False, "hardware": "a laptop",
        "suite_version": "0.1.0", "tasks": list(tasks), "seeds": list(range(SEEDS)),
        "scores": scores, "files": {path: digest(data) for path, data in files.items()},
    }  # fmt: skip
    return json.dumps(values, indent=1).encode()


def write(folder: Path, files: dict[str, bytes]) -> None:
    """Puts the files into a folder."""
    for path, data in files.items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)


def seal(folder: Path) -> None:
    """Brings the digests of submission.json up to date, as a forger would."""
    about = folder / "submission.json"
    values = json.loads(about.read_text())
    values["files"] = {path: digest((folder / path).read_bytes()) for path in values["files"]}
    about.write_text(json.dumps(values))


def edit_header(path: Path, **changes: object) -> None:
    """Rewrites a header with other values, as the store would write it."""
    header = replace(Header(**json.loads(path.read_text())), **changes)  # type: ignore[arg-type]
    path.write_text(dump_header(header))
