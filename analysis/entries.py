"""Who is on the leaderboard: the runs of our store and the sound submissions beside it.

A submission is a folder of `submissions/` next to the store, named like its label. One with a
problem is left out as a whole, and its problems are told to whoever writes the page. A label is
verified if `verified.json`, next to the store too, says so and names the files that were checked:

    {"my-method": {"by": "A. Maintainer", "what": "seed 0 of GridWorld", "when": "2026-01-31",
                   "files": {"runs/external/my-method/GridWorld-v0/seed-000.csv": "<SHA-256>"}}}
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from analysis import header_checks
from analysis.look import STYLES, ordered
from analysis.numbers import Numbers
from analysis.scores import episode_table
from analysis.submission import Digest, Label, Submission, Text
from analysis.untrusted import shown, strict_json
from analysis.validate import validate
from explore_suite.errors import UserError
from explore_suite.results import ResultStore, Run

REFERENCE, SELF_REPORTED, VERIFIED = "reference", "self-reported", "verified"
PACKAGES = {"mujoco": "mujoco", "dm_control": "dm_control", "suite": "explore-suite"}
# What a variant of ours is: end of its label -> words. All of `pure` explore for its own sake.
_VARIANTS = {"warm": "warm start", "pure": "exploration only"}


class Verification(BaseModel):
    """Who ran which part of a submission again, when, and the digests of the files compared."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)
    by: Text
    what: Text
    when: Annotated[str, Field(pattern=r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$")]
    files: dict[str, Digest] = Field(min_length=1)


@dataclass(frozen=True)
class Entry:
    """One method: how it is called and what its numbers rest on."""

    label: str
    name: str
    badge: str
    submission: Submission | None = None
    verification: Verification | None = None


@dataclass(frozen=True)
class Board:
    """Everything the leaderboard shows, and what was refused."""

    root: Path
    runs: list[Run]
    entries: dict[str, Entry]  # by label, in the order of all legends
    refused: list[str]
    last: int | None = None  # scores are of each run's last evaluations, not of the score windows

    @cached_property
    def numbers(self) -> dict[str, Numbers]:
        """By preset, ours before those of others."""
        table = episode_table(self.runs)
        presets = sorted(table.preset.unique(), key=lambda preset: (preset == "external", preset))
        return {preset: Numbers(self.root, preset, table, self.last) for preset in presets}

    @cached_property
    def versions(self) -> dict[tuple[str, str], dict[str, str]]:
        """By preset and label: package -> version of its runs, all of them if they differ."""
        found: dict[tuple[str, str], dict[str, set[str]]] = {}
        for header, _ in self.runs:
            mine = found.setdefault(
                (header.preset, header.agent), {short: set() for short in PACKAGES}
            )
            for short, name in PACKAGES.items():
                mine[short] |= {header.versions[name]} if name in header.versions else set()
        return {
            key: {short: ", ".join(sorted(versions)) for short, versions in mine.items()}
            for key, mine in found.items()
        }


def gather(root: Path | str, last: int | None = None) -> Board:
    """The store's runs and the submissions beside it; a UserError if the store is empty."""
    root = Path(root)
    runs = list(ResultStore(root).runs())
    if not runs:
        raise UserError(f"no runs in {root}: explore-suite train makes one")
    entries = {label: Entry(label, reference_name(label), REFERENCE) for label in _labels(runs)}
    refused: list[str] = []
    verified = _verified(root.parent / "verified.json")
    folder = root.parent / "submissions"
    for path in sorted(folder.iterdir()) if folder.is_dir() else ():
        entry, found, problems = _submitted(path, {*STYLES, *entries}, verified)
        refused += [f"{shown(path.name)}: {problem}" for problem in problems]
        if entry is not None:
            entries[entry.label] = entry
            runs += found
    return Board(root, runs, {label: entries[label] for label in ordered(entries)}, refused, last)


def reference_name(label: str) -> str:
    """How a label of ours is shown, its variant in words."""
    known = STYLES[label].label if label in STYLES else label
    return f"{known} ({_VARIANTS[setting(label)]})" if "." in label and label in STYLES else known


def setting(label: str) -> str:
    """What a label of ours was run for: `warm`, `pure`, or `` where it just learns."""
    if label not in STYLES:
        return ""
    variant = label.partition(".")[2]
    return "pure" if label == "random" or variant.startswith("pure") else variant


def _labels(runs: Iterable[Run]) -> list[str]:
    return ordered({run.header.agent for run in runs})


def _submitted(
    path: Path, taken: set[str], verified: dict[str, Verification]
) -> tuple[Entry | None, list[Run], list[str]]:
    """The entry and runs of a submission, or its problems."""
    submission, runs, problems = validate(path)
    if submission is None or problems:
        return None, [], problems
    label = submission.agent
    if label != path.name:
        problems.append(f"the folder must be named like its label, {label}")
    if label.casefold() in {name.casefold() for name in taken}:
        problems.append(f"the label {label} is taken; choose another")
    if problems:
        return None, [], problems
    check = verified.get(label)
    if check is None or any(submission.files.get(file) != sha for file, sha in check.files.items()):
        return Entry(label, submission.name, SELF_REPORTED, submission), runs, []
    return Entry(label, submission.name, VERIFIED, submission, check), runs, []


def _verified(path: Path) -> dict[str, Verification]:
    """What maintainers have run again, by label; nothing if there is no such file."""
    if not path.exists():
        return {}
    try:
        values = strict_json(path.read_bytes())
        return TypeAdapter(dict[Label, Verification]).validate_python(values)
    except ValidationError as error:
        raise UserError(f"{path}: {header_checks.complaints(error)[0]}") from error
    except ValueError as error:
        raise UserError(f"{path} is not readable JSON: {error}") from error
