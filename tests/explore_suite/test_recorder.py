"""The recorder: any loop of any library leaves the rows that the suite's own runs have."""

import subprocess
import sys
from types import SimpleNamespace

import gymnasium
import numpy as np
import pytest
from gymnasium.wrappers import (
    FlattenObservation,
    RescaleAction,
    TimeLimit,
    TransformObservation,
    TransformReward,
)  # fmt: skip
from stable_baselines3 import DQN
from stable_baselines3.common.callbacks import EvalCallback
from stable_baselines3.common.monitor import Monitor

from baselines import runner
from baselines.agent import Transition
from baselines.settings import build, resolve
from explore_suite import Coverage, record
from explore_suite.errors import UserError
from explore_suite.runs import protocol, recorder
from explore_suite.runs.provenance import provenance
from explore_suite.runs.seeds import episode_seed
from explore_suite.runs.store import ResultStore

GRID, HALLWAY, REACHER = (
    f"ExploreSuite/{name}-v0" for name in ("GridWorld", "HallwayLocalOptimum", "ReacherExplore")
)
SMALL = {"hidden": 8, "batch_size": 8, "warmup_steps": 10, "updates_per_step": 0.02}


@pytest.fixture(autouse=True)
def quick_header(monkeypatch):
    """The header's origin is tested once below; it takes a second."""
    monkeypatch.setattr(
        recorder, "provenance", lambda task, code: {"fingerprint": "0", "code": code}
    )


def recorded(tmp_path, task=GRID, episodes=2, wrap=lambda env: env, **options):
    return record(task, "mine", 0, tmp_path, episodes=episodes, wrap=wrap, **options)


def rows_of(tmp_path, finished=True):
    """The only run's rows without their seconds."""
    (run,) = ResultStore(tmp_path).runs()
    assert run.header.finished == finished
    return [row[:-1] for row in run.rows]


def play(env, action=None, **reset):
    """One episode of constant or, without one, of the env's own random actions."""
    (obs, _), over = env.reset(**reset), False
    while not over:
        chosen = env.action_space.sample() if action is None else action
        obs, _, terminated, truncated, _ = env.step(chosen)
        over = terminated or truncated
    return obs


@pytest.mark.slow
@pytest.mark.parametrize(("name", "task"), [("sac", HALLWAY), ("ddqn", GRID), ("random", REACHER)])
def test_rows_are_those_of_the_suites_own_runner(name, task, tmp_path):
    values = {"sac": SMALL | {"seed_updates": 0}, "random": {}}.get(name, SMALL)
    config = resolve("cpu", name, task, values)
    theirs = [
        row[:-1]
        for result in runner.run(build(name, task, config, seed=7), task, seed=7, episodes=3)
        for row in result[:2]
    ]
    agent = build(name, task, config, seed=7)
    env = record(task, name, 7, tmp_path, episodes=3)
    while not env.finished:
        (obs, _), over = env.reset(), False
        while not over:
            action = agent.act(obs, explore=True)
            next_obs, reward, terminated, truncated, _ = env.step(action)
            agent.observe(Transition(obs, action, reward, next_obs, terminated, truncated))
            agent.update()
            obs, over = next_obs, truncated
        (obs, _), over = env.eval_env.reset(), False
        while not over:
            obs, _, _, over, _ = env.eval_env.step(agent.act(obs, explore=False))
    env.close()
    assert rows_of(tmp_path) == theirs


@pytest.mark.slow
def test_every_episode_starts_as_the_runs_seed_says(tmp_path, make):
    env, plain = recorded(tmp_path, REACHER), make(REACHER)
    for phase, number, recorded_env in [
        ("train", 1, env),
        ("eval", 1, env.eval_env),
        ("train", 2, env),
    ]:
        start, _ = plain.reset(seed=episode_seed(0, phase, number))
        for seed in (None, 5):
            np.testing.assert_array_equal(recorded_env.reset(seed=seed)[0], start)
        play(recorded_env, action=np.zeros(2), seed=9)
    env.close()


def test_returns_coverage_and_success_by_hand(tmp_path):
    """Up 39 times, then right: the goal is reached in step 78 and pays for the last 23 steps."""
    env = recorded(tmp_path, episodes=1)
    obs, _ = env.reset()
    obs += 39  # the caller's own to change
    for step in range(100):
        env.step(0 if step < 39 else 1)
    play(env.eval_env, action=2)
    assert rows_of(tmp_path) == [
        ("train", 1, 100, 23.0, 100, 23, 79 / 1600),
        ("eval", 1, 100, 0.0, 100, 0, 79 / 1600),
    ]


def test_seconds_run_on_from_the_first_step_and_a_pair_shares_them(tmp_path, monkeypatch):
    ticks = iter([100.0, 101.5, 104.0])  # the first step, then the end of each evaluation
    monkeypatch.setattr(protocol, "time", SimpleNamespace(monotonic=lambda: next(ticks)))
    env = recorded(tmp_path)
    for _ in range(2):
        play(env), play(env.eval_env)
    (run,) = ResultStore(tmp_path).runs()
    assert [row.seconds for row in run.rows] == [1.5, 1.5, 4.0, 4.0]


def test_starts_never_change():
    """All results rest on these seeds; the numbers are NumPy's for the three integers."""
    calls = [(0, "train", 1), (0, "eval", 1), (7, "train", 110)]
    assert [episode_seed(*call) for call in calls] == [3831201730, 901243215, 638325076]


INSIDE = {
    "reward": lambda env: TransformReward(env, lambda reward: 100 * reward - 1),
    "observation": lambda env: TransformObservation(
        env, lambda obs: 0 * obs, env.observation_space
    ),
    "flat": FlattenObservation,
    "monitor": Monitor,
    "several": lambda env: FlattenObservation(Monitor(TransformReward(env, lambda reward: 0.0))),
}


@pytest.mark.parametrize("place", ["inside", "outside"])
@pytest.mark.parametrize("wrap", INSIDE.values(), ids=INSIDE)
def test_wrappers_change_nothing_of_what_is_recorded(wrap, place, tmp_path):
    if place == "inside":
        env = recorded(tmp_path, episodes=1, wrap=wrap)
        train_env, eval_env = env, env.eval_env
    else:
        env = recorded(tmp_path, episodes=1)
        train_env, eval_env = wrap(env), wrap(env.eval_env)
    train_env.reset()
    for step in range(100):
        train_env.step(0 if step < 39 else 1)
    play(eval_env, action=0)
    assert rows_of(tmp_path)[0] == ("train", 1, 100, 23.0, 100, 23, 79 / 1600)


def test_wrappers_inside_are_around_the_evaluation_too(tmp_path):
    env = recorded(tmp_path, HALLWAY, wrap=lambda env: RescaleAction(env, -3.0, 3.0))
    assert env.eval_env.action_space == env.action_space
    assert env.eval_env.action_space.high.tolist() == [3.0, 3.0]
    assert env.eval_env.unwrapped is not env.unwrapped
    assert env.eval_env.unwrapped.spec.id == env.unwrapped.spec.id


@pytest.mark.slow
def test_stable_baselines3_with_its_own_callback_and_early_resets(tmp_path):
    env = recorded(tmp_path, episodes=3)
    model = DQN("MlpPolicy", env, learning_starts=290, seed=1, policy_kwargs={"net_arch": [4]})
    model.learn(
        300, callback=EvalCallback(env.eval_env, n_eval_episodes=1, eval_freq=100, verbose=0)
    )
    assert env.finished
    assert [row[:3] for row in rows_of(tmp_path)] == [
        (phase, number, 100 * number) for number in (1, 2, 3) for phase in ("train", "eval")
    ]


def test_coverage_waits_for_the_first_step_of_an_episode(tmp_path, monkeypatch):
    """A library that resets before it evaluates must not add the next start to this row."""
    seen = []
    monkeypatch.setattr(Coverage, "add", lambda self, obs: seen.append(obs))
    env = recorded(tmp_path)
    play(env)
    env.reset(), env.reset()
    assert len(seen) == 101
    play(env.eval_env)
    env.step(0)
    assert len(seen) == 103
    env.close()


@pytest.mark.parametrize("autoreset", list(gymnasium.vector.AutoresetMode)[:2])
def test_in_a_vector_of_one(autoreset, tmp_path):
    env = recorded(tmp_path, episodes=2)
    vector = gymnasium.vector.SyncVectorEnv([lambda: env], autoreset_mode=autoreset)
    vector.reset(seed=3)
    for _ in range(2):
        over = False
        while not over:
            over = vector.step(np.array([0]))[3].any()
        play(env.eval_env)
    assert len(rows_of(tmp_path)) == 4


def test_training_on_without_evaluation_is_refused(tmp_path):
    env = recorded(tmp_path)
    play(env)
    env.reset()
    with pytest.raises(UserError, match="evaluate training episode 1 once, in eval_env"):
        env.step(0)
    play(env.eval_env)
    env.step(0)
    env.close()


def test_evaluating_too_early_twice_or_from_an_old_start_is_refused(tmp_path):
    env = recorded(tmp_path)
    env.eval_env.reset()
    with pytest.raises(UserError, match="finish training episode 1 before you evaluate"):
        env.eval_env.step(0)
    play(env)
    with pytest.raises(UserError, match="reset eval_env after training episode 1, not before"):
        env.eval_env.step(0)
    play(env.eval_env)
    env.eval_env.reset()  # as some libraries do at the end of an episode
    with pytest.raises(UserError, match="finish training episode 2 before you evaluate"):
        env.eval_env.step(0)
    env.close()


def test_steps_beyond_the_budget_are_refused(tmp_path):
    env = recorded(tmp_path, episodes=1)
    play(env), play(env.eval_env)
    for each in (env, env.eval_env):
        each.reset()
        with pytest.raises(UserError, match="all 1 episodes of the budget are recorded"):
            each.step(0)
    assert len(rows_of(tmp_path)) == 2


@pytest.mark.parametrize("phase", ["train", "eval"])
def test_an_episode_cannot_be_given_up(phase, tmp_path):
    env = recorded(tmp_path)
    if phase == "eval":
        play(env)
    env_of_phase = env if phase == "train" else env.eval_env
    env_of_phase.reset()
    env_of_phase.step(0)
    with pytest.raises(UserError, match=f"{phase} episode 1 was reset after 1 steps"):
        env_of_phase.reset()
    env.close()


def test_steps_need_a_reset(tmp_path):
    env = recorded(tmp_path)
    with pytest.raises(gymnasium.error.ResetNeeded):
        env.step(0)
    play(env)
    with pytest.raises(gymnasium.error.ResetNeeded):
        env.step(0)
    env.close()


def test_closing_early_leaves_an_unfinished_run_and_says_so(tmp_path, caplog):
    env = recorded(tmp_path)
    play(env), play(env.eval_env), play(env)
    env.close(), env.close()
    assert caplog.text.count("is left unfinished after 1 of 2 episodes") == 1
    assert len(rows_of(tmp_path, finished=False)) == 2
    env.eval_env.reset()
    with pytest.raises(UserError, match="was closed before its end"):
        env.eval_env.step(0)
    again = recorded(tmp_path)
    assert "starts from scratch" in caplog.text
    again.close()
    assert rows_of(tmp_path, finished=False) == []


def test_finished_runs_are_kept_unless_told(tmp_path, caplog):
    with recorded(tmp_path, episodes=1) as env:
        play(env), play(env.eval_env)
    assert "unfinished" not in caplog.text
    with pytest.raises(UserError, match="is finished; overwrite=True runs it again"):
        recorded(tmp_path, episodes=1)
    recorded(tmp_path, overwrite=True).close()
    assert rows_of(tmp_path, finished=False) == []


def test_two_recorders_of_one_run(tmp_path):
    env = recorded(tmp_path)
    with pytest.raises(UserError, match="being written by another process"):
        recorded(tmp_path)
    env.close()


@pytest.mark.parametrize(
    "env", [gymnasium.make(GRID), gymnasium.make_vec(GRID, num_envs=1), None], ids=str
)
def test_an_environment_instead_of_a_name_is_refused_with_the_new_call(env, tmp_path):
    with pytest.raises(UserError, match="takes the name of a task and makes its environments"):
        record(env, "mine", 0, tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_an_unknown_task_is_refused(tmp_path):
    with pytest.raises(UserError, match="unknown task 'CartPole-v1'"):
        record("CartPole-v1", "mine", 0, tmp_path)


@pytest.mark.parametrize("wrap", [lambda env: gymnasium.make(GRID), lambda env: env.unwrapped])
def test_wrappers_around_something_else_are_refused(wrap, tmp_path):
    with pytest.raises(UserError, match="wrap must return the environment it is given, wrapped"):
        record(GRID, "mine", 0, tmp_path, wrap=wrap)
    assert list(tmp_path.iterdir()) == []


def test_a_shorter_time_limit_around_the_task_is_noticed(tmp_path):
    env = recorded(tmp_path, wrap=lambda env: TimeLimit(env, 20))
    play(env)
    with pytest.raises(UserError, match="train episode 1 was reset after 20 steps"):
        env.reset()
    env.close()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"seed": -1}, "seed must be a whole number of at least 0, got -1"),
        ({"seed": 2**63}, "seed must be below 2"),
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
def test_wrong_options_are_refused_and_leave_no_file(options, message, tmp_path):
    with pytest.raises(UserError, match=message):
        record(GRID, **({"agent": "mine", "seed": 0, "results": tmp_path} | options))
    assert list(tmp_path.iterdir()) == []


def test_the_header_says_what_was_run_and_where(tmp_path, monkeypatch):
    monkeypatch.setattr(recorder, "provenance", provenance)
    options = {"config": {"layers": (2, 3)}, "threads": 2, "preset": "mine"}
    record(GRID, "method.b", np.int64(4), tmp_path, **options).close()
    (run,) = ResultStore(tmp_path).runs()
    header = run.header
    assert (header.agent, header.task, header.seed, header.preset) == ("method.b", GRID, 4, "mine")
    assert header.episodes == 300, "the end of the task's score window"
    assert header.config == {"layers": [2, 3]} and header.threads == 2
    assert header.source == "explore_suite.record" and not header.finished
    for name, value in provenance(GRID, code=header.code).items():
        assert getattr(header, name) == value


def test_importing_the_package_stays_light():
    heavy = "{'mujoco', 'dm_control', 'torch', 'stable_baselines3'} & set(sys.modules)"
    code = f"import sys, explore_suite; explore_suite.record; sys.stdout.write(str({heavy}))"
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert result.stdout == "set()"
