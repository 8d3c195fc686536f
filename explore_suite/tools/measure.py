"""Measures the numbers that the catalogue carries and writes them to explore_suite/data.

python -m explore_suite.tools.measure random_returns   # mean return of uniformly random actions
python -m explore_suite.tools.measure fingerprints     # how every task behaves now
"""

import json
import sys
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np

from explore_suite.cli.console import say
from explore_suite.files import replace_text
from explore_suite.fingerprint import fingerprint, versions
from explore_suite.tasks import TASKS, TaskSpec, measured

_DATA = Path(__file__).parents[1] / "data"
_EPISODES = 100


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
        "versions": versions(),
    }


def fingerprints(spec: TaskSpec) -> dict[str, Any]:
    """The fingerprint and the versions it was made with."""
    return {"fingerprint": fingerprint(spec.name), "versions": versions()}


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
            if first is not None and step >= first + 4:
                break
    if first is None:
        raise RuntimeError(f"the known solution of {spec.name} no longer reaches its goal")
    return {"seed": seed, "states": states[max(0, first - 10) :]}


def solution(spec: TaskSpec) -> tuple[int, list[Any]]:
    """Seed and actions that reach the goal: found for the Control Suite, scripted for the rest."""
    if spec.group == "grid":
        return 0, [0] * 39 + [1] * 39 + [0] * 22
    if spec.group == "hallway":
        best = max(spec.kwargs["goals"], key=lambda goal: goal[2])
        steps = round((best[0] + spec.kwargs["length"] / 2 - 0.1) / 0.02)
        return 0, [np.array([1.0, 0.0])] * steps + [np.zeros(2)] * 10
    found = measured("solutions")[spec.name]
    return found["seed"], list(np.repeat(np.array(found["knots"]), found["hold"], axis=0))


MEASUREMENTS = {
    "random_returns": random_returns,
    "goal_states": goal_states,
    "fingerprints": fingerprints,
}


def main(names: list[str]) -> None:
    """Runs the named measurements over all tasks and replaces their files."""
    unknown = set(names) - set(MEASUREMENTS)
    if unknown or not names:
        sys.exit(f"name one or more of: {', '.join(MEASUREMENTS)}")
    for name in names:
        table = {}
        for spec in TASKS.values():
            table[spec.name] = MEASUREMENTS[name](spec)
            say(f"{name} {spec.name} {table[spec.name]}")
        replace_text(_DATA / f"{name}.json", json.dumps(table, indent=1) + "\n")


if __name__ == "__main__":
    main(sys.argv[1:])
