"""Reads a submission's folder without leaving it, and its JSON without guessing.

A folder comes as part of a git tree: regular files, folders, symlinks and submodules. Symlinks are
refused and never followed, so that no path leads out of the folder (path traversal); a submodule
is a folder that does not belong.
"""

import json
import math
import re
from pathlib import Path
from typing import Any, NamedTuple

from analysis.submissions.unicode_checks import shown
from explore_suite.errors import UserError
from explore_suite.runs.format import LABEL, TRACES
from explore_suite.runs.header_rules import MAX_BYTES as MAX_HEADER_BYTES
from explore_suite.runs.traces import MAX_BYTES as MAX_TRACES_BYTES

MANIFEST = "submission.json"
MAX_ENTRIES = 5_000  # files and folders
MAX_TOTAL_BYTES = 20 * 2**20  # of all texts: headers, rows and submission.json
MAX_TRACES_TOTAL = 100 * 2**20  # of all traces; 100 seeds of every task have some 50 MiB
MAX_DEPTH = 16  # of nested JSON
_TEXTS = (".json", ".csv")
_MAX_BYTES = {MANIFEST: 2**20, ".json": MAX_HEADER_BYTES, ".csv": 2**21, ".npz": MAX_TRACES_BYTES}
_MAX_DIGITS = 40  # of a JSON number; the longest float has 25
_RUN_FILE = re.compile(
    rf"runs/({LABEL.pattern}/){{3}}seed-[0-9]{{3,5}}(\.json|\.csv|{re.escape(TRACES)})"
)
_ARCHIVES = (".zip", ".tar", ".gz", ".tgz", ".bz2", ".xz", ".zst", ".7z", ".rar")
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"?|[\[\]{}]', re.DOTALL)  # strings (for skipping), brackets


class Tree(NamedTuple):
    """The content of a folder."""

    files: dict[str, bytes]  # path -> content, of the files a submission may have
    folders: list[str]
    problems: list[str]


def read_tree(root: Path) -> Tree:
    """The files a submission may have, and a line for everything else; follows no symlink.

    Nothing but `submission.json` and the run files is opened.
    """
    tree = Tree({}, [], [])
    if root.is_symlink() or root.is_file():
        tree.problems.append(f"{shown(str(root))}: is a symlink or no folder")
    elif not root.is_dir():
        raise UserError(f"{shown(str(root))} does not exist")
    else:
        _walk(root, "", tree)
    return tree


def strict_json(data: bytes) -> Any:
    """The value of a JSON text; a ValueError for anything that two readers could take for two."""
    text = data.decode("utf-8")
    depth = deepest = 0
    for token in _TOKEN.findall(text):
        depth += (token in ("[", "{")) - (token in ("]", "}"))
        deepest = max(deepest, depth)
    if deepest > MAX_DEPTH:
        raise ValueError(f"nested deeper than {MAX_DEPTH}")
    return json.loads(
        text, object_pairs_hook=_object, parse_int=_whole, parse_float=_float,
        parse_constant=_constant,
    )  # fmt: skip


def _walk(folder: Path, prefix: str, tree: Tree) -> None:
    """Adds a folder and those below it to the tree."""
    for path in _members(folder, prefix, tree):
        if len(tree.files) + len(tree.folders) + len(tree.problems) >= MAX_ENTRIES:
            tree.problems.append(f"{shown(prefix) or '.'}: more than {MAX_ENTRIES} files")
            return
        try:
            reason = _enter(path, prefix + path.name, tree)
        except OSError as error:
            reason = f"cannot be read: {error.strerror}"
        if reason:
            tree.problems.append(f"{shown(prefix + path.name)}: {reason}")


def _members(folder: Path, prefix: str, tree: Tree) -> list[Path]:
    """What a folder holds, in order; a problem of the tree if that cannot be read."""
    try:
        return sorted(folder.iterdir())
    except OSError as error:
        tree.problems.append(f"{shown(prefix) or '.'}: cannot be read: {error.strerror}")
        return []


def _enter(path: Path, name: str, tree: Tree) -> str | None:
    """Adds one entry to the tree, or returns why it is refused; `name` is its path in the tree."""
    if path.is_symlink():
        return "is a symlink; put the file itself there"
    if not LABEL.fullmatch(path.name):
        return "hidden or strangely named files do not belong into a submission"
    if path.is_dir():
        return _enter_folder(path, name, tree)
    if name.lower().endswith(_ARCHIVES):
        return "is an archive; archives are not opened, unpack it"
    if name != MANIFEST and not _RUN_FILE.fullmatch(name):
        return "unexpected file"
    if not path.is_file():  # such as a named pipe, whose reader waits for ever
        return "is no regular file"
    return _enter_file(path, name, tree)


def _enter_folder(path: Path, name: str, tree: Tree) -> str | None:
    if name.count("/") > 3 or not (name == "runs" or name.startswith("runs/")):
        return "unexpected folder"
    tree.folders.append(name)
    _walk(path, name + "/", tree)
    return None


def _enter_file(path: Path, name: str, tree: Tree) -> str | None:
    limit = _MAX_BYTES[name if name == MANIFEST else path.suffix]
    size = path.stat().st_size
    if size > limit:
        return f"is larger than {limit} bytes"
    kind, most = (_TEXTS, MAX_TOTAL_BYTES) if name.endswith(_TEXTS) else (TRACES, MAX_TRACES_TOTAL)
    held = sum(len(data) for other, data in tree.files.items() if other.endswith(kind))
    if held + size > most:
        return f"with it the files of its kind are larger than {most} bytes together"
    tree.files[name] = path.read_bytes()
    return None


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for key, value in pairs:
        if key in values:
            raise ValueError(f"the key {shown(key)} occurs twice")
        values[key] = value
    return values


def _whole(text: str) -> int:
    if len(text) > _MAX_DIGITS:
        raise ValueError(f"the number {text[:12]}... is too long")
    return int(text)


def _float(text: str) -> float:
    value = float(text)
    if len(text) > _MAX_DIGITS or not math.isfinite(value):
        raise ValueError(f"the number {text[:12]} is too large or too long")
    return value


def _constant(text: str) -> Any:
    raise ValueError(f"{text} is no JSON number")
