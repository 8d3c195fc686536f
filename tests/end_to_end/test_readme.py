"""The README's commands and code run as written."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

from explore_suite.cli.list import best

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text()


def blocks(language):
    """Fenced blocks of one language, in order."""
    return re.findall(rf"```{language}\n(.*?)```", README, re.DOTALL)


COMMANDS = [line.split("#")[0].strip() for block in blocks("bash") for line in block.splitlines()]
RECURSIVE = ("make test",)  # is what runs this very test


def test_the_two_commands_come_first():
    assert COMMANDS[:2] == ["make demo", "make test"]


ACTIVATE = "source .venv/bin/activate"


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
    assert "<p>A shorter HallwayLocalOptimum for a look in minutes" in page
    data = json.loads(re.search(r'id="data">(.*?)</script>', page, re.DOTALL).group(1))
    lines = data["charts"]["chart-HallwayShort-"]["lines"]
    assert all("(fast targets)" in line["name"] for line in lines) and len(lines) == 2
    assert all(line["return"]["episode"] == [1, 2, 3, 4, 5] for line in lines)
    assert all(line["return"]["seeds"] == [2] * 5 for line in lines)
    share = {panel["label"]: panel["share"] for panel in data["heat"].values()}
    assert share["sac_deep.fast"] > share["sac.fast"] > 0


def test_python_blocks_run_in_order():
    scope = {}
    for block in blocks("python"):
        exec(compile(block, "README.md", "exec"), scope)  # noqa: S102
    assert scope["truncated"] and scope["coverage"].fraction > 0
    assert scope["evaluation"].phase == "eval"
    assert scope["env"].finished


def test_every_picture_exists():
    pictures = re.findall(r'src="([^"]+)"', README)
    assert len(pictures) >= 11
    for picture in pictures:
        assert (ROOT / picture).stat().st_size > 1000


def test_task_table_agrees_with_the_catalogue(spec):
    row = next(line for line in README.splitlines() if f"| `{spec.name}` |" in line)
    assert spec.summary in row and f"{spec.random_return:.1f} / {best(spec)}" in row


def test_make_test_is_a_target():
    makefile = (ROOT / "Makefile").read_text()
    assert re.search(r"^test:", makefile, re.MULTILINE)
