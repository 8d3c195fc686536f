"""A cell on a node of a cluster, with and without the sweep's storage; no cluster is needed."""

import contextlib
import sys
import time
from dataclasses import replace
from types import SimpleNamespace

import pytest

from baselines.sweep import ray
from baselines.sweep.ray import NodeJob, keep, work
from baselines.training.run import RunOptions, RunSpec, checkpoint_folder, train
from explore_suite.errors import UserError
from explore_suite.runs.store import ResultStore
from tests.helpers.runs import quiet, rows_of

SPEC = RunSpec.of("random", "GridWorld", 3, "cpu", 2)
HOW = RunOptions()


@pytest.fixture
def token(tmp_path):
    """In the sweep's store; a node that cannot see it has storage of its own."""
    (tmp_path / "store").mkdir()
    path = tmp_path / "store" / ".sweep-token"
    path.touch()
    return path


@pytest.fixture
def scratch(tmp_path, monkeypatch):
    """Where a node keeps its temporary files."""
    folder = tmp_path / "scratch"
    folder.mkdir()
    monkeypatch.setattr(ray.tempfile, "tempdir", str(folder))
    return folder


def finished_rows(store):
    assert store.header(SPEC.key).finished
    return rows_of(store)


def test_in_shared_storage_a_node_trains_in_the_sweeps_store(token, scratch, tmp_path):
    job = NodeJob(SPEC, HOW, token, None)
    assert work(job, quiet) == (True, {})
    direct = ResultStore(tmp_path / "direct")
    assert train(SPEC, direct, HOW, quiet)
    assert finished_rows(job.store) == finished_rows(direct)
    assert not list(scratch.iterdir())


def test_an_attempt_lost_after_its_end_is_not_repeated(token):
    job = NodeJob(SPEC, HOW, token, None)
    work(job, quiet)
    path = job.store.path(SPEC.key, ".csv")
    before = path.read_text(), path.stat().st_mtime_ns
    assert work(job, quiet) == (True, {})
    assert (path.read_text(), path.stat().st_mtime_ns) == before


def test_without_it_the_finished_files_travel(token, scratch, tmp_path):
    token.unlink()
    job = NodeJob(SPEC, HOW, token, None)
    finished, files = work(job, quiet)
    assert finished and not list(token.parent.iterdir()) and not list(scratch.iterdir())
    direct = ResultStore(tmp_path / "direct")
    train(SPEC, direct, HOW, quiet)
    begun_earlier = checkpoint_folder(job.store, SPEC.key)
    begun_earlier.mkdir(parents=True)
    (begun_earlier / "episode-000001.safetensors").touch()
    keep(job.store, SPEC, files)
    assert finished_rows(job.store) == finished_rows(direct)
    folders = [store.path(SPEC.key, "").parent for store in (job.store, direct)]
    names = [{path.name for path in folder.iterdir()} for folder in folders]
    assert names[0] == names[1] and not begun_earlier.exists()
    for name, content in files.items():
        assert (job.store.root / name).read_bytes() == content


def test_a_run_does_not_reach_the_store_while_another_process_writes_it(token, scratch):
    token.unlink()
    job = NodeJob(SPEC, HOW, token, None)
    _, files = work(job, quiet)
    with job.store.open(SPEC.header(1)), pytest.raises(UserError, match="another process"):
        keep(job.store, SPEC, files)
    assert not job.store.header(SPEC.key).finished


@pytest.mark.parametrize("shared", [True, False])
def test_a_run_begun_with_other_settings_is_refused(shared, token, scratch):
    job = NodeJob(SPEC, HOW, token, None)
    other = RunSpec.of("random", "GridWorld", 3, "cpu", 7)
    with job.store.open(other.header(1)):
        pass
    held = job.store.path(SPEC.key, ".json").read_bytes()
    if not shared:
        token.unlink()
    with pytest.raises(UserError, match="begun with 7 episodes instead of 2"):
        work(job._replace(held=held), quiet)


def test_a_second_attempt_waits_for_the_lock_of_the_first(token, monkeypatch):
    job = NodeJob(SPEC, HOW, token, None)
    first = contextlib.ExitStack()
    first.enter_context(job.store.open(SPEC.header(1)))
    waits = []

    def sleep(seconds):
        waits.append(seconds)
        if len(waits) == 3:
            first.close()

    clock = SimpleNamespace(sleep=sleep, monotonic=time.monotonic)
    monkeypatch.setattr(ray, "time", clock)
    assert work(job, quiet).finished
    assert len(waits) == 3


def test_it_does_not_wait_for_ever(token, monkeypatch):
    job = NodeJob(SPEC, HOW, token, None)
    monkeypatch.setattr(ray, "LOCK_SECONDS", 0.0)
    with job.store.open(SPEC.header(1)), pytest.raises(UserError, match="another process"):
        work(job, quiet)


def test_a_finished_run_is_lengthened_in_shared_storage_alone(token, scratch, tmp_path):
    longer, direct = replace(SPEC, episodes=4), ResultStore(tmp_path / "direct")
    job = NodeJob(SPEC, replace(HOW, keep_checkpoint=True), token, None)
    assert work(job, quiet).finished
    held = job.store.path(SPEC.key, ".json").read_bytes()
    job = job._replace(spec=longer, held=held)
    token.unlink()
    with pytest.raises(UserError, match="only by nodes that share the sweep's storage"):
        work(job, quiet)
    assert not list(scratch.iterdir())
    token.touch()
    assert work(job, quiet) == (True, {})
    assert train(longer, direct, HOW, quiet) and finished_rows(job.store) == finished_rows(direct)


def test_a_checkpoint_that_a_node_keeps_travels_with_the_run(token, scratch):
    token.unlink()
    job = NodeJob(SPEC, replace(HOW, keep_checkpoint=True), token, None)
    _, files = work(job, quiet)
    begun_earlier = checkpoint_folder(job.store, SPEC.key)
    begun_earlier.mkdir(parents=True)
    (begun_earlier / "episode-000001.safetensors").touch()
    keep(job.store, SPEC, files)
    assert [path.name for path in begun_earlier.iterdir()] == ["episode-000002.safetensors"]
    assert train(replace(SPEC, episodes=3), job.store, HOW, quiet)


def test_a_node_imports_the_modules_that_register_tasks(token, tmp_path, monkeypatch):
    (tmp_path / "tasks_of_this_node.py").write_text("IMPORTED = True\n")
    monkeypatch.syspath_prepend(tmp_path)
    told = SimpleNamespace(remote=lambda *arguments: None)
    job = NodeJob(SPEC, HOW, token, None, imports="tasks_of_this_node")
    assert ray.run_cell("a cell", job, SimpleNamespace(report=told)).finished
    assert sys.modules.pop("tasks_of_this_node").IMPORTED
    with pytest.raises(UserError, match="nowhere_to_be_found"):
        ray.run_cell("a cell", job._replace(imports="nowhere_to_be_found"), None)
