"""Invented stores for tests: valid files whose headers say that no agent ever ran."""

import json
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from analysis.stats.stores import LOCAL
from analysis.stats.tables import StoredRun, named
from explore_suite.runs.format import EpisodeRow, Header, Run, dump_header
from explore_suite.runs.store import ResultStore
from explore_suite.tasks import TASKS, lookup

SOURCE = "synthetic: invented for a test, no agent ran"
AGENTS = ("sac", "sac_bbe", "sac_2q", "sac_deep")
SUITE = tuple(spec.name for spec in TASKS.values() if spec.group in ("explore", "original"))
CLASSIC = tuple(spec.name for spec in TASKS.values() if spec.group == "classic")
HALLWAYS = ("HallwayLocalOptimum", "HallwayAdversarial")
GRID_AGENTS = (
    "ddqn", "ddqn_bbe", "ddqn_deep", "ddqn.warm", "ddqn_bbe.warm", "ddqn_deep.warm",
    "random", "ddqn_bbe.pure", "ddqn_deep.pure", "ddqn_deep.pure_plain", "ddqn_deep.pure_slow",
)  # fmt: skip
GRID_SIDE = 40


class Cell(NamedTuple):
    """One invented run."""

    agent: str
    task: str
    seed: int
    episodes: int = 110


def cells(
    agents: Sequence[str], tasks: Sequence[str], seeds: int, episodes: int = 110
) -> list[Cell]:
    """Every agent on every task with seeds 0 .. seeds - 1."""
    return [
        Cell(agent, task, seed, episodes)
        for agent in agents
        for task in tasks
        for seed in range(seeds)
    ]


def paper_cells(seeds: int = 5) -> list[Cell]:
    """Runs for every figure: the suite, both hallways, the grid world, classic and other tasks."""
    return [
        *cells((*AGENTS, "sac_oac"), SUITE, seeds),
        *cells(("sac.long", "sac_deep.long"), ("FingerTurnHard", "WalkerExplore"), seeds, 300),
        *cells(("sac", "sac_deep"), HALLWAYS[:1], seeds, 300),
        *cells(("sac", "sac_deep"), HALLWAYS[1:], seeds, 100),
        *cells(GRID_AGENTS, ("GridWorld",), seeds, 320),
        *cells(("sac", "sac_deep"), CLASSIC, seeds),
        *cells(("sac", "sac_deep"), ("HallwayShort",), seeds, 50),
    ]


def write(root: Path, wanted: Iterable[Cell], preset: str = "cpu") -> ResultStore:
    """A store that holds these runs, finished."""
    store = ResultStore(root)
    for cell in wanted:
        put(store, invent(cell, preset))
    return store


def put(store: ResultStore, run: Run) -> None:
    """Writes a run into a store, finished or not as its header says."""
    with store.open(replace(run.header, finished=False)) as writer:
        for row in run.rows:
            writer.append(row)
    if run.header.finished:  # written as it is: the writer would not finish a damaged run
        store.path(run.header.key, ".json").write_text(dump_header(run.header))


def invent(cell: Cell, preset: str = "cpu") -> Run:
    """A finished run whose returns rise from random to some plateau, the same each time."""
    agent, task, seed, episodes = cell
    spec = lookup(task)
    ability = _generator(agent, task)
    luck = _generator(agent, task, seed)
    start, span = ability.uniform(0.1, 0.7) * episodes, 0.08 * episodes
    plateau = ability.uniform(0.2, 1.0) * luck.uniform(0.4, 1.0)
    start = start * luck.uniform(0.7, 1.3)
    speed = ability.uniform(0.3, 3.0) * luck.uniform(0.8, 1.2) / episodes
    rows = []
    for episode in range(1, episodes + 1):
        level = plateau / (1 + np.exp((start - episode) / span))
        coverage = round(float(1 - np.exp(-speed * episode)), 4)
        for phase in ("train", "eval"):
            noisy = level * luck.uniform(0.8, 1.0)
            steps = int(noisy * spec.horizon)
            rows.append(EpisodeRow(
                phase, episode, episode * spec.horizon, round(noisy * spec.best_return, 3),
                spec.horizon, steps, coverage, round(2.5 * episode, 3),
            ))  # fmt: skip
    return Run(header(cell, preset, finished=True), rows)


def stored(runs: Iterable[Run], store: Path = Path("nowhere")) -> list[StoredRun]:
    """Runs as if they had been read from a user's store."""
    return named([(LOCAL, store, run) for run in runs])


def header(cell: Cell, preset: str = "cpu", finished: bool = False) -> Header:
    """What an invented run says of itself."""
    return Header(
        preset, cell.agent, lookup(cell.task).id, cell.seed, cell.episodes, config={},
        source=SOURCE, code={"commit": "0" * 40, "dirty": False},
        versions={"mujoco": "0.0.0"}, fingerprint="0" * 16, finished=finished,
    )  # fmt: skip


def write_states(store: ResultStore, cell: Cell, preset: str = "cpu") -> None:
    """The invented insides of a grid-world agent at episode 100, beside its run."""
    path = store.path(header(cell, preset).key, ".states.json")
    path.write_text(json.dumps(states(cell.agent)))


def states(agent: str) -> dict[str, object]:
    """Visits spread from the start as far as the agent is good; maps where the agent has them."""
    reach = {"ddqn": 6.0, "ddqn_bbe": 12.0}.get(agent, 30.0)
    row, column = np.mgrid[:GRID_SIDE, :GRID_SIDE]
    visits = np.floor(60 * np.exp(-(row + column) / reach)).astype(int)
    walk = _generator(agent, "GridWorld").integers(0, 2, 60)
    trajectory = np.stack([np.cumsum(walk), np.cumsum(1 - walk)], axis=1)
    bonus = np.where(visits > 0, 1 / np.sqrt(np.maximum(visits, 1)), 0.0)
    value = np.where(visits > 0, (row + column) / 78, 0.0)
    maps = {"task_value": 0.2 * value}
    if agent != "ddqn":
        maps["bonus"] = bonus
    if agent == "ddqn_deep":
        maps |= {"exploration_value": 100 * value, "optimistic_value": 80 * value + 20}
    axis = {"low": -0.5, "high": GRID_SIDE - 0.5, "bins": GRID_SIDE}
    return {
        "episode": 100,
        "axes": [{"name": "row", **axis}, {"name": "column", **axis}],
        "visits": visits.tolist(),
        "trajectory": np.minimum(trajectory, GRID_SIDE - 1).tolist(),
        "maps": {name: np.round(found, 4).tolist() for name, found in maps.items()},
    }


def _generator(*names: str | int) -> np.random.Generator:
    return np.random.default_rng(zlib.crc32("/".join(map(str, names)).encode()))
