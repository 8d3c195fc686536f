"""`explore-suite doctor`: checks what works on this machine, and says what to install."""

import argparse
import os
import platform
import shutil
import subprocess
from importlib import metadata
from typing import NamedTuple

from explore_suite.cli.console import table
from explore_suite.errors import RenderingUnavailableError
from explore_suite.installation import install_command, requirements
from explore_suite.python_process import python_command

_ALSO = {"imageio": ["imageio-ffmpeg"]}  # what imageio[ffmpeg] adds, for mp4
_GL_PACKAGES = {"egl": "apt-get install libegl1", "osmesa": "apt-get install libosmesa6"}
_OPEN_CONTEXT = (
    "import sys; from explore_suite.envs.rendering import try_back_end; try_back_end(sys.argv[1])"
)


class Finding(NamedTuple):
    """One row of the report."""

    what: str
    state: str  # ok or missing
    detail: str  # a version, or what to do
    needed: bool = False  # whether the environments themselves need it


def main(arguments: list[str]) -> int:
    """Prints the report; the exit code is 1 if the environments cannot run here."""
    argparse.ArgumentParser(
        prog="explore-suite doctor",
        description="Check packages, extras, tasks, rendering, compiler and threads. The row of a "
        "missing part says how to install it. Exit code 1 if the environments cannot run.",
    ).parse_args(arguments)
    checks = (_python, _packages, _tasks, _rendering, _compiler, _threads)
    findings = [finding for check in checks for finding in check()]
    columns = ("what", "state", "detail")
    table("explore-suite doctor", columns, [finding[:3] for finding in findings])
    return int(any(finding.needed and finding.state != "ok" for finding in findings))


def _python() -> list[Finding]:
    where = f"{platform.python_version()} on {platform.platform()}"
    return [Finding("python", "ok", where, needed=True)]


def _packages() -> list[Finding]:
    """A row per package that the environments need, and one per extra of the project."""
    extras = requirements()
    found = []
    for name in extras.pop(""):
        version = _version(name)
        state, detail = ("ok", version) if version else ("missing", install_command())
        found.append(Finding(name, state, detail, needed=True))
    return [*found, *(_extra(extra, extras[extra]) for extra in sorted(extras))]


def _extra(extra: str, names: list[str]) -> Finding:
    versions = {part: _version(part) for name in names for part in [name, *_ALSO.get(name, [])]}
    missing = [name for name, version in versions.items() if version is None]
    if missing:
        advice = f"{install_command(extra)} (lacks {', '.join(missing)})"
        return Finding(f"extra {extra}", "missing", advice)
    installed = ", ".join(f"{name} {version}" for name, version in versions.items())
    return Finding(f"extra {extra}", "ok", installed)


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def _tasks() -> list[Finding]:
    try:
        from explore_suite.fingerprint import changed
        from explore_suite.tasks import TASKS, measured

        published = [spec.id for spec in TASKS.values() if spec.name in measured("fingerprints")]
        changes = [line for line in map(changed, published) if line is not None]
    except (ImportError, RenderingUnavailableError) as error:
        why = f"the environments do not import: {error}"
        return [Finding("tasks", "missing", why, needed=True)]
    if changes:
        advice = "results are not comparable; install the versions of constraints.txt"
        return [Finding("tasks", "changed", f"{line}; {advice}") for line in changes]
    return [Finding("tasks", "ok", f"all {len(published)} behave as published", needed=True)]


def _rendering() -> list[Finding]:
    """A row per OpenGL backend, each tried in a new process: a failed one can break the next."""
    findings = []
    for name in ("egl", "osmesa"):
        chosen = ("PYOPENGL_PLATFORM", "MUJOCO_GL")
        others = {key: value for key, value in os.environ.items() if key not in chosen}
        command = python_command(_OPEN_CONTEXT, name)
        result = subprocess.run(command, capture_output=True, check=False, env=others)
        if result.returncode == 0:
            findings.append(Finding(f"GL {name}", "ok", "renders without a screen"))
        else:
            advice = f"{_GL_PACKAGES[name]} (one backend is enough)"
            findings.append(Finding(f"GL {name}", "missing", advice))
    preferred = os.environ.get("MUJOCO_GL", "not set: egl, then osmesa")
    findings.append(Finding("MUJOCO_GL", "ok", preferred))
    return findings


def _compiler() -> list[Finding]:
    found = shutil.which("g++") or shutil.which("clang++")
    advice = "apt-get install g++ (only the KeOps backend of the counts compiles)"
    return [Finding("C++ compiler", "ok" if found else "missing", found or advice)]


def _threads() -> list[Finding]:
    asked = os.environ.get("OMP_NUM_THREADS", "not set")
    cores = f"{os.cpu_count()} cores, OMP_NUM_THREADS={asked}"
    try:
        import torch
    except ImportError:
        return [Finding("threads", "ok", cores)]
    there = torch.cuda.is_available()
    device = torch.cuda.get_device_name(0) if there else "none, agents train on the CPU"
    return [
        Finding("threads", "ok", f"{cores}, torch uses {torch.get_num_threads()}"),
        Finding("CUDA device", "ok", device),
    ]
