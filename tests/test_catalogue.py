"""TASKS, the fingerprints and the import of the package itself."""

import inspect
import re
import subprocess
import sys

import gymnasium
import numpy as np
import pytest

from explore_suite import TASKS, UnknownTaskError, fingerprint, lookup
from explore_suite.tasks import measured


def test_eleven_tasks_with_the_ids_of_the_benchmark():
    names = (
        "BallInCupCatch BallInCupExplore ReacherHard ReacherExplore FingerTurnHard FingerExplore "
        "WalkerWalk WalkerExplore HallwayLocalOptimum HallwayAdversarial GridWorld"
    )
    assert list(TASKS) == [f"ExploreSuite/{name}-v0" for name in names.split()]


def test_gymnasium_knows_each_task_and_its_horizon(sheet):
    spec = gymnasium.spec(sheet.id)
    assert spec.max_episode_steps == sheet.horizon
    assert not spec.nondeterministic


def test_control_step_and_frame_rate_are_the_physics_own(sheet, make):
    env = make(sheet, render_mode="rgb_array")
    if sheet.discrete:
        assert sheet.control_step == 0.0
        return
    assert env.unwrapped._env.control_timestep() == pytest.approx(sheet.control_step)
    assert env.metadata["render_fps"] == round(1 / sheet.control_step)


def test_observation_names_follow_the_keys_of_the_task(suite_sheet, make):
    spec = make(suite_sheet).unwrapped._env.observation_spec()
    keys = [key for key, array in spec.items() for _ in range(int(np.prod(array.shape)))]
    assert [name.split(".")[0] for name in suite_sheet.obs_names] == keys


def test_partners_name_each_other(suite_sheet):
    partner = lookup(suite_sheet.partner)
    assert partner.partner == suite_sheet.name
    assert {suite_sheet.group, partner.group} == {"explore", "original"}
    assert partner.features == suite_sheet.features


def test_typical_ranges_are_ranges(sheet):
    assert (sheet.obs_low < sheet.obs_high).all()
    assert sheet.obs_low.dtype == np.float32


def test_class_docstring_is_a_specification_sheet(sheet, make):
    text = inspect.getdoc(type(make(sheet).unwrapped))
    for heading in ("Observation", "reward", "Start:", "End:|end:", "uccess", "Versions:"):
        assert re.search(heading, text, re.IGNORECASE), heading
    sizes = re.search(r"Observation \((\d+)\)", text)
    if sizes:
        assert int(sizes.group(1)) == sheet.obs_dim
    if sheet.group == "explore":
        assert "Difference from upstream" in text


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


def test_fingerprint_is_the_stored_one(sheet):
    assert fingerprint.changed(sheet.name) is None


def test_changed_physics_is_noticed_by_name(monkeypatch):
    golden = measured("fingerprints")
    golden["GridWorld"] = {
        "fingerprint": "0" * 16,
        "versions": {**golden["GridWorld"]["versions"], "mujoco": "1.2.3"},
    }
    monkeypatch.setattr(fingerprint, "measured", lambda what: golden)
    line = fingerprint.changed("GridWorld")
    assert "ExploreSuite/GridWorld-v0" in line and "mujoco 1.2.3 ->" in line
    assert fingerprint.changed("ReacherHard") is None


def test_fingerprint_depends_on_the_dynamics(monkeypatch):
    from explore_suite import hallway

    before = fingerprint.fingerprint("HallwayLocalOptimum")
    monkeypatch.setattr(hallway, "_START_GAP", 0.1001)
    assert fingerprint.fingerprint("HallwayLocalOptimum") != before


def test_import_is_light():
    """No MuJoCo, no torch, no pandas; and quick, in the best of five tries."""
    code = (
        "import sys, time; start = time.perf_counter(); import explore_suite; "
        "print(time.perf_counter() - start, "
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
