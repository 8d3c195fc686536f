"""BAD: ways to spoil a sound submission, and what the validator must say of each."""

import os
from pathlib import Path

from good_submission import rows_of, seal
from spoil import LOCAL, LOCAL_ID, Spoil, about, add, disk, header, link, move, row, rows, text

ADVERSARIAL = "runs/external/my-method/HallwayAdversarial-v0"
ADVERSARIAL_ID = "ExploreSuite/HallwayAdversarial-v0"
CANARY = "canary-in-the-outside"  # beside the folder; holds what no message may show
# Name -> how, and the texts one of which every line of the validator must hold, the first at least
# one line (the others are what the same fault must also cause).
BAD: dict[str, tuple[Spoil, str]] = {}


def _swap_seeds(folder: Path) -> None:
    first, second = (folder / LOCAL / f"seed-00{n}.csv" for n in (0, 1))
    second.write_bytes(first.read_bytes())
    seal(folder)


def _no_tail(folder: Path) -> None:
    path = folder / LOCAL / "seed-000.csv"
    path.write_bytes(path.read_bytes()[:-1])
    seal(folder)


def _link_folder(folder: Path) -> None:
    (folder / LOCAL).rename(folder.parent / "elsewhere")
    (folder / LOCAL).symlink_to(folder.parent / "elsewhere")


_SUBMISSION, _CSV, _JSON = "submission.json", f"{LOCAL}/seed-000.csv", f"{LOCAL}/seed-000.json"
_FIRST = "train,1,1000,"
_NO_EPISODE = "is not an episode as the store writes it"
_WIDE = "is not the JSON of a submission"

BAD |= {
    # submission.json: its text
    "no submission.json": disk("is missing", lambda f: (f / _SUBMISSION).unlink()),
    "empty": disk(_WIDE, add(_SUBMISSION, b"")),
    "a list": disk("Input should be", add(_SUBMISSION, b"[]")),
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
    "tasks out of order": about("in the order of", tasks=[ADVERSARIAL_ID, LOCAL_ID]),
    "task twice": about("each once|scores", tasks=[LOCAL_ID, LOCAL_ID, ADVERSARIAL_ID]),
    "a task of the group left out": about(
        "group hallway is only taken whole and lacks ExploreSuite/HallwayAdversarial-v0|"
        "does not belong|scores must name|files must name", tasks=[LOCAL_ID]),
    "four seeds": about("at least 5|does not belong|files must name", seeds=[0, 1, 2, 3]),
    "seeds with a gap": about("without gaps, at least 5", seeds=[0, 1, 2, 3, 5]),
    "score too good": about("is not", scores={LOCAL_ID: 800.0, ADVERSARIAL_ID: 900.0}),
    "score as text": about("scores.ExploreSuite/HallwayLocalOptimum-v0: Input should be a valid",
                           scores={LOCAL_ID: "1", ADVERSARIAL_ID: 1.0}),
    "score missing": about("scores must name the tasks", scores={}),
    "digest missing": about("files must name the files", files={}),
}  # fmt: skip

BAD |= {
    # headers
    "header: unknown key": text(_JSON, '"agent"', '"aaa": 1,\n "agent"', "aaa: Extra inputs"),
    "header: missing key": text(_JSON, ' "threads": 1,\n', "", "threads: Field required"),
    "header: duplicate key": text(_JSON, '"agent"', '"agent": "a",\n "agent"', "occurs twice"),
    "header: other spacing": text(_JSON, '"seed": 0', '"seed":  0', "as the store writes headers"),
    "header: 5.0 for 5": text(_JSON, '"threads": 1', '"threads": 1.5', "threads: Input should be"),
    "header: boolean seed": text(_JSON, '"seed": 0', '"seed": false', "seed: Input should be"),
    "header: control character": header("holds the control character", machine={"a": "\x07"}),
    "header: long text": header("a text of more than 300", machine={"a": "x" * 301}),
    "header: schema": header("has schema 2 instead of 1", schema=2),
    "header: unfinished": header("is not finished", finished=False),
    "header: synthetic": header("is synthetic", source="a Synthetic generator"),
    "header: fingerprint": header("is not feafdafd3c947b16", fingerprint="0123456789abcdef"),
    "header: other task": header("are not those of its path", task=ADVERSARIAL_ID),
    "header: other version": header("are not those of its path", task=LOCAL_ID[:-1] + "1"),
    "header: other seed": header("are not those of its path", seed=2),
    "header: other agent": header("are not those of its path", agent="sac"),
    "header: dirty": header("uncommitted changes", code={"commit": "0" * 40, "dirty": True}),
    "header: short commit": header("code must be a full commit",
                                   code={"commit": "0" * 7, "dirty": False}),
    "header: no code": header("code must hold commit and dirty", code={}),
    "header: short budget": header("budget of 99 episodes is not within 100|holds 200 rows",
                                   episodes=99),
    "header: long budget": header("budget of 10001 episodes is not|holds 200 rows",
                                  episodes=10_001),
    "header: no threads": header("threads must be 1 or more", threads=0),
    "header: versions": header("versions lack", versions={"python": "3.11.7"}),
    "header: other config": header("its config is not that of", config={"rate": 0.1}),
    "header: other versions": header("its versions is not that of", versions={
        "python": "3.11.8", "explore-suite": "0.1.0", "mujoco": "3.17.0", "dm_control": "1.0.50",
        "gymnasium": "1.4.0", "numpy": "2.4.6"}),
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
    "rows: coverage of no bins": row("is no count of visited bins|smaller", coverage=0.051),
    "rows: coverage falls": row("is smaller than in the line before", 50, coverage=1 / 160),
    "rows: seconds fall": row("fewer than in the line before", seconds=0.5),
    "rows: negative seconds": row("seconds -1.0 are negative", 1, seconds=-1.0),
    "rows: no time": rows("no time passes", lambda r: [x._replace(seconds=1.0) for x in r]),
    "rows: those of another seed": disk("has the same episodes as seed 0|is not", _swap_seeds),
}  # fmt: skip

BAD |= {
    # files
    "run missing": disk("is missing", lambda f: [
        (f / LOCAL / f"seed-004.{s}").unlink() for s in ("csv", "json")]),
    "rows missing": disk("seed-000.csv: is missing", lambda f: (f / _CSV).unlink()),
    "changed, not sealed": disk("its SHA-256 differs", lambda f: (f / _CSV).write_bytes(
        (f / _CSV).read_bytes().replace(b",1.1\n", b",1.05\n", 1))),
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
