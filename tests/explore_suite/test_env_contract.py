"""What every task owes to any Gymnasium user."""

import pickle
import warnings

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from stable_baselines3.common.env_checker import check_env as sb3_check_env

from explore_suite import TASKS
from explore_suite.tasks import CLASSIC, CONTROL


def rollout(env, seed, steps=30):
    """Observations and rewards of seeded random actions."""
    obs, _ = env.reset(seed=seed)
    actions = np.random.default_rng(seed)
    trace = [np.append(obs, 0.0)]
    for _ in range(steps):
        obs, reward, *_ = env.step(draw(env.action_space, actions))
        trace.append(np.append(obs, reward))
    return np.array(trace)


def draw(space, rng):
    """A random action from an explicit generator."""
    if isinstance(space, gymnasium.spaces.Discrete):
        return int(rng.integers(space.n))
    return rng.uniform(space.low, space.high).astype(np.float32)


@pytest.mark.slow
def test_both_checkers_pass_without_a_warning(spec, make):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(make(spec, render_mode="rgb_array").unwrapped)
        sb3_check_env(make(spec))


def test_spaces_are_those_of_the_catalogue(spec, make):
    env = make(spec)
    assert env.observation_space.shape == (spec.obs_dim,)
    assert env.observation_space.dtype == np.float32
    if spec.discrete:
        assert env.action_space == gymnasium.spaces.Discrete(spec.action_dim)
    else:
        assert env.action_space == gymnasium.spaces.Box(-1, 1, (spec.action_dim,), np.float32)


@pytest.mark.slow
def test_time_limit_is_the_only_clock(spec, make):
    env = make(spec)
    env.reset(seed=0)
    rng = np.random.default_rng(0)
    ends = [env.step(draw(env.action_space, rng))[2:4] for _ in range(spec.horizon)]
    assert ends[:-1] == [(False, False)] * (spec.horizon - 1)
    assert ends[-1] == (False, True)
    bare = env.unwrapped
    bare.reset(seed=0)
    for _ in range(spec.horizon + 5):
        *_, terminated, truncated, _ = bare.step(draw(env.action_space, rng))
        assert not terminated and not truncated


def test_one_seed_repeats_and_two_differ(spec, make):
    first, second = make(spec), make(spec)
    np.testing.assert_array_equal(rollout(first, 3), rollout(second, 3))
    np.testing.assert_array_equal(rollout(first, 3), rollout(first, 3))
    if spec.name in CONTROL + CLASSIC:
        assert not np.array_equal(first.reset(seed=3)[0], first.reset(seed=4)[0])
        assert not np.array_equal(first.reset()[0], first.reset()[0])


def test_huge_seeds_work(suite_spec, make):
    env = make(suite_spec)
    start = env.reset(seed=2**63 + 5)[0]
    np.testing.assert_array_equal(start, env.reset(seed=2**63 + 5)[0])
    assert not np.array_equal(start, env.reset(seed=2**63 + 6)[0])


@pytest.mark.parametrize("mode", ["sync", "async"])
def test_vector_envs_seed_each_copy(mode):
    task = TASKS["ExploreSuite/ReacherExplore-v0"].id
    envs = gymnasium.make_vec(task, num_envs=2, vectorization_mode=mode)
    try:
        obs, _ = envs.reset(seed=[7, 8])
        again, _ = envs.reset(seed=[7, 8])
    finally:
        envs.close()
    np.testing.assert_array_equal(obs, again)
    for row, seed in zip(obs, (7, 8), strict=True):
        with gymnasium.make(task) as single:
            np.testing.assert_array_equal(row, single.reset(seed=seed)[0])


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["sync", "async"])
def test_every_task_runs_vectorised(spec, mode):
    envs = gymnasium.make_vec(spec.id, num_envs=2, vectorization_mode=mode)
    try:
        envs.reset(seed=0)
        obs, reward, *_ = envs.step(envs.action_space.sample())
    finally:
        envs.close()
    assert obs.shape == (2, spec.obs_dim)
    assert np.isfinite(obs).all() and reward.shape == (2,)


def test_seeds_pass_through_wrappers(suite_spec, make):
    wrapped = gymnasium.wrappers.RecordEpisodeStatistics(
        gymnasium.wrappers.RescaleAction(make(suite_spec), np.float32(-1), np.float32(1))
    )
    np.testing.assert_array_equal(wrapped.reset(seed=5)[0], make(suite_spec).reset(seed=5)[0])


def test_pickled_copy_behaves_the_same(spec, make):
    env = make(spec)
    before = rollout(env, 1)
    copy = pickle.loads(pickle.dumps(env))  # what async vector envs and Ray do
    np.testing.assert_array_equal(before, rollout(copy, 1))


def test_observations_share_no_memory_and_rewards_stay_in_range(spec, make):
    env = make(spec)
    obs, _ = env.reset(seed=0)
    rng = np.random.default_rng(0)
    for _ in range(100):
        next_obs, reward, _, _, info = env.step(draw(env.action_space, rng))
        assert not np.shares_memory(obs, next_obs)
        assert type(reward) is float and 0.0 <= reward <= 1.0
        assert type(info["success"]) is bool
        obs = next_obs


def test_actions_beyond_the_box_are_clipped(spec, make):
    if spec.discrete:
        pytest.skip("discrete actions have no beyond")
    inside, beyond = make(spec), make(spec)
    inside.reset(seed=0), beyond.reset(seed=0)
    for _ in range(20):
        a = inside.step(np.ones(spec.action_dim, np.float32))
        b = beyond.step(np.full(spec.action_dim, 7.0, np.float32))
        np.testing.assert_array_equal(a[0], b[0])


BAD_ACTIONS = {
    "wrong shape": lambda n: np.zeros(n + 1, np.float32),
    "scalar": lambda n: 0.5,
    "not a number": lambda n: np.full(n, np.nan),
    "infinite": lambda n: np.full(n, np.inf),
    "text": lambda n: np.array(["a"] * n),
    "complex": lambda n: np.ones(n, complex),
    "nothing": lambda n: None,
}


@pytest.mark.slow
@pytest.mark.parametrize("bad", BAD_ACTIONS)
def test_bad_actions_raise_and_leave_the_state_alone(spec, make, bad):
    action = BAD_ACTIONS[bad](spec.action_dim)
    env, twin = make(spec), make(spec)
    env.reset(seed=0), twin.reset(seed=0)
    with pytest.raises(ValueError, match="action must"):
        env.step(action)
    good = draw(env.action_space, np.random.default_rng(0))
    np.testing.assert_array_equal(env.step(good)[0], twin.step(good)[0])


@pytest.mark.parametrize("action", [4, -1, 1.5, True])
def test_grid_refuses_what_is_no_action(make, action):
    env = make("ExploreSuite/GridWorld-v0")
    env.reset()
    with pytest.raises(ValueError, match="from 0 to 3, got"):
        env.step(action)


def test_step_before_reset_is_refused(spec, make):
    env = make(spec)
    action = draw(env.action_space, np.random.default_rng(0))
    with pytest.raises(gymnasium.error.ResetNeeded):
        env.step(action)
    with pytest.raises(gymnasium.error.ResetNeeded):
        env.unwrapped.step(action)


def test_unknown_arguments_are_refused(spec):
    with pytest.raises(TypeError, match="colour"):
        gymnasium.make(spec.id, colour="red")


@pytest.mark.parametrize(
    "arguments",
    [
        {"length": 0.1},
        {"length": float("nan")},
        {"length": float("inf")},
        {"length": "4"},
        {"goals": None},
        {"goals": (0.0, 0.1, 1.0)},
        {"goals": ()},
        {"goals": ((0.0, 0.1),)},
        {"goals": ((9.0, 0.1, 1.0),)},
        {"goals": ((0.0, -0.1, 1.0),)},
        {"goals": ((0.0, float("nan"), 1.0),)},
    ],
)
def test_hallway_refuses_impossible_corridors(arguments):
    with pytest.raises(ValueError):
        gymnasium.make("ExploreSuite/HallwayLocalOptimum-v0", **arguments)


@pytest.mark.parametrize("size", [1, 2.5, "40", -3])
def test_grid_refuses_impossible_sizes(size):
    with pytest.raises(ValueError, match="size must be"):
        gymnasium.make("ExploreSuite/GridWorld-v0", size=size)


def test_hallway_length_and_goals_are_arguments(make):
    env = make("ExploreSuite/HallwayLocalOptimum-v0", length=1.0, goals=((0.3, 0.05, 2.0),))
    obs, _ = env.reset(seed=0)
    np.testing.assert_allclose(obs, [-0.4, 0.0])
    for _ in range(35):
        obs, reward, _, _, info = env.step(np.array([1.0, 0.0]))
    np.testing.assert_allclose(obs[0], 0.3, atol=1e-6)
    assert reward == pytest.approx(2.0) and info["success"]
