"""A task of the user's own goes through every command without a change to the package."""

import os
import re
import subprocess
import sys

import pytest

MODULE = '''
"""A cart-pole whose pole starts hanging and pays only while it stands."""

from dataclasses import replace

from explore_suite import TaskSpec, register
from explore_suite.envs.dm_control_env import DMCEnv
from explore_suite.envs.dm_control_import import control, suite


class HangingPole(suite.cartpole.Balance):
    """dm_control's swing-up, always started from the same angle."""

    def initialize_episode(self, physics):
        physics.named.data.qpos["slider"] = self.random.uniform(-0.1, 0.1)
        physics.named.data.qpos["hinge_1"] = 3.14
        suite.base.Task.initialize_episode(self, physics)


class HangingCartpole(DMCEnv):
    """Swing the pole up."""

    def build(self):
        physics = suite.cartpole.Physics.from_xml_string(*suite.cartpole.get_model_and_assets())
        return control.Environment(physics, HangingPole(swing_up=True, sparse=True))


spec = TaskSpec(
    name="HangingCartpole", entry_point="own_tasks:HangingCartpole", group="explore",
    features=(("position.x", -1.8, 1.8), ("position.cos", -1.0, 1.0), ("position.sin", -1.0, 1.0),
              ("velocity.x", -5.0, 5.0), ("velocity.angle", -10.0, 10.0)),
    action_dim=1, horizon=20, control_step=0.01, best_return=20.0, goal="the pole stands",
    summary="swing a hanging pole up; only standing pays", score_window=(2, 3), smoothing=1,
)
register(spec)
register(replace(spec, name="NeverRun", partner="NeverRegistered"))
'''
TASK, EPISODES = "HangingCartpole", "3"


@pytest.fixture
def command(tmp_path):
    """`explore-suite` in a process of its own that imports the module; returns what it printed."""
    (tmp_path / "own_tasks.py").write_text(MODULE)
    path = os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])
    environment = os.environ | {"PYTHONPATH": path, "EXPLORE_SUITE_IMPORT": "own_tasks"}

    def run(*arguments):
        result = subprocess.run(
            [sys.executable, "-m", "explore_suite", *arguments],
            cwd=tmp_path, env=environment, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert result.returncode == 0, result.stderr
        return result.stdout

    return run


@pytest.mark.slow
def test_a_task_of_ones_own_goes_through_every_command(command, tmp_path):
    assert TASK in command("list")
    runs = ["--results", "runs"]
    command("train", "--agent", "sac", "--task", TASK, "--episodes", EPISODES, *runs,
            "--variant", "tiny", "--config.hidden", "8", "--config.batch-size", "8")  # fmt: skip
    command("sweep", "--agents", "random", "--tasks", TASK, "GridWorld", "--seeds", "0-2",
            "--episodes", EPISODES, "--workers", "1", *runs)  # fmt: skip
    assert len(list((tmp_path / "runs").glob("*/*/*/seed-*.csv"))) == 7

    said = command("report", *runs, "--out", "report")
    assert "other_tasks\n" in said, "drawn"
    figures = {path.stem for path in (tmp_path / "report" / "figures").iterdir()}
    assert figures == {"other_tasks", "grid_pure_exploration"}
    text = (tmp_path / "report" / "leaderboard.md").read_text()
    headings = [line for line in text.splitlines() if line.startswith("#")]
    assert headings == [
        "# Leaderboard", "## Grid world, exploration only",
        "### Grid world, exploration only: mean score by task",
        f"## {TASK}", f"### {TASK}: mean score by task",
    ]  # fmt: skip
    assert TASK not in text[: text.index(f"## {TASK}")], "no existing section holds it"
    assert TASK not in (tmp_path / "report" / "REPRODUCTION.md").read_text(), "nor does a claim"
    check_page(tmp_path / "report" / "leaderboard.html")

    said = command("leaderboard", *runs, "--out", "page.html", "--last", "2")
    assert "sac.tiny" in said[said.index(TASK) :]
    check_page(tmp_path / "page.html")


def check_page(path):
    """The task has a table of its own under "Other tasks" and an article; no other table has it."""
    page = path.read_text()
    grid, other = re.findall(r'<section id="\w+" class="group".*?</section>', page, re.DOTALL)
    assert '<h2 id="other-title">Other tasks</h2>' in other and TASK not in grid
    assert re.findall(r"<caption><span><b>(.*?)</b> (.*?)</span>", other) == [
        (f"{TASK}.", "Swing a hanging pole up; only standing pays.")
    ]
    assert other.count("<tbody>") == 1 and "sac.tiny" in other and "random" in other
    assert f'<h3 id="title-{TASK}">{TASK}</h3>' in page and f"chart-{TASK}-" in page


def test_a_module_that_does_not_import_is_named(tmp_path):
    result = subprocess.run(
        [sys.executable, "-c", "import explore_suite"], capture_output=True, text=True, check=False,
        env=os.environ | {"EXPLORE_SUITE_IMPORT": "own_tasks.nowhere"},
    )  # fmt: skip
    assert result.returncode != 0
    last = result.stderr.splitlines()[-1]
    assert "EXPLORE_SUITE_IMPORT" in last and "own_tasks.nowhere" in last and "PYTHONPATH" in last
