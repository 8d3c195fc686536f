"""Folders and text from strangers: read without leaving the folder, parsed without guessing."""

import json
import math
import os
import re
import stat
from pathlib import Path
from typing import Any, NamedTuple

from analysis.submissions.unicode_checks import shown
from explore_suite.errors import UserError
from explore_suite.runs.format import LABEL, TRACES
from explore_suite.runs.traces import MAX_BYTES as MAX_TRACES_BYTES

ABOUT = "submission.json"
MAX_ENTRIES = 5_000  # files and folders
MAX_TOTAL_BYTES = 20 * 2**20  # of all texts: headers, rows and submission.json
_TEXTS = (".json", ".csv")
MAX_DEPTH = 16  # of nested JSON
_MAX_BYTES = {ABOUT: 2**20, ".json": 2**16, ".csv": 2**21, ".npz": MAX_TRACES_BYTES}
_MAX_DIGITS = 40  # of a JSON number; the longest float has 25
_RUN_FILE = re.compile(
    rf"runs/({LABEL.pattern}/){{3}}seed-[0-9]{{3,5}}(\.json|\.csv|{re.escape(TRACES)})"
)
_ARCHIVES = (".zip", ".tar", ".gz", ".tgz", ".bz2", ".xz", ".zst", ".7z", ".rar")
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK  # a FIFO must not block
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"?|[\[\]{}]', re.DOTALL)  # strings (for skipping), brackets


class Tree(NamedTuple):
    """What was found in a folder."""

    files: dict[str, bytes]  # path -> content, of the files a submission may have
    folders: list[str]
    problems: list[str]


def read_tree(root: Path) -> Tree:
    """The files a submission may have, and a line for everything else; follows no link.

    Only names below the folder's own descriptor are opened, never through a link, and nothing but
    `submission.json` and the run files is opened at all.
    """
    tree = Tree({}, [], [])
    try:
        folder = os.open(root, _READ | os.O_DIRECTORY)
    except FileNotFoundError as error:
        raise UserError(f"{shown(str(root))} does not exist") from error
    except OSError:
        tree.problems.append(f"{shown(str(root))}: is a link or no folder")
        return tree
    try:
        _walk(folder, "", tree)
    finally:
        os.close(folder)
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


def _walk(folder: int, prefix: str, tree: Tree) -> None:
    """Reads one open folder and those below it."""
    names: list[str] = []
    with os.scandir(folder) as entries:
        for entry in entries:
            if len(tree.files) + len(tree.folders) + len(tree.problems) + len(names) >= MAX_ENTRIES:
                tree.problems.append(f"{shown(prefix) or '.'}: more than {MAX_ENTRIES} files")
                return
            names.append(entry.name)
    for name in sorted(names):
        path = prefix + name
        try:
            reason = _enter(folder, name, path, tree)
        except OSError as error:
            reason = f"cannot be read: {error.strerror}"
        if reason:
            tree.problems.append(f"{shown(path)}: {reason}")


def _enter(folder: int, name: str, path: str, tree: Tree) -> str | None:
    """Takes one entry into the tree, or says why not."""
    status = os.stat(name, dir_fd=folder, follow_symlinks=False)
    if stat.S_ISLNK(status.st_mode):
        return "is a link; put the file itself there"
    if not LABEL.fullmatch(name):
        return "hidden or strangely named files do not belong into a submission"
    if stat.S_ISDIR(status.st_mode):
        return _enter_folder(folder, name, path, tree)
    if not stat.S_ISREG(status.st_mode):
        return "is neither a file nor a folder"
    if name.lower().endswith(_ARCHIVES):
        return "is an archive; archives are not opened, unpack it"
    if path != ABOUT and not _RUN_FILE.fullmatch(path):
        return "unexpected file"
    return _enter_file(folder, name, path, tree)


def _enter_folder(folder: int, name: str, path: str, tree: Tree) -> str | None:
    if path.count("/") > 3 or not (path == "runs" or path.startswith("runs/")):
        return "unexpected folder"
    tree.folders.append(path)
    inner = os.open(name, _READ | os.O_DIRECTORY, dir_fd=folder)
    try:
        _walk(inner, path + "/", tree)
    finally:
        os.close(inner)
    return None


def _enter_file(folder: int, name: str, path: str, tree: Tree) -> str | None:
    limit = _MAX_BYTES[path if path == ABOUT else Path(name).suffix]
    handle = os.open(name, _READ, dir_fd=folder)
    with os.fdopen(handle, "rb") as file:
        status = os.fstat(handle)
        if not stat.S_ISREG(status.st_mode) or status.st_nlink != 1:
            return "is a hard link, or was replaced meanwhile; put a copy there"
        data = file.read(limit + 1)
    if len(data) > limit:
        return f"is larger than {limit} bytes"
    held = sum(len(other) for place, other in tree.files.items() if place.endswith(_TEXTS))
    if path.endswith(_TEXTS) and held + len(data) > MAX_TOTAL_BYTES:
        return f"with it the files are larger than {MAX_TOTAL_BYTES} bytes together"
    tree.files[path] = data
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
