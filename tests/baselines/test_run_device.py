"""The device of a run: its header names it, and nothing resumes or is verified on another."""

import os
import signal
from dataclasses import replace

import pytest

from analysis.submissions import check_headers
from baselines.training import verification
from baselines.training.arithmetic import arithmetic
from baselines.training.run import RunOptions, RunSpec, train
from explore_suite.__main__ import main
from explore_suite.errors import UserError
from explore_suite.runs.format import dump_header
from explore_suite.runs.provenance import provenance
from explore_suite.runs.store import ResultStore
from tests.helpers.pretend_cuda import pretend_cuda
from tests.helpers.runs import files, quiet, rows_of, shorten_episodes
from tests.helpers.small_agents import HORIZON, small, task_of

pytestmark = pytest.mark.slow

EPISODES = 2
SPEC = RunSpec.of("sac", task_of("sac"), 0, "cpu", EPISODES, small("sac").config)
CPU = RunOptions(checkpoint_seconds=0.0)  # a checkpoint after every episode
GPU = replace(CPU, device="cuda")


@pytest.fixture(autouse=True)
def short_episodes(monkeypatch):
    shorten_episodes(monkeypatch, HORIZON)


@pytest.fixture
def cuda(monkeypatch):
    with pretend_cuda(monkeypatch):
        yield


def trained(folder, how):
    """A store with the finished run."""
    store = ResultStore(folder)
    assert train(SPEC, store, how, quiet)
    return store


def begun(folder, how):
    """A store with the run, stopped after its first episode."""
    store = ResultStore(folder)
    assert not train(SPEC, store, how, lambda *_: os.kill(os.getpid(), signal.SIGINT))
    return store


@pytest.mark.parametrize("device", ["cuda", "cuda:0"])
def test_a_header_names_the_kind_of_device(device, cuda, tmp_path):
    header = trained(tmp_path, replace(CPU, device=device)).header(SPEC.key)
    expected = provenance(SPEC.task)["machine"] | arithmetic() | {"device": "cuda"}
    assert header.machine == expected
    assert check_headers.read(dump_header(header).encode()) == (header, [])


def test_a_header_leaves_the_cpu_unnamed():
    assert SPEC.header(1) == SPEC.header(1, "cpu") == SPEC.header(1, "cpu:0")
    assert SPEC.header(1).machine.keys() == {"system", "processor", "cores", *arithmetic()}


@pytest.mark.parametrize("first, second", [(CPU, GPU), (GPU, CPU)])
def test_a_run_does_not_resume_on_another_device(first, second, cuda, tmp_path):
    store = begun(tmp_path / "broken", first)
    before = files(store)
    refusal = (
        f"begun on {first.device} and cannot be resumed on {second.device}; "
        f"--device {first.device} resumes it, --overwrite"
    )
    with pytest.raises(UserError, match=refusal):
        train(SPEC, store, second, quiet)
    assert files(store) == before, "nothing was lost by the refusal"
    assert train(SPEC, store, first, quiet)
    assert rows_of(store) == rows_of(trained(tmp_path / "whole", first))


def test_a_run_is_not_lengthened_on_another_device(cuda, tmp_path):
    store = trained(tmp_path, replace(CPU, keep_checkpoint=True))
    longer, before = replace(SPEC, episodes=EPISODES + 1), files(store)
    with pytest.raises(UserError, match="begun on cpu and cannot be resumed on cuda"):
        train(longer, store, GPU, quiet)
    assert files(store) == before
    assert train(longer, store, CPU, quiet)


def test_a_run_from_scratch_is_of_its_new_device(cuda, tmp_path):
    store = begun(tmp_path, CPU)
    assert train(SPEC, store, replace(GPU, overwrite=True), quiet)
    assert store.header(SPEC.key).machine["device"] == "cuda"


def test_a_run_resumes_on_another_gpu(cuda, tmp_path):
    store = begun(tmp_path, GPU)
    assert train(SPEC, store, replace(GPU, device="cuda:1"), quiet)


@pytest.mark.parametrize("how", [CPU, GPU])
def test_verify_runs_on_the_device_of_the_run(how, cuda, tmp_path, monkeypatch, capsys):
    used, build = [], verification.build

    def watched(*arguments, device, **options):
        used.append(device)
        return build(*arguments, device=device, **options)

    path = trained(tmp_path, how).path(SPEC.key, ".csv")
    monkeypatch.setattr(verification, "build", watched)
    assert main(["verify", str(path)]) == 0 and "equal" in capsys.readouterr().out
    assert used == [how.device]


@pytest.mark.parametrize("device", ["cuda", "meta", "abacus", 7, None, {"cuda": 0}])
def test_verify_names_a_device_that_is_not_here(device, tmp_path, capsys):
    header = SPEC.header(1)
    header = replace(header, machine=header.machine | {"device": device})
    store = trained(tmp_path, CPU)
    store.path(SPEC.key, ".json").write_text(dump_header(replace(header, finished=True)))
    assert main(["verify", str(store.path(SPEC.key, ".csv"))]) == 2
    assert f"learned on {device}, which cannot be used here" in capsys.readouterr().err
