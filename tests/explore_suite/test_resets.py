"""Where episodes start: inside the published ranges, and distributed as published."""

import numpy as np
import pytest
from scipy import stats

from explore_suite.envs.dm_control_import import suite
from explore_suite.tasks import lookup

RESETS = 2000
SIGNIFICANCE = 1e-3  # seeds are fixed, so this is a threshold and not a rate of false alarms
QUADRANT = np.pi / 4


def starts(make, name, read, resets=RESETS):
    """`read(physics)` after each of many seeded resets."""
    env = make(lookup(name))
    rows = []
    for seed in range(resets):
        env.reset(seed=seed)
        rows.append(read(env.unwrapped.physics))
    return np.array(rows)


def assert_uniform(sample, low, high):
    """Inside [low, high], and the Kolmogorov-Smirnov test finds nothing wrong with uniform."""
    assert sample.min() >= low and sample.max() <= high
    assert stats.kstest(sample, stats.uniform(low, high - low).cdf).pvalue > SIGNIFICANCE


@pytest.mark.slow
def test_reacher_arm_right_target_left(make):
    rows = starts(
        make,
        "ReacherExplore",
        lambda physics: [*physics.data.qpos, *physics.named.model.geom_pos["target", :2]],
    )
    shoulder, wrist, x, y = rows.T
    assert_uniform(shoulder, -QUADRANT, QUADRANT)
    assert_uniform(wrist, -QUADRANT, QUADRANT)
    assert_uniform(np.hypot(x, y), 0.05, 0.20)
    assert_uniform(np.arctan2(y, -x), -QUADRANT, QUADRANT)  # angle around -x
    assert abs(np.corrcoef(rows.T) - np.eye(4)).max() < 0.08  # drawn independently
    assert 0.45 < (shoulder < 0).mean() < 0.55  # half of the starts violate the limit, as published


@pytest.mark.slow
def test_finger_away_spinner_down_target_up(make):
    def read(physics):
        target = physics.named.model.site_pos["target", ["x", "z"]]
        hinge = physics.named.data.xanchor["hinge", ["x", "z"]]
        return [*physics.data.qpos, *(target - hinge)]

    proximal, distal, hinge, x, z = starts(make, "FingerExplore", read).T
    assert_uniform(proximal, np.pi - QUADRANT, np.pi + QUADRANT)
    assert_uniform(distal, -QUADRANT, QUADRANT)
    assert_uniform(hinge, np.pi - QUADRANT, np.pi + QUADRANT)
    assert_uniform(np.arctan2(x, z), -QUADRANT, QUADRANT)  # 0 is straight up
    np.testing.assert_allclose(np.hypot(x, z), 0.13, atol=1e-9)


@pytest.mark.slow
def test_ball_hangs_below_the_cup(make):
    rows = starts(make, "BallInCupExplore", lambda physics: physics.data.qpos.copy())
    assert (rows[:, :2] == 0).all()
    ball = rows[:, 2:]
    assert (np.abs(ball[:, 0]) <= 0.1).all()
    assert (ball[:, 1] >= 0.2).all() and (ball[:, 1] <= 0.3).all()
    expected, rejected = _hanging_balls(RESETS)
    for axis in (0, 1):
        assert stats.ks_2samp(ball[:, axis], expected[:, axis]).pvalue > SIGNIFICANCE
    assert 0.12 < rejected < 0.24  # about 18 % of draws touch something


def _hanging_balls(wanted):
    """An independent rejection sampler on dm_control's model, and its share of rejected draws."""
    physics = suite.ball_in_cup.Physics.from_xml_string(*suite.ball_in_cup.get_model_and_assets())
    rng = np.random.default_rng(1)
    kept, draws = [], 0
    while len(kept) < wanted:
        draws += 1
        place = rng.uniform((-0.1, 0.2), (0.1, 0.3))
        with physics.reset_context():
            physics.data.qpos[2:] = place
        if physics.data.ncon == 0:
            kept.append(place)
    return np.array(kept), 1 - wanted / draws


@pytest.mark.slow
def test_walker_lies_on_the_ground(make):
    def read(physics):
        return [physics.torso_height(), physics.torso_upright(), abs(physics.data.qvel).max()]

    height, upright, fastest = starts(make, "WalkerExplore", read).T
    expected = _fallen_walkers(400)
    assert stats.ks_2samp(height, expected[:, 0]).pvalue > SIGNIFICANCE
    assert stats.ks_2samp(upright, expected[:, 1]).pvalue > SIGNIFICANCE
    assert height.mean() == pytest.approx(0.33, abs=0.05)
    assert np.percentile(height, 5) == pytest.approx(0.07, abs=0.04)
    assert np.percentile(height, 95) == pytest.approx(0.68, abs=0.08)
    assert upright.mean() == pytest.approx(-0.09, abs=0.12)
    assert fastest.max() > 1.0  # velocities are kept


def _fallen_walkers(resets):
    """dm_control's own task, started and left alone for 20 control steps."""
    rows = []
    env = suite.walker.walk(random=99)
    for _ in range(resets):
        env.reset()
        for _ in range(20):
            env.step(np.zeros(6))
        rows.append([env.physics.torso_height(), env.physics.torso_upright()])
    return np.array(rows)


def test_pendulum_hangs_at_rest(make):
    angle, speed = starts(
        make, "PendulumExplore", lambda physics: [*physics.data.qpos, *physics.data.qvel]
    ).T
    assert_uniform(angle, np.pi - 0.01, np.pi + 0.01)
    assert (speed == 0).all()


def test_hallway_and_grid_always_start_in_the_corner(make):
    for name, corner in (
        ("HallwayLocalOptimum", [-1.9, 0.0]),
        ("HallwayAdversarial", [-1.9, 0.0]),
        ("HallwayShort", [-1.4, 0.0]),
        ("GridWorld", [0.0, 0.0]),
    ):
        env = make(lookup(name))
        for seed in (0, 1, None):
            np.testing.assert_allclose(env.reset(seed=seed)[0], corner, atol=1e-6)


def test_starts_come_from_the_seed_alone(suite_spec, make):
    """NumPy's global generator has no part in them."""
    env = make(suite_spec)
    np.random.seed(0)  # noqa: NPY002
    first = env.reset(seed=11)[0]
    np.random.seed(1)  # noqa: NPY002
    np.testing.assert_array_equal(first, env.reset(seed=11)[0])
