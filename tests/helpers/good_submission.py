"""A sound submission made in a moment, for tests of the validator. Its numbers mean nothing."""

import json
import random
from dataclasses import replace
from pathlib import Path

from analysis.submissions.check_rows import score
from analysis.submissions.schema import GROUPS, digest, run_path
from analysis.submissions.task_limits import bins_to_success, least_budget, reachable_bins
from explore_suite.coverage import Coverage
from explore_suite.runs.format import COLUMNS, EpisodeRow, Header, dump_header
from explore_suite.tasks import TASKS, measured

AGENT, PRESET, SEEDS = "my-method", "external", 5
VERSIONS = {
    "python": "3.11.7", "explore-suite": "0.1.0", "mujoco": "3.17.0", "dm_control": "1.0.50",
    "gymnasium": "1.4.0", "numpy": "2.4.6",
}  # fmt: skip
SPARSE = ("BallInCup", "Reacher", "Finger", "GridWorld")


def rows_of(task: str, seed: int, episodes: int | None = None) -> list[EpisodeRow]:
    """Rows as a run of this task might have them."""
    spec, draw = TASKS[task], random.Random(f"{task} {seed}")
    bins, visited, rows = Coverage(task).visits.size, bins_to_success(spec), []
    for episode in range(1, (episodes or least_budget(spec)) + 1):
        visited = min(reachable_bins(spec), visited + draw.randrange(3))
        for phase in ("train", "eval"):
            successes = draw.randrange(21)
            extra = 0.0 if spec.name.startswith(SPARSE) else draw.random()
            rows.append(
                EpisodeRow(
                    phase,
                    episode,
                    episode * spec.horizon,
                    successes + extra,
                    spec.horizon,
                    successes,
                    visited / bins,
                    round(1.1 * episode, 3),
                )  # fmt: skip
            )
    return rows


def header_of(task: str, seed: int, agent: str = AGENT, episodes: int | None = None) -> Header:
    """A header that fits `rows_of`."""
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
            place = run_path(PRESET, agent, task, seed, "")
            files[place + ".json"] = dump_header(header_of(task, seed, agent, episodes)).encode()
            files[place + ".csv"] = csv_of(rows)
        scores[task] = sum(score(TASKS[task], rows) for rows in runs) / SEEDS
    about = json.loads(about_of(GROUPS[group], scores, files)) | {"agent": agent} | told
    return {"submission.json": json.dumps(about, indent=1).encode()} | files


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
