"""What the page opens with, and where its rows come from: true of any store."""

from dataclasses import replace
from pathlib import Path

import pytest

from analysis.leaderboard import scatter
from analysis.leaderboard.descriptions import DESCRIPTIONS, VARIANTS, describe
from analysis.leaderboard.entries import Board, gather
from analysis.leaderboard.html import BADGES
from analysis.leaderboard.provenance import core_hours, provenance
from analysis.leaderboard.rows import rows
from analysis.leaderboard.story import compared, story
from analysis.stats.methods import NAMES
from baselines import AGENTS
from explore_suite.runs.store import ResultStore
from explore_suite.tasks import BENCHMARK, EXPLORE, ORIGINAL
from tests.helpers import synthetic

ROOT = Path(__file__).parents[2]
PAIR = ("ReacherHard", "ReacherExplore")
pytestmark = pytest.mark.usefixtures("few_resamples")


def write(root, levels, tasks=PAIR, seeds=3):
    """A store in which each method earns one return on originals and one on explore variants."""
    store = ResultStore(root / "runs")
    for agent, (original, explore) in levels.items():
        for cell in synthetic.cells([agent], tasks, seeds):
            run = synthetic.invent(cell)
            earned = cell.seed + (explore if cell.task in EXPLORE else original)
            synthetic.put(
                store, run._replace(rows=[row._replace(return_=earned) for row in run.rows])
            )
    return gather([root / "runs"])


def told(board):
    return story(board, rows(board))


def test_an_empty_store_says_that_there_is_nothing():
    extent, cost, ranks = story(Board([], {}, []), [])
    assert extent.endswith("; there are no runs yet.")
    assert cost.startswith("No learning method has scores on an original task and its explore")
    assert ranks.startswith("Nothing is ranked yet")
    assert scatter.panels(Board([], {}, [])) == []


def test_one_method_is_compared_with_nobody(tmp_path):
    extent, cost, ranks = told(write(tmp_path, {"sac": (900, 100)}, seeds=1))
    assert f"2 runs of 1 method, on 2 of the {len(BENCHMARK)} tasks of the benchmark." in extent
    assert cost == (
        "On ReacherExplore, where a method must explore, SAC scores 0.10, and on the original task "
        "0.90 (0 is random, 1 the best return known; 1 seed)."
    )
    assert ranks.startswith("Nothing is ranked yet")


def test_of_several_the_best_and_the_worst_at_exploring_are_named(tmp_path):
    levels = {"random": (0, 0), "sac": (900, 100), "sac_deep": (800, 700), "guest": (500, 400)}
    _, cost, _ = told(write(tmp_path, levels))
    assert "SAC+DEEP scores highest of 3 methods, 0.70 [0.70, 0.70], and SAC lowest, 0.10" in cost
    assert "they score 0.80 [0.80, 0.80] and 0.90 [0.90, 0.90]" in cost and "3 seeds" in cost
    assert "overlap" not in cost


def test_ablations_are_not_among_the_methods_compared(tmp_path):
    board = write(tmp_path, {"sac": (900, 100), "sac_deep": (800, 700), "sac.long": (950, 950)})
    assert "SAC+DEEP scores highest of 2 methods" in told(board)[1]
    (panel,) = scatter.panels(board)
    assert [point.entry.label for point in panel.points] == ["sac", "sac_deep"]


def test_intervals_that_overlap_are_reported(tmp_path):
    _, cost, _ = told(write(tmp_path, {"sac": (900, 100), "sac_deep": (900, 100.5)}))
    assert "though their intervals overlap" in cost


def test_random_actions_alone_are_no_finding(tmp_path):
    board = write(tmp_path, {"random": (10, 10)})
    assert told(board)[1].startswith("No learning method has scores")
    assert scatter.panels(board) == []


def test_methods_are_compared_on_all_pairs_that_two_of_them_share(tmp_path):
    write(tmp_path, {"sac": (900, 100), "sac_deep": (800, 700)}, (*PAIR, *synthetic.SUITE[-2:]))
    write(tmp_path, {"sac_bbe": (500, 300)}, PAIR)
    board = write(tmp_path, {"sac_2q": (1, 1)}, (*ORIGINAL, *EXPLORE), seeds=1)
    pairs, found = compared(board)
    assert len(pairs) == 2 and PAIR in pairs
    assert [one.entry.label for one in found] == ["sac", "sac_deep"], "one seed has no interval"
    write(tmp_path / "few", {"sac": (900, 100)}, (*ORIGINAL, *EXPLORE), seeds=1)
    board = write(tmp_path / "few", {"sac_deep": (800, 700)}, PAIR, seeds=2)
    pairs, found = compared(board)
    assert pairs == (PAIR,) and [one.explore.seeds for one in found] == [1, 2]


def test_the_first_of_each_ranking_is_named_with_its_neighbour(tmp_path):
    tasks = (*ORIGINAL, *EXPLORE)
    *_, ranks = told(write(tmp_path, {"sac": (900, 100), "sac_deep": (800, 700)}, tasks))
    assert ranks == (
        "Ranked first: SAC+DEEP of 2 methods in Control suite; intervals of first and second "
        "do not overlap."
    )
    synthetic.write(
        tmp_path / "runs", synthetic.cells(["ddqn", "ddqn_deep"], ["GridWorld"], 3, 300)
    )
    *_, ranks = told(gather([tmp_path / "runs"]))
    assert (
        " of 2 methods in Grid world, from scratch; intervals of first and second overlap" in ranks
    )
    assert ranks.endswith("of these 2.")


def test_points_of_the_picture_are_the_scores(tmp_path):
    board = write(tmp_path, {"sac": (999, -1), "sac_deep": (499, 999)})
    (panel,) = scatter.panels(board)
    assert (panel.original, panel.variant) == PAIR
    (left, bottom, _), _, (right, top, best) = panel.ticks
    assert best == "1000" and left < right and top < bottom
    sac, deep = panel.points
    assert (sac.x, sac.y) == (right, bottom), "the best of the original, nothing of the variant"
    assert deep.x == (left + right) / 2 and deep.y == top
    assert "ReacherHard 1000 [999, 1001], 3 seeds" in sac.words
    assert scatter.marker("sac") != scatter.marker("sac_deep")


def test_every_reference_agent_is_described_with_its_file():
    assert DESCRIPTIONS.keys() == AGENTS.keys()
    for name, found in DESCRIPTIONS.items():
        assert (ROOT / found.file).is_file() and found.words.endswith("."), name
        assert found.paper is None or found.paper.url.startswith("https://")
        module = found.file.removesuffix(".py").replace("/", ".")
        assert AGENTS[name].__module__ == module


def test_variants_are_described_by_what_they_change():
    for label in NAMES:
        assert describe(label) is not None
        variant = label.partition(".")[2]
        assert not variant or describe(label).words.endswith(VARIANTS[variant])
    assert describe("theirs") is None


def test_where_runs_come_from_is_listed_once_each(tmp_path):
    board = write(tmp_path, {"sac": (1, 1)})
    first, *others = board.runs
    machine = {"processor": "Abacus", "cores": 2, "system": "Linux"}
    code = {"commit": "abcdef0123", "dirty": True}
    changed = replace(first, header=replace(first.header, machine=machine, code=code, seed=7))
    board = replace(board, runs=[changed, *others])
    found = provenance(board, board.entries["sac"], PAIR)
    assert found.seeds == (0, 1, 2, 7) and found.hardware == ("Abacus, 2 cores, Linux",)
    assert found.commits == ("0000000", "abcdef0+") and found.versions == ("mujoco 0.0.0",)
    assert found.dates == ()
    for days, told in ((["2026-11-17"], "2026-11-17"),
                       (["2026-11-20", "2026-11-17"], "2026-11-17 to 2026-11-20")):  # fmt: skip
        dated = [replace(run, header=replace(run.header, date=day))
                 for run, day in zip(board.runs, days, strict=False)]  # fmt: skip
        known = replace(board, runs=[*dated, *board.runs[len(days) :]])
        assert provenance(known, board.entries["sac"], PAIR).dates == (f"begun {told}",)
    assert provenance(board, board.entries["sac"], ["WalkerWalk"]).seeds == ()


def test_core_hours_are_of_whole_runs_and_all_threads(tmp_path):
    cell = synthetic.Cell("sac", "ReacherHard", 0, 720)  # of which the page draws less than half
    run = synthetic.invent(cell)
    doubled = run._replace(header=replace(run.header, threads=2))
    synthetic.put(ResultStore(tmp_path / "runs"), doubled)
    tasks, hours = core_hours(gather([tmp_path / "runs"]))
    assert tasks == ["ReacherHard"]
    assert hours == {"sac": {"ReacherHard": pytest.approx(720 * 2.5 * 2 / 3600)}}


def test_every_badge_is_explained():
    assert set(BADGES) == {"reference", "local", "self-reported", "replay-checked", "verified"}
