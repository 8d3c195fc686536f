"""The runs in results/: as sound as a stranger's must be, and of the presets' present settings."""

import json
import subprocess
from dataclasses import asdict
from pathlib import Path

import pytest

from analysis import header_checks, row_checks
from baselines.settings import resolve
from explore_suite.tasks import lookup

ROOT = Path(__file__).parents[1]


def committed() -> list[str]:
    """Headers that git knows, as paths from the root; other runs may be under way."""
    if not (ROOT / ".git").exists():  # an unpacked archive holds committed files alone
        found = sorted(ROOT.glob("results/runs/*/*/*/seed-*.json"))
        return [str(p.relative_to(ROOT)) for p in found if not p.name.endswith(".states.json")]
    command = ["git", "ls-files", "results/runs/**/seed-*.json"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return [line for line in listed.stdout.splitlines() if not line.endswith(".states.json")]


@pytest.mark.parametrize("path", committed())
def test_a_committed_run_is_sound_and_of_todays_settings(path):
    header, problems = header_checks.read((ROOT / path).read_bytes())
    assert problems == []
    sheet = lookup(header.task)
    assert list(header_checks.check(header, sheet)) == []
    assert path == f"results/runs/{header.key.place}.json"
    rows = (ROOT / path).with_suffix(".csv").read_bytes()
    assert row_checks.check_rows(rows, sheet, header.episodes)[1] == []
    config = asdict(resolve(header.preset, header.agent, header.task))
    assert header.config == json.loads(json.dumps(config))
