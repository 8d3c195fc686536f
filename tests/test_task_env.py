"""What may be recorded: the suite's tasks just as registered, under wrappers that can be copied."""

import subprocess
import sys

import gymnasium
import numpy as np
import pytest
from gymnasium.wrappers import NormalizeObservation, RescaleAction, TimeLimit, TransformReward
from stable_baselines3.common.monitor import Monitor
from stable_baselines3.common.vec_env import DummyVecEnv

from explore_suite import record, recorder
from explore_suite.errors import UserError
from explore_suite.gridworld import GridWorld
from explore_suite.provenance import provenance
from explore_suite.results import ResultStore
from explore_suite.task_env import around_time_limit, checked_task, copied

GRID, HALLWAY = "ExploreSuite/GridWorld-v0", "ExploreSuite/HallwayLocalOptimum-v0"


def grid(**options):
    return gymnasium.make(GRID, **options)


def test_every_task_is_known_by_its_env(sheet, make):
    assert checked_task(make(sheet)) is sheet
    assert checked_task(make(sheet, render_mode="rgb_array")) is sheet
    assert checked_task(make(sheet, disable_env_checker=True)) is sheet


def test_a_copy_behaves_as_the_original_and_is_another(sheet, make):
    env = make(sheet)
    other = copied(env)
    assert other.unwrapped is not env.unwrapped and checked_task(other) is sheet
    actions = np.random.default_rng(0).uniform(-1, 1, (5, sheet.action_dim)).astype(np.float32)
    for each in (env, other):
        each.reset(seed=3)
    for action in range(4) if sheet.discrete else actions:
        first, second = env.step(action), other.step(action)
        np.testing.assert_array_equal(first[0], second[0])
        assert first[1:] == second[1:]


def test_a_wrapper_around_the_time_limit_is_inside_of_all_others():
    env = RescaleAction(Monitor(gymnasium.make(HALLWAY)), -2, 2)
    inner = []
    assert around_time_limit(env, lambda task: inner.append(task) or Monitor(task)) is env
    assert str(env).startswith("<RescaleAction<Monitor<Monitor<TimeLimit<")
    assert isinstance(inner[0], TimeLimit)


def _changed_inside():
    task = grid().unwrapped
    return TimeLimit(TransformReward(task, lambda reward: reward + 1), 100)


REFUSED = {
    "another task": (lambda: gymnasium.make("CartPole-v1"), "not CartPole-v1"),
    "not made by make": (
        lambda: TimeLimit(GridWorld(), 100),
        "made by gymnasium.make, is needed, not GridWorld",
    ),
    "bare": (lambda: grid().unwrapped, "time limit of 100 steps alone, got none"),
    "other limit": (lambda: grid(max_episode_steps=50), "of 100 steps alone, got 50"),
    "no limit": (lambda: grid(max_episode_steps=-1), "of 100 steps alone, got none"),
    "two limits": (lambda: TimeLimit(grid(), 20), "of 100 steps alone, got 20 and 100"),
    "other settings": (lambda: grid(size=5), r"was made with {'size': 5}"),
    "other goals": (lambda: gymnasium.make(HALLWAY, goals=((0.0, 1.0, 1.0),)), "was made with"),
    "changed inside": (_changed_inside, "put TransformReward around what gymnasium.make returns"),
    "vector": (lambda: gymnasium.make_vec(GRID, num_envs=1), "not a SyncVectorEnv: record each"),
    "sb3 vector": (lambda: DummyVecEnv([grid]), "not a DummyVecEnv: record each"),
    "nothing": (lambda: None, "not a NoneType"),
    "learning wrapper": (lambda: NormalizeObservation(grid()), "let them share the statistics"),
}


@pytest.mark.parametrize(("make_env", "message"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_recorded_is_refused_and_leaves_no_file(make_env, message, tmp_path):
    with pytest.raises(UserError, match=message):
        record(make_env(), "mine", 0, tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_wrapper_with_an_open_file_is_refused(tmp_path):
    with pytest.raises(UserError, match="record first, then wrap env and env.eval_env"):
        record(Monitor(grid(), str(tmp_path / "log")), "mine", 0, tmp_path / "runs")
    assert not (tmp_path / "runs").exists()


def test_a_recorded_env_is_not_recorded_again(tmp_path, monkeypatch):
    monkeypatch.setattr(recorder, "provenance", lambda task: {})
    with record(grid(), "mine", 0, tmp_path) as env:
        for again in (env, Monitor(env), env.env, env.eval_env):
            with pytest.raises(UserError, match="recorded already"):
                record(again, "other", 0, tmp_path)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"seed": -1}, "seed must be a whole number of at least 0, got -1"),
        ({"seed": 0.5}, "seed must be a whole number"),
        ({"seed": True}, "seed must be a whole number"),
        ({"episodes": 0}, "episodes must be a whole number of at least 1, got 0"),
        ({"threads": 0}, "threads must be a whole number of at least 1, got 0"),
        ({"config": {"net": object()}}, "config must hold what JSON can"),
        ({"config": {"rate": float("nan")}}, "config must hold what JSON can"),
        ({"config": [1]}, r"config must be a dictionary, got \[1\]"),
        ({"agent": "../mine"}, "cannot name an agent"),
        ({"preset": ""}, "cannot name an agent or preset"),
    ],
)
def test_wrong_options_are_refused_and_leave_no_file(options, message, tmp_path, monkeypatch):
    monkeypatch.setattr(recorder, "provenance", lambda task: {})
    with pytest.raises(UserError, match=message):
        record(grid(), **({"agent": "mine", "seed": 0, "results": tmp_path} | options))
    assert list(tmp_path.iterdir()) == []


def test_the_header_says_what_was_run_and_where(tmp_path):
    options = {"config": {"layers": (2, 3)}, "threads": 2, "preset": "mine"}
    record(grid(), "method.b", np.int64(4), tmp_path, **options).close()
    (run,) = ResultStore(tmp_path).runs()
    header = run.header
    assert (header.agent, header.task, header.seed, header.preset) == ("method.b", GRID, 4, "mine")
    assert header.episodes == 300, "the end of the task's score window"
    assert header.config == {"layers": [2, 3]} and header.threads == 2
    assert header.source == "explore_suite.record" and not header.finished
    for name, value in provenance(GRID).items():
        if name != "code":  # someone may be editing
            assert getattr(header, name) == value


def test_importing_the_package_stays_light():
    heavy = "{'mujoco', 'dm_control', 'torch', 'stable_baselines3'} & set(sys.modules)"
    code = f"import sys, explore_suite; explore_suite.record; sys.stdout.write(str({heavy}))"
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert result.stdout == "set()"
