"""Which runs a claim lacks, and the commands that make them."""

from collections.abc import Sequence

from analysis.bootstrap import MIN_SEEDS
from analysis.claims_settings import SETTINGS
from analysis.verdict import Gap
from explore_suite.tasks import lookup

_SEEDS = range(MIN_SEEDS)


def lines(gaps: Sequence[Gap]) -> list[str]:
    """One line for each agent and set of seeds that it has: on which tasks."""
    found: dict[str, list[str]] = {}
    for gap in gaps:
        seeds = f"only seeds {', '.join(map(str, gap.seeds))}" if gap.seeds else "no runs"
        found.setdefault(f"`{gap.agent}` has {seeds}", []).append(gap.task)
    return [f"{who} on {', '.join(dict.fromkeys(tasks))}" for who, tasks in found.items()]


def commands(gaps: Sequence[Gap], preset: str) -> list[str]:
    """Shell commands that make seeds 0, 1, 2 of all: sweeps of our labels, loops for the others."""
    wanted: dict[str, list[str]] = {}
    for gap in gaps:
        wanted.setdefault(gap.agent, []).append(gap.task)
    sweeps: dict[tuple[str, ...], list[str]] = {}
    for agent, tasks in wanted.items():
        if agent not in SETTINGS:
            sweeps.setdefault(tuple(dict.fromkeys(tasks)), []).append(agent)
    return [_sweep(preset, agents, tasks) for tasks, agents in sweeps.items()] + [
        line
        for agent, tasks in wanted.items()
        if agent in SETTINGS
        for line in _loops(preset, agent, tasks)
    ]


def train(preset: str, agent: str, task: str, seed: str) -> str:
    """The command that makes one run of a label of SETTINGS."""
    name, _, variant = agent.partition(".")
    return (
        f"explore-suite train --preset {preset} --agent {name} --task {task} --seed {seed} "
        f"--variant {variant} {SETTINGS[agent](lookup(task))}"
    )


def _sweep(preset: str, agents: Sequence[str], tasks: Sequence[str]) -> str:
    return (
        f"explore-suite sweep --preset {preset} --agents {' '.join(agents)} "
        f"--tasks {' '.join(tasks)} --seeds {_SEEDS[0]}-{_SEEDS[-1]}"
    )


def _loops(preset: str, agent: str, tasks: Sequence[str]) -> list[str]:
    """One loop over seeds, and over tasks where the flags are those of all tasks."""
    loops: dict[str, list[str]] = {}
    for task in dict.fromkeys(tasks):
        made = train(preset, agent, task, "$seed").replace(f"--task {task} ", "--task $task ")
        loops.setdefault(made, []).append(task)
    seeds = " ".join(map(str, _SEEDS))
    return [
        f"for task in {' '.join(members)}; do for seed in {seeds}; do {made}; done; done"
        for made, members in loops.items()
    ]
