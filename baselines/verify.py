"""`explore-suite verify`: run a finished run again and compare it row by row."""

import argparse
import logging
from pathlib import Path

import torch
from tqdm import tqdm

from baselines.runner import run
from baselines.settings import build, config_of
from baselines.train import require_device
from explore_suite.console import say
from explore_suite.errors import UserError
from explore_suite.provenance import device_of
from explore_suite.results import EpisodeRow, Header, read_header, read_rows


def main(arguments: list[str]) -> int:
    """Prints `equal`, or the first difference; 0 or 1."""
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
    difference = compare(header, rows[: 2 * episodes])
    if difference is None:
        say(f"equal: {2 * episodes} rows of {options.run}")
        return 0
    say(difference)
    return 1


def compare(header: Header, rows: list[EpisodeRow]) -> str | None:
    """None if a new run gives the same rows, seconds aside; else the first that differs.

    It runs on the run's own kind of device: on another, learning draws other random numbers.
    """
    config, device = config_of(header), device_of(header)
    require_device(device, f"the run learnt on {device}, which")
    torch.set_num_threads(header.threads)
    agent = build(header.agent, header.task, config, seed=header.seed, device=device)
    again = run(agent, header.task, seed=header.seed, episodes=len(rows) // 2)
    for number, (row, (new, _)) in enumerate(
        tqdm(zip(rows, again, strict=True), total=len(rows), unit="row"), start=2
    ):
        if row[:-1] != new[:-1]:
            return f"line {number} differs:\n  was {row[:-1]}\n  now {new[:-1]}"
    return None


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="explore-suite verify",
        description="Run a run again, with its header's settings, and compare row by row.",
    )
    parser.add_argument("run", type=Path, help="its .csv or .json file")
    parser.add_argument("--episodes", type=int, help="compare only so many (default: all)")
    return parser
