"""BAD_ROWS: ways to spoil the rows of a run, and what the validator must say of each."""

import itertools
from pathlib import Path

from tests.helpers.good_submission import csv_of, rows_of, seal
from tests.helpers.spoil import LOCAL, LOCAL_ID, Spoil, add, disk, row, rows, text

_CSV = f"{LOCAL}/seed-000.csv"
_FIRST = "train,1,1000,"
_NO_EPISODE = "is not an episode as the store writes it"


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


BAD_ROWS: dict[str, tuple[Spoil, str]] = {
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
