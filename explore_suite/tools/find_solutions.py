"""Searches for open-loop actions that reach a task's goal: proof that it can be reached.

    python -m explore_suite.tools.find_solutions [TASK ...]

Piecewise constant actions are drawn at random; where that does not suffice, a cross-entropy search
climbs a measure of closeness until the goal condition holds. What it finds goes to
explore_suite/data/solutions.json, is replayed by the tests and lends the
fingerprints states near the goal (`python -m explore_suite.tools.measure goal_states`).
"""

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import gymnasium
import numpy as np

import explore_suite
from explore_suite import TASKS, TaskSpec, lookup
from explore_suite.cli.console import say

SOLUTIONS = Path(explore_suite.__file__).parent / "data" / "solutions.json"
_HOLD = 10  # control steps for which an action is held
_KNOTS = 25
_DRAWS, _DRAWN_KNOTS = 100, 50
_POPULATION, _ELITE, _ROUNDS, _RESTARTS = 48, 8, 40, 12

_CLOSENESS: dict[str, Callable] = {
    "BallInCup": lambda physics: -np.linalg.norm(physics.ball_to_target()),
    "Reacher": lambda physics: -physics.finger_to_target_dist(),
    "Finger": lambda physics: (  # the second part leads a finger that starts away to the spinner
        -physics.dist_to_target()
        - 0.3 * np.linalg.norm(np.diff(physics.named.data.geom_xpos[["fingertip", "cap2"]], axis=0))
    ),
    "Walker": lambda physics: (
        min(physics.torso_height(), 1.3) + 0.5 * physics.torso_upright()
        + 0.3 * np.clip(physics.horizontal_velocity(), -1, 1.2)
    ),
}  # fmt: skip


def rollout(
    env: gymnasium.Env, seed: int, knots: np.ndarray, closeness: Callable
) -> tuple[float, float, int]:
    """Best closeness, return and number of successful steps of one open-loop episode."""
    env.reset(seed=seed)
    best, total, successes = -np.inf, 0.0, 0
    for step in range(len(knots) * _HOLD):
        _, reward, _, _, info = env.step(knots[step // _HOLD])
        physics = env.unwrapped.physics  # type: ignore[attr-defined]
        best = max(best, float(closeness(physics)))
        total += float(reward)
        successes += info["success"]
    return best, total, successes


def search(spec: TaskSpec, seed: int = 0) -> dict:
    """An action sequence that reaches the goal: drawn if that suffices, else climbed to."""
    closeness = next(f for prefix, f in _CLOSENESS.items() if spec.name.startswith(prefix))
    with gymnasium.make(spec.id) as env:
        for attempt, knots in enumerate(_draws(spec)):
            _, total, successes = rollout(env, seed, knots, closeness)
            if successes:
                say(f"{spec.name}: drawn at attempt {attempt}")
                return _solution(seed, total, successes, knots)
        found = _climb(env, spec, seed, closeness)
    return found


def _draws(spec: TaskSpec) -> Iterator[np.ndarray]:
    rng = np.random.default_rng(0)
    for _ in range(_DRAWS):
        yield rng.choice([-1.0, 0.0, 1.0], (_DRAWN_KNOTS, spec.action_dim))


def _climb(env: gymnasium.Env, spec: TaskSpec, seed: int, closeness: Callable) -> dict:
    """Cross-entropy search, started anew when it stalls."""
    for restart in range(_RESTARTS):
        rng = np.random.default_rng(restart)
        mean, spread = np.zeros((_KNOTS, spec.action_dim)), np.ones((_KNOTS, spec.action_dim))
        for _ in range(_ROUNDS):
            samples = rng.normal(mean, spread, (_POPULATION, *mean.shape)).clip(-1, 1).round(2)
            scores = []
            for knots in samples:
                best, total, successes = rollout(env, seed, knots, closeness)
                if successes:
                    return _solution(seed, total, successes, knots)
                scores.append(best)
            elite = samples[np.argsort(scores)[-_ELITE:]]
            mean, spread = elite.mean(0), elite.std(0) + 0.1
        say(f"{spec.name}: restart {restart}, closest {max(scores):.3f}")
    raise RuntimeError(f"no solution found for {spec.name}")


def _solution(seed: int, total: float, successes: int, knots: np.ndarray) -> dict:
    return {
        "seed": seed,
        "hold": _HOLD,
        "return": round(total, 3),
        "successes": successes,
        "knots": knots.tolist(),
    }


def main(names: list[str]) -> None:
    """Searches for the named tasks, or for all Control Suite tasks, and merges into the file."""
    found = json.loads(SOLUTIONS.read_text()) if SOLUTIONS.exists() else {}
    specs = [lookup(name) for name in names] or [
        spec for spec in TASKS.values() if spec.group in ("explore", "original")
    ]
    for spec in specs:
        found[spec.name] = search(spec)
        say(f"{spec.name} {[v for k, v in found[spec.name].items() if k != 'knots']}")
        SOLUTIONS.write_text(json.dumps(found) + "\n")


if __name__ == "__main__":
    main(sys.argv[1:])
