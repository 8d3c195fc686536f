"""Whether a run reproduces: train it again and compare its rows; check what no machine may change.

Learning repeats bit for bit on the same CPU capability and package versions alone. The task, the
order of the rows and what the stored actions earn must agree on every machine.
"""

import os
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import NamedTuple

import torch

from baselines.runner import run
from baselines.settings import build, config_of
from baselines.training.arithmetic import CAPABILITY, arithmetic
from baselines.training.run import require_device
from explore_suite.errors import UserError
from explore_suite.fingerprint import fingerprint
from explore_suite.runs.format import PHASES, EpisodeRow, Header
from explore_suite.runs.provenance import device_of, versions
from explore_suite.runs.traces import replay_run
from explore_suite.tasks import lookup


class Difference(NamedTuple):
    """The first row of a run that a new run does not repeat."""

    line: int  # in the CSV
    was: EpisodeRow
    now: EpisodeRow

    def __str__(self) -> str:
        """Both rows without their seconds."""
        return f"line {self.line} differs:\n  was {self.was[:-1]}\n  now {self.now[:-1]}"


def first_difference(header: Header, rows: Collection[EpisodeRow]) -> Difference | None:
    """Trains again and compares; None if all rows are repeated, seconds aside.

    It runs on the run's own kind of device: on another, learning draws other random numbers.
    """
    again = _rows_again(header, len(rows) // 2)
    for line, (was, now) in enumerate(zip(rows, again, strict=True), start=2):
        if was[:-1] != now[:-1]:
            return Difference(line, was, now)
    return None


def _rows_again(header: Header, episodes: int) -> Iterator[EpisodeRow]:
    """The rows of a new run with a header's settings."""
    config, device = config_of(header), device_of(header)
    require_device(device, f"the run learned on {device}, which")
    torch.set_num_threads(min(header.threads, os.cpu_count() or 1))  # a stranger may ask for many
    agent = build(header.agent, header.task, config, seed=header.seed, device=device)
    for result in run(agent, header.task, seed=header.seed, episodes=episodes):
        yield from (result.train, result.eval)


def differing_conditions(header: Header) -> list[str]:
    """How this machine differs from the run's in what its rows may depend on, one item each."""
    found, cores = [], os.cpu_count() or 1
    if header.threads > cores:
        found.append(f"{header.threads} threads (here {cores} at most)")
    for name, here in arithmetic().items():
        then = header.machine.get(name)
        if then is None and name == CAPABILITY:
            found.append(f"unknown CPU capability, not in the header (here {here})")
        elif then is not None and then != here:
            found.append(f"CPU {name} {then} (here {here})")
    here_versions = versions()
    for name in sorted(header.versions.keys() | here_versions.keys()):
        then, now = (held.get(name, "none") for held in (header.versions, here_versions))
        if then != now:
            found.append(f"{name} {then} (here {now})")
    return found


def disagreements(path: Path, header: Header, rows: list[EpisodeRow]) -> Iterator[str]:
    """What differs although no machine may change it: the task, the rows' order, the traces."""
    here, horizon = fingerprint(header.task), lookup(header.task).horizon
    if here != header.fingerprint:
        yield f"the task's fingerprint is {here} here, and was {header.fingerprint}"
    for index, row in enumerate(rows):
        episode = index // 2 + 1
        due = (PHASES[index % 2], episode, episode * horizon, horizon)
        found = (row.phase, row.episode, row.env_steps, row.length)
        if found != due:
            yield f"line {index + 2}: phase, episode, env_steps, length {found}, not {due}"
            break
    if header.traces:
        try:
            yield from replay_run(path)
        except UserError as error:
            yield f"the traces cannot be replayed: {error}"
