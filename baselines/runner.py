"""The training loop: alternates one training episode and one evaluation episode."""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import gymnasium

from baselines.agent import Agent, State, Transition
from explore_suite.runs.format import EpisodeRow
from explore_suite.runs.protocol import RunLog, run_envs

Info = dict[str, float]  # losses and statistics of the agent's updates


class EpisodeResult(NamedTuple):
    """The result rows of a training episode and of the evaluation after it."""

    train: EpisodeRow
    eval: EpisodeRow
    info: Info


class Trainer:
    """Trains and evaluates one agent on one task, episode by episode.

    It can be checkpointed between episodes.
    """

    def __init__(self, agent: Agent, task: str, *, seed: int, videos: Path | None = None) -> None:
        """`videos` is a folder for videos of some evaluation episodes."""
        self.agent = agent
        self.log = RunLog(task, seed)
        render_mode = None if videos is None else "rgb_array"
        self.env, self.eval_env = run_envs(task, self.log, render_mode=render_mode)
        if videos is not None:
            self.eval_env = _with_videos(self.eval_env, videos)

    def next_episode(self) -> EpisodeResult:
        """Trains for one episode and evaluates once.

        Raises FloatingPointError, with episode, step and quantity, if the agent has diverged.
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
        """Everything needed to resume exactly.

        The simulator's state is not saved: every episode starts from a seed of its own.
        """
        return {"agent": self.agent.state_dict(), **self.log.state_dict()}

    def load_state_dict(self, state: State) -> None:
        """Inverse of `state_dict`."""
        self.agent.load_state_dict(state["agent"])
        self.log.load_state_dict(state)
        if isinstance(self.eval_env, gymnasium.wrappers.RecordVideo):
            self.eval_env.episode_id = self.log.episode


def _with_videos(env: gymnasium.Env, folder: Path) -> gymnasium.Env:
    """Records episodes 1, 2, 9, 28, 65 and so on (1 + k^3), numbered from 1 as in result files."""
    recorded = gymnasium.wrappers.RecordVideo(
        env, str(folder), name_prefix="eval",
        episode_trigger=lambda episode: round((episode - 1) ** (1 / 3)) ** 3 == episode - 1,
        disable_logger=True,
    )  # fmt: skip
    recorded.episode_id = 0
    return recorded


def run(agent: Agent, task: str, *, seed: int, episodes: int) -> Iterator[EpisodeResult]:
    """Trains `agent` for this many episodes and yields the result of each."""
    trainer = Trainer(agent, task, seed=seed)
    try:
        while trainer.log.episode < episodes:
            yield trainer.next_episode()
    finally:
        trainer.close()


def train_episode(agent: Agent, env: gymnasium.Env, seed: int | None = None) -> Info:
    """Runs one training episode and returns the agent's losses and statistics."""
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
    """Runs one episode of the task policy without learning and returns the episode's return."""
    obs, _ = env.reset(seed=seed)
    total, over = 0.0, False
    while not over:
        obs, reward, terminated, truncated, _ = env.step(agent.act(obs, explore=False))
        total, over = total + float(reward), terminated or truncated
    return total
