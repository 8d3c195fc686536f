"""The rules of the house that a program can check."""

import ast
import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGES = ("explore_suite", "baselines", "analysis")
FILES = [path for package in PACKAGES for path in sorted((ROOT / package).rglob("*.py"))]
ALLOWED = {
    "explore_suite": {"explore_suite"},
    "baselines": {"baselines", "explore_suite"},
    "analysis": {"analysis", "explore_suite"},
}


def imports(path: Path, top_level_only: bool = False) -> set[str]:
    """First names of the modules that a file imports."""
    tree = ast.parse(path.read_text())
    nodes = tree.body if top_level_only else ast.walk(tree)
    found = set()
    for node in nodes:
        if isinstance(node, ast.Import):
            found |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found.add((node.module or "").split(".")[0])
    return found


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_packages_meet_only_through_the_benchmark_and_files(path):
    package = path.relative_to(ROOT).parts[0]
    assert imports(path) & set(PACKAGES) <= ALLOWED[package]


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_no_pickle_and_a_docstring_each(path):
    assert not imports(path) & {"pickle", "cloudpickle", "dill", "joblib", "shelve"}
    assert ast.get_docstring(ast.parse(path.read_text())), "each file says what question it answers"


CORE = {"explore_suite", "gymnasium", "dm_control", "mujoco", "numpy"} | sys.stdlib_module_names


def test_the_benchmark_needs_only_its_four_dependencies():
    for path in (ROOT / "explore_suite").rglob("*.py"):
        assert imports(path, top_level_only=True) <= CORE, path


# Rooms and single files of each package, from the ground up: each may import those before it.
ROOMS = {
    "explore_suite": "errors files installation projections tasks coverage fingerprint "
    "python_process envs runs __init__ cli tools __main__",
    "baselines": "agent nn bonuses agents __init__ settings runner training sweep cli bench",
    "analysis": "__init__ stats figures claims submissions leaderboard cli",
}


def room(parts: tuple[str, ...]) -> str:
    """The room of a module of a package, or the module itself where it lies in none."""
    return parts[1] if len(parts) > 1 else "__init__"


def rooms_imported(path: Path) -> set[str]:
    """Rooms of its own package that a file imports from."""
    package = path.relative_to(ROOT).parts[0]
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == package:
            parts = tuple(node.module.split("."))
            if len(parts) > 1:
                found.add(room(parts))
            else:
                names = {alias.name for alias in node.names}
                modules = {n for n in names if n in ROOMS[package].split()}
                found |= modules | ({"__init__"} if names - modules else set())
    return found


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_rooms_import_only_what_lies_below_them(path):
    parts = path.relative_to(ROOT).with_suffix("").parts
    order = ROOMS[parts[0]].split()
    here = room(parts)
    above = set(order[order.index(here) + 1 :])
    assert not rooms_imported(path) & above


def test_every_room_says_what_it_is_for_and_what_goes_in_and_out():
    for folder in sorted({path.parent for path in FILES} - {ROOT / name for name in PACKAGES}):
        text = ast.get_docstring(ast.parse((folder / "__init__.py").read_text()))
        assert "In: " in text and "Out: " in text, folder


def test_no_file_name_begins_with_the_name_of_a_room():
    rooms = {path.parent.name for path in FILES} - set(PACKAGES)
    names = [path.stem for path in FILES]
    assert not [name for name in names for r in rooms if name.startswith(f"{r}_")]


def test_no_drawer_files():
    assert not [
        path for path in FILES if path.name in ("utils.py", "common.py", "helpers.py", "misc.py")
    ]


def test_constraints_pin_everything_exactly():
    lines = [
        line
        for line in (ROOT / "constraints.txt").read_text().splitlines()
        if line and line[0] != "#"
    ]
    assert all(re.fullmatch(r"[A-Za-z0-9_.\-]+==[^=\s]+", line) for line in lines)
    pinned = {line.split("==")[0].lower() for line in lines}
    assert {"torch", "mujoco", "dm_control", "gymnasium", "numpy", "pandas"} <= pinned
    assert {"hatchling", "editables", "setuptools", "wheel"} <= pinned, "what builds us and others"
    assert not [line for line in lines if ".dev" in line or "nightly" in line], "nightlies vanish"


@pytest.mark.parametrize("name", ["requirements.lock", "requirements-build.lock"])
def test_locks_hold_the_pinned_versions_with_hashes_and_no_address(name):
    text = (ROOT / name).read_text()
    canonical = re.compile(r"[-_.]+")
    pins = {
        canonical.sub("-", line.lower())
        for line in (ROOT / "constraints.txt").read_text().splitlines()
    }
    entries = re.findall(
        r"^([A-Za-z0-9_.\-]+)==(\S+)((?:[^\n]*\\\n +--hash=sha256:\S+)+)", text, re.M
    )
    assert len(entries) > 5 and "://" not in text
    for package, version, _ in entries:
        assert canonical.sub("-", f"{package}=={version}".lower()) in pins, package
    rest = [line for line in text.splitlines() if not line.startswith(("#", " "))]
    assert len(rest) == len(entries), "each with a hash"
    assert "torch" not in {package for package, _, _ in entries}
