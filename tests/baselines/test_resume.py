"""A run that is killed and started again equals one that never was."""

import functools
import multiprocessing
import os
import random
import signal
import time
from dataclasses import replace

import pytest
import torch

from baselines import AGENTS
from baselines.settings import build
from baselines.training import checkpoint
from baselines.training.run import RunOptions, RunSpec, checkpoint_folder, train
from explore_suite import Coverage
from explore_suite.errors import UserError
from explore_suite.runs.store import ResultStore, RunWriter
from tests.helpers.runs import after, quiet, shorten_episodes
from tests.helpers.small_agents import small, task_of

pytestmark = pytest.mark.slow

EPISODES, HORIZON = 8, 40
MOST_STATE = ("sac", "sac_deep", "ddqn_deep")  # one agent of each kind, with most to save
KILLS = {agent: 6 if agent in MOST_STATE else 2 for agent in AGENTS}
ALWAYS = RunOptions(checkpoint_seconds=0.0)  # a checkpoint after every episode
fork = multiprocessing.get_context("fork")  # children need not import torch again


@pytest.fixture(autouse=True)
def short_episodes(monkeypatch):
    torch.set_num_threads(1)
    shorten_episodes(monkeypatch, HORIZON)


def spec_of(agent, episodes=EPISODES):
    return RunSpec.of(agent, task_of(agent), 0, "cpu", episodes, small(agent).config)


def lines(store, spec):
    """The run's CSV without its last column, the seconds."""
    text = store.path(spec.key, ".csv").read_text()
    return [line.rsplit(",", 1)[0] for line in text.splitlines()]


@pytest.fixture(scope="module")
def whole_lines(tmp_path_factory):
    """The lines of an agent's undisturbed run, which is made once."""

    @functools.cache
    def make(agent):
        store = ResultStore(tmp_path_factory.mktemp("whole"))
        assert train(spec_of(agent), store, ALWAYS, quiet)
        return lines(store, spec_of(agent))

    return make


@pytest.mark.parametrize("agent", AGENTS)
def test_killed_at_random_moments(agent, tmp_path):
    spec = spec_of(agent)
    whole, broken = ResultStore(tmp_path / "whole"), ResultStore(tmp_path / "broken")
    began = time.monotonic()
    assert train(spec, whole, ALWAYS, quiet)
    duration = time.monotonic() - began
    moments, kills = random.Random(0), 0
    while kills < KILLS[agent]:
        child = fork.Process(target=train, args=(spec, broken, ALWAYS, quiet))
        child.start()
        child.join(moments.uniform(0, duration / 3))
        if child.exitcode is None:
            child.kill()
            child.join()
            kills += 1
        held = broken.header(spec.key)
        if held is not None and held.finished:  # it got to the end before its time: once more
            assert lines(broken, spec) == lines(whole, spec)
            broken = ResultStore(tmp_path / f"broken-{time.monotonic_ns()}")
    assert train(spec, broken, ALWAYS, quiet)
    assert lines(broken, spec) == lines(whole, spec)
    assert broken.header(spec.key).finished
    assert not checkpoint_folder(broken, spec.key).exists()


def _die_in_save(path, state, real=checkpoint.save):
    """Half of a checkpoint reaches the disk, under the name it is drafted by."""
    real(path, state)
    whole = path.read_bytes()
    path.unlink()
    path.with_name(path.name + ".tmp").write_bytes(whole[: len(whole) // 2])
    os.kill(os.getpid(), signal.SIGKILL)


def _dying_append(path):
    """An `append` that kills the process when half of the line has reached the disk."""

    def append(writer, row):
        with path.open("a") as file:
            file.write("train,3,12")
        os.kill(os.getpid(), signal.SIGKILL)

    return append


@pytest.mark.parametrize("what", ["checkpoint", "append"])
@pytest.mark.parametrize("agent", ["sac_deep", "ddqn_deep"])
def test_killed_in_the_middle_of_writing(what, agent, tmp_path, monkeypatch, whole_lines):
    spec, broken = spec_of(agent), ResultStore(tmp_path / "broken")
    with monkeypatch.context() as patch:
        if what == "checkpoint":
            patch.setattr(checkpoint, "save", after(3, checkpoint.save, _die_in_save))
        else:
            deadly = _dying_append(broken.path(spec.key, ".csv"))
            patch.setattr(RunWriter, "append", after(5, RunWriter.append, deadly))
        child = fork.Process(target=train, args=(spec, broken, ALWAYS, quiet))
        child.start()
        child.join(60)
    assert child.exitcode == -signal.SIGKILL
    assert not broken.header(spec.key).finished
    assert train(spec, broken, ALWAYS, quiet)
    assert lines(broken, spec) == whole_lines(agent)


def _damage(path, how):
    content = bytearray(path.read_bytes())
    if how == "cut":
        content = content[: len(content) // 2]
    elif how == "flip":
        content[len(content) // 3] ^= 4
    else:
        content.clear()
    path.write_bytes(content)


def interrupted(tmp_path, spec):
    """A store with a run that stopped after half of its episodes."""
    store = ResultStore(tmp_path / "broken")

    def stop(trainer, rows):
        if trainer.log.episode == EPISODES // 2:
            os.kill(os.getpid(), signal.SIGINT)

    assert not train(spec, store, ALWAYS, stop)
    return store


@pytest.mark.parametrize("how", ["cut", "flip", "empty"])
def test_damaged_checkpoint_falls_back_to_the_one_before(how, tmp_path, caplog, whole_lines):
    spec = spec_of("sac")
    store = interrupted(tmp_path, spec)
    newest, older = sorted(checkpoint_folder(store, spec.key).iterdir(), reverse=True)
    _damage(newest, how)
    assert train(spec, store, ALWAYS, quiet)
    assert "is damaged" in caplog.text and newest.name in caplog.text
    assert older.name not in caplog.text
    assert lines(store, spec) == whole_lines("sac")


def test_with_no_sound_checkpoint_left_only_restart_starts_from_scratch(tmp_path, whole_lines):
    spec = spec_of("sac")
    store = interrupted(tmp_path, spec)
    for path in checkpoint_folder(store, spec.key).iterdir():
        _damage(path, "flip")
    before = lines(store, spec)
    with pytest.raises(UserError, match="--restart"):
        train(spec, store, ALWAYS, quiet)
    assert lines(store, spec) == before, "nothing was lost by the refusal"
    assert train(spec, store, replace(ALWAYS, restart=True), quiet)
    assert lines(store, spec) == whole_lines("sac")


def test_ctrl_c_ends_the_episode_and_keeps_everything(tmp_path):
    spec = spec_of("sac_deep")
    store = interrupted(tmp_path, spec)
    assert len(lines(store, spec)) == 1 + 2 * (EPISODES // 2)
    episodes = []
    assert train(spec, store, ALWAYS, lambda trainer, rows: episodes.append(trainer.log.episode))
    assert episodes == list(range(EPISODES // 2 + 1, EPISODES + 1))


def test_a_run_begun_with_other_settings_is_not_resumed(tmp_path):
    store = interrupted(tmp_path, spec_of("sac"))
    spec = spec_of("sac")
    other = replace(spec, config=replace(spec.config, tau=0.5))
    with pytest.raises(UserError, match="begun with other settings; --overwrite"):
        train(other, store, ALWAYS, quiet)
    with pytest.raises(UserError, match="begun with 8 episodes instead of 99; --overwrite"):
        train(replace(spec, episodes=99), store, ALWAYS, quiet)
    with pytest.raises(UserError, match="begun with other settings; --overwrite"):
        train(other, store, replace(ALWAYS, restart=True), quiet)
    assert train(other, store, replace(ALWAYS, overwrite=True), quiet)
    assert store.header(other.key).config["tau"] == 0.5


def test_a_run_that_another_process_writes_keeps_its_checkpoints(tmp_path):
    spec = spec_of("sac")
    store = interrupted(tmp_path, spec)
    before = {p.name: p.read_bytes() for p in checkpoint_folder(store, spec.key).iterdir()}
    written = len(lines(store, spec)) - 1
    with store.open(store.header(spec.key), keep_rows=written):
        for how in (ALWAYS, replace(ALWAYS, overwrite=True)):
            with pytest.raises(UserError, match="being written by another process"):
                train(spec, store, how, quiet)
    assert {p.name: p.read_bytes() for p in checkpoint_folder(store, spec.key).iterdir()} == before


def test_finished_runs_are_kept_unless_told(tmp_path):
    spec, store = spec_of("random"), ResultStore(tmp_path)
    assert train(spec, store, ALWAYS, quiet)
    with pytest.raises(UserError, match="is finished"):
        train(spec, store, ALWAYS, quiet)
    assert train(spec, store, replace(ALWAYS, overwrite=True), quiet)


def test_only_the_last_two_checkpoints_are_kept(tmp_path):
    spec = spec_of("sac")
    store = interrupted(tmp_path, spec)
    names = sorted(path.name for path in checkpoint_folder(store, spec.key).iterdir())
    assert names == [f"episode-{n:06d}.safetensors" for n in (EPISODES // 2 - 1, EPISODES // 2)]


def test_header_says_where_the_run_comes_from(tmp_path):
    spec, store = spec_of("random"), ResultStore(tmp_path)
    train(spec, store, ALWAYS, quiet)
    header = store.header(spec.key)
    assert header.fingerprint and header.versions["mujoco"] and header.machine["cores"] >= 1
    assert header.config == {"discrete": False} and header.task == spec.task
    assert set(header.code) >= {"commit", "dirty"}


def test_a_checkpoint_of_another_version_is_refused_by_name(tmp_path):
    spec, store = spec_of("sac_bbe"), ResultStore(tmp_path)
    with store.open(spec.header(threads=1)):
        pass  # a run that was begun
    folder = checkpoint.Checkpoints(checkpoint_folder(store, spec.key))
    agent = build(spec.agent, spec.task, spec.config, seed=0)
    state = agent.state_dict()
    del state["bonus"]
    progress = {"episode": 1, "env_steps": HORIZON, "seconds": 1.0}
    visits = Coverage(spec.task).state_dict()
    folder.save(1, {"agent": state, "coverage": visits, "progress": progress})
    with pytest.raises(UserError, match="another version of the agent .*bonus.*--overwrite"):
        train(spec, store, ALWAYS, quiet)
    assert train(spec, store, replace(ALWAYS, overwrite=True), quiet)


def test_divergence_leaves_the_agents_state_in_a_file_that_it_names(tmp_path):
    spec, store = spec_of("sac"), ResultStore(tmp_path)

    def spoil(trainer, result):
        trainer.agent.critic.net.params.fill_(float("nan"))

    with pytest.raises(FloatingPointError, match=r"episode \d: .* is nan .*dump\.safetensors"):
        train(spec, store, RunOptions(), spoil)
    dump = checkpoint.load(checkpoint_folder(store, spec.key) / "dump.safetensors")
    assert torch.isnan(dump["critic"]["params"]).any()
    assert not store.header(spec.key).finished
