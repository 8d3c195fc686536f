"""The result store: what is written is what is read, and nothing is lost or overwritten."""

import json
import multiprocessing
from dataclasses import replace

import pytest

from explore_suite.errors import UserError
from explore_suite.runs.format import COLUMNS, EpisodeRow, Header
from explore_suite.runs.store import ResultStore

HEADER = Header(
    preset="cpu", agent="sac", task="ExploreSuite/ReacherHard-v0", seed=3, episodes=1,
    config={"hidden": 4}, source="test",
)  # fmt: skip
ROWS = [
    EpisodeRow("train", 1, 1000, 12.5, 1000, 3, 0.125, 1.5),
    EpisodeRow("eval", 1, 1000, 1 / 3, 1000, 0, 0.125, 1.5),
]


def write(store, header=HEADER, rows=ROWS, finish=True, **options):
    with store.open(header, **options) as run:
        for row in rows:
            run.append(row)
        if finish:
            run.finish()


def test_round_trip(tmp_path):
    store = ResultStore(tmp_path)
    write(store)
    (run,) = store.runs()
    assert run.header == replace(HEADER, finished=True)
    assert run.rows == ROWS
    place = tmp_path / "cpu" / "sac" / "ReacherHard-v0"
    assert sorted(path.name for path in place.iterdir()) == ["seed-003.csv", "seed-003.json"]
    assert (place / "seed-003.csv").read_text().splitlines()[0] == ",".join(COLUMNS)


def test_finished_runs_are_not_overwritten(tmp_path):
    store = ResultStore(tmp_path)
    write(store)
    with pytest.raises(UserError, match="is finished; --overwrite"):
        write(store, rows=[])
    other = [row._replace(return_=7.0) for row in ROWS]
    write(store, rows=other, overwrite=True)
    assert next(store.runs()).rows == other


def test_unfinished_runs_are_cut_back(tmp_path):
    store = ResultStore(tmp_path)
    write(store, finish=False)
    assert not store.header(HEADER.key).finished
    write(store, rows=[ROWS[1]], keep_rows=1)
    assert next(store.runs()).rows == ROWS


def test_half_a_line_of_an_unfinished_run_is_left_out(tmp_path):
    store = ResultStore(tmp_path)
    write(store, finish=False)
    path = store.path(HEADER.key, ".csv")
    path.write_text(path.read_text()[:-7])
    assert next(store.runs()).rows == ROWS[:1]


def _hold(root, entered, leave):
    with ResultStore(root).open(HEADER):
        entered.set()
        leave.wait(10)


def test_two_processes_on_one_run(tmp_path):
    context = multiprocessing.get_context("spawn")
    entered, leave = context.Event(), context.Event()
    other = context.Process(target=_hold, args=(tmp_path, entered, leave))
    other.start()
    assert entered.wait(20)
    with pytest.raises(UserError, match="being written by another process"):
        write(ResultStore(tmp_path))
    other.kill()  # the lock dies with its owner
    other.join()
    write(ResultStore(tmp_path))
    assert next(ResultStore(tmp_path).runs()).header.finished


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"schema": 99}, "has schema 99, newer than 1: update"),
        ({"colour": "red"}, "unknown or missing fields: colour"),
        ({"seed": None, "drop": "seed"}, "unknown or missing fields: drop, seed"),
        ({"seed": -1}, "seed is out of range"),
        ({"seed": 2**63}, "seed is out of range"),
        ({"threads": 0}, "threads is out of range"),
        ({"threads": 10**400}, "threads is out of range"),
        ({"episodes": 10**400}, "episodes is out of range"),
        ({"versions": {"mujoco": 3}}, "versions must hold texts alone"),
        ({"traces": {"file": []}}, "traces must hold texts alone"),
    ],
)
def test_strange_headers_are_refused(tmp_path, change, message):
    store = ResultStore(tmp_path)
    write(store)
    path = store.path(HEADER.key, ".json")
    values = json.loads(path.read_text()) | change
    if "drop" in change:
        del values["seed"]
    path.write_text(json.dumps(values))
    with pytest.raises(UserError, match=message):
        list(store.runs())


@pytest.mark.parametrize("text", ["", "{", "[]", "null", "\x00"])
def test_headers_that_are_no_headers_are_refused(tmp_path, text):
    store = ResultStore(tmp_path)
    write(store)
    store.path(HEADER.key, ".json").write_text(text)
    with pytest.raises(UserError, match="header"):
        list(store.runs())


@pytest.mark.parametrize(
    "line",
    [
        "train,1,2,3,4,5,6",
        "train,x,1,1,1,1,1,1",
        "test,1,1,1.0,1,1,0.5,1.0",
        f"train,2,{10**400},1.0,1,1,0.5,1.0",
        f"train,2,1,1.0,1,{-(2**63)},0.5,1.0",
    ],
)
def test_strange_lines_are_refused_with_their_number(tmp_path, line):
    store = ResultStore(tmp_path)
    write(store)
    path = store.path(HEADER.key, ".csv")
    path.write_text(path.read_text() + line + "\n")
    with pytest.raises(UserError, match=r"seed-003\.csv, line 4"):
        list(store.runs())


def test_finished_without_rows_is_refused(tmp_path):
    store = ResultStore(tmp_path)
    write(store)
    store.path(HEADER.key, ".csv").unlink()
    with pytest.raises(UserError, match="missing"):
        list(store.runs())
