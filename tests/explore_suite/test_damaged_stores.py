"""Stores that people and disks have been at: copies, lost rows, second writers, broken locks."""

import errno
import fcntl
import json
import os
import shutil
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from baselines.sweep.cells import cell_of
from baselines.training.run import RunSpec
from explore_suite import files
from explore_suite.__main__ import main
from explore_suite.errors import RunLockedError, UserError
from explore_suite.files import replace_bytes
from explore_suite.runs.format import EpisodeRow, Header, RunKey
from explore_suite.runs.store import ResultStore

HEADER = Header(
    preset="cpu", agent="random", task="ExploreSuite/GridWorld-v0", seed=0, episodes=3,
    config={"discrete": True}, source="test",
)  # fmt: skip
ROWS = [
    EpisodeRow(phase, n, 100 * n, n / 7, 100, 0, n / 10, 1.5 * n)
    for n in (1, 2, 3)
    for phase in ("train", "eval")
]
FOLDER = Path("cpu", "random", "GridWorld-v0")


@pytest.fixture
def store(tmp_path):
    """Seeds 0 and 1, finished."""
    made = ResultStore(tmp_path / "runs")
    for seed in (0, 1):
        with made.open(replace(HEADER, seed=seed)) as writer:
            for row in ROWS:
                writer.append(row)
            writer.finish()
    return made


def left_out(store, path):
    """`runs` names this file; `sound_runs` leaves it out, and nothing else."""
    with pytest.raises(UserError) as caught:
        list(store.runs())
    assert str(path) in str(caught.value) and "\n" not in str(caught.value)
    sound, (one,) = store.sound_runs()
    assert one.why == str(caught.value)
    assert all(run.rows == ROWS for run in sound)
    return [run.header.seed for run in sound]


@pytest.mark.parametrize(
    "copy", ["seed-002", "seed-000 (copy)", "seed-1", "seed-000.bak", "seed-0001"]
)
def test_a_copied_seed_is_named_and_not_taken_for_a_run(store, copy):
    folder = store.root / FOLDER
    for suffix in (".json", ".csv"):
        shutil.copy(folder / f"seed-000{suffix}", folder / f"{copy}{suffix}")
    assert left_out(store, folder / f"{copy}.json") == [0, 1]


@pytest.mark.parametrize("level", ["cpu", "cpu/random", "cpu/random/GridWorld-v0"])
@pytest.mark.parametrize("how", [shutil.copytree, shutil.move])
def test_a_copied_or_moved_folder_is_named_and_not_merged(store, level, how):
    shutil.rmtree(store.root / ".checkpoints", ignore_errors=True)
    for suffix in (".json", ".csv"):
        store.path(replace(HEADER, seed=1).key, suffix).unlink()
    place = store.root / level
    how(place, place.with_name("other"))
    moved = place.with_name("other") / FOLDER.relative_to(level) / "seed-000.json"
    assert left_out(store, moved) == ([0] if how is shutil.copytree else [])


def test_a_run_is_not_resumed_from_the_header_of_another(store, capsys):
    folder = store.root / FOLDER
    shutil.copy(folder / "seed-000.json", folder / "seed-002.json")
    with pytest.raises(UserError, match=r"seed-002\.json holds the header of .*seed-000"):
        store.header(RunKey(*HEADER.key[:3], 2))
    command = ["train", "--agent", "random", "--task", "GridWorld", "--seed", "2"]
    assert main([*command, "--episodes", "3", "--results", str(store.root)]) == 2
    assert "holds the header of" in capsys.readouterr().err
    assert [header.seed for header in store.seeds(HEADER.key)] == [0, 1], "no sibling either"


def damage(path, how):
    """Rewrites a CSV of six rows."""
    head, *rows = path.read_text().splitlines(keepends=True)
    path.write_text(head + "".join(how(rows)))


DAMAGE = {
    "all rows lost": lambda rows: [],
    "the end lost": lambda rows: rows[:4],
    "a row lost": lambda rows: rows[:2] + rows[3:],
    "an episode lost": lambda rows: rows[2:],
    "rows swapped": lambda rows: [rows[1], rows[0], *rows[2:]],
    "a row too many": lambda rows: [*rows, rows[-1]],
    "a row twice": lambda rows: [*rows[:5], rows[4]],
    "not a number": lambda rows: ["train,1,100,nan,100,0,0.1,1.5\n", *rows[1:]],
    "infinite": lambda rows: [*rows[:5], "eval,3,300,inf,100,0,0.3,4.5\n"],
    "cut off": lambda rows: [*rows[:5], rows[5][:9]],
    "cut off in the last number": lambda rows: [*rows[:5], rows[5][:-2]],
    "no text": lambda rows: [*rows[:5], "\x00\x00"],
}


@pytest.mark.parametrize("how", DAMAGE)
def test_a_finished_run_has_all_its_rows_or_is_named(store, how, capsys):
    path = store.path(HEADER.key, ".csv")
    damage(path, DAMAGE[how])
    before = path.read_bytes()
    assert left_out(store, path) == [1]
    assert cell_of(RunSpec.of("random", "GridWorld", 0, "cpu", 3), store).state == "waiting"
    command = ["train", "--agent", "random", "--task", "GridWorld", "--episodes", "3"]
    assert main([*command, "--results", str(store.root)]) == 2
    error = capsys.readouterr().err
    assert str(path) in error and "--overwrite runs it again" in error
    assert path.read_bytes() == before, "nothing is overwritten unasked"


def test_a_budget_of_nothing_is_not_finished(store):
    path = store.path(HEADER.key, ".json")
    path.write_text(json.dumps(json.loads(path.read_text()) | {"episodes": 0}))
    damage(path.with_suffix(".csv"), DAMAGE["all rows lost"])
    assert left_out(store, path.with_suffix(".csv")) == [1]


@pytest.mark.parametrize(
    "change",
    [{"task": "ExploreSuite/GridWorld-v9"}, {"agent": "../x"}, {"agent": "a b"}, {"preset": ""}],
)
def test_a_header_of_an_unknown_task_or_name_is_named(store, change):
    values = json.loads(store.path(HEADER.key, ".json").read_text()) | change
    path = store.root / "cpu" / "random" / "GridWorld-v9" / "seed-000.json"
    path.parent.mkdir()
    path.write_text(json.dumps(values))
    shutil.copy(store.path(HEADER.key, ".csv"), path.with_suffix(".csv"))
    assert left_out(store, path) == [0, 1]


def test_a_header_nested_without_end_is_named(store):
    path = store.path(HEADER.key, ".json")
    path.write_text("[" * 100_000)
    assert left_out(store, path) == [1]


@pytest.mark.parametrize(
    "change",
    [{"source": "\ud800"}, {"config": {"\udc00": 1}}, {"code": {"commit": 5}}],
    ids=["half a character", "half a character in a key", "a number for a commit"],
)
def test_a_header_that_no_report_can_show_is_named(store, change):
    path = store.path(HEADER.key, ".json")
    path.write_text(json.dumps(json.loads(path.read_text()) | change))
    assert left_out(store, path) == [1]


def test_a_file_name_that_is_no_text_can_be_printed(store):
    folder = store.root / FOLDER
    shutil.copy(folder / "seed-000.json", os.fsencode(folder) + b"/seed-\xff.json")
    _, (one,) = store.sound_runs()
    assert "seed-\\udcff.json holds the header of" in one.why
    assert one.why.isprintable() and str(one.path).isprintable()


SOUND_STATES = {
    "episode": 1, "visits": [[1, 0], [0, 2]], "trajectory": [[0, 0], [1, 1]], "maps": {},
    "axes": [{"name": name, "low": 0, "high": 2, "bins": 2} for name in "xy"],
}  # fmt: skip
OTHER_AXIS = {"name": "y", "low": 0, "high": 3, "bins": 3}


@pytest.mark.parametrize(
    "text",
    ["[" * 100_000, "[1]", "null", "{", "\0"]
    + [
        json.dumps(SOUND_STATES | change)
        for change in (
            {"visits": "many"}, {"visits": [[1, 0]]}, {"visits": [[10**30, 0], [0, 2]]},
            {"trajectory": [[0, 0, 0]]}, {"trajectory": []}, {"maps": {"bonus": [1]}},
            {"maps": []}, {"episode": None}, {"axes": SOUND_STATES["axes"][:1]},
            {"axes": [SOUND_STATES["axes"][0], OTHER_AXIS]},
            {"axes": [SOUND_STATES["axes"][0], OTHER_AXIS | {"bins": 2, "high": float("nan")}]},
        )
    ],
)  # fmt: skip
def test_a_states_file_that_is_none_is_named(store, text):
    path = store.path(HEADER.key, ".states.json")
    path.write_text(json.dumps(SOUND_STATES))
    assert store.states(HEADER.key).visits.tolist() == [[1, 0], [0, 2]]
    path.write_text(text)
    with pytest.raises(UserError, match=r"seed-000\.states\.json is not a (readable )?states file"):
        store.states(HEADER.key)


def test_rows_that_lost_their_header_are_not_replaced(store):
    table, header = store.path(HEADER.key, ".csv"), store.path(HEADER.key, ".json")
    rows, lost = table.read_bytes(), header.read_bytes()
    header.unlink()
    with (
        pytest.raises(UserError, match=r"seed-000\.csv holds rows, but its header seed-000"),
        store.open(HEADER),
    ):
        pass
    assert table.read_bytes() == rows
    sound, (one,) = store.sound_runs()
    assert f"{table} holds rows, but its header seed-000.json is missing" in one.why
    assert one.path == FOLDER / header.name and [run.header.seed for run in sound] == [1]
    header.write_bytes(lost)
    assert store.run(HEADER.key).rows == ROWS
    header.unlink()
    with store.open(HEADER, overwrite=True):
        pass
    assert store.run(HEADER.key).rows == []


@pytest.mark.parametrize("number", [errno.EACCES, errno.ESTALE, errno.EIO])
@pytest.mark.parametrize("suffix", [".json", ".csv"])
def test_a_file_that_cannot_be_read_is_named(store, monkeypatch, number, suffix):
    path, real = store.path(HEADER.key, suffix), Path.open

    def broken(self, *arguments, **options):
        if self == path:
            raise OSError(number, os.strerror(number), str(self))
        return real(self, *arguments, **options)

    monkeypatch.setattr(Path, "open", broken)
    assert left_out(store, path) == [1]


@pytest.mark.parametrize("suffix", [".json", ".csv"])
def test_a_pipe_in_place_of_a_file_is_named_and_not_waited_for(store, suffix):
    path = store.path(replace(HEADER, seed=1).key, suffix)
    path.unlink()
    os.mkfifo(path)
    assert left_out(store, path) == [0]


def test_a_run_short_of_rows_does_not_finish(tmp_path):
    store = ResultStore(tmp_path)
    with store.open(HEADER) as writer:
        for row in ROWS[:-1]:
            writer.append(row)
        with pytest.raises(UserError, match=r"seed-000\.csv: has 5 rows of 6"):
            writer.finish()
    assert not store.header(HEADER.key).finished


def test_a_second_writer_behind_a_removed_lock_keeps_its_run(tmp_path):
    """The first writer notices before it saves anything, and leaves the second's lock alone."""
    store = ResultStore(tmp_path)
    lock = store.path(HEADER.key, ".lock")
    with store.open(HEADER) as first:
        for row in ROWS:
            first.append(row)
        lock.unlink()
        second = store.open(HEADER)
        writer = second.__enter__()
        for check in (first.sync, first.finish):
            with pytest.raises(UserError, match="removed, moved or replaced"):
                check()
    assert not store.header(HEADER.key).finished and lock.exists()
    with pytest.raises(RunLockedError), store.open(HEADER):
        pass
    for row in ROWS:
        writer.append(row)
    writer.finish()
    second.__exit__(None, None, None)
    assert next(store.runs()).rows == ROWS and not lock.exists()


@pytest.mark.parametrize("number", [errno.ENOLCK, errno.EOPNOTSUPP, errno.EIO, errno.ESTALE])
def test_a_file_system_without_locks_is_one_line(tmp_path, monkeypatch, number):
    def flock(*_):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(fcntl, "flock", flock)
    with pytest.raises(UserError, match=f"cannot lock .*{os.strerror(number)}") as caught:
        with ResultStore(tmp_path).open(HEADER):
            pass
    assert ("-o flock" in str(caught.value)) == (number in (errno.ENOLCK, errno.EOPNOTSUPP))


def test_drafts_of_a_killed_writer_are_removed_by_the_next(store):
    folder = store.root / FOLDER
    for name in ("seed-000.json.0a1b2c3d.tmp", "seed-000.csv.tmp", "seed-001.csv.0a1b2c3d.tmp"):
        (folder / name).touch()
    with store.open(HEADER, overwrite=True):
        pass
    assert [path.name for path in folder.glob("*.tmp")] == ["seed-001.csv.0a1b2c3d.tmp"]


def test_two_writers_of_one_file_do_not_clash(tmp_path):
    """Each replaces the file many times; whoever reads sees one of the two contents, whole."""
    path, problems = tmp_path / "page.html", []

    def write(content):
        try:
            for _ in range(100):
                replace_bytes(path, content)
        except OSError as error:
            problems.append(error)

    contents = [letter * 100_000 for letter in (b"a", b"b")]
    writers = [threading.Thread(target=write, args=(content,)) for content in contents]
    replace_bytes(path, contents[0])
    for writer in writers:
        writer.start()
    while any(writer.is_alive() for writer in writers):
        assert path.read_bytes() in contents
    assert problems == [] and [found.name for found in tmp_path.iterdir()] == ["page.html"]


def test_an_interrupted_write_leaves_the_old_file_and_no_draft(tmp_path, monkeypatch):
    replace_bytes(tmp_path / "page", b"old")

    def interrupted(descriptor):
        raise KeyboardInterrupt

    monkeypatch.setattr(files.os, "fsync", interrupted)
    with pytest.raises(KeyboardInterrupt):
        replace_bytes(tmp_path / "page", b"new")
    assert (tmp_path / "page").read_bytes() == b"old"
    assert [found.name for found in tmp_path.iterdir()] == ["page"]
