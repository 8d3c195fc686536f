"""Provenance: the code, packages and machine that made a run, for its header."""

import logging
import os
import platform
import subprocess
import sys
from datetime import UTC, datetime
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any

from explore_suite.fingerprint import changed, fingerprint
from explore_suite.installation import PROJECT, is_checkout
from explore_suite.runs.format import Header

_PACKAGES = (PROJECT, "mujoco", "dm_control", "gymnasium", "numpy", "torch")
_GIT_SECONDS = 20.0  # before git is taken for unable to tell
_log = logging.getLogger(__name__)
_UNKNOWN = {"commit": None, "dirty": None}


def provenance(
    task: str, device: str = "cpu", code: dict[str, Any] | None = None
) -> dict[str, Any]:
    """The header fields date, code, versions, fingerprint and machine of a run that starts now.

    `code` is the commit behind the run, that of this package by default. Warns where the task does
    not behave as published.
    """
    found = fingerprint(task)
    warn_of_other_physics(task, found)
    return {
        "date": datetime.now(UTC).date().isoformat(),
        "code": checkout() if code is None else code,
        "versions": versions(),
        "fingerprint": found,
        "machine": {
            "system": platform.system(),
            "processor": processor(),
            "cores": os.cpu_count(),
        }
        | ({} if device == "cpu" else {"device": device}),
    }


def device_of(header: Header) -> str:
    """The device that the run was trained on; a header names it unless it is the CPU."""
    return header.machine.get("device", "cpu")


def checkout(package: Path = Path(__file__).parents[1]) -> dict[str, Any]:
    """Git commit of the checkout that holds this package, and whether files differ from it.

    Both are None where the package is no part of a checkout of its own: an installed copy often
    lies inside a repository of its user's, whose commit says nothing about this code. `dirty` is
    None where git cannot tell.
    """
    package = package.resolve()
    # The third name fails unless the commit holds the package, right below its top folder.
    found = _git(package, "rev-parse", "--show-toplevel", "HEAD", f"HEAD:{package.name}")
    top, commit, *_ = found.splitlines() if found is not None else ("", None)
    if not (top and Path(top).resolve() == package.parent and is_checkout(package.parent)):
        return dict(_UNKNOWN)
    return {"commit": commit, "dirty": _dirty(Path(top), package.parent / "results")}


def warn_of_changes(code: dict[str, Any], whose: str) -> None:
    """Logs a warning if a header's `code` says that files differed from the commit it names.

    Once per process: a script may record many runs.
    """
    if code.get("dirty"):
        warn_once(
            f"{whose} has uncommitted changes or untracked files: commit them first, so that "
            f"commit {code['commit'][:12]} in a run's header is the code that ran"
        )


def warn_of_other_physics(task: str, found: str | None = None) -> None:
    """Logs a warning, once per process, if a task does not behave here as published.

    `found` is its fingerprint here, where that is known already.
    """
    line = changed(task, found)
    if line is not None:
        warn_once(
            f"{line}: its runs cannot be submitted, and compare with no published ones; install "
            "the versions of constraints.txt"
        )


@cache
def warn_once(message: str) -> None:
    """Logs a warning, the same one only once per process."""
    _log.warning("%s", message)


def script_checkout(store: Path) -> dict[str, Any]:
    """Git commit of the running script's repository, and whether files differ from it.

    Both are None where no file is run, as in a notebook, or no repository holds it; so they are for
    a file that its repository ignores, such as a program of a virtual environment. Runs in `store`
    are no difference.
    """
    file = getattr(sys.modules.get("__main__"), "__file__", None)
    if file is None:
        return dict(_UNKNOWN)
    script = Path(file).resolve()
    found = _git(script.parent, "rev-parse", "--show-toplevel", "HEAD")
    if found is None or _git(script.parent, "check-ignore", script.name) is not None:
        return dict(_UNKNOWN)
    top, _, commit = found.rpartition("\n")  # a folder may have a line break in its name
    return {"commit": commit, "dirty": _dirty(Path(top), store)}


def _dirty(top: Path, results: Path) -> bool | None:
    """Whether a repository differs from its commit outside of `results`; None if git cannot tell.

    Results are data: writing them does not make the code another one.
    """
    left_out = []
    if top.resolve() in results.resolve().parents:
        inside = results.resolve().relative_to(top.resolve()).as_posix()
        left_out = [f":(exclude,top,literal){inside}"]
    status = ("status", "--porcelain", "--untracked-files=normal", "--", ":/", *left_out)
    changes = _git(top, *status)
    return None if changes is None else bool(changes)


def _git(folder: Path, *arguments: str) -> str | None:
    """Output of a git command in a folder; None where it fails, takes too long or is missing."""
    # Variables such as GIT_DIR and GIT_INDEX_FILE, set inside git hooks, name another repository.
    own = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    try:
        result = subprocess.run(
            ["git", "-C", str(folder), *arguments],
            capture_output=True, text=True, check=False, timeout=_GIT_SECONDS, env=own,
        )  # fmt: skip
    except (OSError, UnicodeDecodeError, subprocess.TimeoutExpired):
        return None
    return result.stdout.strip() if result.returncode == 0 else None


def versions() -> dict[str, str]:
    """Installed versions of Python and of the packages that a result may depend on."""
    found = {"python": platform.python_version()}
    for name in _PACKAGES:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found


def processor() -> str:
    """The name of the CPU model where the system reports it."""
    info = Path("/proc/cpuinfo")
    if info.exists():
        for line in info.read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.processor() or platform.machine()
