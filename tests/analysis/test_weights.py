"""The folder of trained policies that `explore-suite weights` gathers."""

import hashlib

import numpy as np
import pytest
from safetensors.numpy import save_file

from explore_suite.__main__ import main
from explore_suite.runs.format import WEIGHTS
from explore_suite.runs.store import ResultStore
from tests.helpers.synthetic import Cell, header, write


@pytest.fixture
def store(tmp_path):
    """Two agents, two seeds each; three of the four runs have weights."""
    cells = [
        Cell(agent, "ReacherExplore", seed, 110) for agent in ("sac", "mine") for seed in (0, 1)
    ]
    store = write(tmp_path / "runs", cells)
    for index, cell in enumerate(cells[:3]):
        path = store.path(header(cell).key, WEIGHTS)
        save_file({"actor": np.full(4, index, np.float32)}, path)
    return store


def test_the_card_names_every_policy_of_one_seed(store, tmp_path, capsys):
    out = tmp_path / "release"
    assert main(["weights", "--results", str(store.root), "--out", str(out)]) == 0
    assert "2 policies" in capsys.readouterr().out
    files = {path.relative_to(out).as_posix() for path in out.rglob("*") if path.is_file()}
    stems = [f"cpu/{agent}/ReacherExplore-v0/seed-000" for agent in ("sac", "mine")]
    suffixes = (".csv", ".json", ".weights.safetensors")
    assert files == {"README.md", *(stem + suffix for stem in stems for suffix in suffixes)}
    card = (out / "README.md").read_text()
    for stem in stems:
        content = (out / f"{stem}.weights.safetensors").read_bytes()
        assert content == (store.root / f"{stem}.weights.safetensors").read_bytes()
        (line,) = [line for line in card.splitlines() if stem + WEIGHTS in line]
        assert hashlib.sha256(content).hexdigest() in line and "000000000000" in line
    for run in ResultStore(out).runs():
        (line,) = [line for line in card.splitlines() if line.startswith(f"| {run.header.agent} |")]
        returns = [row.return_ for row in run.rows if row.phase == "eval" and row.episode > 90]
        score = np.mean(returns)
        assert f"| {score:.1f} |" in line
    assert "Apache-2.0" in card and any(f"--run {stem}.csv" in card for stem in stems)


def test_an_existing_folder_and_a_store_without_weights_are_refused(store, tmp_path, capsys):
    arguments = ["weights", "--results", str(store.root), "--out"]
    assert main([*arguments, str(tmp_path)]) == 2
    assert "exists" in capsys.readouterr().err
    assert main([*arguments, str(tmp_path / "new"), "--seed", "7"]) == 2
    assert "no finished run of seed 7 has weights" in capsys.readouterr().err
    assert not (tmp_path / "new").exists()
