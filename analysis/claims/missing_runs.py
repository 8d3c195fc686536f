"""Which runs a claim lacks, and the commands that make them."""

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import NamedTuple

from analysis.claims.hypothesis_tests import Gap
from analysis.claims.samples import Left
from analysis.stats.intervals import MIN_SEEDS


class _Order(NamedTuple):
    """Runs of an agent on a task that are to be made."""

    agent: str
    task: str
    seeds: tuple[int, ...]
    anew: bool  # over runs that are there, and will never count


def lines(gaps: Sequence[Gap]) -> list[str]:
    """One line for each agent and set of seeds that it has: on which tasks."""
    found: dict[tuple[str, str], list[str]] = {}
    for gap in gaps:
        seeds = f"only {_seeds(gap.seeds)}" if gap.seeds else "no runs that count"
        has = seeds if gap.seeds or gap.left else "no runs"
        found.setdefault((f"`{gap.agent}` has {has}", left(gap)), []).append(gap.task)
    return [
        f"{who} on {', '.join(tasks)}{f': {others}' if others else ''}"
        for (who, others), tasks in found.items()
    ]


def left(gap: Gap) -> str:
    """The runs that do not count: how many, how long, and how long they should be."""

    def kind(run: Left) -> tuple[bool, int]:
        return not run.finished, run.episodes

    return "; ".join(
        _told([run.seed for run in runs], unfinished, episodes, gap.needed)
        for (unfinished, episodes), runs in groupby(sorted(gap.left, key=kind), key=kind)
    )


def commands(gaps: Sequence[Gap], preset: str) -> list[str]:
    """Shell commands that make seeds 0, 1, 2 of all.

    A sweep refuses finished runs of another length, so those are run again one by one.
    """
    orders = [order for gap in gaps for order in _orders(gap)]
    swept = [order for order in orders if not order.anew]
    tasks: dict[tuple[str, tuple[int, ...]], list[str]] = {}
    for order in swept:
        tasks.setdefault((order.agent, order.seeds), []).append(order.task)
    agents: dict[tuple[tuple[str, ...], tuple[int, ...]], list[str]] = {}
    for (agent, seeds), members in tasks.items():
        agents.setdefault((tuple(members), seeds), []).append(agent)
    sweeps = [_sweep(preset, names, *what) for what, names in agents.items()]
    return sweeps + _loops(preset, [order for order in orders if order not in swept])


def train(preset: str, agent: str, task: str, seed: str) -> str:
    """The command that makes one run of a label."""
    return f"explore-suite train --preset {preset} --agent {agent} --task {task} --seed {seed}"


def _orders(gap: Gap) -> Iterator[_Order]:
    """What a gap asks for, runs that must be made anew apart."""
    useless = {run.seed for run in gap.left if run.finished or run.budget < gap.needed}
    lacking = [seed for seed in range(MIN_SEEDS) if seed not in gap.seeds]
    for anew in (False, True):
        seeds = tuple(seed for seed in lacking if (seed in useless) is anew)
        if seeds:
            yield _Order(gap.agent, gap.task, seeds, anew)


def _sweep(preset: str, agents: Sequence[str], tasks: Sequence[str], seeds: Sequence[int]) -> str:
    return (
        f"explore-suite sweep --preset {preset} --agents {' '.join(agents)} "
        f"--tasks {' '.join(tasks)} --seeds {','.join(map(str, seeds))}"
    )


def _loops(preset: str, orders: Sequence[_Order]) -> list[str]:
    """Loops over tasks and seeds that run again what is there."""
    loops: dict[tuple[str, tuple[int, ...]], list[str]] = {}
    for agent, task, seeds, _ in orders:
        made = f"{train(preset, agent, '$task', '$seed')} --overwrite"
        loops.setdefault((made, seeds), []).append(task)
    return [
        f"for task in {' '.join(tasks)}; do for seed in {' '.join(map(str, seeds))}; "
        f"do {made}; done; done"
        for (made, seeds), tasks in loops.items()
    ]


def _told(seeds: Sequence[int], unfinished: bool, episodes: int, needed: int) -> str:
    state = "unfinished" if unfinished else "finished"
    runs = f"{len(seeds)} {state} run{'' if len(seeds) == 1 else 's'}"
    return f"{runs} of {episodes} episodes, {needed} needed ({_seeds(seeds)})"


def _seeds(seeds: Sequence[int]) -> str:
    return f"seed{'' if len(seeds) == 1 else 's'} {', '.join(map(str, seeds))}"
