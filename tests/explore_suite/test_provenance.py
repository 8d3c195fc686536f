"""What a header says of the code behind a run: the commit of the package, or of the script."""

import json
import shutil
import subprocess
import sys
from datetime import UTC, date, datetime
from pathlib import Path
from types import SimpleNamespace

import pytest

import explore_suite
from explore_suite import fingerprint, record
from explore_suite.runs import provenance
from explore_suite.runs.provenance import checkout, script_checkout

PACKAGE = Path(explore_suite.__file__).parent
UNKNOWN = {"commit": None, "dirty": None}


def git(folder, *arguments):
    """Output of a git command that must succeed."""
    who = ("-c", "user.name=A", "-c", "user.email=a@example.org")
    command = ["git", "-C", str(folder), *who, *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def repository(folder):
    """A repository with all files of the folder in its first commit; that commit."""
    git(folder, "init", "--quiet")
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--allow-empty", "--message", "first")
    return git(folder, "rev-parse", "HEAD")


@pytest.fixture
def own(tmp_path):
    """A checkout of the package: the folder of the package in it, and the commit."""
    package = tmp_path / "checkout" / PACKAGE.name
    shutil.copytree(PACKAGE, package, ignore=shutil.ignore_patterns("__pycache__"))
    (package.parent / "results").mkdir()
    shutil.copy(PACKAGE.parent / "pyproject.toml", package.parent)
    return package, repository(package.parent)


def test_a_checkout_names_its_commit_and_its_changes(own):
    package, commit = own
    assert checkout(package) == {"commit": commit, "dirty": False}
    (package.parent / "results" / "run.csv").write_text("data, not code")
    assert checkout(package) == {"commit": commit, "dirty": False}
    (package / "reacher.py").write_text("changed")
    assert checkout(package) == {"commit": commit, "dirty": True}


def test_a_new_file_is_a_change_whatever_the_users_settings(own):
    package, commit = own
    git(package, "config", "status.showUntrackedFiles", "no")
    (package / "new.py").write_text("")
    assert checkout(package) == {"commit": commit, "dirty": True}


@pytest.mark.parametrize("place", [".venv/lib/python3/site-packages", "vendored", "."])
@pytest.mark.parametrize("committed", [False, True])
def test_the_repository_around_an_installed_copy_is_not_the_packages(place, committed, tmp_path):
    (tmp_path / "pyproject.toml").write_text('[project]\nname = "mine"\n')
    if not committed:
        repository(tmp_path)
    package = tmp_path / place / PACKAGE.name
    shutil.copytree(PACKAGE, package, ignore=shutil.ignore_patterns("__pycache__"))
    if committed:
        repository(tmp_path)
    assert checkout(package) == UNKNOWN


def test_outside_of_any_repository_nothing_is_known(tmp_path):
    (tmp_path / PACKAGE.name).mkdir()
    assert checkout(tmp_path / PACKAGE.name) == UNKNOWN


@pytest.mark.parametrize("name", ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"])
def test_git_variables_do_not_mislead(name, own, tmp_path, monkeypatch):
    package, commit = own
    other = tmp_path / "other"
    other.mkdir()
    (other / "file").write_text("")
    assert repository(other) != commit
    target = {"GIT_DIR": ".git", "GIT_WORK_TREE": ".", "GIT_INDEX_FILE": ".git/index"}[name]
    monkeypatch.setenv(name, str(other / target))
    assert checkout(package) == {"commit": commit, "dirty": False}
    assert checkout(other) == UNKNOWN


def test_with_a_broken_index_changes_are_unknown(own):
    package, commit = own
    (package.parent / ".git" / "index").write_bytes(b"broken")
    assert checkout(package) == {"commit": commit, "dirty": None}


def test_a_git_that_takes_too_long_or_is_missing_says_nothing(own, monkeypatch):
    package, commit = own
    real = subprocess.run

    def slow(command, **options):
        if "status" in command:
            raise subprocess.TimeoutExpired(command, options["timeout"])
        return real(command, **options)

    monkeypatch.setattr(provenance.subprocess, "run", slow)
    assert checkout(package) == {"commit": commit, "dirty": None}
    monkeypatch.setattr(provenance.subprocess, "run", real)
    monkeypatch.setenv("PATH", "")
    assert checkout(package) == UNKNOWN


@pytest.fixture
def script(tmp_path, monkeypatch):
    """A script in a repository, as the one that runs; and the commit."""
    path = tmp_path / "mine" / "experiments" / "train.py"
    path.parent.mkdir(parents=True)
    path.write_text("")
    (tmp_path / "mine" / ".gitignore").write_text(".venv/\n")
    monkeypatch.setitem(sys.modules, "__main__", SimpleNamespace(__file__=str(path)))
    monkeypatch.chdir(tmp_path / "mine")
    return path, repository(tmp_path / "mine")


def test_a_script_names_the_commit_of_its_repository_and_its_changes(script):
    path, commit = script
    assert script_checkout(Path("runs")) == {"commit": commit, "dirty": False}
    path.write_text("changed")
    assert script_checkout(Path("runs")) == {"commit": commit, "dirty": True}


@pytest.mark.parametrize("store", ["runs", "a [b]/*", "experiments/runs"])
def test_the_runs_themselves_are_no_change_of_the_script(store, script, tmp_path):
    _, commit = script
    for place in (tmp_path / "elsewhere", tmp_path / "mine" / store):
        place.mkdir(parents=True)
        (place / "seed-000.csv").write_text("data, not code")
        assert script_checkout(place) == {"commit": commit, "dirty": False}
    assert script_checkout(Path("other")) == {"commit": commit, "dirty": True}


def test_a_line_break_in_the_name_of_a_repository_does_no_harm(tmp_path, monkeypatch):
    folder = tmp_path / "mine\nand yours"
    folder.mkdir()
    (folder / "train.py").write_text("")
    commit = repository(folder)
    main = SimpleNamespace(__file__=str(folder / "train.py"))
    monkeypatch.setitem(sys.modules, "__main__", main)
    assert script_checkout(Path("runs")) == {"commit": commit, "dirty": False}


def test_a_store_that_is_the_repository_hides_no_change(script):
    path, commit = script
    path.write_text("changed")
    assert script_checkout(Path()) == {"commit": commit, "dirty": True}


@pytest.mark.parametrize("where", ["no file", "outside", "ignored", "without git"])
def test_a_script_that_no_repository_holds_has_no_commit(where, script, tmp_path, monkeypatch):
    if where == "without git":
        monkeypatch.setenv("PATH", "")
    else:
        files = {"outside": "train.py", "ignored": "mine/.venv/bin/train"}
        main = SimpleNamespace()
        if where in files:
            main.__file__ = str(tmp_path / files[where])
            Path(main.__file__).parent.mkdir(parents=True, exist_ok=True)
        monkeypatch.setitem(sys.modules, "__main__", main)
    assert script_checkout(Path("runs")) == UNKNOWN


RECORD = """
import logging, explore_suite
logging.basicConfig()
explore_suite.record("GridWorld", "mine", 0).close()
"""


@pytest.mark.slow
def test_a_recorded_run_lies_in_runs_and_names_the_scripts_commit(script):
    path, _ = script
    path.write_text(RECORD)
    git(path.parent, "commit", "--all", "--quiet", "--message", "second")
    commit = git(path.parent, "rev-parse", "HEAD")
    for dirty in (False, True):
        run = subprocess.run([sys.executable, path], capture_output=True, text=True, check=True)
        (header,) = Path("runs").glob("external/mine/GridWorld-v0/*.json")
        assert json.loads(header.read_text())["code"] == {"commit": commit, "dirty": dirty}
        assert run.stderr.count("uncommitted changes") == dirty
        path.write_text(RECORD + "# changed")


def test_a_run_says_the_day_on_which_it_began():
    before = datetime.now(UTC).date()
    day = date.fromisoformat(provenance.provenance("HallwayLocalOptimum")["date"])
    assert before <= day <= datetime.now(UTC).date()


def test_other_physics_is_reported_once_when_a_run_starts(monkeypatch, tmp_path, caplog):
    monkeypatch.setattr(fingerprint, "_DECIMALS", 5)  # as if the simulator rounded otherwise
    for seed in (0, 1):
        record("GridWorld", agent="mine", seed=seed, results=tmp_path, episodes=101).close()
    told = [r.getMessage() for r in caplog.records if "behaves as published" in r.getMessage()]
    assert len(told) == 1 and "GridWorld-v0" in told[0] and "constraints.txt" in told[0]


def test_published_physics_is_not_reported(caplog):
    provenance.warn_of_other_physics("GridWorld")
    assert not caplog.records
