"""`explore-suite list`: the catalogue, for people and for programs."""

import argparse
import json

from explore_suite.cli.console import say, table
from explore_suite.tasks import TASKS, TaskSheet

_COLUMNS = ("task", "obs", "act", "steps", "random", "best", "what")


def main(arguments: list[str]) -> None:
    """Prints every task."""
    parser = argparse.ArgumentParser(
        prog="explore-suite list",
        description="List the tasks, with the return of random actions and the best one known.",
    )
    parser.add_argument(
        "--json", action="store_true", help="print everything the catalogue knows, as JSON"
    )
    if parser.parse_args(arguments).json:
        say(json.dumps([_record(sheet) for sheet in TASKS.values()], indent=1))
        return
    title = 'gymnasium.make("ExploreSuite/<task>-v0")'
    table(title, _COLUMNS, [_row(sheet) for sheet in TASKS.values()])


def _row(sheet: TaskSheet) -> tuple[str, ...]:
    return (
        sheet.name,
        str(sheet.obs_dim),
        f"1 of {sheet.action_dim}" if sheet.discrete else str(sheet.action_dim),
        str(sheet.horizon),
        f"{sheet.random_return:.1f}",
        best(sheet),
        sheet.summary,
    )


def best(sheet: TaskSheet) -> str:
    """The best return known, marked where it is only a bound."""
    return f"{'<' if sheet.best_is_bound else ''}{sheet.best_return:.4g}"


def _record(sheet: TaskSheet) -> dict[str, object]:
    return {
        "id": sheet.id,
        "name": sheet.name,
        "group": sheet.group,
        "benchmark": sheet.benchmark,
        "summary": sheet.summary,
        "goal": sheet.goal,
        "observation": [
            {"name": name, "typical_low": low, "typical_high": high}
            for name, low, high in sheet.features
        ],
        "action_dim": sheet.action_dim,
        "discrete": sheet.discrete,
        "horizon": sheet.horizon,
        "control_step": sheet.control_step,
        "random_return": sheet.random_return,
        "best_return": sheet.best_return,
        "best_is_bound": sheet.best_is_bound,
        "partner": sheet.partner,
        "count_scale": sheet.count_scale,
        "count_tolerance": sheet.count_tolerance,
    }
