"""Measures what the catalogue stores about tasks, and writes it to explore_suite/data.

    python -m explore_suite.tools.measure WHAT ... [--tasks NAME ...]

random_returns   mean return of uniformly random actions over 100 episodes
goal_states      states around the first success of a known solution, for the fingerprint
fingerprints     how the task behaves with the packages installed now (after goal_states)
"""

import argparse
import json
import sys
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np

from explore_suite.cli.console import exit_code, say
from explore_suite.envs.hallway import START_GAP
from explore_suite.errors import UserError
from explore_suite.files import replace_text
from explore_suite.fingerprint import fingerprint, physics_versions
from explore_suite.tasks import TASKS, TaskSpec, lookup, measured

DATA = Path(__file__).parents[1] / "data"
_EPISODES = 100
_BEFORE, _AFTER = 10, 4  # goal states: control steps around the first success


def random_returns(spec: TaskSpec) -> dict[str, Any]:
    """Mean, standard error and success rate of uniformly random actions, seeds 0 to 99."""
    returns, successes = np.zeros(_EPISODES), np.zeros(_EPISODES)
    with gymnasium.make(spec.id) as env:
        for episode in range(_EPISODES):
            env.reset(seed=episode)
            env.action_space.seed(episode)
            for _ in range(spec.horizon):
                _, reward, _, _, info = env.step(env.action_space.sample())
                returns[episode] += float(reward)
                successes[episode] = max(successes[episode], info["success"])
    return {
        "mean": round(float(returns.mean()), 3),
        "standard_error": round(float(returns.std(ddof=1) / np.sqrt(_EPISODES)), 3),
        "episodes_with_success": int(successes.sum()),
        "episodes": _EPISODES,
        "versions": physics_versions(),
    }


def fingerprints(spec: TaskSpec) -> dict[str, Any]:
    """The fingerprint, and the package versions it was made with."""
    return {"fingerprint": fingerprint(spec.name), "versions": physics_versions()}


def goal_states(spec: TaskSpec) -> dict[str, Any]:
    """The states from ten steps before the first success of a known solution to four after it."""
    seed, actions = solution(spec)
    states, first = [], None
    with gymnasium.make(spec.id) as env:
        env.reset(seed=seed)
        for step, action in enumerate(actions):
            states.append(env.unwrapped.get_state().tolist())  # type: ignore[attr-defined]
            *_, info = env.step(action)
            if first is None and info["success"]:
                first = step
            if first is not None and step >= first + _AFTER:
                break
    if first is None:
        raise UserError(f"the known solution of {spec.name} no longer reaches its goal")
    return {"seed": seed, "states": states[max(0, first - _BEFORE) :]}


def solution(spec: TaskSpec) -> tuple[int, list[Any]]:
    """Reset seed and actions that reach the goal: scripted, or found by find_solutions.py."""
    if spec.entry_point.endswith(":GridWorld"):
        return 0, [0] * 39 + [1] * 39 + [0] * 22
    if spec.entry_point.endswith(":Hallway"):
        best = max(spec.kwargs["goals"], key=lambda goal: goal[2])
        # Full speed is 1 m/s.
        steps = round((best[0] + spec.kwargs["length"] / 2 - START_GAP) / spec.control_step)
        return 0, [np.array([1.0, 0.0])] * steps + [np.zeros(2)] * 10
    found = measured("solutions").get(spec.name)
    if found is None:
        raise UserError(
            f"no actions are known that reach the goal of {spec.name}: "
            f"`python -m explore_suite.tools.find_solutions {spec.name}` searches for some"
        )
    return found["seed"], list(np.repeat(np.array(found["knots"]), found["hold"], axis=0))


MEASUREMENTS = {
    "random_returns": random_returns,
    "goal_states": goal_states,
    "fingerprints": fingerprints,
}


def main(arguments: list[str], data: Path = DATA) -> None:
    """Measures the named tasks and replaces their entries alone."""
    options = _parser().parse_args(arguments)
    specs = [lookup(name) for name in options.tasks or TASKS]
    for name in options.what:
        path = data / f"{name}.json"
        table = json.loads(path.read_text())
        for spec in specs:
            table[spec.name] = MEASUREMENTS[name](spec)
            say(f"{name} {spec.name} {table[spec.name]}")
            replace_text(path, json.dumps(table, indent=1) + "\n")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m explore_suite.tools.measure",
        description="Measure what the catalogue stores about tasks and write it to "
        "explore_suite/data. A new task needs all three, in this order: random_returns (mean "
        "return of random actions), goal_states (states around the goal), fingerprints (how the "
        "task behaves). Entries of tasks that are not named stay as they are.",
    )
    parser.add_argument(
        "what", nargs="+", choices=MEASUREMENTS, metavar="WHAT", help=", ".join(MEASUREMENTS)
    )
    parser.add_argument(
        "--tasks", nargs="+", metavar="NAME", help="tasks to measure (default: all of them)"
    )
    return parser


if __name__ == "__main__":
    sys.exit(exit_code("measure", lambda: main(sys.argv[1:])))
