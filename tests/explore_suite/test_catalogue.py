"""TASKS, the fingerprints and the import of the package itself."""

import inspect
import re
import subprocess
import sys
from dataclasses import replace

import gymnasium
import numpy as np
import pytest

from explore_suite import TASKS, UnknownTaskError, fingerprint, lookup, register
from explore_suite.errors import UserError
from explore_suite.tasks import (
    BENCHMARK,
    CLASSIC,
    CLASSIC_EXPLORE,
    CLASSIC_ORIGINAL,
    CONTROL,
    EXPLORE,
    GRID,
    HALLWAYS,
    ORIGINAL,
    measured,
)


def paired(originals, variants):
    """Each original, and its variant after it."""
    return [task for pair in zip(originals, variants, strict=True) for task in pair]


def test_the_benchmark_is_frozen():
    """Claims, figures, ranked sections and submissions speak of these tasks, in this order."""
    assert ORIGINAL == ("BallInCupCatch", "ReacherHard", "FingerTurnHard", "WalkerWalk")
    assert EXPLORE == ("BallInCupExplore", "ReacherExplore", "FingerExplore", "WalkerExplore")
    assert CONTROL == ORIGINAL + EXPLORE
    assert HALLWAYS == ("HallwayLocalOptimum", "HallwayAdversarial") and GRID == ("GridWorld",)
    assert CLASSIC_ORIGINAL == ("CartpoleSwingup", "PendulumSwingup", "CheetahRun")
    assert CLASSIC_EXPLORE == ("CartpoleSwingupSparse", "PendulumExplore", "CheetahRunSparse")
    assert CLASSIC == CLASSIC_ORIGINAL + CLASSIC_EXPLORE
    names = [*paired(ORIGINAL, EXPLORE), *HALLWAYS, *GRID]
    names += paired(CLASSIC_ORIGINAL, CLASSIC_EXPLORE)
    assert list(BENCHMARK) == [f"ExploreSuite/{name}-v0" for name in names]
    assert BENCHMARK.items() <= TASKS.items()


def test_a_summary_can_be_read_without_that_of_another_task(spec):
    assert not re.search(r"\bsame\b", spec.summary)
    assert not any(other.name in spec.summary for other in TASKS.values())


def test_registering_twice_is_harmless_and_another_task_of_the_same_name_is_refused(recwarn):
    spec = lookup("GridWorld")
    register(replace(spec))
    assert not recwarn, "Gymnasium warns of overwriting"
    with pytest.raises(UserError, match="another task is registered as ExploreSuite/GridWorld-v0"):
        register(replace(spec, horizon=5))
    assert TASKS[spec.id] is spec and gymnasium.spec(spec.id).max_episode_steps == 100


def test_gymnasium_knows_each_task_and_its_horizon(spec):
    registered = gymnasium.spec(spec.id)
    assert registered.max_episode_steps == spec.horizon
    assert not registered.nondeterministic


def test_control_step_and_frame_rate_are_the_physics_own(spec, make):
    env = make(spec, render_mode="rgb_array")
    if spec.discrete:
        assert spec.control_step == 0.0
        return
    simulation = env.unwrapped.build(**gymnasium.spec(spec.id).kwargs)
    assert simulation.control_timestep() == pytest.approx(spec.control_step)
    assert env.metadata["render_fps"] == round(1 / spec.control_step)


def test_observation_names_follow_the_keys_of_the_task(suite_spec, make):
    observed = make(suite_spec).unwrapped.build().observation_spec()
    keys = [key for key, array in observed.items() for _ in range(int(np.prod(array.shape)))]
    assert [name.split(".")[0] for name in suite_spec.obs_names] == keys


def test_partners_name_each_other(suite_spec):
    partner = lookup(suite_spec.partner)
    assert partner.partner == suite_spec.name
    if suite_spec.name in CLASSIC:
        assert {suite_spec.group, partner.group} == {"classic"}
    else:
        assert {suite_spec.group, partner.group} == {"explore", "original"}
    originals = {*ORIGINAL, *CLASSIC_ORIGINAL}
    assert (suite_spec.name in originals) != (partner.name in originals)
    assert partner.features == suite_spec.features


PUBLISHED_RANGES = {  # low and high of every observation element, as published
    "BallInCup": ([-0.25, -0.3, -0.2, -0.2, -1.5, -1.5, -1.5, -3.0],
                  [0.25, 0.2, 0.5, 0.25, 1.5, 1.5, 1.5, 1.0]),
    "Reacher": ([0, -3, -0.4, -0.4, -5, -5], [6.28, 3, 0.4, 0.4, 5, 5]),
    "Finger": ([-2, -2, -0.1, -0.1, -12, -12, -12, 0, 0, -0.13, -0.13, -0.2],
               [2, 2, 0.1, 0.1, 12, 12, 12, 5, 5, 0.13, 0.13, 0.23]),
    "Walker": ([-1] * 14 + [0.3, -5, -5, -20] + [-40] * 6, [1] * 14 + [1.3, 5, 5, 20] + [40] * 6),
    "HallwayShort": ([-1.5, -0.1], [1.5, 0.1]),  # ours: the corridor, as in the others
    "Hallway": ([-2, -0.1], [2, 0.1]),
    "GridWorld": ([0, 0], [39, 39]),
}  # fmt: skip


@pytest.mark.parametrize("name", [*CONTROL, *HALLWAYS, "HallwayShort", *GRID])
def test_typical_ranges_are_the_published_ones(name):
    spec = lookup(name)
    low, high = next(v for k, v in PUBLISHED_RANGES.items() if name.startswith(k))
    np.testing.assert_array_equal(spec.obs_low, np.float32(low))
    np.testing.assert_array_equal(spec.obs_high, np.float32(high))


def test_class_docstring_is_the_specification(spec, make):
    text = inspect.getdoc(type(make(spec).unwrapped))
    for heading in ("Observation", "reward", "Start:", "End:|end:", "uccess", "Versions:"):
        assert re.search(heading, text, re.IGNORECASE), heading
    sizes = re.search(r"Observation \((\d+)\)", text)
    if sizes:
        assert int(sizes.group(1)) == spec.obs_dim
    if spec.name in (*EXPLORE, "PendulumExplore", "CheetahRunSparse"):
        assert "Difference from upstream" in text
    elif spec.name in CONTROL + CLASSIC:
        assert re.search(r"dm_control's `\w+ \w+`", text)


@pytest.mark.parametrize(
    "name", ["WalkerExplore", "WalkerExplore-v0", "ExploreSuite/WalkerExplore-v0"]
)
def test_lookup_takes_names_and_ids(name):
    assert lookup(name).id == "ExploreSuite/WalkerExplore-v0"


def test_lookup_suggests_the_nearest_names():
    with pytest.raises(UnknownTaskError, match="did you mean WalkerExplore"):
        lookup("walker_explore")
    with pytest.raises(UnknownTaskError, match="known tasks: .*GridWorld"):
        lookup("zzzzzzzzzzzzzz")


def test_fingerprint_is_the_stored_one(spec):
    assert fingerprint.changed(spec.name) is None


def test_changed_physics_is_noticed_by_name(monkeypatch):
    golden = measured("fingerprints")
    golden["GridWorld"] = {
        "fingerprint": "0" * 16,
        "versions": {**golden["GridWorld"]["versions"], "mujoco": "1.2.3"},
    }
    monkeypatch.setattr(
        fingerprint, "measured", lambda what: golden if what == "fingerprints" else measured(what)
    )
    line = fingerprint.changed("GridWorld")
    assert "ExploreSuite/GridWorld-v0" in line and "mujoco 1.2.3 ->" in line
    assert fingerprint.changed("ReacherHard") is None


class Altered(gymnasium.Wrapper):
    """A task that differs in one thing."""

    def __init__(self, env, change):
        super().__init__(env)
        self.change = change

    def reset(self, **kwargs):
        obs, info = self.env.reset(**kwargs)
        return (obs + 0.001 if self.change == "start" else obs), info

    def step(self, action):
        if self.change == "dynamics" and not isinstance(action, int):
            action = np.asarray(action) * 0.99
        obs, reward, terminated, truncated, info = self.env.step(action)
        if self.change == "dynamics" and isinstance(action, int):
            obs = obs[::-1]
        if self.change == "reward":
            reward *= 0.5
        if self.change == "success":
            info["success"] = False
        return obs, reward, terminated, truncated, info


@pytest.mark.slow
@pytest.mark.parametrize("change", ["start", "dynamics", "reward", "success"])
def test_fingerprint_sees_every_kind_of_change(spec, change, monkeypatch):
    make = gymnasium.make
    monkeypatch.setattr(fingerprint.gymnasium, "make", lambda task: Altered(make(task), change))
    assert "no longer behaves as published" in fingerprint.changed(spec.name)


REWARD_CHANGES = {  # what the fingerprint must notice of a reward's shape
    "ReacherExplore": ("explore_suite.envs.reacher._TARGET_RADIUS", 0.05),
    "FingerExplore": ("explore_suite.envs.finger._TARGET_RADIUS", 0.07),
    "WalkerExplore": ("explore_suite.envs.walker._WALK_SPEED", 2.0),
    "CartpoleSwingup": ("explore_suite.envs.cartpole._LEAST_COSINE", 0.98),
    "CheetahRunSparse": ("explore_suite.envs.cheetah.LEAST_PAY", 0.3),
}


@pytest.mark.parametrize("name", REWARD_CHANGES)
def test_fingerprint_sees_where_rewards_begin(name, monkeypatch):
    monkeypatch.setattr(*REWARD_CHANGES[name])
    assert fingerprint.changed(name) is not None


def test_fingerprint_does_not_depend_on_how_numpy_prints():
    before = np.get_printoptions()
    try:
        np.set_printoptions(suppress=True, sign="+", precision=2)
        assert fingerprint.changed("WalkerWalk") is None
    finally:
        np.set_printoptions(**before)


@pytest.mark.slow
def test_import_is_light():
    """No MuJoCo, no torch, no pandas; and quick, in the best of five tries."""
    code = (
        "import sys, time; start = time.process_time(); import explore_suite; "
        "print(time.process_time() - start, "
        "[m for m in ('mujoco', 'dm_control', 'torch', 'pandas', 'OpenGL') if m in sys.modules])"
    )
    runs = [
        subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True
        ).stdout
        for _ in range(5)
    ]
    assert all(run.strip().endswith("[]") for run in runs), runs
    assert min(float(run.split()[0]) for run in runs) < 0.3


@pytest.mark.slow
def test_a_back_end_that_does_not_load_is_one_clear_error():
    code = "import gymnasium, explore_suite; gymnasium.make('ExploreSuite/ReacherHard-v0')"
    run = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False,
        env={"MUJOCO_GL": "nonsense"},
    )  # fmt: skip
    assert (
        "RenderingUnavailableError: MUJOCO_GL=nonsense" in run.stderr and "unset it" in run.stderr
    )


@pytest.mark.slow
def test_training_never_touches_opengl():
    code = (
        "import sys, warnings; warnings.simplefilter('error'); import gymnasium, explore_suite\n"
        "for task in explore_suite.TASKS:\n"
        "    env = gymnasium.make(task); env.reset(seed=0); env.step(env.action_space.sample())\n"
        "print([m for m in sys.modules if m.startswith('OpenGL')])"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"
    assert run.stderr == ""


@pytest.mark.slow
@pytest.mark.parametrize("own", ["analysis/__init__.py", "analysis.py"])
def test_a_package_of_the_user_that_hides_the_analysis_is_named(tmp_path, own):
    (tmp_path / own).parent.mkdir(exist_ok=True)
    (tmp_path / own).touch()
    code = "import explore_suite; explore_suite.load_results"
    run = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, cwd=tmp_path
    )
    assert run.returncode == 1
    assert f"{tmp_path / 'analysis'}" in run.stderr and "hides the package" in run.stderr
