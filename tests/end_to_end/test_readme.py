"""The README's commands and code run as written."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from baselines import AGENTS
from baselines.settings import VARIANTS, algorithm
from explore_suite.cli.list import best
from explore_suite.runs.store import ResultStore
from tests.helpers.markdown_files import ROOT, blocks, run_python

PATH = ROOT / "README.md"
README = PATH.read_text()
COMMANDS = [
    line.split("#")[0].strip() for block in blocks(PATH, "bash") for line in block.code.splitlines()
]
RECURSIVE = ("make test",)  # is what runs this very test


def test_the_two_commands_come_first():
    assert COMMANDS[:2] == ["make demo", "make test"]


ACTIVATE = "source .venv/bin/activate"


@pytest.mark.slow
def test_commands_run_in_order(tmp_path):
    """In one folder, as a reader would; after the activation in a shell that has been activated."""
    (tmp_path / ".venv").symlink_to(Path(sys.prefix))
    bare = {name: value for name, value in os.environ.items() if name != "VIRTUAL_ENV"}
    bare |= {"DEMO_QUICK": "1", "DEMO": str(tmp_path / "quick")}
    bare["PATH"] = os.pathsep.join(
        part for part in os.environ["PATH"].split(os.pathsep) if not part.startswith(sys.prefix)
    )
    activated = ""
    for command in COMMANDS:
        if not command or command in RECURSIVE:
            continue
        where = ROOT if command.startswith("make") else tmp_path
        result = subprocess.run(
            ["bash", "-c", activated + command], cwd=where, env=bare,
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert result.returncode == 0, f"{command}\n{result.stderr[-2000:]}"
        activated = f"{ACTIVATE} && " if command == ACTIVATE else activated
        if command == "make demo":
            check_demo(tmp_path / "quick", result.stdout)


def check_demo(folder, told):
    """The page is named, and has curves, visited states and rows of both agents."""
    assert f"Open {folder}/page.html" in told
    assert re.search(r"SAC\+DEEP \(fast targets\) .* cpu +[0-9]+ no interval", told)
    page = (folder / "page.html").read_text()
    assert "<p>Steer a point along a short corridor, for a look in minutes" in page
    data = json.loads(re.search(r'id="data">(.*?)</script>', page, re.DOTALL).group(1))
    lines = data["charts"]["chart-HallwayShort-"]["lines"]
    assert all("(fast targets)" in line["name"] for line in lines) and len(lines) == 2
    assert all(line["return"]["episode"] == [1, 2, 3] for line in lines)
    assert all(line["return"]["seeds"] == [2] * 3 for line in lines)
    share = {panel["label"]: panel["share"] for panel in data["heat"].values()}
    assert share["sac_deep.fast"] > share["sac.fast"] > 0


@pytest.mark.slow
def test_each_python_block_runs_alone(tmp_path):
    """Each in a process of its own, in one folder: of others they use nothing but the files."""
    use, catalogue, train, own, table = blocks(PATH, "python")
    assert "caught the ball: False" in run_python(use.code, tmp_path)
    assert "0.25% of the ball's places visited" in run_python(catalogue.code, tmp_path)
    assert re.match(r"1 \S+ \S+ \d+\.\d%\n", run_python(train.code, tmp_path))
    run_python(own.code, tmp_path)
    (run,) = ResultStore(tmp_path / "demo" / "runs").runs()
    assert run.header.finished and run.header.agent == "my-method"
    assert re.search(r"GridWorld +my-method +0\.0", run_python(table.code, tmp_path))


def test_every_picture_exists():
    pictures = re.findall(r'src="([^"]+)"', README)
    assert len(pictures) >= 11
    for picture in pictures:
        assert (ROOT / picture).stat().st_size > 1000


def test_task_table_agrees_with_the_catalogue(spec):
    row = next(line for line in README.splitlines() if f"| `{spec.name}` |" in line)
    assert spec.summary in row and f"{spec.random_return:.1f} / {best(spec)}" in row


def test_every_agent_has_a_row():
    rows = [line.split("|")[1] for line in README.splitlines() if "| `baselines/agents/" in line]
    assert {label for row in rows for label in re.findall(r"`(\w+)`", row)} == set(AGENTS)


def test_the_page_of_methods_names_every_sac_agent_and_one_of_another_library():
    page = (ROOT / "docs" / "methods.md").read_text().split("## Which part")[0]
    *labels, others = re.findall(r"^\| `([\w.-]+)` \|", page, re.MULTILINE)
    assert others == "sbx-crossq" and set(labels) <= {*AGENTS, *VARIANTS}
    assert {algorithm(label) for label in labels} == {
        name for name, agent in AGENTS.items() if agent.family == "sac"
    }


def test_make_test_is_a_target():
    makefile = (ROOT / "Makefile").read_text()
    assert re.search(r"^test:", makefile, re.MULTILINE)
