"""Searches for open-loop actions that reach a task's goal: proof that it can be reached.

    python -m explore_suite.tools.find_solutions TASK ...

First, piecewise constant actions are drawn at random. Where none of them reaches the goal, a
cross-entropy search climbs the environment's `closeness()`. What is found goes to
explore_suite/data/solutions.json; tests replay it, and `python -m explore_suite.tools.measure
goal_states` takes from it the states near the goal that fingerprints include.
"""

import argparse
import json
import sys
from pathlib import Path
from typing import Any, NamedTuple

import gymnasium
import numpy as np

from explore_suite.cli.console import exit_code, say
from explore_suite.errors import UserError
from explore_suite.files import replace_text
from explore_suite.tasks import TaskSpec, lookup
from explore_suite.tools.measure import DATA

SOLUTIONS = DATA / "solutions.json"
_SEED = 0  # of the start that is solved
_HOLD = 10  # control steps for which an action is held
DRAWS, _DRAWN_KNOTS = 100, 50  # random sequences; actions in each
# Cross-entropy search: actions in a sequence (twice as many in every second try), sequences in a
# round, those that the next round is drawn around, rounds before it starts from scratch, and how
# often it does.
_KNOTS, _POPULATION, _ELITE, _ROUNDS, _RESTARTS = 25, 48, 8, 40, 12


class Rollout(NamedTuple):
    """Result of one open-loop episode."""

    closeness: float  # the largest; -inf where the environment has no such measure
    return_: float
    successes: int  # steps at which the goal condition held


def rollout(env: gymnasium.Env, knots: np.ndarray) -> Rollout:
    """Plays each action of `knots` (n, action_dim) for _HOLD steps."""
    closeness = getattr(env.unwrapped, "closeness", lambda: -np.inf)
    env.reset(seed=_SEED)
    best, total, successes = -np.inf, 0.0, 0
    for action in np.repeat(knots, _HOLD, axis=0):
        _, reward, _, _, info = env.step(action)
        best = max(best, float(closeness()))
        total += float(reward)
        successes += info["success"]
    return Rollout(best, total, successes)


def search(spec: TaskSpec) -> dict[str, Any]:
    """An action sequence that reaches the goal: by random draws, else by cross-entropy search."""
    if spec.discrete:
        raise UserError(
            f"{spec.name} has discrete actions: script its way to the goal in tools/measure.py"
        )
    with gymnasium.make(spec.id) as env:
        found = _draw(env, spec) or _climb(env, spec)
    return found


def _draw(env: gymnasium.Env, spec: TaskSpec) -> dict[str, Any] | None:
    """The first of DRAWS random sequences that reaches the goal; None if none does."""
    rng = np.random.default_rng(0)
    for _ in range(DRAWS):
        knots = rng.choice([-1.0, 0.0, 1.0], (_DRAWN_KNOTS, spec.action_dim))
        outcome = rollout(env, knots)
        if outcome.successes:
            return _solution(outcome, knots)
    return None


def _climb(env: gymnasium.Env, spec: TaskSpec) -> dict[str, Any]:
    """Cross-entropy search, started from scratch with other random numbers when it stalls."""
    if not hasattr(env.unwrapped, "closeness"):
        raise UserError(
            f"none of {DRAWS} random action sequences reaches the goal of {spec.name}: give "
            f"{type(env.unwrapped).__name__} a method closeness(), larger nearer the goal, for "
            "the search to climb"
        )
    for restart in range(_RESTARTS):
        rng = np.random.default_rng(restart)
        shape = (_KNOTS * (1 + restart % 2), spec.action_dim)
        mean, spread = np.zeros(shape), np.ones(shape)
        for _ in range(_ROUNDS):
            samples = rng.normal(mean, spread, (_POPULATION, *shape)).clip(-1, 1).round(2)
            scores = []
            for knots in samples:
                outcome = rollout(env, knots)
                if outcome.successes:
                    return _solution(outcome, knots)
                scores.append(outcome.closeness)
            elite = samples[np.argsort(scores)[-_ELITE:]]
            mean, spread = elite.mean(0), elite.std(0) + 0.1  # 0.1 keeps the search from freezing
        say(f"{spec.name}: restart {restart}, closest {max(scores):.3f}")
    raise UserError(f"no actions were found that reach the goal of {spec.name}")


def _solution(outcome: Rollout, knots: np.ndarray) -> dict[str, Any]:
    return {
        "seed": _SEED,
        "hold": _HOLD,
        "return": round(outcome.return_, 3),
        "successes": outcome.successes,
        "knots": knots.tolist(),
    }


def main(arguments: list[str], path: Path = SOLUTIONS) -> None:
    """Searches for the named tasks and replaces their entries alone."""
    parser = argparse.ArgumentParser(
        prog="python -m explore_suite.tools.find_solutions",
        description="Search for actions that reach a task's goal, and write them to "
        "explore_suite/data/solutions.json. Fingerprints depend on them: after a new solution, "
        "measure the task's goal_states and fingerprints.",
    )
    parser.add_argument("tasks", nargs="+", metavar="TASK", help="as `explore-suite list` names it")
    for spec in [lookup(name) for name in parser.parse_args(arguments).tasks]:
        found = json.loads(path.read_text())
        found[spec.name] = search(spec)
        say(f"{spec.name} {[v for k, v in found[spec.name].items() if k != 'knots']}")
        replace_text(path, json.dumps(found) + "\n")


if __name__ == "__main__":
    sys.exit(exit_code("find_solutions", lambda: main(sys.argv[1:])))
