"""Run protocol: per-episode seeds, strict train/eval alternation, two rows per episode.

One training episode, then one evaluation episode of the policy without exploration, and so on. The
environments themselves do the bookkeeping (`run_envs`), so that the reference agents and anyone
else's (`record`) are measured by the same code, on the same start states.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import gymnasium
import numpy as np

from explore_suite.coverage import Coverage
from explore_suite.errors import UserError
from explore_suite.runs.format import PHASES, EpisodeRow
from explore_suite.runs.seeds import episode_seed
from explore_suite.runs.traces import TracedEnv, TraceKeeper
from explore_suite.tasks import lookup


@dataclass
class Episode:
    """Statistics of the episode that is being played."""

    number: int
    start: np.ndarray  # first observation
    return_: float = 0.0
    length: int = 0
    success_steps: int = 0


class RunLog:
    """Accumulates statistics of a run, enforces the train/eval order and makes the rows."""

    def __init__(self, task: str, seed: int, episodes: int | None = None) -> None:
        """A run of which nothing is played; `episodes` is the budget, None if it has none."""
        spec = lookup(task)
        self.seed, self.episodes = seed, episodes
        self.coverage, self.traces = Coverage(spec.name), TraceKeeper(spec.id, seed)
        self.trail: list[np.ndarray] = []  # observations of the last training episode
        self.rows: tuple[EpisodeRow, ...] = ()  # training and evaluation of the last episode
        self.on_episode: Callable[[], None] = lambda: None  # called when these rows are made
        self.episode, self.env_steps, self.seconds = 0, 0, 0.0  # complete episodes; their total
        self.closed = ""  # why nothing more may be played, if so
        self._trained: Episode | None = None  # the training episode that awaits its evaluation
        self._clock: float | None = None  # when this process began to play

    @property
    def finished(self) -> bool:
        """Whether the last training episode of the budget has been evaluated."""
        return self.episode == self.episodes

    def number(self, phase: str) -> int:
        """Number of the episode that a reset in this phase starts; a pair of both shares it."""
        trained = self.episode + (self._trained is not None)
        return trained + 1 if phase == "train" else trained

    def begin(self, phase: str, episode: Episode) -> None:
        """Called at an episode's first step; a UserError if it is the other phase's turn."""
        if self.finished:
            raise UserError(f"all {self.episodes} episodes of the budget are recorded: stop here")
        if self.closed:
            raise UserError(self.closed)
        if phase == "train" and self._trained is not None:
            raise UserError(
                f"evaluate training episode {self._trained.number} once, in eval_env, before you "
                "train on"
            )
        if phase == "eval" and self._trained is None:
            raise UserError(
                f"finish training episode {self.episode + 1} before you evaluate: "
                "each training episode has one evaluation"
            )
        if episode.number != self.number(phase):
            raise UserError(f"reset eval_env after training episode {self.episode + 1}, not before")
        if self._clock is None:
            self._clock = time.monotonic() - self.seconds
        if phase == "train":
            self.trail = []
        self.see(phase, episode.start)

    def see(self, phase: str, obs: np.ndarray) -> None:
        """Counts an observation for coverage, if it is one of training."""
        if phase == "train":
            self.coverage.add(obs)
            self.trail.append(obs)

    def end(self, phase: str, episode: Episode, actions: list[Any]) -> None:
        """Called when an episode is over; the end of an evaluation makes the two rows."""
        if phase == "train":
            self._trained = episode
            return
        assert self._trained is not None and self._clock is not None, "begin() has checked"
        self.episode = episode.number
        self.env_steps += self._trained.length
        self.seconds = time.monotonic() - self._clock
        played = zip(PHASES, (self._trained, episode), strict=True)
        self.rows = tuple(
            EpisodeRow(
                name, one.number, self.env_steps, one.return_, one.length, one.success_steps,
                self.coverage.fraction, round(self.seconds, 3),
            )
            for name, one in played
        )  # fmt: skip
        self._trained = None
        self.traces.add(episode.number, actions)
        self.on_episode()

    def state_dict(self) -> dict[str, Any]:
        """What later rows depend on, for a checkpoint between two episodes."""
        progress = {name: getattr(self, name) for name in ("episode", "env_steps", "seconds")}
        return {
            "coverage": self.coverage.state_dict(),
            "traces": self.traces.state_dict(),
            "progress": progress,
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Inverse of `state_dict`."""
        self.coverage.load_state_dict({"visits": np.asarray(state["coverage"]["visits"])})
        # Checkpoints older than traces lack them; the run then leaves those of its last episodes.
        self.traces.load_state_dict(state.get("traces", {}))
        for name, value in state["progress"].items():
            setattr(self, name, value)
        self._clock = None


class LoggedEnv(gymnasium.Wrapper):
    """Reports every step to a RunLog, and starts each episode from the protocol's seed.

    Sits right around what `gymnasium.make` returns, inside of all other wrappers, so that the
    task's own rewards, observations and actions are recorded whatever a user changes outside.
    """

    def __init__(self, env: gymnasium.Env, phase: str, log: RunLog) -> None:
        super().__init__(env)
        self.phase, self.log = phase, log
        self._episode: Episode | None = None  # None before the first reset and after each end

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Resets to the start that the protocol has for this episode; `seed` is ignored."""
        if self._episode is not None and self._episode.length:
            raise UserError(
                f"{self.phase} episode {self._episode.number} was reset after "
                f"{self._episode.length} steps: play every episode to its end"
            )
        number = self.log.number(self.phase)
        start = episode_seed(self.log.seed, self.phase, number)
        obs, info = self.env.reset(seed=start, options=options)
        # Counted with the first step only: many libraries reset before they evaluate.
        self._episode = Episode(number, obs.copy())
        return obs, info

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        """One step, added to the statistics."""
        episode = self._episode
        if episode is None:
            raise gymnasium.error.ResetNeeded("call reset() before the first step of an episode")
        if not episode.length:
            self.log.begin(self.phase, episode)
        obs, reward, terminated, truncated, info = self.env.step(action)
        self.log.see(self.phase, obs)
        episode.return_ += float(reward)
        episode.length += 1
        episode.success_steps += bool(info["success"])
        if terminated or truncated:
            self._episode = None
            actions = self.env.actions if isinstance(self.env, TracedEnv) else []
            self.log.end(self.phase, episode, actions)
        return obs, reward, terminated, truncated, info


def run_envs(
    task: str, log: RunLog, *, render_mode: str | None = None
) -> tuple[gymnasium.Env, gymnasium.Env]:
    """The training and the evaluation environment of a run; `render_mode` is the latter's."""
    task = lookup(task).id
    train = LoggedEnv(gymnasium.make(task), "train", log)
    evaluation = TracedEnv(gymnasium.make(task, render_mode=render_mode))
    return train, LoggedEnv(evaluation, "eval", log)
