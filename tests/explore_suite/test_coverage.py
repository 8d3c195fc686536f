"""Coverage against a plain count of distinct bins."""

import time

import numpy as np
import pytest

from explore_suite import Coverage
from explore_suite.tasks import CLASSIC, CONTROL, GRID, HALLWAYS, TASKS, lookup
from explore_suite.tools.measure import solution


def test_every_task_has_a_projection_of_its_own():
    assert all(spec.projection is not None for spec in TASKS.values())


def test_fraction_equals_numpy_histogram(spec, make):
    env = make(spec)
    coverage = Coverage(spec.name)
    env.reset(seed=0)
    env.action_space.seed(0)
    rows = []
    for _ in range(300):
        obs = (
            env.step(env.action_space.sample())[0]
            if len(rows) % 100
            else env.reset(seed=len(rows))[0]
        )
        coverage.add(obs)
        rows.append(coverage.project(obs.tolist()))
    edges = [np.linspace(axis.low, axis.high, axis.bins + 1) for axis in coverage.axes]
    inside = [
        np.clip(column, axis.low, np.nextafter(axis.high, axis.low))
        for column, axis in zip(np.array(rows).T, coverage.axes, strict=True)
    ]
    expected, _ = np.histogramdd(np.array(inside).T, bins=edges)
    np.testing.assert_array_equal(coverage.visits, expected)
    assert coverage.fraction == np.count_nonzero(expected) / expected.size


PROJECTED = {  # the observation elements that each projection reads
    "BallInCup": ["position.ball_x", "position.ball_z"],
    "Reacher": ["position.shoulder", "position.wrist"],
    "Finger": ["position.tip_x", "position.tip_z", "position.proximal", "position.distal"],
    "Walker": ["height", "orientations.torso_xx", "orientations.torso_xz"],
    "Hallway": ["position.x", "position.y"],
    "GridWorld": ["row", "column"],
    "Cartpole": ["position.cart", "position.pole_cos", "position.pole_sin"],
    "Pendulum": ["orientation.cos", "orientation.sin", "velocity"],
    "Cheetah": ["velocity.root_x", "position.root_y"],
}


@pytest.mark.parametrize("name", [*CONTROL, *HALLWAYS, "HallwayShort", *GRID, *CLASSIC])
def test_projections_read_what_they_say(name):
    """Changing an element changes the projection exactly if it is one of those named."""
    spec, project = lookup(name), Coverage(name).project
    obs = np.random.default_rng(0).uniform(0.1, 0.4, spec.obs_dim).tolist()
    read = [
        element
        for i, element in enumerate(spec.obs_names)
        if project(obs[:i] + [obs[i] + 0.2] + obs[i + 1 :]) != project(obs)
    ]
    expected = next(names for prefix, names in PROJECTED.items() if name.startswith(prefix))
    assert sorted(read) == sorted(expected)


@pytest.mark.slow
def test_ranges_hold_nearly_everything_that_is_visited(suite_spec, make):
    env = make(suite_spec)
    coverage, rng, rows = Coverage(suite_spec.name), np.random.default_rng(0), []
    for episode in range(3):
        env.reset(seed=episode)
        for action in np.repeat(rng.choice([-1.0, 1.0], (30, suite_spec.action_dim)), 10, axis=0):
            rows.append(coverage.project(env.step(action)[0].tolist()))
    _, actions = solution(suite_spec)
    env.reset(seed=0)
    rows += [coverage.project(env.step(action)[0].tolist()) for action in actions]
    low, high = (
        np.array([getattr(axis, side) for axis in coverage.axes]) for side in ("low", "high")
    )
    inside = ((np.array(rows) >= low) & (np.array(rows) <= high)).all(axis=1)
    assert inside.mean() > 0.97


def test_grid_coverage_counts_cells():
    coverage = Coverage("GridWorld")
    for cell in ((0, 0), (0, 1), (0, 1), (39, 39)):
        coverage.add(np.array(cell, np.float32))
    assert coverage.fraction == 3 / 1600
    assert coverage.visits[0, 1] == 2 and coverage.visits[39, 39] == 1


def test_values_beyond_the_range_count_in_the_outer_bins():
    coverage = Coverage("HallwayLocalOptimum")
    coverage.add(np.array([-2.08, 0.18], np.float32))
    assert coverage.visits[0, -1] == 1


def test_the_shoulder_is_an_angle():
    coverage = Coverage("ReacherHard")
    for turns in (-2, 0, 3):
        coverage.add(np.array([1.0 + 2 * np.pi * turns, 0, 0, 0, 0, 0], np.float32))
    assert coverage.fraction == 1 / coverage.visits.size


@pytest.mark.parametrize(
    ("name", "observe", "axis"),
    [("CartpoleSwingup", lambda a: [0, np.cos(a), np.sin(a), 0, 0], 1),
     ("PendulumSwingup", lambda a: [np.cos(a), np.sin(a), 0], 0),
     ("CheetahRun", lambda a: [0, a, *[0] * 15], 1)],
)  # fmt: skip
def test_poles_and_the_pitch_of_a_cheetah_are_angles(name, observe, axis):
    project = Coverage(name).project
    for turns in (-1, 0, 2):
        for angle in (-3.0, -0.5, 0.0, 1.0, 3.0):
            found = project(observe(angle + 2 * np.pi * turns))
            assert found[axis] == pytest.approx(angle, abs=1e-9)


def test_state_round_trip(spec, make):
    env = make(spec)
    first, second = Coverage(spec.id), Coverage(spec.id)
    for seed in range(20):
        first.add(env.reset(seed=seed)[0])
    second.load_state_dict(first.state_dict())
    for coverage in (first, second):
        coverage.add(env.reset(seed=50)[0])
    np.testing.assert_array_equal(first.visits, second.visits)
    assert first.fraction == second.fraction


@pytest.mark.slow
def test_cheap_beside_an_environment_step(suite_spec, make):
    """Under 5 % of a step in the tasks of the paper, under 10 % in the quicker classic ones."""
    env = make(suite_spec)
    coverage = Coverage(suite_spec.name)
    env.reset(seed=0)
    env.action_space.seed(0)
    actions = [env.action_space.sample() for _ in range(100)]
    obs = [env.step(action)[0] for action in actions]
    ratios = []
    for _ in range(8):
        env.reset(seed=0)
        start = time.perf_counter()
        for action in actions:
            env.step(action)
        middle = time.perf_counter()
        for row in obs:
            coverage.add(row)
        ratios.append((time.perf_counter() - middle) / (middle - start))
    assert min(ratios) < (0.1 if suite_spec.group == "classic" else 0.05)  # the best round


def test_unknown_task_is_named():
    with pytest.raises(LookupError, match="Wlker"):
        Coverage("Wlker")
