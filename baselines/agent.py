"""What an agent is: it acts, observes, updates, and saves itself; and what it speaks in."""

import math
from typing import Any, NamedTuple, Protocol

import numpy as np
from torch import Tensor

from explore_suite.errors import SettingError

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
    """A learner that decides for itself when to learn, made by Class(bounds, config, seed, device).

    Its class has `Config`, a frozen dataclass; `family`, the section of the presets that holds its
    values; and `discrete`, the kind of actions it takes (None: both).

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

    def policy_dict(self) -> dict[str, Tensor]:
        """What acting without exploring needs: weights to share when training is over."""

    def load_policy_dict(self, weights: dict[str, Tensor]) -> None:
        """Inverse of `policy_dict`; from then on `act(obs, explore=False)` is that policy's."""

    def state_dict(self) -> State:
        """Everything needed to go on exactly as if never interrupted."""

    def load_state_dict(self, state: State) -> None:
        """Inverse of `state_dict`."""


def check_ranges(config: Any, *, positive: str, fractions: str) -> None:
    """A SettingError unless the named numbers are positive, or in [0, 1], and no other negative."""
    for name, value in vars(config).items():
        if isinstance(value, bool) or not isinstance(value, int | float):
            continue
        sound, wanted = value >= 0, "0 or more"
        if name in positive.split():
            sound, wanted = value > 0, "positive"
        elif name in fractions.split():
            sound, wanted = 0 <= value <= 1, "from 0 to 1"
        if not (sound and math.isfinite(value)):
            raise SettingError(f"{name} must be {wanted}, got {value}")


def require_finite(name: str, value: float | np.ndarray, step: int) -> None:
    """Stops a run that has diverged: FloatingPointError naming step, quantity and value."""
    if not np.isfinite(value).all():
        raise FloatingPointError(f"step {step}: {name} is {value}")
