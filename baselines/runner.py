"""The training loop: one training episode with its updates, one evaluation episode, two rows."""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import gymnasium

from baselines.agent import Agent, State, Transition
from explore_suite.runs.format import EpisodeRow
from explore_suite.runs.protocol import RunLog, run_envs

Info = dict[str, float]  # what the learner reports of its updates


class EpisodeResult(NamedTuple):
    """A training episode and its evaluation."""

    train: EpisodeRow
    eval: EpisodeRow
    info: Info  # the learner's losses and means


class Trainer:
    """Trains and evaluates one agent on one task, episode by episode.

    It can be checkpointed between episodes.
    """

    def __init__(self, agent: Agent, task: str, *, seed: int, videos: Path | None = None) -> None:
        """`videos` is a folder for films of some evaluations."""
        self.agent = agent
        self.log = RunLog(task, seed)
        render_mode = None if videos is None else "rgb_array"
        self.env, self.eval_env = run_envs(task, self.log, render_mode=render_mode)
        if videos is not None:
            self.eval_env = _filmed(self.eval_env, videos)

    def next_episode(self) -> EpisodeResult:
        """Trains for one episode and evaluates once.

        A quantity that stops being finite stops the run: a FloatingPointError names the episode,
        the step and the quantity.
        """
        try:
            info = train_episode(self.agent, self.env)
            evaluate(self.agent, self.eval_env)
        except FloatingPointError as error:
            raise FloatingPointError(f"episode {self.log.episode + 1}: {error}") from error
        train_row, eval_row = self.log.rows
        return EpisodeResult(train_row, eval_row, info)

    def close(self) -> None:
        """Closes the environments."""
        self.env.close()
        self.eval_env.close()

    def state_dict(self) -> State:
        """Everything needed to resume exactly; the simulator starts every episode from a seed."""
        return {"agent": self.agent.state_dict(), **self.log.state_dict()}

    def load_state_dict(self, state: State) -> None:
        """Inverse of `state_dict`."""
        self.agent.load_state_dict(state["agent"])
        self.log.load_state_dict(state)
        if isinstance(self.eval_env, gymnasium.wrappers.RecordVideo):
            self.eval_env.episode_id = self.log.episode


def _filmed(env: gymnasium.Env, folder: Path) -> gymnasium.Env:
    """Films episodes 1, 2, 9, 28, 65 ..., and counts them from 1 as results do."""
    filmed = gymnasium.wrappers.RecordVideo(
        env, str(folder), name_prefix="eval",
        episode_trigger=lambda episode: round((episode - 1) ** (1 / 3)) ** 3 == episode - 1,
        disable_logger=True,
    )  # fmt: skip
    filmed.episode_id = 0
    return filmed


def run(agent: Agent, task: str, *, seed: int, episodes: int) -> Iterator[EpisodeResult]:
    """Trains for a number of episodes and yields the result of each."""
    trainer = Trainer(agent, task, seed=seed)
    try:
        while trainer.log.episode < episodes:
            yield trainer.next_episode()
    finally:
        trainer.close()


def train_episode(agent: Agent, env: gymnasium.Env, seed: int | None = None) -> Info:
    """One episode of behaviour and learning; what the learner reports."""
    obs, _ = env.reset(seed=seed)
    info: Info = {}
    over = False
    while not over:
        action = agent.act(obs, explore=True)
        next_obs, reward, terminated, truncated, _ = env.step(action)
        agent.observe(Transition(obs, action, float(reward), next_obs, terminated, truncated))
        info |= agent.update()
        obs, over = next_obs, terminated or truncated
    return info


def evaluate(agent: Agent, env: gymnasium.Env, seed: int | None = None) -> float:
    """One episode of the task policy alone; nothing is learnt. Its return."""
    obs, _ = env.reset(seed=seed)
    total, over = 0.0, False
    while not over:
        obs, reward, terminated, truncated, _ = env.step(agent.act(obs, explore=False))
        total, over = total + float(reward), terminated or truncated
    return total
