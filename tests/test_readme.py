"""The README's commands and code run as written."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text()


def blocks(language):
    """Fenced blocks of one language, in order."""
    return re.findall(rf"```{language}\n(.*?)```", README, re.DOTALL)


COMMANDS = [line.split("#")[0].strip() for block in blocks("bash") for line in block.splitlines()]
RECURSIVE = ("make test",)  # is what runs this very test


def test_the_two_commands_come_first():
    assert COMMANDS[:2] == ["make demo", "make test"]


@pytest.mark.parametrize("command", [line for line in COMMANDS if line and line not in RECURSIVE])
def test_command_runs(command, tmp_path):
    search_path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    words = shlex.split(command)
    where = tmp_path
    if words[0] == "make":
        where = ROOT
    result = subprocess.run(
        words,
        cwd=where,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PATH": search_path},
    )
    assert result.returncode == 0, result.stderr[-2000:]


def test_python_blocks_run_in_order():
    scope = {}
    for block in blocks("python"):
        exec(compile(block, "README.md", "exec"), scope)  # noqa: S102
    assert scope["truncated"] and scope["coverage"].fraction > 0
    assert scope["row"].phase == "eval"


def test_every_picture_exists():
    pictures = re.findall(r'src="([^"]+)"', README)
    assert len(pictures) >= 11
    for picture in pictures:
        assert (ROOT / picture).stat().st_size > 1000


def test_task_table_agrees_with_the_catalogue(sheet):
    row = next(line for line in README.splitlines() if f"| `{sheet.name}` |" in line)
    assert sheet.summary in row and f"{sheet.random_return:.1f} / {sheet.best_return:.0f}" in row


def test_make_test_is_a_target():
    makefile = (ROOT / "Makefile").read_text()
    assert re.search(r"^test:", makefile, re.MULTILINE)
