"""The `explore-suite` command, as a person types it."""

import contextlib
import io
import json
import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path

import imageio.v3 as imageio
import pytest

from explore_suite import TASKS
from explore_suite.__main__ import COMMANDS, main
from explore_suite.cli import doctor
from explore_suite.cli.console import exit_code, say, table
from explore_suite.errors import UserError
from explore_suite.installation import install_command, requirements
from explore_suite.tasks import CLASSIC, CONTROL, GRID, HALLWAYS
from tests.helpers.good_submission import good_files, write

ROOT = Path(__file__).parents[2]


def run(*arguments, **kwargs):
    """The command in a process of its own."""
    return subprocess.run(
        [sys.executable, "-m", "explore_suite", *arguments],
        capture_output=True,
        text=True,
        check=False,
        **kwargs,
    )


@pytest.mark.slow
def test_without_arguments_it_teaches():
    result = run()
    assert result.returncode == 2
    for name in COMMANDS:
        assert name in result.stdout
    assert run("--help").returncode == 0


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help(name, capsys):
    with contextlib.suppress(SystemExit):  # argparse's way out
        assert main([name, "--help"]) == 0
    assert f"usage: explore-suite {name}" in capsys.readouterr().out


def test_list_names_every_task(capsys):
    assert main(["list"]) == 0
    lines = capsys.readouterr().out
    for spec in TASKS.values():
        assert spec.name in lines and f"{spec.random_return:.1f}" in lines


def test_list_as_json_has_everything(capsys):
    main(["list", "--json"])
    records = json.loads(capsys.readouterr().out)
    assert [record["id"] for record in records] == list(TASKS)
    for record, spec in zip(records, TASKS.values(), strict=True):
        assert len(record["observation"]) == spec.obs_dim
        assert record["count_scale"] == spec.count_scale
        assert record["benchmark"] == (spec.name in CONTROL + HALLWAYS + GRID + CLASSIC)


def test_list_in_a_terminal_is_a_rich_table():
    """`script` gives the command a terminal; the table then has a drawn line."""
    result = subprocess.run(
        ["script", "-qec", f"{sys.executable} -m explore_suite list", "/dev/null"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert "───" in result.stdout and "GridWorld" in result.stdout


def test_a_strangers_name_is_text_in_a_terminal(monkeypatch):
    class Terminal(io.StringIO):
        """Standard output that says it is one."""

        def isatty(self):
            return True

    monkeypatch.setattr(sys, "stdout", Terminal())
    name = "[red]SAC[link=https://evil.example]+DEEP[/link]"
    table("a task", ("method", "score"), [(name, "1")])
    assert "───" in sys.stdout.getvalue() and name in sys.stdout.getvalue()


def piped(*arguments):
    """The command in a pipe that nobody reads, and the pipe's exit code."""
    command = f"set -o pipefail; {sys.executable} -m explore_suite {shlex.join(arguments)} | true"
    return subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)


def test_a_strangers_text_cannot_steer_the_terminal(capsys):
    hostile = "\x1b[2J\rtorch \x9b31m1.0"

    def refuse():
        raise UserError(hostile)

    say(hostile)
    table("a table", ["version"], [[hostile]])
    assert exit_code("verify", refuse) == UserError("").exit_code
    printed = "".join(capsys.readouterr())
    assert printed.count(r"\x1b[2J\x0dtorch \x9b31m1.0") == 3
    assert not {"\x1b", "\x9b", "\r"} & set(printed)


@pytest.mark.slow
def test_a_pipe_that_nobody_reads_is_no_success_and_no_traceback():
    result = piped("list")
    assert (result.returncode, result.stderr) == (141, "")


@pytest.mark.slow
@pytest.mark.parametrize(("spoilt", "code"), [(False, 0), (True, 1)])
def test_the_verdict_on_a_submission_stands_whoever_listens(tmp_path, spoilt, code):
    write(tmp_path / "mine", good_files("grid"))
    if spoilt:
        (tmp_path / "mine" / "x").write_text("")
    result = piped("validate", str(tmp_path / "mine"))
    assert (result.returncode, result.stderr) == (code, "")


@pytest.mark.slow
def test_doctor_reports_each_part(capsys):
    assert main(["doctor"]) == 0
    lines = capsys.readouterr().out
    for part in ("mujoco", "tasks", "GL egl", "GL osmesa", "C++ compiler", "torch", "threads"):
        assert part in lines
    assert f"all {len(TASKS)} behave as published" in lines
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    for extra in project["optional-dependencies"].keys() - {"all", "dev"}:
        assert re.search(rf"^extra {extra} +(ok|missing)", lines, re.MULTILINE)


@pytest.mark.slow
def test_doctor_says_what_to_install(monkeypatch, capsys):
    monkeypatch.setattr(doctor.shutil, "which", lambda name: None)
    monkeypatch.setattr(doctor, "requirements", lambda: {"": [], "video": ["numpy", "no-such"]})
    monkeypatch.setattr(doctor, "_OPEN_CONTEXT", "raise SystemExit(1)")
    assert doctor.main([]) == 0, "none of these is needed to run the environments"
    lines = capsys.readouterr().out
    assert "pip install -c constraints.txt -e '.[video]' (lacks no-such)" in lines
    assert "apt-get install g++" in lines
    assert "apt-get install libegl1" in lines


@pytest.mark.slow
def test_doctor_fails_when_the_core_is_broken(monkeypatch, capsys):
    monkeypatch.setattr(doctor, "requirements", lambda: {"": ["no-such-package"]})
    assert doctor.main([]) == 1
    assert "pip install -c constraints.txt -e ." in capsys.readouterr().out


def test_what_to_install_depends_on_where_it_was_installed_from(tmp_path):
    assert install_command("ray") == "pip install -c constraints.txt -e '.[ray]'"
    assert install_command("ray", tmp_path) == "pip install 'explore-suite[ray]'"
    assert install_command("", tmp_path) == "pip install explore-suite"
    installed, checkout = requirements(tmp_path), requirements()
    assert set(checkout[""]) == {"dm_control", "gymnasium", "mujoco", "numpy"}
    assert "torch" in installed["baselines"] and "torch" in checkout["baselines"]
    assert "dev" not in installed.keys() | checkout.keys()


@pytest.mark.slow
@pytest.mark.parametrize("suffix", ["mp4", "gif", "png"])
def test_watch_writes_each_format(tmp_path, suffix):
    out = tmp_path / "new" / f"film.{suffix}"
    result = run("watch", "HallwayLocalOptimum", "--out", str(out), "--steps", "5")
    assert result.returncode == 0, result.stderr
    assert str(out) in result.stdout and "return" in result.stdout
    frames = imageio.imread(out)
    assert frames.shape[-3:-1] == (160, 720)
    assert frames.std() > 5, "the picture is empty"
    if suffix == "mp4":
        assert imageio.immeta(out)["fps"] == 50
        assert len(frames) == 5


@pytest.mark.slow
def test_small_films_keep_their_speed(tmp_path):
    out = tmp_path / "small.mp4"
    size = ["--steps", "8", "--every", "4", "--size", "40"]
    result = run("watch", "HallwayLocalOptimum", "--out", str(out), *size)
    assert result.returncode == 0, result.stderr
    frames = imageio.imread(out)
    assert frames.shape == (2, 40, 180, 3) and imageio.immeta(out)["fps"] == 12.5


@pytest.mark.slow
def test_watch_shows_progress_and_default_name(tmp_path):
    result = run("watch", "GridWorld", "--steps", "3", "--policy", "zero", cwd=tmp_path)
    assert (tmp_path / "GridWorld.mp4").exists()
    assert "GridWorld" in result.stderr and "3/3" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["watch", "WalkerExplor"], "did you mean WalkerExplore"),
        (["watch", "GridWorld", "--out", "film.avi"], ".mp4, .gif, .png"),
        (["watch", "GridWorld", "--steps", "0"], "from 1 to 100"),
        (["watch", "GridWorld", "--steps", "101"], "from 1 to 100"),
        (["watch", "GridWorld", "--seed", "-1"], "--seed must be 0 or more"),
        (["watch", "GridWorld", "--every", "0"], "--every must be at least 1"),
        (["watch", "GridWorld", "--size", "90"], "have one size only"),
        (["watch", "GridWorld", "--out", "/proc/no/film.png", "--steps", "1"], "cannot write"),
        (["dance"], "commands are list"),
    ],
)
def test_wrong_input_is_one_line_and_exit_code_2(arguments, message):
    result = run(*arguments)
    assert result.returncode == 2
    assert message in result.stderr
    assert result.stderr.count("\n") == 1 and "Traceback" not in result.stderr


@pytest.mark.slow
def test_watch_without_gl_says_what_to_install():
    result = run(
        "watch",
        "ReacherHard",
        "--steps",
        "2",
        env={"PYOPENGL_PLATFORM": "glx"},
    )
    assert result.returncode == 2
    assert "apt-get install libegl1" in result.stderr and "Traceback" not in result.stderr
