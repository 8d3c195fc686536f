"""`explore-suite verify`: run a finished run again and compare it row by row."""

import argparse
import contextlib
import logging
import os
import signal
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import torch
from tqdm import tqdm

from baselines.runner import EpisodeResult, run
from baselines.settings import build, config_of
from baselines.training.arithmetic import CAPABILITY, arithmetic
from baselines.training.run import require_device
from explore_suite.cli.console import say
from explore_suite.errors import UserError
from explore_suite.fingerprint import fingerprint
from explore_suite.runs.format import PHASES, EpisodeRow, Header, read_header, read_rows
from explore_suite.runs.provenance import device_of, processor, versions
from explore_suite.runs.traces import replay_run
from explore_suite.tasks import lookup

EQUAL, DIFFERS, NOT_COMPARABLE = 0, 1, 3  # exit codes; 2 is wrong input, as of every command


class Difference(NamedTuple):
    """The first row of a run that a new run does not repeat."""

    line: int  # in the CSV
    was: EpisodeRow
    now: EpisodeRow

    def __str__(self) -> str:
        """The rows without their seconds."""
        return f"line {self.line} differs:\n  was {self.was[:-1]}\n  now {self.now[:-1]}"


def main(arguments: list[str]) -> int:
    """Prints `equal`, or the first difference; the exit code is that of --help."""
    options = _parser().parse_args(arguments)
    logging.getLogger("absl").setLevel(logging.WARNING)
    path = options.run.with_suffix(".json")
    header = read_header(path)
    rows = read_rows(path.with_suffix(".csv"), finished=header.finished)
    if header.finished and len(rows) != 2 * header.episodes:
        raise UserError(
            f"{path} says finished, but {len(rows)} of {2 * header.episodes} rows are there"
        )
    if options.episodes is not None and options.episodes < 1:
        raise UserError(f"--episodes must be at least 1, got {options.episodes}")
    episodes = min(options.episodes or header.episodes, len(rows) // 2)
    if episodes < 1:
        raise UserError(f"{path} has no complete episode to compare")
    if options.timeout is not None and not options.timeout > 0:
        raise UserError(f"--timeout must be positive, got {options.timeout:g}")
    elsewhere = differing_conditions(header)
    if elsewhere:
        say(f"learnt elsewhere, its rows need not be repeated here: {'; '.join(elsewhere)}")
        if wrong := disagreements(path, header, rows):
            say(f"differs where every machine must agree: {wrong[0]}")
            return DIFFERS
    with _time_limit(options.timeout):
        difference = compare(header, rows[: 2 * episodes])
    if difference is None:
        say(f"equal: {2 * episodes} rows of {options.run}")
        return EQUAL
    if elsewhere:
        say(f"not comparable here: agreed until line {difference.line - 1}; {difference}")
        return NOT_COMPARABLE
    say(f"{difference}{_other_processor(header)}")
    return DIFFERS


def compare(header: Header, rows: list[EpisodeRow]) -> Difference | None:
    """None if a new run gives the same rows, seconds aside; else the first that differs.

    It runs on the run's own kind of device: on another, learning draws other random numbers.
    """
    config, device = config_of(header), device_of(header)
    require_device(device, f"the run learnt on {device}, which")
    torch.set_num_threads(min(header.threads, os.cpu_count() or 1))  # a stranger may ask for many
    agent = build(header.agent, header.task, config, seed=header.seed, device=device)
    again = run(agent, header.task, seed=header.seed, episodes=len(rows) // 2)
    lines = tqdm(enumerate(rows, start=2), total=len(rows), unit="row")
    for (number, row), new in zip(lines, _rows(again), strict=True):
        if row[:-1] != new[:-1]:
            return Difference(number, row, new)
    return None


def _rows(results: Iterable[EpisodeResult]) -> Iterator[EpisodeRow]:
    for result in results:
        yield from (result.train, result.eval)


def differing_conditions(header: Header) -> list[str]:
    """How this machine differs from the run's in what its rows may depend on, one item each."""
    found, cores = [], os.cpu_count() or 1
    if header.threads > cores:
        found.append(f"{header.threads} threads (here {cores} at most)")
    for name, here in arithmetic().items():
        then = header.machine.get(name)
        if then is None and name == CAPABILITY:
            found.append(f"its header does not say its CPU capability (here {here})")
        elif then is not None and then != here:
            found.append(f"CPU {name} {then} (here {here})")
    here_versions = versions()
    for name in sorted(header.versions.keys() | here_versions.keys()):
        then, now = (held.get(name, "none") for held in (header.versions, here_versions))
        if then != now:
            found.append(f"{name} {then} (here {now})")
    return found


def disagreements(path: Path, header: Header, rows: list[EpisodeRow]) -> list[str]:
    """What no machine may change and yet differs: the task, the rows' order, what traces earn."""
    found = []
    here, horizon = fingerprint(header.task), lookup(header.task).horizon
    if here != header.fingerprint:
        found.append(f"the task's fingerprint is {here} here, and was {header.fingerprint}")
    for place, row in enumerate(rows):
        episode = place // 2 + 1
        due = (PHASES[place % 2], episode, episode * horizon, horizon)
        told = (row.phase, row.episode, row.env_steps, row.length)
        if told != due:
            found.append(f"line {place + 2}: phase, episode, env_steps, length {told}, not {due}")
            break
    if header.traces:
        try:
            found += replay_run(path)
        except UserError as error:
            found.append(f"the traces cannot be replayed: {error}")
    return found


@contextlib.contextmanager
def _time_limit(seconds: float | None) -> Iterator[None]:
    """A UserError when the time is over, wherever the run is then; no limit for None."""

    def stop(number: int, frame: object) -> None:
        raise UserError(f"not done after {seconds:g} seconds (--timeout): nothing is shown")

    if seconds is None:
        yield
        return
    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def _other_processor(header: Header) -> str:
    """A hint where the same instruction set belongs to another processor."""
    then, here = header.machine.get("processor"), processor()
    return "" if then == here else f"\n  learnt on {then}, and here is {here}"


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="explore-suite verify",
        description="Run a run again, with its header's settings, and compare row by row. Learning "
        "repeats bit for bit on the same CPU capability (instruction set) and package versions "
        "alone. Where they differ, verify says so, checks what must agree everywhere (the task's "
        "fingerprint, order and length of the rows, what the stored actions earn) and tells how "
        "far the rows agree. `explore-suite replay` checks the stored actions alone, in seconds.",
        epilog="exit codes: 0 equal; 1 differs on the same CPU capability and versions, or in what "
        "must agree everywhere; 2 wrong input; 3 not comparable here: the rows agreed until some "
        "line, on another CPU capability or with other versions.",
    )
    parser.add_argument("run", type=Path, help="its .csv or .json file")
    parser.add_argument("--episodes", type=int, help="compare only so many (default: all)")
    parser.add_argument(
        "--timeout", type=float, help="seconds after which to give up, for runs of others"
    )
    return parser
