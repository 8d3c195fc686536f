"""The tools for whoever adds a task: each works on the tasks named and leaves the others alone."""

import json
import shutil
import subprocess
import sys

import gymnasium
import imageio.v3 as imageio
import numpy as np
import pytest

from explore_suite.envs.reacher import ReacherHard
from explore_suite.errors import UserError
from explore_suite.tasks import UnknownTaskError, lookup
from explore_suite.tools import find_solutions, measure, pictures


@pytest.fixture
def data(tmp_path):
    """A copy of the stored measurements."""
    return shutil.copytree(measure.DATA, tmp_path / "data")


@pytest.mark.parametrize("what", ["goal_states", "fingerprints"])
def test_measure_replaces_the_entries_of_the_named_tasks_alone(what, data):
    path = data / f"{what}.json"
    published = path.read_text()
    others = json.loads(published) | {"GridWorld": "wrong", "ReacherHard": "as it was published"}
    path.write_text(json.dumps(others, indent=1) + "\n")
    measure.main([what, "--tasks", "GridWorld"], data)
    expected = json.loads(published) | {"ReacherHard": "as it was published"}
    assert path.read_text() == json.dumps(expected, indent=1) + "\n"


def test_stored_measurements_are_written_as_measure_writes_them(data):
    """Else a measurement of one task would rewrite the lines of all."""
    for what in measure.MEASUREMENTS:
        text = (data / f"{what}.json").read_text()
        assert json.dumps(json.loads(text), indent=1) + "\n" == text
    text = (data / "solutions.json").read_text()
    assert json.dumps(json.loads(text)) + "\n" == text


@pytest.mark.slow
def test_a_found_solution_reaches_the_goal_and_leaves_the_others_alone(data):
    path = data / "solutions.json"
    published = json.loads(path.read_text())
    find_solutions.main(["HallwayShort", "ReacherHard"], path)
    found = json.loads(path.read_text())
    solutions = {name: found.pop(name) for name in ("HallwayShort", "ReacherHard")}
    assert found == {name: s for name, s in published.items() if name not in solutions}
    for name, solution in solutions.items():
        with gymnasium.make(lookup(name).id) as env:
            env.reset(seed=solution["seed"])
            actions = np.repeat(solution["knots"], solution["hold"], axis=0)
            assert sum(env.step(action)[4]["success"] for action in actions) > 0


def test_the_search_climbs_closeness_where_random_actions_do_not_suffice(monkeypatch):
    monkeypatch.setattr(find_solutions, "DRAWS", 0)
    assert find_solutions.search(lookup("ReacherHard"))["successes"] > 0
    monkeypatch.delattr(ReacherHard, "closeness")
    with pytest.raises(
        UserError, match=r"goal of ReacherHard: give ReacherHard a method closeness"
    ):
        find_solutions.search(lookup("ReacherHard"))


def test_a_task_without_a_known_solution_is_sent_to_the_search(monkeypatch):
    monkeypatch.setattr(measure, "measured", lambda what: {})
    with pytest.raises(UserError, match="tools.find_solutions WalkerWalk"):
        measure.goal_states(lookup("WalkerWalk"))


@pytest.mark.parametrize("name", ["GridWorld", "HallwayLocalOptimum"])
def test_the_pictures_are_the_committed_ones(name, tmp_path):
    pictures.main([name, "--out", str(tmp_path)])
    (path,) = tmp_path.iterdir()
    drawn, committed = (
        imageio.imread(p).astype(int) for p in (path, pictures.PICTURES / path.name)
    )
    assert drawn.shape == committed.shape
    assert np.abs(drawn - committed).mean() < (0.5 if name != "GridWorld" else 1e-9)  # GL rounds


@pytest.mark.parametrize("tool", [measure, find_solutions, pictures])
def test_every_tool_has_help_and_refuses_unknown_tasks(tool, capsys):
    with pytest.raises(SystemExit, match="0"):
        tool.main(["--help"])
    assert f"usage: python -m {tool.__name__}" in capsys.readouterr().out
    with pytest.raises(UnknownTaskError, match="did you mean GridWorld"):
        tool.main(["fingerprints", "--tasks", "GridWorl"] if tool is measure else ["GridWorl"])


def test_wrong_input_is_one_line():
    run = subprocess.run(
        [sys.executable, "-m", "explore_suite.tools.find_solutions", "GridWorld"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert run.returncode == 2 and run.stderr.count("\n") == 1
    assert "GridWorld has discrete actions" in run.stderr
