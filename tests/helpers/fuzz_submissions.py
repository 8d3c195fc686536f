"""Forged submissions for some minutes: each kind is refused, nothing crashes. Not run by pytest.

    python tests/fuzz_submissions.py --minutes 5

Every forgery is sealed: digests and scores are brought up to date as a forger would do.
"""

import argparse
import itertools
import json
import random
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import replace

from analysis.submissions.task_limits import bins, bins_to_success
from analysis.submissions.validate import check
from explore_suite.runs.format import Header, dump_header
from explore_suite.tasks import TASKS
from tests.helpers.fuzz_sandbox import FILES, RUN_PATHS, sealed
from tests.helpers.good_submission import csv_of, rows_of
from tests.helpers.spoil import LOCAL, LOCAL_ID

Files = dict[str, bytes]
SPEC = TASKS[LOCAL_ID]
BINS = bins(SPEC)
HEADERS = [path for path in RUN_PATHS if path.endswith(".json")]


def copied_seed(draw: random.Random, noise: float, jitter: int) -> Files:
    """One seed handed in as another's, with noise in its returns and in its coverage."""
    one, two = draw.sample(range(5), 2)
    rows, most = [], 0
    for row in rows_of(LOCAL_ID, one):
        if row.phase == "train":
            most = max(most, round(row.coverage * BINS) + draw.randrange(jitter + 1))
        return_ = row.return_ + draw.uniform(0, noise)
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


def solved_untrained(draw: random.Random) -> Files:
    """Evaluations at the goal of a method whose training never went there."""
    visited = draw.randrange(1, bins_to_success(SPEC))
    rows = [
        row._replace(coverage=visited / BINS) if row.phase == "eval"
        else row._replace(coverage=visited / BINS, return_=0.0, success_steps=0)
        for row in rows_of(LOCAL_ID, 0)
    ]  # fmt: skip
    return {f"{LOCAL}/seed-000.csv": csv_of(rows)}


def impossible_cell(draw: random.Random) -> Files:
    """One value of one row that the task cannot give."""
    rows = rows_of(LOCAL_ID, 0)
    place = draw.randrange(len(rows))
    change = draw.choice([
        {"return_": draw.uniform(833, 1e6)}, {"return_": -draw.uniform(0.1, 10)},
        {"success_steps": draw.randrange(827, 2000)}, {"length": draw.randrange(1000)},
        {"coverage": draw.uniform(1.1, 9)}, {"seconds": 1e9 * draw.uniform(1, 9)},
        {"env_steps": rows[place].env_steps + draw.randrange(1, 99)},
    ])  # fmt: skip
    rows[place] = rows[place]._replace(**change)
    return {f"{LOCAL}/seed-000.csv": csv_of(rows)}


def bad_header(draw: random.Random) -> Files:
    """Settings that no run has, in the headers of all."""
    deep: dict = {"a": 1}
    for _ in range(draw.randrange(4, 12)):
        deep = {"a": deep}
    change = draw.choice([
        {"threads": draw.randrange(1025, 10**9)}, {"config": deep}, {"source": "synthetic"},
        {"config": {"a": [0] * draw.randrange(200, 900)}}, {"config": {"a": "x" * 300}},
        {"config": {"a": "line\nbreak"}}, {"config": {"a": draw.choice([1e9, 10**12, -1e300])}},
        {"finished": False}, {"code": {"commit": "0" * 40, "dirty": True}},
        {"episodes": draw.randrange(5001, 10**9)}, {"fingerprint": "0" * 16},
    ])  # fmt: skip
    return {
        path: dump_header(replace(Header(**json.loads(FILES[path])), **change)).encode()
        for path in HEADERS
    }


def bad_name(draw: random.Random) -> Files:
    """Names in other letters, or with a word of the page's own."""
    letter = chr(draw.choice([0x0410, 0x03B1, 0xFF21, 0x1D400, 0x200B, 0x202E, 0x4E2D, 0x13A0]))
    word = draw.choice(["Verified", "OURS", "ref\u00e9rence", "self reported", "Rep1ay-checked"])
    name = draw.choice([f"SAC {letter}", f"{letter}SAC", f"SAC ({word})", word])
    about = json.loads(FILES["submission.json"]) | {"name": name}
    return {"submission.json": json.dumps(about).encode()}


def flipped_bytes(draw: random.Random) -> Files:
    """A digit of the rows replaced by a letter."""
    path = draw.choice([path for path in RUN_PATHS if path.endswith(".csv")])
    data = bytearray(FILES[path])
    digits = [place for place, byte in enumerate(data) if 48 <= byte <= 57]
    data[draw.choice(digits)] = draw.choice(b"abcxyz ;_")
    return {path: bytes(data)}


KINDS: dict[str, Callable[[random.Random], Files]] = {
    "copied seed": lambda draw: copied_seed(draw, 0.0, 0),
    "copied seed, noise of 1e-6": lambda draw: copied_seed(draw, 1e-6, 0),
    "copied seed, noise of 1 %": lambda draw: copied_seed(draw, 0.2, 0),
    "copied seed, noise of 1 % and in coverage": lambda draw: copied_seed(draw, 0.2, 2),
    "copied evaluations": copied_evaluations,
    "solved without training": solved_untrained,
    "impossible cell": impossible_cell,
    "bad header": bad_header,
    "bad name": bad_name,
    "flipped bytes": flipped_bytes,
}


def main() -> None:
    """Forges until the time is over; an AssertionError names what was accepted."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=1.0)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    assert check(FILES).problems == [], "the submission that is spoilt is sound"
    counts: Counter[str] = Counter()
    end = time.monotonic() + 60 * options.minutes
    for number in itertools.count():
        if time.monotonic() > end:
            break
        kind = list(KINDS)[number % len(KINDS)]
        forged = FILES | KINDS[kind](random.Random(f"{options.seed} {number}"))
        problems = check(sealed(forged)).problems
        assert problems, f"{kind}, seed {options.seed}, number {number} was accepted"
        assert "\n".join(problems).isascii()
        counts[kind] += 1
    for kind in KINDS:
        print(f"{counts[kind]:6d} refused  {kind}")


if __name__ == "__main__":
    main()
