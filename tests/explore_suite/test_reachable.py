"""Every task can be solved, and no start is solved already."""

import json

import numpy as np
import pytest

from explore_suite.tasks import BENCHMARK, lookup
from explore_suite.tools.find_solutions import SOLUTIONS
from explore_suite.tools.measure import random_returns

pytestmark = pytest.mark.slow

SPARSE_EXPLORE = ("BallInCupExplore", "ReacherExplore", "FingerExplore", "CartpoleSwingupSparse",
                  "PendulumExplore")  # fmt: skip
SHAPED = ("WalkerWalk", "WalkerExplore", "CartpoleSwingup", "CheetahRun", "CheetahRunSparse")
HALLWAYS = ("HallwayLocalOptimum", "HallwayAdversarial", "HallwayShort")
FOUND = json.loads(SOLUTIONS.read_text())


def walk(env, x):
    """Return of going straight to `x` at full speed and staying."""
    obs, _ = env.reset(seed=0)
    total = 0.0
    for _ in range(1000):
        action = np.array([(x - obs[0]) / 0.02, 0.0]).clip(-1, 1)
        obs, reward, *_ = env.step(action)
        total += reward
    return total


@pytest.mark.parametrize(
    ("name", "x", "expected"),
    [
        ("HallwayLocalOptimum", -1.0, 96.3),
        ("HallwayLocalOptimum", 1.8, 832.9),
        ("HallwayAdversarial", -1.5, 981.1),
        ("HallwayAdversarial", 1.8, 83.5),
    ],
)
def test_hallway_walks_earn_the_published_returns(make, name, x, expected):
    assert walk(make(lookup(name)), x) == pytest.approx(expected, abs=0.5)


@pytest.mark.parametrize("name", HALLWAYS)
def test_best_hallway_returns_are_those_of_the_catalogue(make, name):
    spec = lookup(name)
    best = max(spec.kwargs["goals"], key=lambda goal: goal[2])
    assert walk(make(spec), best[0]) == pytest.approx(spec.best_return, abs=0.1)


def test_hallway_step_length_and_soft_walls(make):
    env = make(lookup("HallwayLocalOptimum"))
    start, _ = env.reset(seed=0)
    obs, *_ = env.step(np.array([1.0, 0.0]))
    assert obs[0] - start[0] == pytest.approx(0.02, abs=1e-6)
    places = [env.step(np.array([1.0, 0.0]))[0][0] for _ in range(900)]
    assert max(places) == pytest.approx(2.08, abs=0.005)


def test_hallway_closeness_falls_as_published(make):
    """1 inside, .562 at 1.5 radii, .1 at 2, 1e-4 at 3."""
    env = make("ExploreSuite/HallwayLocalOptimum-v0", goals=((0.0, 0.1, 1.0),))
    env.reset(seed=0)
    physics, task = env.unwrapped.physics, env.unwrapped.task
    for radii, pay in ((0.9, 1.0), (1.5, 0.562), (2.0, 0.1), (3.0, 1e-4)):
        physics.data.qpos[:] = (0.1 * radii, 0.0)
        assert task.get_reward(physics) == pytest.approx(pay, rel=0.01)


def test_grid_shortest_way_earns_23(make):
    env = make(lookup("GridWorld"))
    env.reset(seed=0)
    rewards = [env.step(action)[1] for action in [0] * 39 + [1] * 39 + [0] * 22]
    assert sum(rewards) == lookup("GridWorld").best_return == 23
    assert rewards.index(1.0) == 77


def test_grid_walls_and_moves(make):
    env = make("ExploreSuite/GridWorld-v0", size=3)
    env.reset(seed=0)
    places = [env.step(action)[0].tolist() for action in (2, 3, 0, 1, 1, 1, 2, 3)]
    assert places == [[0, 0], [0, 0], [1, 0], [1, 1], [1, 2], [1, 2], [0, 2], [0, 1]]


@pytest.mark.parametrize("name", FOUND)
def test_found_actions_reach_the_goal(name, make):
    solution = FOUND[name]
    env = make(lookup(name))
    env.reset(seed=solution["seed"])
    total, successes = 0.0, 0
    for action in np.repeat(solution["knots"], solution["hold"], axis=0):
        _, reward, _, _, info = env.step(action)
        total += reward
        successes += info["success"]
    assert successes == solution["successes"] > 0
    assert total == pytest.approx(solution["return"], abs=0.01)


def _solved(physics, name):
    """The goal condition, from the physics alone."""
    if name.startswith("BallInCup"):
        gap = np.abs(
            physics.named.data.site_xpos["target", ["x", "z"]]
            - physics.named.data.xpos["ball", ["x", "z"]]
        )
        return bool((gap < 0.05 - 0.025).all())
    if name.startswith("Reacher"):
        places = physics.named.data.geom_xpos[["finger", "target"]]
        return bool(np.linalg.norm(places[0, :2] - places[1, :2]) <= 0.025)
    if name.startswith("Finger"):
        tip, target = (physics.named.data.site_xpos[site, ["x", "z"]] for site in ("tip", "target"))
        return bool(np.linalg.norm(tip - target) <= 0.03)
    if name.startswith("Cartpole"):
        cart, pole = physics.named.data.qpos[["slider", "hinge_1"]]
        return bool(abs(cart) <= 0.25 and np.cos(pole) >= 0.995)
    if name.startswith("Pendulum"):
        return bool(np.cos(physics.named.data.qpos["hinge"][0]) >= np.cos(np.deg2rad(8)))
    if name.startswith("Cheetah"):
        return bool(physics.named.data.sensordata["torso_subtreelinvel"][0] >= 2.5)
    speed = physics.named.data.sensordata["torso_subtreelinvel"][0]
    return bool(physics.named.data.xpos["torso", "z"] >= 1.2 and speed >= 1.0)


def test_success_is_the_goal_condition(suite_spec, make):
    """Along a solution, which holds steps with and without success, and nearly so."""
    solution, seen = FOUND[suite_spec.name], set()
    env = make(suite_spec)
    env.reset(seed=solution["seed"])
    for action in np.repeat(solution["knots"], solution["hold"], axis=0):
        _, reward, _, _, info = env.step(action)
        assert info["success"] == _solved(env.unwrapped.physics, suite_spec.name)
        if suite_spec.name not in SHAPED:
            assert reward == float(info["success"])
        seen.add(info["success"])
    assert seen == {True, False}


@pytest.mark.parametrize("name", HALLWAYS)
def test_hallway_success_is_inside_the_best_goal(make, name):
    env = make(lookup(name))
    x, radius, _ = max(lookup(name).kwargs["goals"], key=lambda goal: goal[2])
    env.reset(seed=0)
    for offset, inside in ((0.0, True), (0.9, True), (1.1, False), (1.9, False), (-0.9, True)):
        env.unwrapped.set_state(np.array([x + offset * radius, 0.0, 0.0, 0.0]))
        assert env.step(np.zeros(2))[4]["success"] is inside


@pytest.mark.parametrize("name", SPARSE_EXPLORE)
def test_no_start_is_rewarded_in_the_sparse_explore_tasks(make, name):
    env = make(lookup(name))
    for seed in range(2000):
        _, info = env.reset(seed=seed)
        assert env.unwrapped.task.get_reward(env.unwrapped.physics) == 0.0
        assert info["success"] is False


@pytest.mark.slow
def test_fallen_walkers_are_paid_next_to_nothing(make):
    """About .02 at the start; a few are still falling upright."""
    env = make(lookup("WalkerExplore"))
    pay = []
    for seed in range(300):
        env.reset(seed=seed)
        pay.append(env.unwrapped.task.get_reward(env.unwrapped.physics))
    assert np.median(pay) < 0.05


@pytest.mark.slow
def test_stored_random_returns_are_reproduced():
    assert random_returns(lookup("GridWorld"))["mean"] == lookup("GridWorld").random_return
    measured_again = random_returns(lookup("HallwayAdversarial"))["mean"]
    assert measured_again == pytest.approx(lookup("HallwayAdversarial").random_return, abs=0.01)


def test_random_actions_hardly_ever_find_the_sparse_rewards():
    """What makes the explore tasks hard: measured over 100 episodes, stored with the catalogue."""
    for spec in BENCHMARK.values():
        assert 0 <= spec.random_return < 0.11 * spec.best_return
    sparse = ("BallInCupExplore", "ReacherExplore", "GridWorld")
    for name in (*sparse, "CartpoleSwingupSparse", "PendulumExplore", "CheetahRunSparse"):
        assert lookup(name).random_return < 2
