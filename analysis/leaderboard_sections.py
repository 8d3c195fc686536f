"""SECTIONS of the leaderboard: which tasks make a ranking, and whose runs of them are compared."""

from typing import NamedTuple

from analysis.numbers import EXPLORE, ORIGINAL
from explore_suite.tasks import BENCHMARK, TASKS


class Section(NamedTuple):
    """Rows that are compared with each other."""

    group: str  # control, hallway or grid
    setting: str  # of the grid world's variants; `` where agents just learn
    title: str
    about: str
    tasks: tuple[str, ...]
    rank_by: str = "suite"  # the estimate of a row that ranks it


_PAIRS = tuple(task for pair in zip(ORIGINAL, EXPLORE, strict=True) for task in pair)
_HALLWAYS = tuple(sheet.name for sheet in BENCHMARK.values() if sheet.group == "hallway")
_GRID = tuple(sheet.name for sheet in BENCHMARK.values() if sheet.group == "grid")
_SHORT = tuple(sheet.name for sheet in TASKS.values() if not sheet.benchmark)
SECTIONS = (
    Section("control", "", "Control suite",
            "Four tasks of dm_control and the explore variant of each.", _PAIRS),
    Section("hallway", "", "Hallway",
            "A point in a corridor: one task that rewards exploring, one that punishes it.",
            _HALLWAYS),
    Section("hallway", "", "Short Hallway",
            "A shorter corridor, to see in minutes what the long one shows.", _SHORT),
    Section("grid", "", "Grid world, from scratch",
            "40 x 40 cells, corner to corner; only the far corner pays.", _GRID),
    Section("grid", "warm", "Grid world, warm start",
            "The first 20 episodes are played by a skilled policy.", _GRID),
    Section("grid", "pure", "Grid world, exploration only",
            "No reward reaches behaviour; ranked by coverage at the end of the score window.",
            _GRID, "coverage"),
)  # fmt: skip
