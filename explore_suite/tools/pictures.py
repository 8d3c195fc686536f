"""Draws the pictures of the tasks in docs/tasks, which the README and the leaderboard show.

python -m explore_suite.tools.pictures [TASK ...]
"""

import argparse
import sys
from pathlib import Path
from typing import NamedTuple

from explore_suite.cli.console import exit_code, say
from explore_suite.cli.watch import POLICIES, film
from explore_suite.tasks import TASKS, lookup

PICTURES = Path(__file__).parents[2] / "docs" / "tasks"


class Moment(NamedTuple):
    """The state that a picture shows: after so many steps of a policy, from a seeded start."""

    seed: int = 0
    steps: int = 1
    policy: str = "zero"  # of `explore-suite watch`


# Where the first moment of seed 0 shows too little of a task.
_MOMENTS = {
    "WalkerExplore": Moment(seed=4),  # lies flat
    "HallwayLocalOptimum": Moment(steps=30, policy="random"),  # has left the corner
    "HallwayAdversarial": Moment(steps=30, policy="random"),
}


def main(arguments: list[str]) -> None:
    """Draws the named tasks, each in the size that its environment renders by default."""
    parser = argparse.ArgumentParser(
        prog="python -m explore_suite.tools.pictures",
        description="Draw a picture of each task to docs/tasks/TASK.png.",
    )
    parser.add_argument("tasks", nargs="*", metavar="TASK", help="default: all of them")
    parser.add_argument("--out", type=Path, default=PICTURES, help="folder (default: docs/tasks)")
    options = parser.parse_args(arguments)
    for spec in [lookup(name) for name in options.tasks or TASKS]:
        moment, out = _MOMENTS.get(spec.name, Moment()), options.out / f"{spec.name}.png"
        film(spec, out, POLICIES[moment.policy], moment.seed, moment.steps)
        say(f"{out}")


if __name__ == "__main__":
    sys.exit(exit_code("pictures", lambda: main(sys.argv[1:])))
