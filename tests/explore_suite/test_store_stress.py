"""The store under many writers, many runs, a full disk and a disk that may not be written."""

import json
import multiprocessing
import os
import shutil
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from explore_suite.__main__ import main
from explore_suite.errors import UserError
from explore_suite.runs.format import COLUMNS, PHASES, EpisodeRow, Header, RunKey, dump_header
from explore_suite.runs.store import ResultStore

HEADER = Header(
    preset="cpu", agent="random", task="ExploreSuite/GridWorld-v0", seed=0, episodes=110,
    config={"discrete": True}, source="test",
)  # fmt: skip
ROWS = [
    EpisodeRow(phase, n, 1000 * n, 1000 * n / 7, 1000, n, n / 991, round(n * 12.3456, 3))
    for n in range(1, 111)
    for phase in PHASES
]
WRITERS, OPENS = 8, 40
WANTED = replace(HEADER, agent="wanted")
TRAIN = ["train", "--agent", "random", "--task", "GridWorld", "--episodes", "60"]
spawn = multiprocessing.get_context("spawn")


def _write(root, seed, barrier):
    """A run of this process alone, then many attempts at one run that all processes want."""
    barrier.wait(60)
    with ResultStore(root).open(replace(HEADER, seed=seed)) as run:
        for row in ROWS:
            run.append(row)
        run.finish()
    for _ in range(OPENS):
        try:
            with ResultStore(root).open(WANTED):
                (Path(root) / "inside").touch(exist_ok=False)  # a second one inside fails here
                (Path(root) / "inside").unlink()
        except UserError as error:
            assert str(error).endswith("is being written by another process")


@pytest.mark.slow
def test_eight_processes_write_to_one_store_while_another_reads(tmp_path):
    store, barrier = ResultStore(tmp_path), spawn.Barrier(WRITERS)
    writers = [
        spawn.Process(target=_write, args=(tmp_path, seed, barrier)) for seed in range(WRITERS)
    ]
    for writer in writers:
        writer.start()
    while any(writer.is_alive() for writer in writers):
        for run in store.runs():
            assert run.rows == ROWS[: len(run.rows)], "whatever is read is a part of the run"
        time.sleep(0.01)
    assert [writer.exitcode for writer in writers] == [0] * WRITERS
    *runs, wanted = store.runs()
    assert [run.header.seed for run in runs] == list(range(WRITERS))
    assert all(run.header.finished and run.rows == ROWS for run in runs)
    assert wanted == (WANTED, [])
    assert not [path for path in tmp_path.rglob("*") if path.suffix in (".lock", ".tmp")]


@pytest.mark.slow
def test_a_thousand_runs_are_read_in_two_seconds(tmp_path):
    store = ResultStore(tmp_path)
    text = "".join(",".join(map(str, row)) + "\n" for row in [COLUMNS, *ROWS])
    for number in range(1000):
        header = replace(HEADER, agent=f"a{number % 20}", seed=number // 20, finished=True)
        path = store.path(header.key, ".json")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(dump_header(header))
        path.with_suffix(".csv").write_text(text)
    began = time.process_time()
    assert sum(len(run.rows) for run in store.runs()) == 220_000
    assert time.process_time() - began < 2.0


def refused(arguments, capsys, *parts, code=2):
    """The command ends with one line that says all the parts."""
    assert main(arguments) == code
    captured = capsys.readouterr()
    assert captured.err.count("\n") == 1 and captured.err.startswith("explore-suite train: ")
    for part in parts:
        assert part in captured.err


def test_a_run_that_is_being_written_is_refused_in_one_line(tmp_path, capsys):
    with ResultStore(tmp_path).open(replace(HEADER, episodes=60)):
        command = [*TRAIN, "--results", str(tmp_path)]
        refused(command, capsys, "being written by another process", code=75)


def test_a_header_of_a_newer_schema_is_refused_in_one_line(tmp_path, capsys):
    with ResultStore(tmp_path).open(HEADER):
        pass
    path = ResultStore(tmp_path).path(HEADER.key, ".json")
    path.write_text(json.dumps(json.loads(path.read_text()) | {"schema": 2, "new": 1}))
    refused([*TRAIN, "--results", str(tmp_path)], capsys, "schema 2, newer than 1: update")
    assert json.loads(path.read_text())["schema"] == 2, "and left as it is"


def test_a_store_below_a_file_is_refused_in_one_line(tmp_path, capsys):
    (tmp_path / "file").touch()
    place = str(tmp_path / "file" / "runs")
    refused([*TRAIN, "--results", place], capsys, "cannot write to", "Not a directory")


def _can_mount() -> list[str]:
    """How to get a namespace of mounts of one's own: as root, as a user, or not at all."""
    for how in (["unshare", "-m"], ["unshare", "-rm"]):
        command = [*how, "mount", "-t", "tmpfs", "tmpfs", "/mnt"]
        if shutil.which("unshare") and not subprocess.run(command, capture_output=True).returncode:
            return how
    return []


NAMESPACE = _can_mount()
COMMAND = f"{sys.executable} -m explore_suite"
mounts = pytest.mark.skipif(not NAMESPACE, reason="neither root nor a user who may mount a tmpfs")


def in_namespace(script, tmp_path):
    """Runs a shell script whose mounts nobody else sees; it finds `disk` and leaves files."""
    (tmp_path / "disk").mkdir()
    how = [*NAMESPACE, "sh", "-euc", script]
    subprocess.run(how, cwd=tmp_path, check=True, env=os.environ | {"OMP_NUM_THREADS": "1"})


def one_error_line(path, *parts):
    """Progress and uncommitted changes aside, it is one line of ours, with all the parts."""
    others = ("episode ", "the checkout of explore-suite has uncommitted changes")
    lines = path.read_text().splitlines()
    (line,) = [line for line in lines if not line.startswith(others)]
    assert line.startswith("explore-suite train: cannot write to ")
    for part in parts:
        assert part in line


def rows_without_seconds(root, finished):
    (run,) = ResultStore(root).runs()
    assert run.header.finished == finished
    return [row[:-1] for row in run.rows]


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    """Rows of the run that the tests below disturb."""
    root = tmp_path_factory.mktemp("undisturbed")
    assert main([*TRAIN, "--results", str(root)]) == 0
    return rows_without_seconds(root, finished=True)


@pytest.mark.slow
def test_a_row_that_finds_no_room_ends_the_run_in_one_line(tmp_path, undisturbed):
    """A file may not grow beyond 2 kB here: the honest way to a write that fails, for any user."""
    store, train = str(tmp_path / "runs"), [*COMMAND.split(), *TRAIN]
    limited = ["prlimit", "--fsize=2048", *train, "--results", store]
    result = subprocess.run(limited, capture_output=True, text=True, check=False)
    (tmp_path / "error").write_text(result.stderr)
    assert result.returncode == 2
    one_error_line(tmp_path / "error", "File too large")
    written = rows_without_seconds(store, finished=False)
    assert 20 < len(written) < 100 and written == undisturbed[: len(written)]
    assert main([*TRAIN, "--results", store]) == 0
    assert rows_without_seconds(store, finished=True) == undisturbed


@pytest.mark.slow
@mounts
def test_a_full_disk_ends_the_run_in_one_line_and_it_goes_on_with_room(tmp_path, undisturbed):
    """Room for a CSV but no header; for both but no second page of rows; for everything."""
    train = f"{COMMAND} {' '.join(TRAIN)} --results disk"
    script = f"""
        mount -t tmpfs -o size=4k tmpfs disk
        {train} 2>error1 >/dev/null && exit 1 || test $? = 2
        cp -r disk full1
        mount -o remount,size=8k disk
        {train} 2>error2 >/dev/null && exit 1 || test $? = 2
        cp -r disk full2
        mount -o remount,size=1m disk
        {train} 2>/dev/null >/dev/null
        cp -r disk roomy
    """
    in_namespace(script, tmp_path)
    for error in ("error1", "error2"):
        one_error_line(tmp_path / error, "No space left on device")
    assert list(ResultStore(tmp_path / "full1").runs()) == []
    written = rows_without_seconds(tmp_path / "full2", finished=False)
    assert len(written) > 20 and written == undisturbed[: len(written)]
    assert not list(tmp_path.rglob("*.tmp"))
    assert rows_without_seconds(tmp_path / "roomy", finished=True) == undisturbed


LEARN = (
    "train --agent ddqn --task GridWorld --episodes 5 --checkpoint-minutes 0 --config.hidden 8 "
    "--config.batch-size 8 --config.updates-per-step 0.02 --variant tiny"
)


@pytest.mark.slow
@mounts
def test_a_checkpoint_that_finds_no_room_costs_nothing_that_was_saved(tmp_path):
    """There is room for two checkpoints of 40 kB and not for a third."""
    script = f"""
        mount -t tmpfs -o size=108k tmpfs disk
        {COMMAND} {LEARN} --results disk 2>error >/dev/null && exit 1 || test $? = 2
        cp -r disk full
        mount -o remount,size=1m disk
        {COMMAND} {LEARN} --results disk 2>progress >/dev/null
        cp -r disk roomy
    """
    in_namespace(script, tmp_path)
    one_error_line(tmp_path / "error", "No space left on device")
    assert "episode 1/5" not in (tmp_path / "progress").read_text(), "it began anew"
    assert main([*LEARN.split(), "--results", str(tmp_path / "whole")]) == 0
    whole = rows_without_seconds(tmp_path / "whole", finished=True)
    written = rows_without_seconds(tmp_path / "full", finished=False)
    assert written and written == whole[: len(written)]
    assert rows_without_seconds(tmp_path / "roomy", finished=True) == whole


@pytest.mark.slow
@mounts
def test_a_disk_that_is_read_only_is_refused_in_one_line(tmp_path):
    """Once where nothing is, once where an unfinished run waits."""
    train = f"{COMMAND} {' '.join(TRAIN)}"
    place = RunKey("cpu", "random", "ExploreSuite/GridWorld-v0", 0).path.parent
    script = f"""
        mount -t tmpfs tmpfs disk
        mkdir -p disk/runs/{place}
        mount -o remount,ro disk
        {train} --results disk/new 2>error >/dev/null && exit 1 || test $? = 2
        {train} --results disk/runs 2>error2 >/dev/null && exit 1 || test $? = 2
    """
    in_namespace(script, tmp_path)
    for name in ("error", "error2"):
        one_error_line(tmp_path / name, "Read-only file system")
