"""record(): a valid run from any agent of any library, written down by the environment itself.

    env = explore_suite.record(gymnasium.make(task), agent="my-method", seed=0)
    while not env.finished:
        ...  # one training episode in env, one of the policy without exploration in env.eval_env

Whatever `reset` is given, episodes start as the run's seed says, so that all methods meet the same
starts. Two rows are written when an evaluation ends; the last of the budget finishes the run and
leaves the actions of its last evaluations beside it (explore_suite.traces).
"""

import json
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np

from explore_suite import header_rules
from explore_suite.errors import UserError
from explore_suite.protocol import episode_seed
from explore_suite.provenance import provenance
from explore_suite.results import Header, ResultStore
from explore_suite.run_book import Episode, RunBook
from explore_suite.task_env import around_time_limit, checked_task, copied, layers
from explore_suite.traces import TracedEnv

SOURCE = "explore_suite.record"


def record(
    env: gymnasium.Env, agent: str, seed: int, results: Path | str = "results/runs", *,
    episodes: int | None = None, preset: str = "external", config: dict[str, Any] | None = None,
    threads: int = 1, overwrite: bool = False,
) -> "Recorder":  # fmt: skip
    """The same env, its episodes written to the store `results` as a run of `agent`.

    Wrappers may lie inside (they are copied for `eval_env`) or outside (put them around `eval_env`
    too); what is recorded is always the task's own rewards and observations, and the actions that
    reach it (in evaluation as float32, for exact traces). `episodes` defaults to the end of the
    task's score window; `config` and `threads` are noted in the header. A run that
    was left unfinished begins anew, a finished one only with `overwrite`.
    """
    sheet = checked_task(env)
    if any(isinstance(layer, _Meter) for layer in layers(env)):
        raise UserError("this env is recorded already")
    eval_env = copied(env)
    header = Header(
        preset=preset, agent=agent, task=sheet.id, seed=_whole("seed", seed, 0),
        episodes=_whole("episodes", sheet.score_window[1] if episodes is None else episodes, 1),
        config=_plain({} if config is None else config), source=SOURCE,
        threads=_whole("threads", threads, 1), **provenance(sheet.id),
    )  # fmt: skip
    header_rules.require(header)
    return Recorder(env, eval_env, RunBook(ResultStore(results), header, overwrite=overwrite))


class Recorder(gymnasium.Wrapper):
    """An env whose episodes are recorded as training, those of its `eval_env` as evaluation."""

    def __init__(self, env: gymnasium.Env, eval_env: gymnasium.Env, book: RunBook) -> None:
        """Made by `record`."""
        super().__init__(around_time_limit(env, lambda task: _Meter(task, "train", book)))
        self.eval_env = around_time_limit(
            eval_env, lambda task: _Meter(TracedEnv(task), "eval", book)
        )
        self._book = book

    @property
    def finished(self) -> bool:
        """Whether the whole budget is recorded."""
        return self._book.finished

    def close(self) -> None:
        """Closes both envs; a run whose budget is not spent stays unfinished, with a warning."""
        super().close()
        self.eval_env.close()
        self._book.close()


class _Meter(gymnasium.Wrapper):
    """Sits right around the task's time limit, where no other wrapper has changed anything yet."""

    def __init__(self, env: gymnasium.Env, phase: str, book: RunBook) -> None:
        super().__init__(env)
        self.phase, self.book = phase, book
        self._episode: Episode | None = None  # none before the first reset and after each end

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """The start that the protocol has for this episode, whatever the seed."""
        if self._episode is not None and self._episode.length:
            raise UserError(
                f"{self.phase} episode {self._episode.number} was reset after "
                f"{self._episode.length} steps: play every episode to its end"
            )
        number = self.book.turns.number(self.phase)
        start = episode_seed(self.book.seed, self.phase, number)
        obs, info = self.env.reset(seed=start, options=options)
        # Counted with the first step only: many libraries reset before they evaluate.
        self._episode = Episode(number, obs.copy())
        return obs, info

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        """One step, summed up."""
        episode = self._episode
        if episode is None:
            raise gymnasium.error.ResetNeeded("call reset() before the first step of an episode")
        if not episode.length:
            self.book.begin(self.phase, episode)
        obs, reward, terminated, truncated, info = self.env.step(action)
        self.book.see(self.phase, obs)
        episode.return_ += float(reward)
        episode.length += 1
        episode.success_steps += bool(info["success"])
        if terminated or truncated:
            self._episode = None
            if isinstance(self.env, TracedEnv):
                episode.actions = self.env.actions
            self.book.end(self.phase, episode)
        return obs, reward, terminated, truncated, info


def _whole(name: str, value: Any, least: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
        raise UserError(f"{name} must be a whole number of at least {least}, got {value!r}")
    return int(value)


def _plain(config: dict[str, Any]) -> dict[str, Any]:
    """The config as it will be read back from JSON."""
    try:
        if isinstance(config, dict):
            return json.loads(json.dumps(config, allow_nan=False))
    except (TypeError, ValueError, RecursionError) as error:
        raise UserError(f"config must hold what JSON can: {error}") from error
    raise UserError(f"config must be a dictionary, got {config!r}")
