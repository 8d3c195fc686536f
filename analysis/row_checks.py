"""Whether the rows of a run can be what the suite recorded: their text, order and values."""

import math
import re
from collections.abc import Iterator

import numpy as np

from explore_suite.coverage import PROJECTIONS
from explore_suite.results import COLUMNS, PHASES, EpisodeRow
from explore_suite.tasks import TaskSheet

_WHOLE, _NUMBER = "(0|[1-9][0-9]{0,14})", "(-?[0-9][0-9.e+-]{0,30})"
_LINE = re.compile(
    ",".join(
        ["(train|eval)", _WHOLE, _WHOLE, _NUMBER, _WHOLE, _WHOLE, _NUMBER, _NUMBER]
    )
)  # fmt: skip
# The least reward of a step with success, where other steps pay too: the walker's stand pays
# (3 + upright) / 4, the goal of a hallway one. Elsewhere a step with success pays one, others none.
_LEAST_PAY = {
    "WalkerWalk": 0.75,
    "WalkerExplore": 0.75,
    "HallwayLocalOptimum": 1.0,
    "HallwayAdversarial": 1.0,
}
_ROUNDING = 1e-6  # of a sum of a thousand rewards
_BEST_ROUNDING = 0.05  # best returns of the catalogue have one decimal
_MIN_WINDOW = 10  # episodes of the score window that a run must at least evaluate
Fault = tuple[np.ndarray, str]  # which rows are wrong, and why, as a format of `row`


def check_rows(data: bytes, sheet: TaskSheet, episodes: int) -> tuple[list[EpisodeRow], list[str]]:
    """The rows, and a line for each kind of fault, naming the first line at fault."""
    rows, problems = _parse(data)
    if problems:
        return [], problems
    if len(rows) != 2 * episodes:
        problems = [f"holds {len(rows)} rows where {episodes} episodes make {2 * episodes}"]
    if not rows:
        return [], problems
    for wrong, reason in _faults(rows, sheet):
        lines = np.flatnonzero(wrong)
        if len(lines):
            more = f" (and {len(lines) - 1} more lines)" if len(lines) > 1 else ""
            problems.append(f"line {lines[0] + 2}: {reason.format(row=rows[lines[0]])}{more}")
    if rows[-1].seconds <= rows[0].seconds and episodes > 1:
        problems.append(f"no time passes: seconds are {rows[0].seconds} from first to last row")
    return rows, problems


def least_budget(sheet: TaskSheet) -> int:
    """Training episodes that a run needs for its score: the window, or on pairs its first ten."""
    first, last = sheet.score_window
    return first + _MIN_WINDOW - 1 if sheet.partner else last


def score(sheet: TaskSheet, rows: list[EpisodeRow]) -> float:
    """Mean evaluation return over those episodes of the task's score window that exist."""
    first, last = sheet.score_window
    returns = [row.return_ for row in rows if row.phase == "eval" and first <= row.episode <= last]
    return math.fsum(returns) / len(returns)


def _parse(data: bytes) -> tuple[list[EpisodeRow], list[str]]:
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        return [], [f"is not UTF-8 at byte {error.start}"]
    first, *lines = text.split("\n")
    if first != ",".join(COLUMNS):
        return [], [f"line 1: is not {','.join(COLUMNS)}"]
    if not lines or lines.pop() != "":
        return [], ["the last line is cut off"]
    rows = [_row(line) for line in lines]
    strange = [number for number, row in enumerate(rows, start=2) if row is None]
    if strange:
        more = f" (and {len(strange) - 1} more lines)" if len(strange) > 1 else ""
        return [], [f"line {strange[0]}: is not an episode as the store writes it{more}"]
    return [row for row in rows if row is not None], []


def _row(line: str) -> EpisodeRow | None:
    """The episode of a line, if it is the very line that the store would write for it."""
    match = _LINE.fullmatch(line)
    if match is None:
        return None
    phase, episode, env_steps, return_, length, success_steps, coverage, seconds = match.groups()
    try:
        row = EpisodeRow(
            phase, int(episode), int(env_steps), float(return_), int(length),
            int(success_steps), float(coverage), float(seconds),
        )  # fmt: skip
    except ValueError:  # such as 1.2.3
        return None
    return row if ",".join(map(str, row)) == line else None


def _faults(rows: list[EpisodeRow], sheet: TaskSheet) -> Iterator[Fault]:
    """Every rule of a row, with the rows that break it."""
    phases, *columns = zip(*rows, strict=True)
    episode, env_steps, return_, length, success, coverage, seconds = map(np.array, columns)
    place = np.arange(len(rows))
    due = place // 2 + 1
    in_turn = np.array(phases) == np.array(PHASES)[place % 2]
    yield (
        ~in_turn | (episode != due),
        "{row.phase} of episode {row.episode} is out of turn: train 1, eval 1, train 2, ...",
    )
    yield length != sheet.horizon, f"length {{row.length}} where episodes take {sheet.horizon}"
    yield (
        env_steps != due * sheet.horizon,
        "env_steps {row.env_steps} is not the sum of the training lengths so far",
    )
    yield from _return_faults(sheet, return_, success)
    yield from _coverage_faults(sheet, coverage)
    yield (
        np.diff(seconds, prepend=0.0) < 0,
        "seconds {row.seconds} are negative or fewer than in the line before",
    )


def _return_faults(sheet: TaskSheet, return_: np.ndarray, success: np.ndarray) -> Iterator[Fault]:
    best = sheet.best_return + (0 if sheet.best_is_bound else _BEST_ROUNDING)
    yield (
        np.signbit(return_) | (return_ > best),
        f"return {{row.return_}} lies outside 0 to {sheet.best_return}",
    )
    yield success > sheet.horizon, "success_steps {row.success_steps} are more than the steps"
    least = _LEAST_PAY.get(sheet.name)
    if least is None:
        yield (
            return_ != success,
            "return {row.return_} is not the {row.success_steps} success_steps, which alone pay",
        )
    else:
        yield (
            return_ < least * success - _ROUNDING,
            f"return {{row.return_}} is too low for {{row.success_steps}} success_steps, "
            f"which pay {least} or more each",
        )


def _coverage_faults(sheet: TaskSheet, coverage: np.ndarray) -> Iterator[Fault]:
    bins = math.prod(axis.bins for axis in PROJECTIONS[sheet.name][1])
    visited = np.rint(coverage * bins)
    yield (
        (visited < 1) | (visited > bins) | (visited / bins != coverage),
        f"coverage {{row.coverage}} is no count of visited bins over {bins}",
    )
    yield (
        np.diff(coverage, prepend=0.0) < 0,
        "coverage {row.coverage} is smaller than in the line before",
    )
