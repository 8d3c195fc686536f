"""The training loop: a training episode, the learner's burst, an evaluation episode, two rows."""

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import gymnasium
import numpy as np

from baselines import checkpoint
from baselines.agent import Agent, Transition
from explore_suite import Coverage
from explore_suite.results import PHASES, EpisodeRow
from explore_suite.tasks import lookup

Observer = Callable[[np.ndarray], None]


def run(
    agent: Agent, task: str, *, seed: int, episodes: int, dump: Path | None = None
) -> Iterator[tuple[EpisodeRow, dict[str, float]]]:
    """Trains for a number of episodes; yields each episode's row and what the learner reports.

    A quantity that stops being finite stops the run: the agent's state goes to `dump`, and the
    FloatingPointError names the step, the quantity and that file.
    """
    sheet = lookup(task)
    coverage = Coverage(sheet.name)
    began = time.monotonic()
    env_steps = 0
    with gymnasium.make(sheet.id) as env, gymnasium.make(sheet.id) as eval_env:
        for episode in range(1, episodes + 1):
            try:
                results = (
                    train_episode(agent, env, episode_seed(seed, "train", episode), coverage.add),
                    evaluate(agent, eval_env, episode_seed(seed, "eval", episode)),
                )
            except FloatingPointError as error:
                raise FloatingPointError(f"{error}{_dumped(agent, dump)}") from error
            env_steps += results[0][1]
            for phase, (return_, length, successes, info) in zip(PHASES, results, strict=True):
                seconds = round(time.monotonic() - began, 3)
                yield (
                    EpisodeRow(
                        phase, episode, env_steps, return_, length, successes,
                        coverage.fraction, seconds,
                    ),
                    info,
                )  # fmt: skip


Result = tuple[float, int, int, dict[str, float]]  # return, length, success steps, learner's info


def train_episode(agent: Agent, env: gymnasium.Env, seed: int, observer: Observer) -> Result:
    """One episode of behaviour and learning; `observer` sees every state that is reached."""
    obs, _ = env.reset(seed=seed)
    observer(obs)
    total, length, successes, over = 0.0, 0, 0, False
    info: dict[str, float] = {}
    while not over:
        action = agent.act(obs, explore=True)
        next_obs, reward, terminated, truncated, step_info = env.step(action)
        agent.observe(Transition(obs, action, float(reward), next_obs, terminated, truncated))
        info |= agent.update()
        observer(next_obs)
        obs, over = next_obs, terminated or truncated
        total, length = total + float(reward), length + 1
        successes += bool(step_info["success"])
    return total, length, successes, info


def evaluate(agent: Agent, env: gymnasium.Env, seed: int) -> Result:
    """One episode of the task policy alone; nothing is learnt and nothing counted."""
    obs, _ = env.reset(seed=seed)
    total, length, successes, over = 0.0, 0, 0, False
    while not over:
        obs, reward, terminated, truncated, info = env.step(agent.act(obs, explore=False))
        over = terminated or truncated
        total, length = total + float(reward), length + 1
        successes += bool(info["success"])
    return total, length, successes, {}


def episode_seed(seed: int, phase: str, episode: int) -> int:
    """The same run, phase and episode always start the same way, whoever acts."""
    entropy = [seed, PHASES.index(phase), episode]
    return int(np.random.SeedSequence(entropy).generate_state(1)[0])


def _dumped(agent: Agent, path: Path | None) -> str:
    if path is None:
        return ""
    path.parent.mkdir(parents=True, exist_ok=True)
    checkpoint.save(path, agent.state_dict())
    return f" (the agent's state is in {path})"
