"""`explore-suite list`: prints the tasks as a table or, for programs, as JSON."""

import argparse
import json

from explore_suite.cli.console import say, table
from explore_suite.tasks import BENCHMARK, TASKS, TaskSpec

_FIELDS = (
    "id name group benchmark summary goal observation action_dim discrete horizon control_step "
    "random_return best_return best_is_bound partner count_scale count_tolerance"
).split()
_COLUMNS = ("task", "obs", "act", "steps", "random", "best", "what")


def main(arguments: list[str]) -> None:
    """Prints one row per task."""
    parser = argparse.ArgumentParser(
        prog="explore-suite list",
        description="List the tasks: sizes of observation and action, steps of an episode, return "
        "of random actions, best known return.",
    )
    parser.add_argument(
        "--json", action="store_true", help="print every field of every task as JSON"
    )
    if parser.parse_args(arguments).json:
        say(json.dumps([_record(spec) for spec in TASKS.values()], indent=1))
        return
    title = 'gymnasium.make("ExploreSuite/<task>-v0")'
    table(title, _COLUMNS, [_row(spec) for spec in TASKS.values()])


def _row(spec: TaskSpec) -> tuple[str, ...]:
    return (
        spec.name,
        str(spec.obs_dim),
        f"1 of {spec.action_dim}" if spec.discrete else str(spec.action_dim),
        str(spec.horizon),
        f"{spec.random_return:.1f}",
        best(spec),
        spec.summary,
    )


def best(spec: TaskSpec) -> str:
    """The best known return, written `<1000` where only an upper bound is known."""
    return f"{'<' if spec.best_is_bound else ''}{spec.best_return:.4g}"


def _record(spec: TaskSpec) -> dict[str, object]:
    observation = [
        {"name": name, "typical_low": low, "typical_high": high}
        for name, low, high in spec.features
    ]
    computed = {"benchmark": spec.id in BENCHMARK, "observation": observation}
    return {name: computed[name] if name in computed else getattr(spec, name) for name in _FIELDS}
