"""What an agent is: four verbs, and the two containers they speak in."""

from typing import Any, NamedTuple, Protocol

import numpy as np

Action = np.ndarray | int
State = dict[str, Any]  # nested dicts of tensors, numbers and strings: what a checkpoint can hold


class Transition(NamedTuple):
    """One environment step; `reward` is always the environment's own."""

    obs: np.ndarray
    action: Action
    reward: float
    next_obs: np.ndarray
    terminated: bool
    truncated: bool


class Bounds(NamedTuple):
    """Typical range of observations, exact range of actions; a discrete one is a number 0..n-1."""

    obs_low: np.ndarray
    obs_high: np.ndarray
    action_low: np.ndarray
    action_high: np.ndarray


class Agent(Protocol):
    """A learner that decides for itself when to learn.

    The loop it is made for:

        obs, _ = env.reset(seed=...)
        while not over:
            action = agent.act(obs, explore=True)
            next_obs, reward, terminated, truncated, _ = env.step(action)
            agent.observe(Transition(obs, action, reward, next_obs, terminated, truncated))
            info = agent.update()
            obs, over = next_obs, terminated or truncated
    """

    def act(self, obs: np.ndarray, *, explore: bool) -> Action:
        """The behaviour policy's action, or with `explore=False` the task policy's alone."""

    def observe(self, transition: Transition) -> None:
        """Takes in one environment step, in order; episodes end where the transition says so."""

    def update(self) -> dict[str, float]:
        """Called once after every `observe`; learns if learning is due, else returns {}."""

    def state_dict(self) -> State:
        """Everything needed to go on exactly as if never interrupted."""

    def load_state_dict(self, state: State) -> None:
        """Inverse of `state_dict`."""


def require_finite(name: str, value: float | np.ndarray, step: int) -> None:
    """Stops a run that has diverged: FloatingPointError naming step, quantity and value."""
    if not np.isfinite(value).all():
        raise FloatingPointError(f"step {step}: {name} is {value}")
