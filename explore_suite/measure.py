"""Measures the numbers that the catalogue carries and writes them to explore_suite/data.

python -m explore_suite.measure random_returns   # mean return of uniformly random actions
python -m explore_suite.measure fingerprints     # how every task behaves now
"""

import json
import sys
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np

from explore_suite.console import say
from explore_suite.fingerprint import fingerprint, versions
from explore_suite.tasks import TASKS, TaskSheet

_DATA = Path(__file__).parent / "data"
_EPISODES = 100


def random_returns(sheet: TaskSheet) -> dict[str, float]:
    """Mean, standard error and success rate of uniformly random actions, seeds 0 to 99."""
    returns, successes = np.zeros(_EPISODES), np.zeros(_EPISODES)
    with gymnasium.make(sheet.id) as env:
        for episode in range(_EPISODES):
            env.reset(seed=episode)
            env.action_space.seed(episode)
            for _ in range(sheet.horizon):
                _, reward, _, _, info = env.step(env.action_space.sample())
                returns[episode] += float(reward)
                successes[episode] = max(successes[episode], info["success"])
    return {
        "mean": round(float(returns.mean()), 3),
        "standard_error": round(float(returns.std(ddof=1) / np.sqrt(_EPISODES)), 3),
        "episodes_with_success": int(successes.sum()),
        "episodes": _EPISODES,
    }


def fingerprints(sheet: TaskSheet) -> dict[str, Any]:
    """The fingerprint and the versions it was made with."""
    return {"fingerprint": fingerprint(sheet.name), "versions": versions()}


MEASUREMENTS = {"random_returns": random_returns, "fingerprints": fingerprints}


def main(names: list[str]) -> None:
    """Runs the named measurements over all tasks and replaces their files."""
    unknown = set(names) - set(MEASUREMENTS)
    if unknown or not names:
        sys.exit(f"name one or more of: {', '.join(MEASUREMENTS)}")
    for name in names:
        table = {}
        for sheet in TASKS.values():
            table[sheet.name] = MEASUREMENTS[name](sheet)
            say(f"{name} {sheet.name} {table[sheet.name]}")
        (_DATA / f"{name}.json").write_text(json.dumps(table, indent=1) + "\n")


if __name__ == "__main__":
    main(sys.argv[1:])
