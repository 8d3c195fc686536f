"""How explore-suite was installed, and the commands that install its optional parts."""

import re
import tomllib
from importlib import metadata
from pathlib import Path

PROJECT = "explore-suite"
FOLDER = Path(__file__).parents[
    1
]  # top of the checkout, or the folder that the package is installed in
_UNIONS = ("all", "dev")  # extras that are made of other extras


def is_checkout(folder: Path) -> bool:
    """Whether a folder is a checkout of this project, not another project with a copy of it."""
    try:
        project = tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    return project.get("project", {}).get("name") == PROJECT


def install_command(extra: str = "", folder: Path = FOLDER) -> str:
    """The command that installs this package, and with it an extra such as `video`."""
    if is_checkout(folder):
        source, flags = ".", "-c constraints.txt -e "
    else:
        source, flags = PROJECT, ""
    return f"pip install {flags}" + (f"'{source}[{extra}]'" if extra else source)


def requirements(folder: Path = FOLDER) -> dict[str, list[str]]:
    """Names of packages by the extra that needs them; "" is what the environments need."""
    found: dict[str, list[str]] = {}
    for extra, requirement in _listed(folder):
        if extra not in _UNIONS:
            found.setdefault(extra, []).append(re.split(r"[^\w.-]", requirement, maxsplit=1)[0])
    return found


def _listed(folder: Path) -> list[tuple[str, str]]:
    """Pairs of an extra and one requirement of it."""
    if is_checkout(folder):  # may be newer than what was installed of it
        project = tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8"))["project"]
        extras = {"": project["dependencies"], **project["optional-dependencies"]}
        return [(extra, line) for extra, lines in extras.items() for line in lines]
    lines = metadata.requires(PROJECT) or []
    named = [(re.search(r"extra == ['\"]([\w-]+)", line), line) for line in lines]
    return [(match[1] if match else "", line) for match, line in named]
