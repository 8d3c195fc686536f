"""A user's first day, from an empty folder with the wheel: an own method beside the references."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow
ROOT = Path(__file__).parents[2]
# Drifts towards the far corner of the grid while it trains, and walks there when it is evaluated.
DRIFTER = """
import numpy as np

import explore_suite

for seed in range(5):
    rng = np.random.default_rng(seed)
    env = explore_suite.record("GridWorld", agent="drifter", seed=seed, config={"drift": 0.9})
    while not env.finished:
        for episode, drift in ((env, 0.9), (env.eval_env, 1.0)):
            episode.reset()
            truncated = False
            while not truncated:
                action = rng.integers(2 if rng.random() < drift else 4)
                _, _, _, truncated, _ = episode.step(int(action))
    env.close()
"""
SMALL = ["--variant", "small", "--config.hidden", "16", "--config.batch-size", "8",
         "--config.updates-per-step", "0.05"]  # fmt: skip


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """A folder into which the wheel of this checkout is installed."""
    folder = tmp_path_factory.mktemp("wheel")
    pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]
    build = ["wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", folder, ROOT]
    subprocess.run([*pip, *build], check=True)
    (wheel,) = folder.glob("*.whl")
    subprocess.run([*pip, "install", "--no-deps", "--target", folder / "site", wheel], check=True)
    return folder / "site"


def state_of_the_checkout():
    """Every file that is committed or a result, with its size and the time of its last change."""
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.split("\0")
    files = [ROOT / name for name in listed if name] + list((ROOT / "results").rglob("*"))
    found = {path: path.stat() for path in files if path.exists()}
    return {path: (stat.st_size, stat.st_mtime_ns) for path, stat in found.items()}


def test_from_an_empty_folder_to_a_sound_submission(site, tmp_path):
    before = state_of_the_checkout()
    environment = os.environ | {"PYTHONPATH": str(site)}

    def python(*arguments):
        result = subprocess.run(
            [sys.executable, *arguments],
            cwd=tmp_path, env=environment, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert result.returncode == 0, result.stdout + result.stderr
        return result.stdout

    def command(*arguments):
        return python(site / "bin" / "explore-suite", *arguments)

    (tmp_path / "drifter.py").write_text(DRIFTER)
    python("drifter.py")
    command("train", "--agent", "ddqn", "--task", "GridWorld", "--episodes", "20", *SMALL)
    assert {path.name for path in tmp_path.iterdir()} == {"drifter.py", "runs"}
    headers = [json.loads(path.read_text()) for path in tmp_path.glob("runs/*/*/*/seed-???.json")]
    assert len(headers) == 6 and all(header["finished"] for header in headers)

    told = command("compare", "drifter", "ddqn.small", "--last", "5", "--out", "compare.svg")
    assert "GridWorld" in told and "P(drifter better)" in told and "too few seeds" in told
    assert "The two questions of the suite need scores" in told
    assert "drifter" in (tmp_path / "compare.svg").read_text()
    told = command("compare", "drifter", "random", "--tasks", "GridWorld")
    assert "random" in told and "100.0 %" in told, "the wheel brings the published runs"
    told = command("compare", "sb3-sac", "random")
    assert "HallwayLocalOptimum" in told, "and the submissions"

    command("report", "--out", "report", "--agents", "drifter", "ddqn.small", "random")
    assert {path.name for path in (tmp_path / "report").iterdir()} == {
        "REPRODUCTION.md", "figures", "leaderboard.html", "leaderboard.md"}  # fmt: skip
    assert (tmp_path / "report/figures/grid_learning.png").read_bytes()[:4] == b"\x89PNG"
    assert "drifter" in (tmp_path / "report/figures/grid_learning.svg").read_text()

    told = command("leaderboard")
    page = (tmp_path / "leaderboard.html").read_text()
    for name in ("drifter", "ddqn.small", "Uniform random", "Stable-Baselines3 SAC"):
        assert name in told and name in page
    assert "data:image/png;base64," in page, "the wheel brings the pictures of the tasks"

    told = command(
        "submit", "drifter", "--agent", "drifter", "--name", "The Drifter", "--author", "A. Person",
        "--contact", "a.person@example.org", "--description", "Drifts towards the far corner.",
        "--not-tuned",
    )  # fmt: skip
    command("validate", "drifter")
    manifest = json.loads((tmp_path / "drifter/submission.json").read_text())
    assert manifest["tasks"] == ["ExploreSuite/GridWorld-v0"] and len(manifest["seeds"]) == 5
    assert state_of_the_checkout() == before
