"""Which runs a claim lacks, and the sweep that makes them."""

from collections.abc import Iterable, Sequence

from analysis.claims.samples import ShortRun
from analysis.stats.intervals import MIN_SEEDS

AgentTask = tuple[str, str]  # agent and task


def describe(missing: Iterable[AgentTask]) -> str:
    """One line: "`sac` on 8 tasks, `sac_bbe` on WalkerWalk: 3 seeds in common are needed"."""
    tasks: dict[str, list[str]] = {}
    for agent, task in missing:
        tasks.setdefault(agent, []).append(task)
    agents = [
        f"`{agent}` on {of[0] if len(of) == 1 else f'{len(of)} tasks'}"
        for agent, of in tasks.items()
    ]
    return f"{', '.join(agents)}: {MIN_SEEDS} seeds in common are needed"


def command(missing: Sequence[AgentTask], preset: str) -> str:
    """The sweep over these agents and tasks; it skips what is finished."""
    agents, tasks = (" ".join(dict.fromkeys(names)) for names in zip(*missing, strict=True))
    options = f"--preset {preset} --agents {agents} --tasks {tasks} --seeds 0-{MIN_SEEDS - 1}"
    return f"explore-suite sweep {options}"


def describe_short(runs: Iterable[ShortRun]) -> str:
    """One line on the runs that are too short, and how to lengthen them."""
    found = [
        f"`{run.agent}` on {run.task}, seed {run.seed}: {run.budget} of {run.needed} episodes"
        for run in runs
    ]
    return (
        f"{'; '.join(found)}. A sweep lengthens a run only if its checkpoint was kept; otherwise "
        "delete the run, and the sweep makes it from scratch"
    )
