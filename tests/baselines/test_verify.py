"""verify: equal here, and elsewhere what must agree, with an exit code for what cannot be said."""

import os
import shutil
import signal
from dataclasses import replace

import pytest
import torch

from baselines.training import run as training
from baselines.training import verification
from baselines.training.arithmetic import arithmetic, blas_of
from baselines.training.run import RunOptions, RunSpec, train
from explore_suite.__main__ import main
from explore_suite.runs.format import dump_header, read_header
from explore_suite.runs.store import ResultStore
from tests.helpers.runs import quiet

SPEC = RunSpec.of("random", "GridWorld", 0, "cpu", 3)
OTHER = {"capability": "ABACUS", "blas": "beads 1.0"}


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """The folder of a finished run, not to be changed."""
    store = ResultStore(tmp_path_factory.mktemp("store"))
    assert train(SPEC, store, RunOptions(), quiet)
    return store.path(SPEC.key, ".csv").parent


@pytest.fixture
def run(trained, tmp_path):
    """The CSV of a copy of it."""
    return shutil.copytree(trained, tmp_path / "run") / "seed-000.csv"


@pytest.fixture
def elsewhere(monkeypatch):
    """A machine whose torch computes otherwise."""
    monkeypatch.setattr(verification, "arithmetic", lambda: OTHER)


def change(run, line, column, value):
    """Another value in a line of the CSV, both counted as in the file."""
    lines = [text.split(",") for text in run.read_text().splitlines()]
    lines[line - 1][column] = value
    run.write_text("".join(",".join(cells) + "\n" for cells in lines))


def set_header(run, **changes):
    path = run.with_suffix(".json")
    path.write_text(dump_header(replace(read_header(path), **changes)))


def output_of(run, capsys, *more):
    """Exit code and output."""
    return main(["verify", str(run), *more]), capsys.readouterr().out


def test_the_header_names_what_torch_computes_with(run):
    machine = read_header(run.with_suffix(".json")).machine
    assert machine["capability"] == torch.backends.cpu.get_cpu_capability()
    assert machine["blas"] == arithmetic()["blas"] != "unknown"


def test_a_branch_of_mkl_chosen_by_the_environment_is_another_blas(monkeypatch):
    """With it the same processor gives other rows."""
    monkeypatch.delenv("MKL_CBWR", raising=False)
    plain = arithmetic()
    monkeypatch.setenv("MKL_CBWR", "COMPATIBLE")
    assert arithmetic() == plain | {"blas": f"{plain['blas']} MKL_CBWR=COMPATIBLE"}


def test_on_the_same_machine_nothing_is_said_but_equal_or_the_difference(run, capsys):
    assert output_of(run, capsys) == (0, f"equal: 6 rows of {run}\n")
    change(run, 4, 3, "0.5")
    code, output = output_of(run, capsys)
    assert code == 1 and output.startswith("line 4 differs:\n  was ('train', 2, 200, 0.5")


def test_another_processor_of_the_same_capability_is_named_where_rows_differ(run, capsys):
    machine = read_header(run.with_suffix(".json")).machine
    set_header(run, machine=machine | {"processor": "Babbage"})
    assert output_of(run, capsys)[0] == 0
    change(run, 4, 3, "0.5")
    code, output = output_of(run, capsys)
    assert code == 1 and "made on Babbage; this is" in output


def test_elsewhere_equal_rows_are_still_equal(run, elsewhere, capsys):
    code, output = output_of(run, capsys)
    capability, blas = arithmetic().values()
    first, second = output.splitlines()
    assert code == 0 and second == f"equal: 6 rows of {run}"
    assert f"CPU capability {capability} (here ABACUS); CPU blas {blas} (here beads 1.0)" in first


def test_elsewhere_rows_that_learning_may_change_are_not_comparable(run, elsewhere, capsys):
    change(run, 4, 3, "0.5")
    code, output = output_of(run, capsys)
    assert code == 3 and "not comparable here: equal up to line 3; line 4 differs" in output
    assert output_of(run, capsys, "--episodes", "1")[0] == 0


@pytest.mark.parametrize(
    ("line", "column", "value", "reason"),
    [
        (7, 3, "0.5", "episode 3: return 0.5 was written, but its actions earn 0.0"),
        (2, 2, "99", "line 2: phase, episode, env_steps, length ('train', 1, 99, 100), not"),
        (5, 4, "99", "line 5: phase, episode, env_steps, length ('eval', 2, 200, 99), not"),
        (4, 1, "3", "line 4: phase, episode, env_steps, length ('train', 3, 200, 100), not"),
    ],
)
def test_elsewhere_what_must_agree_differs(line, column, value, reason, run, elsewhere, capsys):
    change(run, line, column, value)
    code, output = output_of(run, capsys)
    assert code == 1 and f"differs in what must agree on every machine: {reason}" in output


def test_elsewhere_another_task_or_broken_traces_differ(run, elsewhere, capsys):
    run.with_suffix(".traces.npz").unlink()
    code, output = output_of(run, capsys)
    assert code == 1 and "the traces cannot be replayed" in output
    set_header(run, fingerprint="0" * 16)
    code, output = output_of(run, capsys)
    assert code == 1 and f"and was {'0' * 16}" in output


def test_other_versions_are_named(run, monkeypatch, capsys):
    here = verification.versions()
    monkeypatch.setattr(verification, "versions", lambda: here | {"torch": "0.0.1"})
    change(run, 4, 3, "0.5")
    code, output = output_of(run, capsys)
    assert code == 3 and f"torch {here['torch']} (here 0.0.1)" in output


def test_a_header_of_before_capabilities_were_recorded_is_not_held_against_this_one(run, capsys):
    machine = read_header(run.with_suffix(".json")).machine
    kept = {name: machine[name] for name in machine if name not in OTHER}
    set_header(run, machine=kept, traces={})
    code, output = output_of(run, capsys)
    assert code == 0 and "unknown CPU capability, not in the header" in output
    change(run, 4, 3, "0.5")
    assert output_of(run, capsys)[0] == 3


def test_a_run_that_changed_machines_names_both(tmp_path, monkeypatch, caplog, capsys):
    store = ResultStore(tmp_path)

    def stop(trainer, rows):
        os.kill(os.getpid(), signal.SIGINT)

    for number, capability in enumerate(("AVX2", "AVX2", "AVX512")):
        monkeypatch.setattr(training, "arithmetic", lambda c=capability: {"capability": c})
        finished = train(SPEC, store, RunOptions(), stop)
        assert finished == (number == 2)
    assert store.header(SPEC.key).machine["capability"] == "AVX2, then AVX512"
    assert caplog.text.count("a run that was begun on AVX2") == 1
    assert "AVX2, then AVX512 (here" in output_of(store.path(SPEC.key, ".csv"), capsys)[1]


@pytest.mark.parametrize(
    ("build", "blas"),
    [
        (
            "  - Intel(R) oneAPI Math Kernel Library Version 2024.2-Product Build 20240605\n"
            "  - Intel(R) MKL-DNN v3.12.0\n  - Build settings: BLAS_INFO=mkl, BUILD_TYPE=Release",
            "mkl 2024.2",
        ),
        ("  - OpenBLAS 0.3.30\n  - Build settings: BLAS_INFO=open, USE_MKL=OFF", "open 0.3.30"),
        ("  - Build settings: BLAS_INFO=accelerate, LAPACK_INFO=accelerate", "accelerate"),
        ("  - Build settings: LAPACK_INFO=mkl", "unknown"),
    ],
)
def test_the_blas_is_read_from_torchs_build(build, blas):
    assert blas_of(build) == blas


def test_the_help_names_the_exit_codes(capsys):
    with pytest.raises(SystemExit):
        main(["verify", "--help"])
    text = " ".join(capsys.readouterr().out.split())
    assert "0 equal 1 differs" in text and "3 not comparable here" in text


def test_a_strangers_threads_are_held_to_the_cores_here(run, capsys, monkeypatch):
    asked = []
    monkeypatch.setattr("baselines.training.verification.torch.set_num_threads", asked.append)
    set_header(run, threads=4096)
    code, words = output_of(run, capsys)
    assert code == 0 and "4096 threads (here " in words
    assert asked == [os.cpu_count()]


def test_a_run_that_takes_too_long_is_given_up(run, capsys):
    assert main(["verify", str(run), "--timeout", "0.001"]) == 2
    assert "stopped after 0.001 seconds (--timeout)" in capsys.readouterr().err
    assert main(["verify", str(run), "--timeout", "0"]) == 2
    assert "--timeout must be positive" in capsys.readouterr().err
