"""Sweeps beside other code, other sweeps and the remains of killed ones."""

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from baselines.sweep.cells import cell_of
from baselines.sweep.engine import LocalEngine
from baselines.training.run import RunOptions, RunSpec, checkpoint_folder, train
from explore_suite.errors import RunLockedError
from explore_suite.python_process import python_command
from explore_suite.runs.store import ResultStore
from tests.helpers.runs import quiet, wait_for

ROOT = Path(__file__).parents[2]
PACKAGES = ("explore_suite", "baselines", "analysis")
FAST = ["--agents", "random", "--tasks", "GridWorld", "--seeds", "0-1", "--episodes", "2"]
LONG = ["--agents", "random", "--tasks", "HallwayLocalOptimum", "--episodes", "100000"]
LONG_SPEC = RunSpec.of("random", "HallwayLocalOptimum", 0, "cpu", 100_000)


def command(*arguments):
    """The sweep as its installed command starts it: without the working directory on the path."""
    code = "import sys; from explore_suite.__main__ import main; sys.exit(main())"
    return [sys.executable, "-P", "-c", code, "sweep", *arguments]


def sweep(*arguments, cwd=None):
    return subprocess.run(
        command(*arguments), capture_output=True, text=True, check=False, cwd=cwd,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
    )  # fmt: skip


def finish(spec, store):
    assert train(spec, store, RunOptions(), quiet)


@pytest.mark.slow
def test_code_in_the_working_directory_is_not_run(tmp_path):
    for hostile in ("baselines/__init__.py", "analysis.py", "torch.py"):
        path = tmp_path / hostile
        path.parent.mkdir(exist_ok=True)
        path.write_text("raise SystemExit('other code')\n")
    result = sweep(*FAST, "--results", "runs", cwd=tmp_path)
    assert result.returncode == 0, result.stdout + result.stderr
    assert len(list(ResultStore(tmp_path / "runs").runs())) == 2


@pytest.mark.slow
def test_inside_another_checkout_the_code_of_the_sweep_is_run(tmp_path):
    """The other checkout would leave a mark."""
    for package in PACKAGES:
        shutil.copytree(ROOT / package, tmp_path / package)
    mark = f"import pathlib; pathlib.Path({str(tmp_path / 'mark')!r}).touch()\n"
    for package in ("explore_suite", "baselines"):
        path = tmp_path / package / "__init__.py"
        path.write_text(path.read_text() + mark)
    assert sweep(*FAST, "--results", "runs", cwd=tmp_path).returncode == 0
    assert not (tmp_path / "mark").exists()


def test_a_new_process_imports_what_this_one_imports(tmp_path, monkeypatch):
    for folder in ("ours", "theirs"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "whose.py").write_text(f"WHOSE = {folder!r}\n")
    monkeypatch.syspath_prepend(tmp_path / "ours")
    monkeypatch.chdir(tmp_path / "theirs")
    started = python_command("import whose; print(whose.WHOSE, sys.argv[1:])", "a", "b")
    assert subprocess.check_output(started, text=True) == "ours ['a', 'b']\n"
    monkeypatch.chdir(tmp_path / "ours")
    monkeypatch.setattr(sys, "path", ["", *sys.path[1:]])  # as in an interactive session here
    started = python_command("import whose; print(whose.WHOSE)")
    assert subprocess.check_output(started, text=True, cwd=tmp_path / "theirs") == "ours\n"


def test_every_python_process_is_started_so():
    files = [path for package in PACKAGES for path in (ROOT / package).rglob("*.py")]
    found = [path.name for path in files if re.search(r"sys\.executable", path.read_text())]
    assert found == ["python_process.py"]


@pytest.mark.slow
@pytest.mark.parametrize("finished", [True, False])
def test_a_run_that_another_process_writes_is_followed(tmp_path, finished):
    """That process finishes it, or ends before: then the sweep runs it."""
    store, out = ResultStore(tmp_path / "runs"), tmp_path / "out"
    spec = RunSpec.of("random", "GridWorld", 1, "cpu", 2)
    finish(spec, ResultStore(tmp_path / "other"))
    (made,) = ResultStore(tmp_path / "other").runs()
    told = "being written by another process, which is waited for: random/GridWorld/1\n"
    with out.open("w") as file, store.open(spec.header(1)) as writer:
        process = subprocess.Popen(command(*FAST, "--results", str(store.root)), stdout=file,
                                   env=os.environ | {"PYTHONPATH": str(ROOT)})  # fmt: skip
        wait_for(lambda: "1 done, 0 failed, 0 waiting, 1 locked\n" in out.read_text())
        wait_for(lambda: told in out.read_text())
        assert process.poll() is None
        if finished:
            for row in made.rows:
                writer.append(row)
            writer.finish()
    assert process.wait(60) == 0
    last = "finished meanwhile by another process: random/GridWorld/1\n"
    assert ("failed:" not in out.read_text()) and (last in out.read_text()) == finished
    runs = list(store.runs())
    assert [run.header.finished for run in runs] == [True, True]
    assert [row[:-1] for row in runs[1].rows] == [row[:-1] for row in made.rows]


@pytest.mark.slow
def test_a_sweep_that_follows_another_process_can_be_interrupted(tmp_path):
    store, out = ResultStore(tmp_path / "runs"), tmp_path / "out"
    with out.open("w") as file, store.open(LONG_SPEC.header(1)):
        process = subprocess.Popen(command(*LONG, "--results", str(store.root)), stdout=file,
                                   env=os.environ | {"PYTHONPATH": str(ROOT)})  # fmt: skip
        wait_for(lambda: "which is waited for" in out.read_text())
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 130
    assert "still written by another process: random/HallwayLocalOptimum/0\n" in out.read_text()


@pytest.mark.slow
def test_a_run_that_another_process_finished_meanwhile_is_no_failure(tmp_path):
    store, spec = ResultStore(tmp_path), RunSpec.of("random", "GridWorld", 0, "cpu", 2)
    cell = cell_of(spec, store)
    finish(spec, store)
    before = store.path(spec.key, ".csv").read_bytes()
    engine = LocalEngine(store, RunOptions())
    engine.start(cell)
    wait_for(lambda: engine.poll() or not engine.active)
    assert cell.state == "done elsewhere" and cell.why == ""
    assert store.path(spec.key, ".csv").read_bytes() == before


@pytest.mark.slow
def test_a_damaged_run_is_not_done_and_says_why(tmp_path):
    store = ResultStore(tmp_path)
    specs = [RunSpec.of("random", "GridWorld", seed, "cpu", 2) for seed in (0, 1)]
    for spec in specs:
        finish(spec, store)
    path = store.path(specs[1].key, ".csv")
    path.write_text("".join(path.read_text().splitlines(keepends=True)[:3]))
    result = sweep(*FAST, "--results", str(tmp_path))
    assert result.returncode == 1 and "2 runs, 1 finished, 1 to do" in result.stdout
    _, _, why = result.stdout.partition("failed: random/GridWorld/1, see ")
    assert f"{path}: has 2 rows of 4" in why and "--overwrite runs it again" in why


@pytest.mark.slow
def test_a_cell_whose_store_is_removed_says_so(tmp_path):
    """Its log is removed, too."""
    root = tmp_path / "runs"
    store = ResultStore(root)
    cell = cell_of(LONG_SPEC, store)
    engine = LocalEngine(store, RunOptions(checkpoint_seconds=0.0))
    engine.start(cell)
    wait_for(lambda: engine.progress() or cell.reached.episode)
    shutil.rmtree(root)
    wait_for(lambda: engine.progress() or engine.poll() or not engine.active)
    assert cell.state == "failed" and not cell.log.exists()
    assert "was removed, moved or replaced" in cell.why or "No such file" in cell.why


@pytest.mark.slow
@pytest.mark.parametrize("seconds", [0.0, 0.5, 1.5])
def test_a_run_that_is_stopped_while_it_starts_leaves_no_traceback(tmp_path, seconds):
    store = ResultStore(tmp_path)
    cell = cell_of(LONG_SPEC, store)
    engine = LocalEngine(store, RunOptions())
    engine.start(cell)
    time.sleep(seconds)
    engine.stop(at_once=False)
    wait_for(lambda: engine.poll() or not engine.active)
    assert cell.state == "waiting" and "Traceback" not in cell.log.read_text()


def is_free(store):
    """Whether nobody writes the long run."""
    try:
        with store.lock(LONG_SPEC.key):
            return True
    except RunLockedError:
        return False


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGHUP])
def test_the_runs_of_a_killed_sweep_save_themselves_and_end(tmp_path, number):
    """Killed outright, or by a terminal that is closed."""
    store = ResultStore(tmp_path)
    process = subprocess.Popen(
        command(*LONG, "--results", str(tmp_path)), stdout=subprocess.PIPE, cwd=ROOT,
        # These tests may themselves have been started by nohup, which is inherited.
        preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_DFL),
    )  # fmt: skip
    csv = store.path(LONG_SPEC.key, ".csv")
    wait_for(lambda: csv.exists() and csv.read_text().count("\n") > 2)
    process.send_signal(number)
    process.communicate(timeout=120)
    wait_for(lambda: is_free(store))
    (checkpoint,) = checkpoint_folder(store, LONG_SPEC.key).iterdir()
    (run,) = store.runs()
    assert checkpoint.name == f"episode-{len(run.rows) // 2:06d}.safetensors"
    assert not run.header.finished and not list(tmp_path.rglob("*.lock"))
