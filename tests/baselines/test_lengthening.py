"""A finished run that is lengthened equals one that was as long from the start."""

import functools
import multiprocessing
import os
import random
import shutil
import signal
import time
from dataclasses import replace

import numpy as np
import pytest
import torch

from baselines import AGENTS
from baselines.settings import can_act
from baselines.training import artefacts, checkpoint
from baselines.training.run import RunOptions, RunSpec, checkpoint_folder, train
from explore_suite import files as file_writing
from explore_suite.__main__ import main
from explore_suite.errors import UserError
from explore_suite.runs import store as stores
from explore_suite.runs.format import STATES, TRACES, WEIGHTS
from explore_suite.runs.store import ResultStore, RunWriter
from explore_suite.runs.traces import replay_run
from tests.helpers.runs import after, files, quiet, rows_of
from tests.helpers.small_agents import config

SHORT, LONG, KILLS = 3, 7, 6
KEEP = RunOptions(checkpoint_seconds=0.0, keep_checkpoint=True)  # a checkpoint after every episode
ONCE = RunOptions(checkpoint_seconds=0.0)
fork = multiprocessing.get_context("fork")  # children need not import torch again


@pytest.fixture(autouse=True)
def one_thread():
    torch.set_num_threads(1)


def spec_of(agent, episodes):
    often = {"explorer.updates_per_step": 1} if "deep" in agent else {}
    return RunSpec.of(agent, "GridWorld", 0, "cpu", episodes, config(agent, "GridWorld", **often))


def contents(store, spec):
    """What the run leaves: its rows without their seconds, and every other file byte for byte."""
    header = replace(store.header(spec.key), code={}, machine={})
    companions = {s: store.path(spec.key, s).read_bytes() for s in (STATES, WEIGHTS, TRACES)}
    return header, rows_of(store), companions


@pytest.fixture(scope="module")
def originals(tmp_path_factory):
    """Folders with a short run that kept its checkpoint and with the long one, made once."""

    @functools.cache
    def make(agent):
        root = tmp_path_factory.mktemp(agent)
        assert train(spec_of(agent, SHORT), ResultStore(root / "runs"), KEEP, quiet)
        assert train(spec_of(agent, LONG), ResultStore(root / "whole"), ONCE, quiet)
        return root

    return make


@pytest.fixture
def make(originals, tmp_path):
    """A store with a finished short run, the spec of the long one, and what that must leave."""

    def copy(agent):
        root, spec = originals(agent), spec_of(agent, LONG)
        shutil.copytree(root / "runs", tmp_path / "runs")
        return ResultStore(tmp_path / "runs"), spec, contents(ResultStore(root / "whole"), spec)

    return copy


@pytest.fixture
def made(make):
    """The same of the agent with most to save."""
    return make("ddqn_deep")


def checkpoints(store, spec):
    """The names of a run's checkpoints."""
    folder = checkpoint_folder(store, spec.key)
    return sorted(path.name for path in folder.iterdir()) if folder.exists() else []


@pytest.mark.slow
@pytest.mark.parametrize("agent", [name for name in AGENTS if can_act(name, "GridWorld")])
def test_a_lengthened_run_is_that_of_the_larger_budget(agent, make):
    store, spec, expected = make(agent)
    assert checkpoints(store, spec) == [f"episode-{SHORT:06d}.safetensors"]
    seen = []
    assert train(spec, store, ONCE, lambda trainer, rows: seen.append(trainer.log.episode))
    assert seen == list(range(SHORT + 1, LONG + 1)), "the first episodes are not run again"
    assert contents(store, spec) == expected
    assert expected[0].episodes == LONG and expected[0].finished
    assert checkpoints(store, spec) == [], "not kept a second time unless asked for"


@pytest.mark.slow
def test_a_run_is_lengthened_again_and_again(made):
    store, spec, expected = made
    for episodes in range(SHORT + 1, LONG + 1):
        assert train(replace(spec, episodes=episodes), store, KEEP, quiet)
        assert checkpoints(store, spec) == [f"episode-{episodes:06d}.safetensors"]
    assert contents(store, spec) == expected


@pytest.mark.slow
def test_traces_are_of_the_score_window_and_of_the_new_end(tmp_path):
    """The window of GridWorld is 281 to 300."""
    store, whole = ResultStore(tmp_path / "runs"), ResultStore(tmp_path / "whole")
    for episodes, how in ((299, KEEP), (302, ONCE)):
        assert train(spec_of("random", episodes), store, replace(how, checkpoint_seconds=99), quiet)
    spec = spec_of("random", 302)
    assert train(spec, whole, RunOptions(), quiet)
    assert contents(store, spec) == contents(whole, spec)
    assert replay_run(store.path(spec.key, ".json")) == []
    traces = np.load(store.path(spec.key, TRACES))
    assert traces["episodes"].tolist() == [299, 300, 301, 302]


def _die(*_):
    os.kill(os.getpid(), signal.SIGKILL)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("module", "name", "calls"),
    [
        (stores, "replace_text", 0),  # before anything is written
        (stores, "replace_text", 1),  # the header says unfinished; the rows are not written again
        (stores, "replace_text", 2),
        (RunWriter, "append", 0),
        (RunWriter, "append", 3),  # in the middle of an episode's rows
        (checkpoint, "save", 0),
        (checkpoint, "save", 2),
        (artefacts, "save_policy", 0),  # after the last episode
        (RunWriter, "finish", 0),
        (stores, "replace_bytes", 0),  # before the traces of the longer run
        (stores, "replace_text", 4),  # before the header says finished
    ],
)
def test_killed_while_it_is_lengthened(module, name, calls, made, monkeypatch):
    store, spec, expected = made
    before = contents(store, spec)
    with monkeypatch.context() as patch:
        patch.setattr(module, name, after(calls, getattr(module, name), _die))
        child = fork.Process(target=train, args=(spec, store, KEEP, quiet))
        child.start()
        child.join(120)
    assert child.exitcode == -signal.SIGKILL
    header = store.header(spec.key)
    if name == "replace_text" and calls == 0:
        assert contents(store, spec) == before
    else:
        assert not header.finished and header.episodes == LONG
    assert train(spec, store, ONCE, quiet)
    assert contents(store, spec) == expected


@pytest.mark.slow
def test_killed_at_random_moments_while_it_is_lengthened(made):
    store, spec, expected = made
    saved, moments, kills = files(store), random.Random(1), 0
    began = time.monotonic()
    assert train(spec, store, KEEP, quiet)
    duration = time.monotonic() - began
    while kills < KILLS:
        held = store.header(spec.key)
        if held.finished and held.episodes == LONG:  # at the end before its time: once more
            assert contents(store, spec) == expected
            shutil.rmtree(store.root)
            for path, content in saved.items():
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(content)
        child = fork.Process(target=train, args=(spec, store, KEEP, quiet))
        child.start()
        child.join(moments.uniform(0, duration))
        if child.exitcode is None:
            child.kill()
            child.join()
            kills += 1
    if not (store.header(spec.key).finished and store.header(spec.key).episodes == LONG):
        assert train(spec, store, KEEP, quiet)
    assert contents(store, spec) == expected


@pytest.mark.slow
def test_interrupted_it_is_an_unfinished_run_of_the_larger_budget(made):
    store, spec, expected = made
    assert not train(spec, store, ONCE, lambda *_: os.kill(os.getpid(), signal.SIGINT))
    header = store.header(spec.key)
    assert (header.episodes, header.finished, header.traces) == (LONG, False, {})
    with pytest.raises(UserError, match=f"begun with {LONG} episodes instead of {SHORT}"):
        train(replace(spec, episodes=SHORT), store, ONCE, quiet)
    assert train(spec, store, ONCE, quiet) and contents(store, spec) == expected


@pytest.mark.slow
@pytest.mark.parametrize("how", ["not kept", "damaged"])
def test_without_a_checkpoint_one_line_says_what_to_do(how, tmp_path):
    store = ResultStore(tmp_path)
    assert train(spec_of("ddqn", SHORT), store, KEEP if how == "damaged" else ONCE, quiet)
    spec = spec_of("ddqn", LONG)
    for path in checkpoint_folder(store, spec.key).glob("*"):
        path.write_bytes(path.read_bytes()[:-1])
    before = files(store)
    message = (
        rf"seed-000\.json is finished after {SHORT} episodes and cannot be lengthened to {LONG}: .*"
        "--keep-checkpoint.*--overwrite` runs it from scratch, --results"
    )
    with pytest.raises(UserError, match=message):
        train(spec, store, ONCE, quiet)
    assert files(store) == before, "nothing was lost by the refusal"
    assert train(spec, store, replace(ONCE, overwrite=True), quiet)


@pytest.mark.slow
def test_a_run_is_lengthened_as_it_was_begun(tmp_path):
    store, spec = ResultStore(tmp_path), spec_of("ddqn", LONG)
    assert train(spec_of("ddqn", SHORT), store, KEEP, quiet)
    before = files(store)
    other = replace(spec, config=replace(spec.config, discount=0.5))
    for what, how, message in (
        (other, ONCE, "begun with other settings; --overwrite"),
        (spec, replace(ONCE, threads=2), "begun with 1 threads instead of 2; --overwrite"),
        (replace(spec, episodes=SHORT), ONCE, "is finished; --overwrite"),
        (replace(spec, episodes=SHORT - 1), ONCE, "is finished; --overwrite"),
    ):
        with pytest.raises(UserError, match=message):
            train(what, store, how, quiet)
        assert files(store) == before
    assert train(spec, store, ONCE, quiet)


def test_rows_that_were_lost_are_missed(tmp_path):
    store, spec = ResultStore(tmp_path), spec_of("random", LONG)
    assert train(spec_of("random", SHORT), store, KEEP, quiet)
    path = store.path(spec.key, ".csv")
    path.write_text("".join(path.read_text().splitlines(keepends=True)[:-1]))
    before = files(store)
    with pytest.raises(UserError, match=f"{2 * SHORT - 1} of the {2 * SHORT} rows"):
        train(spec, store, ONCE, quiet)
    assert files(store) == before


@pytest.mark.slow
def test_a_full_disk_costs_nothing_that_was_finished(made, monkeypatch):
    store, spec, expected = made
    before = contents(store, spec)

    def fail(path, content):
        raise OSError(28, "No space left on device", str(path))

    with monkeypatch.context() as patch:
        patch.setattr(file_writing, "replace_bytes", fail)
        with pytest.raises(UserError, match="No space left on device"):
            train(spec, store, ONCE, quiet)
    assert contents(store, spec) == before
    assert train(spec, store, ONCE, quiet) and contents(store, spec) == expected


@pytest.mark.slow
def test_the_commands_lengthen_what_kept_its_checkpoint_and_refuse_the_rest(tmp_path, capsys):
    task = ["--episodes", "2", "--results", str(tmp_path)]
    sweep = ["sweep", "--agents", "random", "--tasks", "GridWorld", "--seeds", "0-1"]
    assert main([*sweep, *task, "--keep-checkpoint"]) == 0
    assert main([*sweep, *task[2:], "--episodes", "4", "--dry-run"]) == 0
    assert "2 runs, 0 finished, 2 to do" in capsys.readouterr().out
    line = ["train", "--agent", "random", "--task", "GridWorld", "--seed", "1", *task[2:]]
    assert main([*line, "--episodes", "4"]) == 0
    assert main([*sweep, *task[2:], "--episodes", "4"]) == 0
    assert "2 runs, 1 finished, 1 to do" in capsys.readouterr().out
    store = ResultStore(tmp_path)
    assert [(run.header.episodes, len(run.rows)) for run in store.runs()] == [(4, 8), (4, 8)]
    for command in (sweep, line):
        assert main([*command, *task[2:], "--episodes", "5"]) == 2
        error = capsys.readouterr().err
        assert "finished after 4 episodes and cannot be lengthened to 5" in error
        assert error.count("\n") == 1 and "--overwrite` runs it from scratch" in error
    assert main([*sweep, *task[2:], "--episodes", "3"]) == 2
    assert "finished with another budget" in capsys.readouterr().err
