"""Sweeps: what is missing is run, what fails is named, nothing is run twice."""

import importlib
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from baselines.cli.sweep import seeds
from explore_suite import fingerprint
from explore_suite.__main__ import main
from explore_suite.errors import UserError
from explore_suite.installation import install_command
from explore_suite.runs.format import read_header
from explore_suite.runs.store import ResultStore
from explore_suite.tasks import CLASSIC, ORIGINAL, task_names
from tests.helpers.runs import wait_for

FAST = ["--agents", "random", "--tasks", "GridWorld", "--seeds", "0-2", "--episodes", "2"]


def sweep(*arguments):
    """The command in a process of its own."""
    return subprocess.run(
        [sys.executable, "-m", "explore_suite", "sweep", *arguments],
        capture_output=True, text=True, check=False,
    )  # fmt: skip


def test_seeds_and_groups():
    assert seeds("0-3") == [0, 1, 2, 3] and seeds("5,1-2,5") == [5, 1, 2]
    assert task_names(["hallway", "GridWorld"]) == [
        "HallwayLocalOptimum", "HallwayAdversarial", "GridWorld",
    ]  # fmt: skip
    assert len(task_names(["all", "grid"])) == 17 and len(task_names(["explore"])) == 4
    assert task_names(["original"]) == list(ORIGINAL)
    assert sorted(task_names(["classic"])) == sorted(CLASSIC)


def test_more_seeds_than_anybody_runs_are_refused_before_they_are_listed():
    assert len(seeds("5-10004")) == 10_000
    for text in ("0-9999999999", "0-10000", "0-9999,10000", "0-999999999999999999"):
        with pytest.raises(UserError, match="more than 10000 seeds"):
            seeds(text)


@pytest.mark.parametrize(
    "text", ["7-0", "", "a", "1-", "-1", "1,,2", "1.5", "9" * 5000, "\u0663", "1\n"]
)
def test_wrong_seeds_are_refused(text):
    with pytest.raises(UserError, match="--seeds"):
        seeds(text)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--agents", "sax", "--tasks", "grid"], "unknown agent 'sax'"),
        (["--agents", "random", "--tasks", "Girdworld"], "did you mean GridWorld"),
        (["--agents", "sac", "--tasks", "grid"], "can act"),
        (["--agents", "random", "--tasks", "grid", "--seeds", "7-0"], "a range goes upwards"),
        (["--agents", "random", "--tasks", "grid", "--workers", "0"], "--workers"),
        (["--agents", "random", "--tasks", "grid", "--episodes", "0"], "episodes 1 or more"),
        (["--agents", "ddqn.hot", "--tasks", "grid"], "unknown variant 'ddqn.hot'"),
        (["--agents", "sax.warm", "--tasks", "grid"], "unknown agent 'sax.warm'"),
        (["--agents", "random", "--tasks", "grid", "--checkpoint-minutes", "-1"], "0 or more"),
        (["--agents", "random", "--tasks", "grid", "--gpus-per-run", "-1"], "0 or more"),
    ],
)
def test_wrong_input_is_one_line_and_exit_code_2(arguments, message, capsys, tmp_path):
    assert main(["sweep", *arguments, "--results", str(tmp_path)]) == 2
    error = capsys.readouterr().err
    assert message in error and error.count("\n") == 1


def test_a_folder_that_cannot_be_written_to_is_one_line_and_exit_code_2(tmp_path, capsys):
    (tmp_path / "file").touch()
    assert main(["sweep", *FAST, "--results", str(tmp_path / "file" / "runs")]) == 2
    error = capsys.readouterr().err
    assert "cannot write to" in error and error.count("\n") == 1


def test_without_ray_the_message_says_what_to_install(tmp_path, capsys, monkeypatch):
    monkeypatch.delitem(sys.modules, "baselines.sweep.ray", raising=False)
    monkeypatch.setitem(sys.modules, "ray", None)
    assert main(["sweep", *FAST, "--results", str(tmp_path), "--engine", "ray"]) == 2
    error = capsys.readouterr().err
    assert install_command("ray") in error and error.count("\n") == 1


@pytest.mark.slow
def test_a_run_that_cannot_be_started_is_named_and_stops_no_other(tmp_path):
    logs = tmp_path / ".logs" / "cpu" / "random" / "GridWorld-v0"
    (logs / "seed-001.log").mkdir(parents=True)
    result = sweep(*FAST, "--results", str(tmp_path), "--workers", "1")
    assert result.returncode == 1 and "Traceback" not in result.stderr
    assert "cannot start random/GridWorld/1: " in result.stdout + result.stderr
    assert [run.header.seed for run in ResultStore(tmp_path).runs()] == [0, 2]


@pytest.mark.slow
def test_a_sweep_runs_what_is_missing_and_only_that(tmp_path):
    first = sweep(*FAST, "--results", str(tmp_path))
    assert first.returncode == 0, first.stdout + first.stderr
    runs = list(ResultStore(tmp_path).runs())
    assert [run.header.seed for run in runs] == [0, 1, 2]
    assert all(run.header.finished and len(run.rows) == 4 for run in runs)
    assert runs[0].rows != runs[1].rows
    again = sweep(*FAST, "--results", str(tmp_path))
    assert "3 finished, 0 to do" in again.stdout


@pytest.mark.slow
@pytest.mark.parametrize("dirty", [True, False, None])
@pytest.mark.parametrize("command", ["train", "sweep"])
def test_uncommitted_code_is_reported_when_training_begins(
    command, dirty, tmp_path, monkeypatch, caplog
):
    def checkout():
        return {"commit": "0" * 40, "dirty": dirty}

    monkeypatch.setattr(importlib.import_module(f"baselines.cli.{command}"), "checkout", checkout)
    monkeypatch.setattr("baselines.cli.sweep.Sweep.run", lambda self: 0)
    flags = FAST if command == "sweep" else ["--agent", "random", "--task", "GridWorld",
                                             "--episodes", "1"]  # fmt: skip
    assert main([command, *flags, "--results", str(tmp_path)]) == 0
    told = caplog.text.count(
        "the checkout of explore-suite has uncommitted changes or untracked files: commit them"
    )
    assert told == bool(dirty)


@pytest.mark.slow
def test_dry_run_lists_and_runs_nothing(tmp_path):
    result = sweep(*FAST, "--results", str(tmp_path), "--dry-run")
    assert result.returncode == 0
    assert "random/GridWorld/2" in result.stdout and "min in all" in result.stdout
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
def test_variants_are_run_under_their_labels(tmp_path):
    arguments = ["--agents", "sac", "ddqn_bbe.pure", "ddqn", "--tasks", "GridWorld"]
    result = sweep(*arguments, "--episodes", "1", "--results", str(tmp_path))
    assert result.returncode == 0, result.stdout + result.stderr
    headers = {run.header.agent: run.header for run in ResultStore(tmp_path).runs()}
    assert set(headers) == {"ddqn", "ddqn_bbe.pure"}
    assert headers["ddqn_bbe.pure"].config["explore_only"] is True


@pytest.mark.slow
def test_failures_are_named_and_stop_no_other(tmp_path):
    """The paths of two runs are taken by a folder and by something that is no header."""
    task = Path("cpu", "random", "GridWorld-v0")
    (tmp_path / task / "seed-001.csv").mkdir(parents=True)
    (tmp_path / task / "seed-002.json").write_text("{")
    result = sweep(*FAST, "--results", str(tmp_path))
    assert result.returncode == 1 and "1 done, 2 failed" in result.stdout
    for seed, problem in ((1, "001.csv: it is no regular file"), (2, "is not a readable header")):
        log = tmp_path / ".logs" / task / f"seed-00{seed}.log"
        assert f"failed: random/GridWorld/{seed}, see {log}" in result.stdout
        assert problem in log.read_text()
    assert read_header(tmp_path / task / "seed-000.json").finished


@pytest.mark.slow
def test_ctrl_c_saves_and_the_same_command_resumes(tmp_path):
    arguments = ["--agents", "ddqn", "--tasks", "GridWorld", "--episodes", "6"]
    command = [sys.executable, "-m", "explore_suite", "sweep", *arguments]
    command += ["--results", str(tmp_path)]
    csv = tmp_path / "cpu" / "ddqn" / "GridWorld-v0" / "seed-000.csv"
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    wait_for(lambda: csv.exists() and csv.read_text().count("\n") > 1, process)
    process.send_signal(signal.SIGINT)
    output, _ = process.communicate(timeout=180)
    assert process.returncode == 130 and "Run the same command again to resume" in output
    (run,) = ResultStore(tmp_path).runs()
    assert not run.header.finished and len(run.rows) % 2 == 0
    assert subprocess.run(command, capture_output=True, check=False).returncode == 0
    (run,) = ResultStore(tmp_path).runs()
    assert run.header.finished and len(run.rows) == 12


@pytest.mark.slow
def test_verify_finds_equal_runs_equal_and_others_different(tmp_path, capsys):
    arguments = ["--agent", "ddqn_deep", "--task", "GridWorld", "--episodes", "3"]
    assert main(["train", *arguments, "--results", str(tmp_path), "--config.hidden", "8",
                 "--variant", "narrow"]) == 0  # fmt: skip
    path = tmp_path / "cpu" / "ddqn_deep.narrow" / "GridWorld-v0" / "seed-000.csv"
    assert main(["verify", str(path)]) == 0
    assert "equal: 6 rows" in capsys.readouterr().out
    lines = path.read_text().splitlines(keepends=True)
    cells = lines[3].split(",")
    lines[3] = ",".join([*cells[:3], "0.5", *cells[4:]])
    path.write_text("".join(lines))
    assert main(["verify", str(path)]) == 1
    assert "line 4 differs" in capsys.readouterr().out
    assert main(["verify", str(path), "--episodes", "1"]) == 0
    assert main(["verify", str(tmp_path / "none.csv")]) == 2


def test_a_sweep_reports_other_physics_before_it_starts(monkeypatch, tmp_path, caplog):
    monkeypatch.setattr(fingerprint, "_DECIMALS", 5)
    monkeypatch.setattr("baselines.cli.sweep.Sweep.run", lambda self: 0)
    assert main(["sweep", *FAST, "--results", str(tmp_path)]) == 0
    assert "GridWorld-v0 no longer behaves as published" in caplog.text
