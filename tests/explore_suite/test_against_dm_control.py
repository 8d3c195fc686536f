"""The originals are dm_control's own tasks, and the explore variants differ only where they say."""

import mujoco
import numpy as np
import pytest

from explore_suite.envs.dm_control_import import control, suite
from explore_suite.tasks import lookup
from explore_suite.tools.measure import solution

UPSTREAM = {
    "BallInCupCatch": ("ball_in_cup", "catch"),
    "ReacherHard": ("reacher", "hard"),
    "FingerTurnHard": ("finger", "turn_hard"),
    "WalkerWalk": ("walker", "walk"),
    "CartpoleSwingup": ("cartpole", "swingup"),
    "CartpoleSwingupSparse": ("cartpole", "swingup_sparse"),
    "PendulumSwingup": ("pendulum", "swingup"),
    "CheetahRun": ("cheetah", "run"),
}
STEPS = 1000
STATE = mujoco.mjtState.mjSTATE_INTEGRATION


def flat(observation):
    """dm_control's observation in its own order, in its own precision."""
    return np.concatenate([np.ravel(value) for value in observation.values()])


def observe(env):
    """Our observation before it is cast to float32."""
    return flat(env.unwrapped.task.get_observation(env.unwrapped.physics))


@pytest.mark.slow
@pytest.mark.parametrize("name", UPSTREAM)
@pytest.mark.parametrize("seed", [0, 12345])
def test_originals_equal_dm_control_bit_for_bit(make, name, seed):
    theirs = suite.load(*UPSTREAM[name], task_kwargs={"random": seed})
    ours = make(lookup(name))
    obs, _ = ours.reset(seed=seed)
    timestep = theirs.reset()
    np.testing.assert_array_equal(observe(ours), flat(timestep.observation))
    rng = np.random.default_rng(seed)
    for step in range(STEPS):
        action = rng.uniform(-1.2, 1.2, lookup(name).action_dim)  # beyond the box at times
        obs, reward, _, truncated, _ = ours.step(action)
        timestep = theirs.step(action)
        np.testing.assert_array_equal(observe(ours), flat(timestep.observation))
        np.testing.assert_array_equal(obs, flat(timestep.observation).astype(np.float32))
        assert reward == timestep.reward
        assert truncated == timestep.last() == (step == STEPS - 1)


VARIANTS = {  # by name: what the variant pays where its original pays r; None if that is not enough
    "BallInCupExplore": lambda r: r,
    "FingerExplore": lambda r: r,
    "WalkerExplore": None,
    "ReacherExplore": lambda r: r,
    "CartpoleSwingupSparse": None,  # dm_control's own
    "PendulumExplore": lambda r: r,
    "CheetahRunSparse": lambda r: r if r >= 0.25 else 0.0,
}


@pytest.mark.slow
@pytest.mark.parametrize("name", VARIANTS)
def test_explore_variants_move_as_their_originals(make, name):
    """From one physical state, with one model, both give the same observations for 1000 steps."""
    ours, original = make(lookup(name)), make(lookup(lookup(name).partner))
    ours.reset(seed=solution(lookup(name))[0]), original.reset(seed=2)
    a, b = ours.unwrapped.physics, original.unwrapped.physics
    if name == "ReacherExplore":  # its one declared difference in the model
        b.named.model.jnt_limited["shoulder"] = 1
        b.named.model.jnt_range["shoulder"] = (0, 2 * np.pi)
    b.model.geom_pos[:], b.model.site_pos[:] = a.model.geom_pos, a.model.site_pos
    for physics in (a, b):
        physics.set_state(a.get_state(sig=STATE), sig=STATE)
        physics.forward()
    np.testing.assert_array_equal(a.model.geom_size, b.model.geom_size)
    np.testing.assert_array_equal(a.model.site_size, b.model.site_size)
    rng = np.random.default_rng(0)
    actions = rng.uniform(-1, 1, (STEPS, lookup(name).action_dim))
    _, solution_actions = solution(lookup(name))
    actions[: len(solution_actions)] = solution_actions
    total, pay = 0.0, VARIANTS[name]
    for action in actions:
        _, reward, *_ = ours.step(action)
        _, original_reward, *_ = original.step(action)
        np.testing.assert_array_equal(observe(ours), observe(original))
        if pay is not None:
            assert reward == pay(original_reward)
        total += reward
    assert total > 1, "no step was paid, so rewards were not compared"


def test_reacher_shoulder_limit_equals_a_limit_in_the_xml(make):
    """Setting the limit on the loaded model is the same as writing it into the XML."""
    xml, assets = suite.reacher.get_model_and_assets()
    text = xml.decode() if isinstance(xml, bytes) else xml
    limited = text.replace(
        '<joint name="shoulder"/>', '<joint name="shoulder" limited="true" range="0 360"/>'
    )
    assert limited != text
    theirs = control.Environment(
        suite.reacher.Physics.from_xml_string(limited, assets),
        suite.reacher.Reacher(0.015, random=0),
    )
    theirs.reset()
    ours = make(lookup("ReacherExplore"))
    ours.reset(seed=0)
    a, b = ours.unwrapped.physics, theirs.physics
    b.model.geom_pos[:] = a.model.geom_pos
    for physics in (a, b):
        physics.set_state(a.get_state(sig=STATE), sig=STATE)
        physics.forward()
    for action in np.random.default_rng(0).uniform(-1, 1, (300, 2)):
        ours.step(action)
        np.testing.assert_array_equal(observe(ours), flat(theirs.step(action).observation))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "move"),
    [("WalkerWalk", lambda v: min(max(v, 0.0), 1.0)), ("WalkerExplore", lambda v: float(v >= 1))],
)
def test_walkers_are_paid_by_the_equation_of_their_docstring(name, move, make):
    env = make(lookup(name))
    physics = env.unwrapped.physics
    rng = np.random.default_rng(0)
    moves = set()
    for seed in range(3):
        env.reset(seed=seed)
        for _ in range(300):
            _, reward, *_ = env.step(rng.choice([-1.0, 1.0], 6))
            h = physics.named.data.xpos["torso", "z"]
            standing = 1.0 if h >= 1.2 else 0.1 ** (((1.2 - h) / 0.6) ** 2)
            stand = (3 * standing + (1 + physics.named.data.xmat["torso", "zz"]) / 2) / 4
            v = physics.named.data.sensordata["torso_subtreelinvel"][0]
            assert reward == pytest.approx(stand * (5 * move(v) + 1) / 6, rel=1e-9)
            moves.add(move(v))
    assert {0.0, 1.0} <= moves, "no step was fast enough to test the paid part"


def test_the_cartpole_is_paid_by_the_equation_of_its_docstring(make):
    env = make(lookup("CartpoleSwingup"))
    physics = env.unwrapped.physics
    best = 0.0
    env.reset(seed=solution(lookup("CartpoleSwingup"))[0])
    for action in solution(lookup("CartpoleSwingup"))[1]:
        _, reward, *_ = env.step(action)
        (x, a), (_, w), (u,) = physics.data.qpos, physics.data.qvel, np.clip(action, -1, 1)
        upright, centered = (1 + np.cos(a)) / 2, (1 + 0.1 ** ((x / 2) ** 2)) / 2
        small_control, small_velocity = (4 + 1 - u**2) / 5, (1 + 0.1 ** ((w / 5) ** 2)) / 2
        expected = upright * centered * small_control * small_velocity
        assert reward == pytest.approx(expected, rel=1e-9)
        best = max(best, reward)
    assert best > 0.5, "the pole never stood"


def test_the_cheetah_is_paid_by_its_speed(make):
    for name in ("CheetahRun", "CheetahRunSparse"):
        env, paid = make(lookup(name)), set()
        env.reset(seed=solution(lookup(name))[0])
        for action in solution(lookup(name))[1]:
            _, reward, *_ = env.step(action)
            v = env.unwrapped.physics.named.data.sensordata["torso_subtreelinvel"][0]
            full = min(max(v / 10, 0.0), 1.0)
            none = name == "CheetahRunSparse" and full < 0.25
            assert reward == pytest.approx(0.0 if none else full, abs=1e-9)
            paid.add((full > 0, full >= 0.25))
        assert paid == {(False, False), (True, False), (True, True)}


def test_a_success_on_the_cartpole_is_what_its_sparse_twin_pays(make):
    dense, sparse = make(lookup("CartpoleSwingup")), make(lookup("CartpoleSwingupSparse"))
    dense.reset(seed=0), sparse.reset(seed=0)
    seen = set()
    for action in solution(lookup("CartpoleSwingup"))[1]:
        success = dense.step(action)[4]["success"]
        assert sparse.step(action)[1] == float(success)
        seen.add(success)
    assert seen == {True, False}


def test_the_cheetah_is_built_without_a_warning_and_others_are_still_heard(make, caplog):
    make(lookup("CheetahRun"))
    assert caplog.records == []
    suite.load("cheetah", "run")
    assert any("settotalmass" in record.getMessage() for record in caplog.records)


def test_finger_starts_outside_its_limit_and_is_thrown_back(make):
    """Published quirk: from 2.36, 3.14 and 3.93 rad it settles near 1.79, 1.56 and 1.33 rad."""
    env = make(lookup("FingerExplore"))
    for start, settled in ((2.356, 1.79), (np.pi, 1.56), (3.927, 1.33)):
        env.reset(seed=0)
        physics = env.unwrapped.physics
        assert isinstance(physics, suite.finger.Physics)
        with physics.reset_context():
            physics.named.data.qpos["proximal"] = start
            physics.named.data.qpos["hinge"] = np.pi
        for _ in range(10):
            env.step(np.zeros(2))
        assert physics.named.data.qpos["proximal"][0] == pytest.approx(settled, abs=0.05)


def test_reacher_starts_below_its_limit_and_is_thrown_back(make):
    """Published quirk: from -0.785 rad to -0.72, -0.60, -0.45, -0.17 and at last to 0.84."""
    env = make(lookup("ReacherExplore"))
    env.reset(seed=0)
    physics = env.unwrapped.physics
    with physics.reset_context():
        physics.named.data.qpos["shoulder"] = -0.785
    shoulder = []
    for _ in range(400):
        obs, *_ = env.step(np.zeros(2))
        shoulder.append(obs[0])
    np.testing.assert_allclose(
        [shoulder[i] for i in (0, 1, 2, 4)], [-0.72, -0.60, -0.45, -0.17], atol=0.02
    )
    assert shoulder[-1] == pytest.approx(0.84, abs=0.03)
