"""The examples, run as a stranger runs them."""

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from explore_suite.runs.store import ResultStore
from explore_suite.tasks import lookup

EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("*.py"))
FEW_UPDATES = dict.fromkeys(["sb3_sac", "sbx_learners"], ["--updates", "2"])
# SBX brings JAX, several hundred megabytes that no other test needs: it stays in the extra `bench`.
NEEDS = {"sbx_learners": "sbx"}
EPISODES = 2


@pytest.mark.slow
@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_example_writes_a_finished_run(path, tmp_path):
    library = NEEDS.get(path.stem)
    if library and find_spec(library) is None:
        pytest.skip(f"needs {library}, of the extra `bench`")
    arguments = ["--task", "HallwayLocalOptimum", "--seed", "3", "--episodes", str(EPISODES)]
    arguments += ["--results", "runs", *FEW_UPDATES.get(path.stem, [])]
    result = subprocess.run(
        [sys.executable, str(path), *arguments],
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert result.returncode == 0, result.stderr
    assert f"episode {EPISODES}/{EPISODES} train" in result.stderr, "progress is shown"
    (run,) = ResultStore(tmp_path / "runs").runs()
    assert run.header.finished and run.header.seed == 3 and run.header.preset == "external"
    assert run.header.task == lookup("HallwayLocalOptimum").id
    assert [(row.phase, row.episode, row.env_steps) for row in run.rows] == [
        ("train", 1, 1000), ("eval", 1, 1000), ("train", 2, 2000), ("eval", 2, 2000),
    ]  # fmt: skip
    assert all(row.length == 1000 for row in run.rows)
