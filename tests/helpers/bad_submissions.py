"""BAD: ways to spoil a sound submission, and what the validator must say of each.

Everything that a git tree can hold is tried: it has files, folders and symlinks, but neither hard
links nor special files.
"""

import itertools
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.helpers.good_submission import VERSIONS, csv_of, edit_header, rows_of, seal, write

LOCAL = "runs/external/my-method/HallwayLocalOptimum-v0"
LOCAL_ID = "ExploreSuite/HallwayLocalOptimum-v0"
ADVERSARIAL_ID = "ExploreSuite/HallwayAdversarial-v0"
CANARY = "canary-in-the-outside"  # beside the folder; holds what no message may show
SUFFIXES = ("json", "csv", "traces.npz")  # of the files of a run
Spoil = Callable[[Path], object]
_MANIFEST, _JSON, _CSV = "submission.json", f"{LOCAL}/seed-000.json", f"{LOCAL}/seed-000.csv"
_FIRST = "train,1,1000,"
_NO_EPISODE = "is not an episode as the store writes it"
_NO_JSON = "is not the JSON of a submission"


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


def symlink(path: str, target: str) -> Spoil:
    """Puts a symlink in the place of a file; `target` is relative to the folder."""

    def act(folder: Path) -> None:
        (folder / path).unlink(missing_ok=True)
        (folder / path).symlink_to(folder / target)

    return act


def add(path: str, data: bytes = b"x") -> Spoil:
    """Adds a file."""

    def act(folder: Path) -> None:
        write(folder, {path: data})

    return act


def _symlink_folder(folder: Path) -> None:
    (folder / LOCAL).rename(folder.parent / "elsewhere")
    (folder / LOCAL).symlink_to(folder.parent / "elsewhere")


def _swap_seeds(folder: Path) -> None:
    first, second = (folder / LOCAL / f"seed-00{n}.csv" for n in (0, 1))
    second.write_bytes(first.read_bytes())
    seal(folder)


def _nearly_swap(folder: Path) -> None:
    copy = [row._replace(return_=row.return_ + 1e-9) for row in rows_of(LOCAL_ID, 0)]
    copy[0] = copy[0]._replace(return_=copy[0].return_ + 1)
    (folder / LOCAL / "seed-001.csv").write_bytes(csv_of(copy))
    seal(folder)


def _noisy_copies(folder: Path) -> None:
    """The best seed handed in five times, with noise that no digit survives."""
    for seed in range(1, 5):
        copy = [
            row._replace(
                return_=row.return_ + 1e-6 * seed * (1 + row.episode % 7),
                coverage=min(160, round(row.coverage * 160) + row.episode % 2 * seed) / 160,
            )
            for row in rows_of(LOCAL_ID, 0)
        ]
        seen = itertools.accumulate((row.coverage for row in copy), max)
        steady = [row._replace(coverage=most) for row, most in zip(copy, seen, strict=True)]
        (folder / LOCAL / f"seed-00{seed}.csv").write_bytes(csv_of(steady))
    seal(folder)


def _swap_evaluations(folder: Path) -> None:
    """Rows of seed 1 with the evaluations of seed 0."""
    pairs = zip(rows_of(LOCAL_ID, 0), rows_of(LOCAL_ID, 1), strict=True)
    mixed = [
        mine._replace(return_=other.return_, success_steps=other.success_steps)
        if mine.phase == "eval"
        else mine
        for other, mine in pairs
    ]
    (folder / LOCAL / "seed-001.csv").write_bytes(csv_of(mixed))
    seal(folder)


def _no_tail(folder: Path) -> None:
    path = folder / LOCAL / "seed-000.csv"
    path.write_bytes(path.read_bytes()[:-1])
    seal(folder)


# Name -> how to spoil it, and the texts one of which every line of the validator must hold. At
# least one line must hold the first; the others are what the same fault must also cause.
BAD_MANIFESTS = {
    # its text
    "no submission.json": disk("is missing", lambda f: (f / _MANIFEST).unlink()),
    "empty": disk(_NO_JSON, add(_MANIFEST, b"")),
    "a list": disk("Input should be", add(_MANIFEST, b"[]")),
    "half a character for a key": disk("the whole: Input should be a valid string", add(
        _MANIFEST, b'{"\\ud800": 1, "seeds": 5, "files": 5}')),
    "byte order mark": text(_MANIFEST, "{", "\ufeff{", _NO_JSON),
    "not UTF-8": disk("utf-8", add(_MANIFEST, b'{"name": "\xff"}')),
    "duplicate key": text(_MANIFEST, '"name"', '"name": "B", "name"', "name occurs twice"),
    "NaN": text(_MANIFEST, '"version": 1', '"version": NaN', "NaN is no JSON number"),
    "Infinity": text(_MANIFEST, '"version": 1', '"version": -Infinity', "Infinity is no JSON"),
    "1e999": text(_MANIFEST, '"version": 1', '"version": 1e999', "too large or too long"),
    "huge integer": text(_MANIFEST, '"version": 1', '"version": ' + "9" * 5000, "too long"),
    "nested deeply": disk("nested deeper", add(_MANIFEST, b"[" * 100_000)),
    "too large": disk("is larger than|is missing", add(_MANIFEST, b" " * (2**20 + 1))),
    # its fields
    "unknown key": about("colour: Extra inputs are not permitted", colour="red"),
    "missing key": about("hardware: Field required", hardware=...),
    "other schema": about("version: Input should be less", version=2),
    "boolean as a number": about("version: Input should be a valid integer", version=True),
    "number as a boolean": about("tuned_on_benchmark: Input should be a valid boolean",
                                 tuned_on_benchmark=0),
    "text as a number": about("seeds.0: Input should be a valid integer", seeds=["0", 1, 2, 3, 4]),
    "boolean as a seed": about("seeds.0: Input should be a valid", seeds=[False, 1, 2, 3, 4]),
    "control character": about("name: Value error, holds the control character U+001B",
                               name="a\x1b[2Jb"),
    "new line in a name": about("control character U+000A", name="a\nb"),
    "reordering character": about("control character U+202E", name="a\u202eb"),
    "half a character": about("name:", name="a\ud800"),
    "blank name": about("name: Value error, begins or ends with a space", name=" "),
    "invisible name": about("control character U+200B", name="\u200b"),
    "hidden letter in a name": about("control character U+00AD", name="SAC+\u00adDEEP"),
    "filler for a name": about("blank character U+3164", name="\u3164"),
    "private character": about("control character U+E000", name="a\ue000"),
    "name of signs": about("name: Value error, holds no letter or digit", name="<>"),
    "tower of marks": about("more than 2 marks on one letter", name="Z\u0301\u0316\u0347"),
    "Cyrillic letter in a name": about("name: Value error, holds U+0410", name="S\u0410C+DEEP"),
    "Greek name": about("name: Value error, holds U+03A3", name="\u03a3\u0391\u03a7"),
    "wide letters": about("name: Value error, holds U+FF33", name="\uff33AC"),
    "mathematical letters": about("name: Value error, holds U+1D412", name="\U0001d412AC"),
    "letter of the Lisu": about("name: Value error, holds U+A4E2", name="\ua4e2AC"),
    "badge in a name": about("holds the word verified", name="SAC (Verified)"),
    "badge in disguise": about("holds the word verified", name="SAC v\u00e9r1f\u0131ed"),
    "badge of two words": about("holds the word self-reported", name="Not self reported"),
    "badge in an author": about("authors.0: Value error, holds the word ours", authors=["OURS"]),
    "badge as a label": about("agent: Value error, holds the word reference", agent="reference.2"),
    "empty contact": about("contact: Value error, holds no letter", contact="-"),
    "long name": about("name: String should have at most 120", name="x" * 121),
    "path as a label": about("agent: String should match", agent="../my-method"),
    "label with a line end": about("agent: String should match", agent="my-method\n"),
    "http": about("paper: String should match pattern", paper="http://example.org"),
    "javascript": about("paper: String should match pattern", paper="javascript:alert(1)"),
    "quote in an address": about("paper: String should match", paper='https://a.org/"onclick='),
    "code without commit": about("code.commit: Field required", code={"url": "https://a.org"}),
    "nobody to ask": about("one of contact, paper and code", contact=None, code=None),
    "newer suite": about("is newer than|not that of the runs", suite_version="99.0.0"),
    "unknown task": about("unknown task or version ExploreSuite/Hallway-v0|scores must name",
                          tasks=[LOCAL_ID, ADVERSARIAL_ID, "ExploreSuite/Hallway-v0"]),
    "task that is only for a look": about(
        "unknown task or version ExploreSuite/HallwayShort-v0|scores must name",
        tasks=[LOCAL_ID, ADVERSARIAL_ID, "ExploreSuite/HallwayShort-v0"]),
    "tasks out of order": about("in the order of", tasks=[ADVERSARIAL_ID, LOCAL_ID]),
    "task twice": about("each once|scores", tasks=[LOCAL_ID, LOCAL_ID, ADVERSARIAL_ID]),
    "a task of the group left out": about(
        "group hallway is only taken whole and lacks ExploreSuite/HallwayAdversarial-v0|"
        "does not belong|scores must name|files must name", tasks=[LOCAL_ID]),
    "four seeds": about("at least 5|does not belong|files must name|the mean over its rows",
                        seeds=[0, 1, 2, 3]),
    "seeds with a gap": about("without gaps, at least 5", seeds=[0, 1, 2, 3, 5]),
    "score too good": about("is not", scores={LOCAL_ID: 800.0, ADVERSARIAL_ID: 900.0}),
    "score as text": about("scores.ExploreSuite/HallwayLocalOptimum-v0: Input should be a valid",
                           scores={LOCAL_ID: "1", ADVERSARIAL_ID: 1.0}),
    "score missing": about("scores must name the tasks", scores={}),
    "digest missing": about("files must name the files", files={}),
}  # fmt: skip

BAD_HEADERS = {
    "header: unknown key": text(_JSON, '"agent"', '"aaa": 1,\n "agent"', "aaa: Extra inputs"),
    "header: missing key": text(_JSON, ' "threads": 1,\n', "", "threads: Field required"),
    "header: duplicate key": text(_JSON, '"agent"', '"agent": "a",\n "agent"', "occurs twice"),
    "header: other spacing": text(_JSON, '"seed": 0', '"seed":  0', "as the store writes headers"),
    "header: 5.0 for 5": text(_JSON, '"threads": 1', '"threads": 1.5', "threads: Input should be"),
    "header: boolean seed": text(_JSON, '"seed": 0', '"seed": false', "seed: Input should be"),
    "header: control character": header("holds the control character", machine={"a": "\x07"}),
    "header: long text": header("a text of more than 200", machine={"a": "x" * 201}),
    "header: no date": header("is not written as YYYY-MM-DD", date="yesterday"),
    "header: no such day": header("is not written as YYYY-MM-DD", date="2026-19-39"),
    "header: nested machine": header("machine must hold texts and numbers alone", machine={
        "processor": ["x"] * 300}),
    "header: large machine": header("machine must hold texts and numbers alone", machine={
        f"part {n}": n for n in range(21)}),
    "header: schema": header("has schema 2 instead of 1", schema=2),
    "header: unfinished": header("is not finished", finished=False),
    "header: synthetic": header("is synthetic|its source is not", source="a Synthetic generator"),
    "header: fingerprint": header("is not feafdafd3c947b16", fingerprint="0123456789abcdef"),
    "header: other task": header("are not those of its path", task=ADVERSARIAL_ID),
    "header: other version": header("are not those of its path", task=LOCAL_ID[:-1] + "1"),
    "header: other seed": header("are not those of its path", seed=2),
    "header: other agent": header("are not those of its path", agent="sac"),
    "header: dirty in words": header("code must be a full commit|its code is not",
                                     code={"commit": "0" * 40, "dirty": "no"}),
    "header: short commit": header("code must be a full commit|its code is not",
                                   code={"commit": "0" * 7, "dirty": False}),
    "header: no code": header("code must hold commit and dirty|its code is not", code={}),
    "header: short budget": header("budget of 99 episodes is not within 100|holds 200|its budget",
                                   episodes=99),
    "header: long budget": header("budget of 5001 episodes is not|holds 200|its budget|of type",
                                  episodes=5_001),
    "header: no threads": header("threads must be 1 to 1024, not 0", threads=0),
    "header: many threads": header("threads must be 1 to 1024, not 1025", threads=1025),
    "header: versions": header("versions lack|its versions", versions={"python": "3.11.7"}),
    "header: version in words": header("version 3 / <b> of mujoco is not written|its versions",
                                       versions=VERSIONS | {"mujoco": "3 / <b>"}),
    "header: long version": header("of torch is not written|its versions",
                                   versions=VERSIONS | {"torch": "1" * 41}),
    "header: version of letters": header("version www.a.org of numpy is not written|its versions",
                                         versions=VERSIONS | {"numpy": "www.a.org"}),
    "header: no source": header("source holds no letter or digit|its source", source=""),
    "header: other source": header("its source is not that of", source="my own code"),
    "header: other code": header("its code is not that of",
                                 code={"commit": "0" * 40, "dirty": False}),
    "header: config of true for 1": header("its config is not that of", config={
        "rate": 0.001, "nested": {"on": 1}}),
    "header: line break in the config": header("control character U+000A|its config", config={
        "note": "a\nb"}),
    "header: line break in a key": header("control character U+000A|its config", config={"a\n": 1}),
    "header: long text in the config": header("a text of more than 200|its config", config={
        "note": ["x" * 201]}),
    "header: deep config": header("nested deeper than 4|its config", config={
        "a": {"b": {"c": {"d": {"e": 1}}}}}),
    "header: huge config": header("config holds 201 values, more than 200|its config", config={
        "layers": [1] * 200}),
    "header: huge number": header("not below 1e+09|its config", config={"updates": 10**9}),
    "header: huge hidden layer": header("not below 1e+09|its config", config={"hidden": [1e300]}),
    "header: other config": header("its config is not that of", config={"rate": 0.1}),
    "header: other versions": header("its versions is not that of", versions=VERSIONS | {
        "python": "3.11.8"}),
}  # fmt: skip

BAD_ROWS = {
    # rows: their text
    "rows: CRLF": text(_CSV, "\n", "\r\n", "line 1: is not phase,"),
    "rows: CR inside": text(_CSV, "\neval,1,", "\r\neval,1,", _NO_EPISODE),
    "rows: byte order mark": text(_CSV, "phase", "\ufeffphase", "line 1: is not phase,"),
    "rows: other columns": text(_CSV, "return", "score", "line 1: is not phase,"),
    "rows: quoted": text(_CSV, _FIRST, '"train",1,1000,', _NO_EPISODE),
    "rows: space": text(_CSV, _FIRST, "train, 1,1000,", _NO_EPISODE),
    "rows: underscore": text(_CSV, _FIRST, "train,1,1_000,", _NO_EPISODE),
    "rows: plus": text(_CSV, _FIRST, "train,+1,1000,", _NO_EPISODE),
    "rows: leading zero": text(_CSV, _FIRST, "train,01,1000,", _NO_EPISODE),
    "rows: Arabic digit": text(_CSV, _FIRST, "train,\u0661,1000,", _NO_EPISODE),
    "rows: float for a whole number": text(_CSV, _FIRST, "train,1.0,1000,", _NO_EPISODE),
    "rows: huge integer": text(_CSV, _FIRST, f"train,{'9' * 5000},1000,", _NO_EPISODE),
    "rows: true": text(_CSV, _FIRST, "train,True,1000,", _NO_EPISODE),
    "rows: nan": text(_CSV, _FIRST, "train,1,1000,nan,", _NO_EPISODE),
    "rows: 1e999": row(_NO_EPISODE, return_="1e999"),
    "rows: inf": row(_NO_EPISODE, return_=float("inf")),
    "rows: other spelling": row(_NO_EPISODE, return_="20.50"),
    "rows: whole number for a float": row(_NO_EPISODE, return_="20"),
    "rows: two points": row(_NO_EPISODE, return_="1.2.3"),
    "rows: empty line": text(_CSV, "\neval,1,", "\n\neval,1,", _NO_EPISODE),
    "rows: NUL": text(_CSV, _FIRST, "\x00train,1,1000,", _NO_EPISODE),
    "rows: other line break": text(_CSV, "\neval,1,", "\u2028eval,1,", _NO_EPISODE),
    "rows: not UTF-8": disk("is not UTF-8", lambda f: (add(_CSV, b"\xff\xfe")(f), seal(f))),
    "rows: no end": disk("the last line is cut off", _no_tail),
    # rows: what they say
    "rows: none": rows("holds 0 rows where 100 episodes", lambda r: []),
    "rows: too few": rows("holds 198 rows where 100 episodes", lambda r: r[:-2]),
    "rows: too many": rows("holds 202 rows", lambda r: rows_of(LOCAL_ID, 0, 101)),
    "rows: one twice": rows("out of turn|rows where|env_steps", lambda r: r[:1] + r),
    "rows: two swapped": rows("out of turn|env_steps|seconds|coverage",
                              lambda r: r[:8] + r[10:12] + r[8:10] + r[12:]),
    "rows: evaluations first": rows("out of turn", lambda r: [
        r[k + 1 - 2 * (k % 2)] for k in range(len(r))]),
    "rows: episode": rows("train of episode 4 is out of turn", lambda r: [
        *r[:4], r[4]._replace(episode=4), *r[5:]]),
    "rows: length": row("length 999 where episodes take 1000", length=999),
    "rows: env_steps": row("env_steps 3001 is not the sum", env_steps=3001),
    "rows: return too high": row("lies outside 0 to 832.9", return_=833.5),
    "rows: negative return": row("lies outside|is too low", return_=-0.5),
    "rows: minus nothing": row("return -0.0 lies outside", return_=-0.0, success_steps=0),
    "rows: too many successes": row("are more than the steps|too low", success_steps=1001),
    "rows: successes unpaid": row("is too low for 30 success_steps", return_=29., success_steps=30),
    "rows: coverage above one": row("is no count of visited bins|smaller", coverage=1.00625),
    "rows: coverage of no bins": row("is no count of visited bins|not that of|smaller",
                                     coverage=36.001 / 160),
    "rows: coverage falls": row("is smaller than in the line before|not that of", 50,
                                coverage=40 / 160),
    "rows: seconds fall": row("fewer than in the line before|not those of", seconds=0.5),
    "rows: negative seconds": row("seconds -1.0 are negative|not those of", 1, seconds=-1.0),
    "rows: no time": rows("seconds 1.0 are too few", lambda r: [
        x._replace(seconds=1.0) for x in r]),
    "rows: evaluation visits": row("evaluation visits nothing|smaller", 3, "eval", coverage=0.25),
    "rows: evaluation takes time": row("both rows are written at once", 3, "eval", seconds=3.4),
    "rows: seconds without end": rows("seconds 1e+308 are more than 100000000", lambda r: [
        x._replace(seconds=1e308) if x.episode > 1 else x for x in r]),
    "rows: hardly any time": rows("are not written with up to three decimals|too few", lambda r: [
        x._replace(seconds=5e-324) for x in r]),
    "rows: fine seconds": rows("seconds 3.3001 are not written with up to three", lambda r: [
        x._replace(seconds=3.3001) if x.episode == 3 else x for x in r]),
    "rows: half a microsecond a step": rows("no machine takes a step in 0.000001 s", lambda r: [
        x._replace(seconds=round(x.env_steps / 2e6, 3)) for x in r]),
    "rows: success too early": row("are more than the steps from step 175 on", return_=830.0,
                                   success_steps=827),
    "rows: success without a way": rows("on the way to which lie 35 bins|never went", lambda r: [
        x._replace(coverage=34 / 160) for x in r]),
    "rows: those of another seed": disk("has the same episodes as seed 0|is not", _swap_seeds),
    "rows: nearly those of another seed": disk(
        "has nearly the same coverage as seed 0|is not", _nearly_swap),
    "rows: those of another seed with noise": disk(
        "has nearly the same train returns as seed 0|nearly the same|is not", _noisy_copies),
    "rows: evaluations of another seed": disk(
        "has nearly the same eval returns as seed 0|is not", _swap_evaluations),
}  # fmt: skip

BAD_FILES = {
    "run missing": disk("is missing", lambda f: [
        (f / LOCAL / f"seed-004.{s}").unlink() for s in SUFFIXES]),
    "rows missing": disk("seed-000.csv: is missing", lambda f: (f / _CSV).unlink()),
    "changed, not sealed": disk("its SHA-256 differs", lambda f: (f / _CSV).write_bytes(
        (f / _CSV).read_bytes().replace(b",1.1\n", b",1.05\n", 2))),
    "symlink to the outside": disk("is a symlink|is missing", symlink(_CSV, f"../{CANARY}")),
    "symlink to a file of its own": disk("is a symlink|is missing", symlink(
        _CSV, f"{LOCAL}/seed-001.csv")),
    "symlink to nothing": disk("is a symlink|is missing", symlink(_CSV, "../nothing")),
    "symlink to a system file": disk("is a symlink|is missing", symlink(_CSV, "/etc/passwd")),
    "symlink for submission.json": disk("is a symlink|is missing", symlink(
        _MANIFEST, f"../{CANARY}")),
    "symlink for traces": disk("is a symlink|is missing", symlink(
        f"{LOCAL}/seed-000.traces.npz", f"../{CANARY}")),
    "symlink for a folder": disk("is a symlink|is missing", _symlink_folder),
    "archive": disk("is an archive", add("runs.tar.gz")),
    "archive beside the rows": disk("is an archive", add(f"{LOCAL}/seed-000.csv.zip")),
    "hidden file": disk("hidden or strangely named", add(".gitattributes")),
    "hidden folder": disk("hidden or strangely named", add(".git/config")),
    "strange name": disk("'a\\x1b[2J': hidden or strangely named", add("a\x1b[2J")),
    "unexpected file": disk("README.md: unexpected file", add("README.md")),
    "weights": disk("unexpected file", add("runs/model.safetensors")),
    "states beside the rows": disk("unexpected file", add(f"{LOCAL}/seed-000.states.json")),
    "submodule, which is an empty folder": disk(
        "runs/cpu: unexpected folder", lambda f: (f / "runs/cpu").mkdir()),
    "other folder": disk("code: unexpected folder", add("code/main.py")),
    "folder in place of a file": disk("unexpected folder|is missing", lambda f: (
        (f / _CSV).unlink(), (f / _CSV).mkdir())),
    "other agent's run": disk("are not those of its path|does not belong|is missing",
                              move("runs/external/my-method", "runs/external/sac")),
    "unknown task's run": disk("unknown task or version|does not belong|is missing",
                               move(LOCAL, LOCAL.replace("Local", "Global"))),
    "one seed more": disk(
        "does not belong|are not those of|same episodes|is not the file", lambda f: [
        add(f"{LOCAL}/seed-005.{s}", (f / LOCAL / f"seed-000.{s}").read_bytes())(f)
        for s in SUFFIXES]),
    "seed with four digits": disk(
        "is missing|does not belong|are not those|is not the file", lambda f: [
        move(f"{LOCAL}/seed-000.{s}", f"{LOCAL}/seed-0000.{s}")(f) for s in SUFFIXES]),
    "capital letters": disk("unexpected file|is missing", move(_CSV, f"{LOCAL}/SEED-000.CSV")),
}  # fmt: skip

BAD: dict[str, tuple[Spoil, str]] = BAD_MANIFESTS | BAD_HEADERS | BAD_ROWS | BAD_FILES
