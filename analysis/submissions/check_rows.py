"""Checks the rows of a submitted run: their text and order, and what the task can give."""

import re
from collections.abc import Iterator

import numpy as np

from analysis.submissions import task_limits
from explore_suite.runs.format import COLUMNS, PHASES, EpisodeRow
from explore_suite.tasks import TaskSpec

MAX_SECONDS = 1e8  # three years
# Seconds of a training step that no machine beats, its share of evaluation included: a tenth of
# what the grid world, the quickest task, takes with random actions.
LEAST_STEP = 1e-6
# Evaluations that may succeed before training has been at the goal. An update can find the way, but
# the next training episodes follow the same policy.
EARLY_SUCCESSES = 3
_TICKS = 1000  # per second: the store writes no finer ones
_WHOLE, _NUMBER = "(0|[1-9][0-9]{0,14})", "(-?[0-9][0-9.e+-]{0,30})"
_LINE = re.compile(
    ",".join(
        ["(train|eval)", _WHOLE, _WHOLE, _NUMBER, _WHOLE, _WHOLE, _NUMBER, _NUMBER]
    )
)  # fmt: skip
_ROUNDING = 1e-6  # of a sum of a thousand rewards
Fault = tuple[np.ndarray, str]  # which rows are wrong, and why, as a format of `row`


def check_rows(
    data: bytes, spec: TaskSpec, episodes: int | None
) -> tuple[list[EpisodeRow], list[str]]:
    """The rows, and a line for each kind of fault, naming the first line at fault.

    `episodes` is the budget of the run's header, None where that cannot be read.
    """
    rows, problems = _parse(data)
    if problems:
        return [], problems
    due = 2 * (task_limits.least_budget(spec) if episodes is None else episodes)
    if len(rows) != due and not (episodes is None and len(rows) > due):
        problems = [f"holds {len(rows)} rows where {due // 2} episodes make {due}"]
    if not rows:
        return [], problems
    for wrong, reason in _faults(rows, spec):
        lines = np.flatnonzero(wrong)
        if len(lines):
            more = f" (and {len(lines) - 1} more lines)" if len(lines) > 1 else ""
            problems.append(f"line {lines[0] + 2}: {reason.format(row=rows[lines[0]])}{more}")
    return rows, problems


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


def _faults(rows: list[EpisodeRow], spec: TaskSpec) -> Iterator[Fault]:
    """Every rule of a row, with the rows that break it."""
    phases, *columns = zip(*rows, strict=True)
    episode, env_steps, return_, length, success, coverage, seconds = map(np.array, columns)
    place = np.arange(len(rows))
    due = place // 2 + 1
    in_turn = (np.array(phases) == np.array(PHASES)[place % 2]) & (episode == due)
    yield (
        ~in_turn,
        "{row.phase} of episode {row.episode} is out of turn: train 1, eval 1, train 2, ...",
    )
    yield length != spec.horizon, f"length {{row.length}} where episodes take {spec.horizon}"
    yield (
        env_steps != due * spec.horizon,
        "env_steps {row.env_steps} is not the sum of the training lengths so far",
    )
    evaluation = in_turn & (place % 2 == 1)
    yield from _return_faults(spec, return_, success)
    yield from _coverage_faults(spec, coverage, evaluation, success)
    yield from _second_faults(seconds, evaluation, due * spec.horizon)


def _return_faults(spec: TaskSpec, return_: np.ndarray, success: np.ndarray) -> Iterator[Fault]:
    highest = task_limits.highest_return(spec)
    below = "" if highest >= spec.best_return else "just below "
    yield (
        np.signbit(return_) | (return_ > highest),
        f"return {{row.return_}} lies outside 0 to {below}{spec.best_return}",
    )
    earliest = task_limits.earliest_success(spec)
    yield (
        success > spec.horizon - earliest + 1,
        "success_steps {row.success_steps} are more than the steps"
        + (f" from step {earliest} on, where the first can be" if earliest > 1 else ""),
    )
    least = task_limits.LEAST_PAY.get(spec.name)
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
    most = task_limits.MOST_PAY_WITHOUT.get(spec.name)
    if most is not None:
        yield (
            return_ > success + most * (spec.horizon - success) + _ROUNDING,
            "return {row.return_} is too high for {row.success_steps} success_steps: others "
            + (f"pay less than {most} each" if most else "pay nothing"),
        )


def _coverage_faults(
    spec: TaskSpec, coverage: np.ndarray, evaluation: np.ndarray, success: np.ndarray
) -> Iterator[Fault]:
    bins, needed = task_limits.bins(spec), task_limits.bins_to_success(spec)
    reachable = task_limits.reachable_bins(spec)
    visited = np.rint(coverage * bins)
    yield (
        (visited < 1) | (visited > bins) | (visited / bins != coverage),
        f"coverage {{row.coverage}} is no count of visited bins over {bins}",
    )
    yield (
        (visited > reachable) & (visited <= bins),
        f"coverage {{row.coverage}} is more than the {reachable} of {bins} bins within reach",
    )
    change = np.diff(coverage, prepend=0.0)
    yield change < 0, "coverage {row.coverage} is smaller than in the line before"
    yield (
        evaluation & (change > 0),
        "coverage {row.coverage} is not that of the training before: evaluation visits nothing",
    )
    at_start = np.arange(len(visited)) == 0  # where the first state is one more
    yield (
        np.diff(visited, prepend=0.0) > spec.horizon + at_start,
        f"coverage {{row.coverage}} is more than {spec.horizon} steps can add",
    )
    yield (
        ~evaluation & (success > 0) & (visited < needed),
        f"coverage {{row.coverage}} is too small for a success in training, on the way to which "
        f"lie {needed} bins",
    )
    untrained = evaluation & (success > 0) & (visited < needed)
    yield (
        untrained & (np.cumsum(untrained) > EARLY_SUCCESSES),
        "coverage {row.coverage} is too small for so many successes in evaluation: training never "
        f"went the way to the goal, of {needed} bins",
    )


def _second_faults(
    seconds: np.ndarray, evaluation: np.ndarray, env_steps: np.ndarray
) -> Iterator[Fault]:
    held = np.clip(seconds, -MAX_SECONDS, MAX_SECONDS)  # so that nothing below can overflow
    yield held != seconds, f"seconds {{row.seconds}} are more than {MAX_SECONDS:.0f}"
    yield (
        np.rint(held * _TICKS) / _TICKS != held,
        "seconds {row.seconds} are not written with up to three decimals",
    )
    change = np.diff(held, prepend=0.0)
    yield change < 0, "seconds {row.seconds} are negative or fewer than in the line before"
    yield (
        evaluation & (change > 0),
        "seconds {row.seconds} are not those of the training before: both rows are written at once",
    )
    ahead = held - LEAST_STEP * env_steps
    most = np.maximum.accumulate(np.append(0.0, ahead))[:-1]
    yield (
        (held == seconds) & (change >= 0) & (most - ahead > 1 / _TICKS + _ROUNDING),
        f"seconds {{row.seconds}} are too few: no machine takes a step in {LEAST_STEP:f} s",
    )
