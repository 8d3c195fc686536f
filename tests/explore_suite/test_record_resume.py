"""A recorded run that was interrupted: with `resume` it ends as if nothing had happened."""

import shutil
from types import SimpleNamespace

import numpy as np
import pytest

from explore_suite import record
from explore_suite.errors import UserError
from explore_suite.runs import protocol, recorder
from explore_suite.runs.store import ResultStore

EPISODES = 4
CODE = {"commit": "0" * 40, "dirty": False}


@pytest.fixture(autouse=True)
def quick_header(monkeypatch):
    """A header without the fingerprint, which takes a second."""
    monkeypatch.setattr(recorder, "provenance", lambda task, code: {"code": CODE})


def recorded(folder, task="GridWorld", seed=0, **options):
    return record(task, "mine", seed, folder, episodes=EPISODES, **options)


def play(env, phase, number):
    """An episode whose actions depend on its phase and number alone, as a restored agent's."""
    env.reset()
    env.action_space.seed(2 * number + (phase == "eval"))
    while not env.step(env.action_space.sample())[3]:
        pass


def play_on(env, episodes=EPISODES):
    """Episodes up to this one, each with its evaluation."""
    while env.episode < episodes:
        number = env.episode + 1
        play(env, "train", number)
        play(env.eval_env, "eval", number)


def files(folder):
    """The finished run of a store: its rows without their seconds, and its traces."""
    (run,) = ResultStore(folder).runs()
    assert run.header.finished
    return [row[:-1] for row in run.rows], run.header.traces


@pytest.mark.slow
@pytest.mark.parametrize("task", ["GridWorld", "HallwayLocalOptimum"])
@pytest.mark.parametrize("complete", [0, 1, 3])
def test_a_resumed_run_equals_an_undisturbed_one(task, complete, tmp_path):
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    play_on(recorded(whole, task))
    first = recorded(broken, task)
    play_on(first, complete)
    play(first, "train", complete + 1)  # is not evaluated, and so is played again
    first.close()
    again = recorded(broken, task, resume=True)
    assert again.episode == complete
    play_on(again)
    assert again.finished and files(broken) == files(whole)
    assert not list((broken / ".checkpoints").rglob("*.*")), "a finished run needs none"


def test_rows_that_a_kill_left_beyond_the_checkpoint_are_played_again(tmp_path):
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    env = recorded(whole)
    play_on(env, 1)
    shutil.copytree(whole, killed)
    (checkpoint,) = (killed / ".checkpoints").rglob("*.npz")
    before = checkpoint.read_bytes()
    play_on(env, 2)
    shutil.rmtree(killed)
    shutil.copytree(whole, killed)
    checkpoint.write_bytes(before)
    again = recorded(killed, resume=True)
    assert again.episode == 1
    play_on(env), play_on(again)
    assert files(killed) == files(whole)


def test_seconds_leave_the_pause_out(tmp_path, monkeypatch):
    ticks = iter([100.0, 101.5, 900.0, 902.0])  # begin and end of each process's one episode
    monkeypatch.setattr(protocol, "time", SimpleNamespace(monotonic=lambda: next(ticks)))
    for options in ({}, {"resume": True}):
        env = recorded(tmp_path, **options)
        play_on(env, env.episode + 1)
        env.close()
    (run,) = ResultStore(tmp_path).runs()
    assert [row.seconds for row in run.rows] == [1.5, 1.5, 3.5, 3.5]


def test_without_resume_it_starts_from_scratch_and_the_old_state_is_gone(tmp_path, caplog):
    env = recorded(tmp_path)
    play_on(env, 2)
    env.close()
    assert "left unfinished after 2 of 4 episodes; resume=True keeps them" in caplog.text
    env = recorded(tmp_path)
    assert env.episode == 0 and "starts from scratch" in caplog.text
    env.close()
    again = recorded(tmp_path, resume=True)
    assert again.episode == 0
    again.close()


def test_resume_of_nothing_starts_and_of_a_finished_run_is_refused(tmp_path):
    play_on(recorded(tmp_path, resume=True))
    with pytest.raises(UserError, match="is finished; overwrite=True runs it again"):
        recorded(tmp_path, resume=True)


def test_another_run_is_not_resumed(tmp_path):
    env = recorded(tmp_path, config={"rate": 1})
    play_on(env, 1)
    env.close()
    with pytest.raises(UserError, match="begun with another config and threads"):
        recorded(tmp_path, config={"rate": 2}, threads=2, resume=True)
    recorded(tmp_path, config={"rate": 1}, resume=True).close()


def test_a_checkpoint_of_another_seed_is_not_continued(tmp_path):
    paths = []
    for seed in (0, 1):
        env = recorded(tmp_path, seed=seed)
        play_on(env, 1)
        env.close()
        (path,) = (tmp_path / ".checkpoints").rglob(f"seed-{seed:03d}.npz")
        paths.append(path)
    own = paths[0].read_bytes()
    shutil.copy(paths[1], paths[0])
    with pytest.raises(UserError, match="belongs to another run or config, .*/seed-001"):
        recorded(tmp_path, seed=0, resume=True)
    paths[0].write_bytes(own)
    recorded(tmp_path, seed=0, resume=True).close()


def test_a_checkpoint_that_does_not_say_whose_it_is_is_continued(tmp_path):
    env = recorded(tmp_path)
    play_on(env, 1)
    env.close()
    (path,) = (tmp_path / ".checkpoints").rglob("*.npz")
    np.savez(path, **{name: array for name, array in np.load(path).items() if name != "run"})
    env = recorded(tmp_path, resume=True)
    assert env.episode == 1
    env.close()


def test_rows_that_lost_their_header_are_not_recorded_over(tmp_path):
    env = recorded(tmp_path)
    play_on(env, 1)
    env.close()
    (path,) = (tmp_path / ".checkpoints").rglob("*.npz")
    saved, store = path.read_bytes(), ResultStore(tmp_path)
    (run,) = store.runs()
    store.path(run.header.key, ".json").unlink()
    with pytest.raises(UserError, match="holds rows, but its header"):
        recorded(tmp_path)
    assert path.read_bytes() == saved


def test_other_code_that_resumes_a_run_is_noted(tmp_path, monkeypatch, caplog):
    recorded(tmp_path).close()
    other = {"commit": "1" * 40, "dirty": False}
    monkeypatch.setattr(recorder, "provenance", lambda task, code: {"code": other})
    recorded(tmp_path, resume=True).close()
    (run,) = ResultStore(tmp_path).runs()
    assert run.header.code == other | {"begun_by": CODE}
    assert "begun by other code or versions" in caplog.text


@pytest.mark.parametrize("damage", ["missing", "cut off", "altered", "of another task", "pickled"])
def test_a_damaged_checkpoint_is_refused_in_one_line_and_harms_nothing(damage, tmp_path):
    env = recorded(tmp_path)
    play_on(env, 1)
    env.close()
    (path,) = (tmp_path / ".checkpoints").rglob("*.npz")
    content = path.read_bytes()
    if damage == "missing":
        path.unlink()
    elif damage == "of another task":
        np.savez(path, **{**np.load(path), "visits": np.zeros((3, 3), int)})
    elif damage == "pickled":
        np.savez(path, **{**np.load(path), "episode": np.array({}, dtype=object)})
    else:
        middle = content[len(content) // 2 :]
        path.write_bytes(content[:300] + (bytes(len(middle)) if damage == "altered" else b""))
    with pytest.raises(UserError, match="cannot resume from .*without resume=True") as caught:
        recorded(tmp_path, resume=True)
    assert "\n" not in str(caught.value)
    path.write_bytes(content)
    again = recorded(tmp_path, resume=True)
    assert again.episode == 1
    again.close()
