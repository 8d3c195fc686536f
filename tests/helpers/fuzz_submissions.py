"""Random damage to a sound submission, and random forgeries of it: each is tried by `attempt`.

Damage must be refused unless nothing of substance changed: every run file keeps its bytes, and
submission.json says the same but for its prose and the spelling of its JSON. Half of the damaged
run files are sealed, their digests and scores brought up to date as a forger would do; such a one
may pass if an independent reading of its rows finds the stated scores. A forgery is always sealed,
and must be refused.
"""

import csv
import io
import json
import random
import shutil
import statistics
import tempfile
from collections.abc import Callable
from functools import cache, lru_cache
from pathlib import Path

import numpy as np

from analysis.submissions.replay import differences
from analysis.submissions.schema import Submission, digest
from analysis.submissions.task_limits import bins
from analysis.submissions.validate import check, validate
from explore_suite.tasks import TASKS
from tests.helpers.bad_submissions import LOCAL, LOCAL_ID
from tests.helpers.good_submission import (
    csv_of,
    good_files,
    header_of,
    rows_of,
    traces_of,
    write,
)

Files = dict[str, bytes]
PROSE = {"name", "authors", "contact", "paper", "code", "description", "tuned_on_benchmark",
         "hardware"}  # fmt: skip
SECRET = "only the canary says this"  # in a file beside the folder
GRID = "ExploreSuite/GridWorld-v0"
SPEC = TASKS[LOCAL_ID]
BINS = bins(SPEC)


@cache
def sound() -> Files:
    """The submission that is damaged."""
    return good_files()


def paths(*suffixes: str) -> list[str]:
    """Its files with one of these suffixes, or all of its run files."""
    return sorted(path for path in sound() if path.startswith("runs/") and path.endswith(suffixes))


# Damage: files -> files.


def damage_bytes(draw: random.Random) -> Files:
    """Bits flipped, bytes replaced, put in, left out; ends cut off."""
    path = draw.choice(["submission.json", *paths("")])
    data = bytearray(sound()[path])
    for _ in range(draw.choice([1, 1, 1, 2, 5])):
        place, act = draw.randrange(len(data)), draw.randrange(5)
        if act == 0:
            data[place] ^= 1 << draw.randrange(8)
        elif act == 1:
            data[place] = draw.randrange(256)
        elif act == 2:
            data[place:place] = draw.choice(
                [b"\xff", b"\x00", b" ", b"\n", b"\r", b"9", b"-", b","]
            )
        elif act == 3:
            del data[place : place + draw.choice([1, 1, 7, 100])]
        else:
            del data[place:]
        if not data:
            break
    return {path: bytes(data)}


def damage_lines(draw: random.Random) -> Files:
    """Lines swapped, doubled, left out, taken from other runs; or whole files exchanged."""
    path, other = draw.sample(paths(".json", ".csv"), 2)
    lines = sound()[path].split(b"\n")
    one, two, act = draw.randrange(len(lines)), draw.randrange(len(lines)), draw.randrange(5)
    if act == 0:
        lines[one], lines[two] = lines[two], lines[one]
    elif act == 1:
        lines.insert(one, lines[two])
    elif act == 2:
        del lines[min(one, two) : max(one, two) + 1]
    elif act == 3:
        lines[one] = draw.choice(sound()[other].split(b"\n"))
    else:
        return {path: sound()[other], other: sound()[path]}
    return {path: b"\n".join(lines)}


CELLS = ["", "0", "-1", "1", "nan", "inf", "1e999", "1_0", "+1", " 1", "01", "1.0", "True",
         "\u0661", "9" * 400, "0.5", "0.50", "train", "eval", '"1"', "1e-5", "-0.0"]  # fmt: skip


def damage_cells(draw: random.Random) -> Files:
    """Values of a row changed: to strange ones, to near ones, to those of other rows."""
    path = draw.choice(paths(".csv"))
    lines = sound()[path].decode().split("\n")
    for _ in range(draw.choice([1, 1, 2, 3])):
        number, other = draw.randrange(1, len(lines) - 1), draw.randrange(1, len(lines) - 1)
        cells, column = lines[number].split(","), draw.randrange(8)
        near = repr(_number(cells[column]) + draw.choice([-1, 1, 1e-9, 0.1]))
        new = [draw.choice(CELLS), near.removesuffix(".0"), near, lines[other].split(",")[column]]
        lines[number] = ",".join([*cells[:column], draw.choice(new), *cells[column + 1 :]])
    return {path: "\n".join(lines).encode()}


def _number(cell: str) -> float:
    try:
        return float(cell)
    except ValueError:
        return 0.0


VALUES = [None, True, False, 0, 1, -1, 1.5, 10**30, "", "1", "x" * 3000, "../..", "\x1b[2J",
          "\ud800", [], {}, [[]], {"a": 1}, "ExploreSuite/HallwayAdversarial-v1"]  # fmt: skip


def damage_keys(draw: random.Random) -> Files:
    """Keys renamed, left out, put in; values of other types or from elsewhere, at any depth."""
    path = draw.choice(["submission.json", *paths(".json")])
    values = json.loads(sound()[path])
    for _ in range(draw.choice([1, 1, 2])):
        part = values
        while draw.random() < 0.4 and (inner := _containers(part)):
            part = draw.choice(inner)
        keys = list(part) if isinstance(part, dict) else list(range(len(part)))
        key, act = draw.choice(keys) if keys else None, draw.randrange(4)
        if key is None or act == 0:
            if isinstance(part, dict):
                part[draw.choice(["colour", "seed", "", "__class__"])] = draw.choice(VALUES)
        elif act == 1:
            del part[key]
        elif act == 2:
            part[key] = draw.choice(VALUES)
        elif isinstance(part, dict):
            part[key + draw.choice(["s", " ", "\u0301"])] = part.pop(key)
    indent = draw.choice([1, 1, 1, None])
    text = json.dumps(values, indent=indent, sort_keys=path != "submission.json") + "\n"
    return {path: text.encode()}


def _containers(value) -> list:
    """The lists and objects directly inside a list or object."""
    inside = value.values() if isinstance(value, dict) else value
    return [item for item in inside if isinstance(item, dict | list) and item]


def damage_tree(draw: random.Random, folder: Path) -> None:
    """A file or folder renamed, copied, removed, or replaced by a symlink or an empty folder."""
    folders = sorted({path.rsplit("/", depth)[0] for path in paths("") for depth in range(1, 5)})
    path = folder / draw.choice(["submission.json", *paths(""), *folders])
    targets = ["../canary", "/etc/passwd", "..", ".", "/dev/zero", "nothing", *paths("")[:6]]
    target = folder / draw.choice(targets)
    act = draw.choice(["symlink", "folder", "remove", "rename", "copy"])
    if act == "copy":
        copy = shutil.copyfile if path.is_file() else shutil.copytree
        copy(path, path.with_name(target.name + "2"))
        return
    if act == "rename":
        path.rename(path.with_name(target.name + "x"))
        return
    shutil.rmtree(path) if path.is_dir() else path.unlink()
    if act == "symlink":
        path.symlink_to(target)
    elif act == "folder":
        path.mkdir()


# Forgeries: the files that a forger changes.


def copied_seed(draw: random.Random, noise: float, jitter: int) -> Files:
    """One seed handed in as another's, with noise in its returns and in its coverage."""
    one, two = draw.sample(range(5), 2)
    rows, most = [], 0
    for row in rows_of(LOCAL_ID, one):
        if row.phase == "train":
            most = max(most, round(row.coverage * BINS) + draw.randrange(jitter + 1))
        return_ = min(row.return_ + draw.uniform(0, noise), SPEC.best_return)
        rows.append(row._replace(return_=return_, coverage=min(most, BINS) / BINS))
    return {f"{LOCAL}/seed-00{two}.csv": csv_of(rows)}


def copied_evaluations(draw: random.Random) -> Files:
    """The evaluations of one seed within the training of another, with a little noise."""
    one, two = draw.sample(range(5), 2)
    pairs = zip(rows_of(LOCAL_ID, one), rows_of(LOCAL_ID, two), strict=True)
    rows = [
        mine._replace(return_=other.return_ + draw.uniform(0, 1e-6),
                      success_steps=other.success_steps) if mine.phase == "eval" else mine
        for other, mine in pairs
    ]  # fmt: skip
    return {f"{LOCAL}/seed-00{two}.csv": csv_of(rows)}


def tampered_traces(draw: random.Random) -> list[str]:
    """A number of a run's last evaluation or of its traces changed: what the replay finds."""
    header, rows = header_of(GRID, 0), rows_of(GRID, 0)
    with np.load(io.BytesIO(traces_of(header))) as held:
        arrays = {name: held[name].copy() for name in held.files}
    name = draw.choice(["return_", "length", "success_steps", *arrays])
    if name == "actions":  # before the goal, where every move counts; a step aside is one too many
        arrays[name][draw.randrange(2), draw.randrange(78)] ^= 1
    elif name in arrays:
        arrays[name][draw.randrange(2)] += draw.choice([-1, 1]) * draw.randrange(1, 9)
    else:
        place = draw.choice([-1, -3])
        other = getattr(rows[place], name) + draw.choice([-1, 1]) * draw.randrange(1, 9)
        rows[place] = rows[place]._replace(**{name: other})
    file = io.BytesIO()
    np.savez_compressed(file, **arrays)
    return differences(header, rows, file.getvalue())


DAMAGE: dict[str, Callable[[random.Random], Files]] = {
    "damaged bytes": damage_bytes,
    "damaged lines": damage_lines,
    "damaged cells": damage_cells,
    "damaged keys": damage_keys,
}
FORGERIES: dict[str, Callable[[random.Random], Files]] = {
    "copied seed": lambda draw: copied_seed(draw, 0.0, 0),
    "copied seed, noise of 1e-6": lambda draw: copied_seed(draw, 1e-6, 0),
    "copied seed, noise of 1 %": lambda draw: copied_seed(draw, 0.2, 0),
    "copied seed, noise of 1 % and in coverage": lambda draw: copied_seed(draw, 0.2, 2),
    "copied evaluations": copied_evaluations,
}
KINDS = [*DAMAGE, *FORGERIES, "damaged tree", "tampered traces"]


def attempt(kind: str, draw: random.Random) -> str:
    """Tries one submission of a kind; `refused` or `harmless`, an AssertionError otherwise."""
    if kind == "tampered traces":
        problems = tampered_traces(draw)
    elif kind == "damaged tree":
        problems = _judge_tree(draw)
    elif kind in FORGERIES:
        problems = check(sealed(sound() | FORGERIES[kind](draw))).problems
    else:
        changed = DAMAGE[kind](draw)
        seal = draw.random() < 0.5 and "submission.json" not in changed
        files = sound() | changed
        report = check(sealed(files) if seal else files)
        if not report.problems:
            _assert_harmless(files, report.submission if seal else None)
            return "harmless"
        problems = report.problems
    assert problems, "accepted"
    assert "\n".join(problems).isascii() and SECRET not in "\n".join(problems)
    return "refused"


def _judge_tree(draw: random.Random) -> list[str]:
    with tempfile.TemporaryDirectory() as parent:
        canary, folder = Path(parent, "canary"), Path(parent, "mine")
        canary.write_text(SECRET)
        write(folder, sound())
        damage_tree(draw, folder)
        return validate(folder).problems


def _assert_harmless(files: Files, sealed_as: Submission | None) -> None:
    if sealed_as is None:
        assert substance(files) == substance(sound())
        return
    for task, stated in sealed_as.scores.items():
        assert abs(stated - score_of(files, task)) < 1e-6
        assert 0 <= stated <= TASKS[task].best_return


def substance(files: Files) -> tuple[dict, Files]:
    """What may not change: run files byte by byte, submission.json but for prose and spelling."""
    about = Submission.model_validate_json(files["submission.json"]).model_dump()
    about["scores"] = {task: round(score, 4) for task, score in about["scores"].items()}
    stated = {key: value for key, value in about.items() if key not in PROSE}
    return stated, {path: data for path, data in files.items() if path != "submission.json"}


def sealed(files: Files) -> Files:
    """Digests and scores brought up to date as a forger would; as they were if they cannot be."""
    about = json.loads(files["submission.json"])
    about["files"] = {path: digest(files[path]) for path in about["files"]}
    try:
        about["scores"] = {task: score_of(files, task) for task in about["tasks"]}
    except (ValueError, LookupError, TypeError, csv.Error):
        pass
    return files | {"submission.json": json.dumps(about).encode()}


def score_of(files: Files, task: str) -> float:
    """A task's mean score, by the csv module and the definition."""
    names = [path for path in sorted(files) if path.endswith(".csv")]
    mine = [path for path in names if f"/{task.split('/')[1]}/" in path]
    return statistics.fmean(_score(files[path], *TASKS[task].score_window) for path in mine)


@lru_cache(maxsize=100)
def _score(data: bytes, first: int, last: int) -> float:
    rows = list(csv.DictReader(io.StringIO(data.decode())))
    window = [row for row in rows if first <= int(row["episode"]) <= last]
    return statistics.fmean(float(row["return"]) for row in window if row["phase"] == "eval")
