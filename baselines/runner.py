"""The training loop: a training episode, the learner's burst, an evaluation episode, two rows."""

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np

from baselines import checkpoint
from baselines.agent import Agent, State, Transition
from explore_suite import Coverage
from explore_suite.protocol import episode_seed
from explore_suite.results import PHASES, EpisodeRow
from explore_suite.tasks import lookup
from explore_suite.traces import TracedEnv, TraceKeeper

Observer = Callable[[np.ndarray], None]
Result = tuple[float, int, int, dict[str, float]]  # return, length, success steps, learner's info
Rows = list[tuple[EpisodeRow, dict[str, float]]]  # each with what the learner reported


class Trainer:
    """An agent on its way through a task, one episode at a time; between two, it can be saved."""

    def __init__(
        self, agent: Agent, task: str, *, seed: int,
        dump: Path | None = None, videos: Path | None = None,
    ) -> None:  # fmt: skip
        """`dump` is for the agent's state if a quantity stops being finite, `videos` for films."""
        sheet = lookup(task)
        self.agent, self.task, self.seed, self.dump = agent, sheet.id, seed, dump
        self.trail: list[np.ndarray] = []  # observations of the last training episode
        self.coverage = Coverage(sheet.name)
        self.traces = TraceKeeper(sheet.id, seed)
        self.episode, self.env_steps, self.seconds = 0, 0, 0.0
        self.env = gymnasium.make(sheet.id)
        picture: dict[str, Any] = {} if videos is None else {"render_mode": "rgb_array"}
        self._traced = TracedEnv(gymnasium.make(sheet.id, **picture))
        self.eval_env = self._traced if videos is None else _filmed(self._traced, videos)

    def next_episode(self) -> Rows:
        """Trains for one episode and evaluates once; the rows of both.

        A quantity that stops being finite stops the run: a FloatingPointError names the step, the
        quantity and the file with the agent's state.
        """
        began = time.monotonic()
        self.trail = []
        number = self.episode + 1
        train_seed, eval_seed = (episode_seed(self.seed, phase, number) for phase in PHASES)
        try:
            results = (
                train_episode(self.agent, self.env, train_seed, self._see),
                evaluate(self.agent, self.eval_env, eval_seed),
            )
        except FloatingPointError as error:
            raise FloatingPointError(f"episode {number}: {error}{self._dumped()}") from error
        self.episode, self.env_steps = number, self.env_steps + results[0][1]
        self.traces.add(number, self._traced.actions)
        self.seconds += time.monotonic() - began
        return [
            (self._row(phase, result), result[3])
            for phase, result in zip(PHASES, results, strict=True)
        ]

    def close(self) -> None:
        """Closes the environments."""
        self.env.close()
        self.eval_env.close()

    def state_dict(self) -> State:
        """Everything needed to go on exactly; the simulator starts every episode from a seed."""
        return {
            "agent": self.agent.state_dict(),
            "coverage": self.coverage.state_dict(),
            "traces": self.traces.state_dict(),
            "progress": {
                "episode": self.episode,
                "env_steps": self.env_steps,
                "seconds": self.seconds,
            },
        }

    def load_state_dict(self, state: State) -> None:
        """Inverse of `state_dict`."""
        self.agent.load_state_dict(state["agent"])
        self.coverage.load_state_dict({"visits": np.asarray(state["coverage"]["visits"])})
        # A checkpoint of before there were traces has none; the run still ends with its last ones.
        self.traces.load_state_dict(state.get("traces", {}))
        for name, value in state["progress"].items():
            setattr(self, name, value)
        if isinstance(self.eval_env, gymnasium.wrappers.RecordVideo):
            self.eval_env.episode_id = self.episode

    def _see(self, obs: np.ndarray) -> None:
        self.coverage.add(obs)
        self.trail.append(obs)

    def _row(self, phase: str, result: Result) -> EpisodeRow:
        return_, length, successes, _ = result
        return EpisodeRow(
            phase, self.episode, self.env_steps, return_, length, successes,
            self.coverage.fraction, round(self.seconds, 3),
        )  # fmt: skip

    def _dumped(self) -> str:
        if self.dump is None:
            return ""
        self.dump.parent.mkdir(parents=True, exist_ok=True)
        checkpoint.save(self.dump, self.agent.state_dict())
        return f" (the agent's state is in {self.dump})"


def _filmed(env: gymnasium.Env, folder: Path) -> gymnasium.Env:
    """Films episodes 1, 2, 9, 28, 65 ..., and counts them from 1 as results do."""
    filmed = gymnasium.wrappers.RecordVideo(
        env, str(folder), name_prefix="eval",
        episode_trigger=lambda episode: round((episode - 1) ** (1 / 3)) ** 3 == episode - 1,
        disable_logger=True,
    )  # fmt: skip
    filmed.episode_id = 0
    return filmed


def run(agent: Agent, task: str, *, seed: int, episodes: int, dump: Path | None = None) -> Iterator:
    """Trains for a number of episodes; yields each episode's row and what the learner reports."""
    trainer = Trainer(agent, task, seed=seed, dump=dump)
    try:
        while trainer.episode < episodes:
            yield from trainer.next_episode()
    finally:
        trainer.close()


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
