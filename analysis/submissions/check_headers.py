"""Checks the header of a submitted run: types, fingerprint, code, versions and budget."""

import re
from collections.abc import Iterator
from datetime import date
from functools import cache
from typing import Any, NotRequired, get_type_hints

from pydantic import ConfigDict, TypeAdapter, ValidationError
from typing_extensions import TypedDict

from analysis.submissions.read_folder import strict_json
from analysis.submissions.task_limits import least_budget
from analysis.submissions.unicode_checks import shown, unreadable
from explore_suite.runs import header_rules
from explore_suite.runs.format import SCHEMA, Header, dump_header
from explore_suite.runs.header_rules import MAX_EPISODES
from explore_suite.tasks import TaskSpec, measured

NEEDED_VERSIONS = ("python", "explore-suite", "mujoco", "dm_control", "gymnasium", "numpy")
_COMMIT = re.compile(r"[0-9a-f]{40}")
_DATE = re.compile(r"20[0-9]{2}-[0-9]{2}-[0-9]{2}")
_VERSION = re.compile(r"[0-9][0-9A-Za-z.+!-]{0,39}")

# Older runs have headers without these fields.
_HINTS = get_type_hints(Header) | {"date": NotRequired[str], "traces": NotRequired[dict[str, str]]}
_HeaderDict = TypedDict("_HeaderDict", _HINTS)  # type: ignore[misc]
_HeaderDict.__pydantic_config__ = ConfigDict(extra="forbid", strict=True)  # type: ignore[attr-defined]
_TYPES: TypeAdapter[Any] = TypeAdapter(_HeaderDict)


def read(data: bytes) -> tuple[Header | None, list[str]]:
    """The header in a JSON text, None if it is not one; and what is wrong with it."""
    try:
        values = strict_json(data)
        _TYPES.validate_python(values)
    except ValidationError as error:
        return None, type_problems(error)
    except ValueError as error:
        return None, [f"is not the JSON of a header: {shown(str(error))}"]
    header = Header(**values)
    problems = list(header_rules.text_faults(values))
    if dump_header(header).encode() != data:
        problems.append("is not written as the store writes headers")
    return header, list(dict.fromkeys(problems))


def check(header: Header, spec: TaskSpec) -> Iterator[str]:
    """A line for each value of the header that the leaderboard does not take."""
    if header.schema != SCHEMA:
        yield f"has schema {header.schema} instead of {SCHEMA}"
    if not header.finished:
        yield "is not finished"
    yield from _source(header)
    if header.date and not _is_day(header.date):
        yield f"date {shown(header.date)} is not written as YYYY-MM-DD"
    golden = _fingerprints()[spec.name]["fingerprint"]
    if header.fingerprint != golden:
        yield (
            f"fingerprint {shown(header.fingerprint)} is not {golden}, that of {spec.id}: "
            "run with the versions of constraints.txt"
        )
    least = least_budget(spec)
    if not least <= header.episodes <= MAX_EPISODES:
        yield f"budget of {header.episodes} episodes is not within {least} to {MAX_EPISODES}"
    yield from header_rules.faults(header)
    yield from _code(header)
    yield from _versions(header)


def type_problems(error: ValidationError) -> list[str]:
    """One line per problem that pydantic found, without the values."""
    lines = []
    for problem in error.errors(include_url=False, include_input=False, include_context=False):
        where = ".".join(shown(str(part)) for part in problem["loc"]) or "the whole"
        lines.append(f"{where}: {problem['msg']}")
    return lines


@cache
def _fingerprints() -> dict[str, Any]:
    return measured("fingerprints")


def _is_day(text: str) -> bool:
    try:
        date.fromisoformat(text)
    except ValueError:
        return False
    return bool(_DATE.fullmatch(text))


def _source(header: Header) -> Iterator[str]:
    if "synthetic" in header.source.lower():
        yield f"is synthetic: its source is {shown(header.source)}"
    if reason := unreadable(header.source):
        yield f"source {reason}"


def _versions(header: Header) -> Iterator[str]:
    missing = [name for name in NEEDED_VERSIONS if name not in header.versions]
    if missing:
        yield f"versions lack {', '.join(missing)}"
    for name, version in header.versions.items():
        if not _VERSION.fullmatch(version):
            yield f"version {shown(version)} of {shown(name)} is not written as versions are"


def _code(header: Header) -> Iterator[str]:
    if header.code.keys() != {"commit", "dirty"}:
        yield "code must hold commit and dirty alone"
        return
    commit, dirty = header.code["commit"], header.code["dirty"]
    if commit is None and dirty is None:
        return  # installed from a package; its version is in `versions`
    if not isinstance(commit, str) or not _COMMIT.fullmatch(commit) or not isinstance(dirty, bool):
        yield "code must be a full commit and whether it was dirty, or two nulls"
