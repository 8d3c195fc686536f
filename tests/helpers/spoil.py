"""Ways to spoil a submission: each maker gives a change of a folder, and the reason to expect."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.helpers.good_submission import csv_of, edit_header, rows_of, seal

LOCAL = "runs/external/my-method/HallwayLocalOptimum-v0"
LOCAL_ID = "ExploreSuite/HallwayLocalOptimum-v0"
ADVERSARIAL_ID = "ExploreSuite/HallwayAdversarial-v0"
Spoil = Callable[[Path], object]


def about(reason: str, **changes: Any) -> tuple[Spoil, str]:
    """submission.json with other values; `...` takes a key away."""

    def spoil(folder: Path) -> None:
        values = json.loads((folder / "submission.json").read_text()) | changes
        values = {key: value for key, value in values.items() if value is not ...}
        (folder / "submission.json").write_text(json.dumps(values))

    return spoil, reason


def header(reason: str, **changes: Any) -> tuple[Spoil, str]:
    """One header with other values, sealed again."""

    def spoil(folder: Path) -> None:
        edit_header(folder / LOCAL / "seed-001.json", **changes)
        seal(folder)

    return spoil, reason


def text(path: str, old: str, new: str, reason: str) -> tuple[Spoil, str]:
    """A file with one text replaced, sealed again unless it is submission.json."""

    def spoil(folder: Path) -> None:
        before = (folder / path).read_bytes()
        assert old.encode() in before
        (folder / path).write_bytes(before.replace(old.encode(), new.encode(), 1))
        if path != "submission.json":
            seal(folder)

    return spoil, reason


def row(reason: str, episode: int = 3, only: str = "train", **changes: Any) -> tuple[Spoil, str]:
    """One row with other values, sealed again; `changes` are fields of EpisodeRow."""

    def spoil(folder: Path) -> None:
        rows = rows_of(LOCAL_ID, 0)
        place = 2 * (episode - 1) + (only == "eval")
        rows[place] = rows[place]._replace(**changes)
        (folder / LOCAL / "seed-000.csv").write_bytes(csv_of(rows))
        seal(folder)

    return spoil, reason


def rows(reason: str, change: Callable[[list], list]) -> tuple[Spoil, str]:
    """All rows of a run changed, sealed again."""

    def spoil(folder: Path) -> None:
        (folder / LOCAL / "seed-000.csv").write_bytes(csv_of(change(rows_of(LOCAL_ID, 0))))
        seal(folder)

    return spoil, reason


def disk(reason: str, act: Spoil) -> tuple[Spoil, str]:
    """Anything else that can be done to a folder."""
    return act, reason


def move(old: str, new: str) -> Spoil:
    """Renames a file or folder."""
    return lambda folder: (folder / old).rename(folder / new)


def link(path: str, target: str, hard: bool = False) -> Spoil:
    """Puts a link in the place of a file; `target` is relative to the folder."""

    def act(folder: Path) -> None:
        (folder / path).unlink(missing_ok=True)
        if hard:
            (folder / path).hardlink_to(folder / target)
        else:
            (folder / path).symlink_to(target if target.startswith("/") else folder / target)

    return act


def add(path: str, data: bytes = b"x") -> Spoil:
    """Adds a file."""

    def act(folder: Path) -> None:
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(data)

    return act
