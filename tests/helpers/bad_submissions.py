"""BAD: ways to spoil a sound submission, and what the validator must say of each."""

import os
from pathlib import Path

from tests.helpers.bad_headers import BAD_HEADERS
from tests.helpers.bad_rows import BAD_ROWS
from tests.helpers.spoil import (
    ADVERSARIAL_ID,
    LOCAL,
    LOCAL_ID,
    Spoil,
    about,
    add,
    disk,
    link,
    move,
    text,
)

CANARY = "canary-in-the-outside"  # beside the folder; holds what no message may show
# Name -> how, and the texts one of which every line of the validator must hold, the first at least
# one line (the others are what the same fault must also cause).
BAD: dict[str, tuple[Spoil, str]] = BAD_HEADERS | BAD_ROWS


def _link_folder(folder: Path) -> None:
    (folder / LOCAL).rename(folder.parent / "elsewhere")
    (folder / LOCAL).symlink_to(folder.parent / "elsewhere")


_SUBMISSION, _CSV = "submission.json", f"{LOCAL}/seed-000.csv"
_WIDE = "is not the JSON of a submission"

BAD |= {
    # submission.json: its text
    "no submission.json": disk("is missing", lambda f: (f / _SUBMISSION).unlink()),
    "empty": disk(_WIDE, add(_SUBMISSION, b"")),
    "a list": disk("Input should be", add(_SUBMISSION, b"[]")),
    "half a character for a key": disk("the whole: Input should be a valid string", add(
        _SUBMISSION, b'{"\\ud800": 1, "seeds": 5, "files": 5}')),
    "byte order mark": text(_SUBMISSION, "{", "\ufeff{", _WIDE),
    "not UTF-8": disk("utf-8", add(_SUBMISSION, b'{"name": "\xff"}')),
    "duplicate key": text(_SUBMISSION, '"name"', '"name": "B", "name"', "name occurs twice"),
    "NaN": text(_SUBMISSION, '"version": 1', '"version": NaN', "NaN is no JSON number"),
    "Infinity": text(_SUBMISSION, '"version": 1', '"version": -Infinity', "Infinity is no JSON"),
    "1e999": text(_SUBMISSION, '"version": 1', '"version": 1e999', "too large or too long"),
    "huge integer": text(_SUBMISSION, '"version": 1', '"version": ' + "9" * 5000, "too long"),
    "nested deeply": disk("nested deeper", add(_SUBMISSION, b"[" * 100_000)),
    "too large": disk("is larger than|is missing", add(_SUBMISSION, b" " * (2**20 + 1))),
    # submission.json: its fields
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

BAD |= {
    # files
    "run missing": disk("is missing", lambda f: [
        (f / LOCAL / f"seed-004.{s}").unlink() for s in ("csv", "json")]),
    "rows missing": disk("seed-000.csv: is missing", lambda f: (f / _CSV).unlink()),
    "changed, not sealed": disk("its SHA-256 differs", lambda f: (f / _CSV).write_bytes(
        (f / _CSV).read_bytes().replace(b",1.1\n", b",1.05\n", 2))),
    "link to the outside": disk("is a link|is missing", link(_CSV, f"../{CANARY}")),
    "link to a file of its own": disk("is a link|is missing", link(_CSV, f"{LOCAL}/seed-001.csv")),
    "link to nothing": disk("is a link|is missing", link(_CSV, "../nothing")),
    "link to a system file": disk("is a link|is missing", link(_CSV, "/etc/passwd")),
    "linked submission.json": disk("is a link|is missing", link(_SUBMISSION, f"../{CANARY}")),
    "linked folder": disk("is a link|is missing", _link_folder),
    "hard link": disk("is a hard link|is missing", link(_CSV, f"../{CANARY}", hard=True)),
    "fifo": disk("is neither a file nor a folder", lambda f: os.mkfifo(f / LOCAL / "seed-009.csv")),
    "fifo for rows": disk("neither a file|is missing", lambda f: (
        (f / _CSV).unlink(), os.mkfifo(f / _CSV))),
    "archive": disk("is an archive", add("runs.tar.gz")),
    "archive beside the rows": disk("is an archive", add(f"{LOCAL}/seed-000.csv.zip")),
    "hidden file": disk("hidden or strangely named", add(".gitattributes")),
    "hidden folder": disk("hidden or strangely named", add(".git/config")),
    "strange name": disk("'a\\x1b[2J': hidden or strangely named", add("a\x1b[2J")),
    "unexpected file": disk("README.md: unexpected file", add("README.md")),
    "weights": disk("unexpected file", add("runs/model.safetensors")),
    "states beside the rows": disk("unexpected file", add(f"{LOCAL}/seed-000.states.json")),
    "empty folder": disk("runs/cpu: unexpected folder", lambda f: (f / "runs/cpu").mkdir()),
    "other folder": disk("code: unexpected folder", add("code/main.py")),
    "folder in place of a file": disk("unexpected folder|is missing", lambda f: (
        (f / _CSV).unlink(), (f / _CSV).mkdir())),
    "other agent's run": disk("are not those of its path|does not belong|is missing",
                              move("runs/external/my-method", "runs/external/sac")),
    "unknown task's run": disk("unknown task or version|does not belong|is missing",
                               move(LOCAL, LOCAL.replace("Local", "Global"))),
    "one seed more": disk("does not belong|are not those of|same episodes", lambda f: [
        add(f"{LOCAL}/seed-005.{s}", (f / LOCAL / f"seed-000.{s}").read_bytes())(f)
        for s in ("csv", "json")]),
    "seed with four digits": disk("is missing|does not belong|are not those", lambda f: [
        move(f"{LOCAL}/seed-000.{s}", f"{LOCAL}/seed-0000.{s}")(f) for s in ("csv", "json")]),
    "capital letters": disk("unexpected file|is missing", move(_CSV, f"{LOCAL}/SEED-000.CSV")),
}  # fmt: skip
