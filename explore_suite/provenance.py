"""Where a result comes from: the code, the packages and the machine behind it."""

import os
import platform
import subprocess
from importlib import metadata
from pathlib import Path
from typing import Any

from explore_suite.fingerprint import fingerprint
from explore_suite.results import Header

_PACKAGES = ("explore-suite", "mujoco", "dm_control", "gymnasium", "numpy", "torch")


def provenance(task: str, device: str = "cpu") -> dict[str, Any]:
    """The header fields that say where a run of this task was made, and on what it learnt."""
    return {
        "code": _code(),
        "versions": {"python": platform.python_version()} | _versions(),
        "fingerprint": fingerprint(task),
        "machine": {
            "system": platform.system(),
            "processor": _processor(),
            "cores": os.cpu_count(),
        }
        | ({} if device == "cpu" else {"device": device}),
    }


def device_of(header: Header) -> str:
    """What the run learnt on; a header names it unless it is the CPU."""
    return header.machine.get("device", "cpu")


def _code() -> dict[str, Any]:
    """Commit of the checkout this package runs from, and whether files differ from it."""
    commit = _git("rev-parse", "HEAD")
    if commit is None:
        return {"commit": None, "dirty": None}
    # Results are data: writing them does not make the code another one.
    changes = _git("status", "--porcelain", "--", ":/", ":(exclude,top)results")
    return {"commit": commit, "dirty": bool(changes)}


def _git(*arguments: str) -> str | None:
    """Output of a git command in the package's folder; None outside a checkout or without git."""
    try:
        result = subprocess.run(
            ["git", "-C", str(Path(__file__).parent), *arguments],
            capture_output=True, text=True, check=False, timeout=20,
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired):
        return None
    return result.stdout.strip() if result.returncode == 0 else None


def _versions() -> dict[str, str]:
    found = {}
    for name in _PACKAGES:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found


def _processor() -> str:
    """The processor's own name where the system tells it."""
    info = Path("/proc/cpuinfo")
    if info.exists():
        for line in info.read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.processor() or platform.machine()
