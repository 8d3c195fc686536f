"""The `Agent` protocol, and the types that pass between agent and training loop."""

import math
from collections.abc import Mapping
from functools import reduce
from typing import Any, ClassVar, NamedTuple, Protocol

import numpy as np
from torch import Generator, Tensor

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
    """Typical range of observations, exact range of actions (0 to n - 1 for n discrete actions)."""

    obs_low: np.ndarray
    obs_high: np.ndarray
    action_low: np.ndarray
    action_high: np.ndarray


class Agent(Protocol):
    """An agent that acts, stores transitions and schedules its own updates.

    It is made by Class(bounds, config, seed=..., device=...). Class attributes: `Config`, a frozen
    dataclass of hyperparameters; `family`, the entry of `Preset.families` that applies to it;
    `discrete`, whether its actions are discrete (None: it can do both).

    The training loop:

        obs, _ = env.reset(seed=...)
        while not over:
            action = agent.act(obs, explore=True)
            next_obs, reward, terminated, truncated, _ = env.step(action)
            agent.observe(Transition(obs, action, reward, next_obs, terminated, truncated))
            info = agent.update()
            obs, over = next_obs, terminated or truncated
    """

    def act(self, obs: np.ndarray, *, explore: bool) -> Action:
        """An action of the behaviour policy, or with `explore=False` of the task policy."""

    def observe(self, transition: Transition) -> None:
        """Stores one environment step; called for every step, in order."""

    def update(self) -> dict[str, float]:
        """Makes the gradient updates that are due; called once after every `observe`.

        Returns their losses and statistics, {} if none were due.
        """

    def policy_dict(self) -> dict[str, Tensor]:
        """The weights of the task policy: all that `act(obs, explore=False)` needs."""

    def load_policy_dict(self, weights: dict[str, Tensor]) -> None:
        """Inverse of `policy_dict`."""

    def state_dict(self) -> State:
        """Everything needed to resume exactly."""

    def load_state_dict(self, state: State) -> None:
        """Inverse of `state_dict`."""


class Stateful:
    """Base class that saves and loads the attributes which `STATE` lists.

    It maps names in the state to attributes, dotted for those of a part: {"actor":
    "actor.net.params", "act_rng": "_act_rng"}. A subclass lists what it adds. Tensors are copied,
    of random generators the position is saved, numbers are saved as they are; all else has
    `state_dict` and `load_state_dict`.
    """

    STATE: ClassVar[Mapping[str, str]] = {}

    def state_dict(self) -> State:
        """Everything needed to resume exactly."""
        return {name: _saved(getattr(*found)) for name, found in self._attributes().items()}

    def load_state_dict(self, state: State) -> None:
        """Inverse of `state_dict`."""
        for name, (owner, attribute) in self._attributes().items():
            _load(owner, attribute, state[name])

    def _attributes(self) -> dict[str, tuple[Any, str]]:
        """Owner and name of every attribute in `STATE`, of base classes first."""
        found = {}
        for part in reversed(type(self).__mro__):
            for name, path in vars(part).get("STATE", {}).items():
                *owners, attribute = path.split(".")
                found[name] = reduce(getattr, owners, self), attribute
        return found


def _saved(value: Any) -> Any:
    if isinstance(value, Tensor):
        return value.clone()
    if isinstance(value, Generator):
        return value.get_state()
    return value if isinstance(value, int | float) else value.state_dict()


def _load(owner: Any, attribute: str, saved: Any) -> None:
    value = getattr(owner, attribute)
    if isinstance(value, Tensor):
        value.copy_(saved)
    elif isinstance(value, Generator):
        value.set_state(saved)
    elif isinstance(value, int | float):
        setattr(owner, attribute, saved)
    else:
        value.load_state_dict(saved)


def check_ranges(config: Any, *, positive: str, fractions: str) -> None:
    """Raises SettingError for a number of `config` that is out of range or not finite.

    Fields named in `positive` must be above 0, those in `fractions` from 0 to 1, all others at
    least 0. Both are lists of names separated by spaces.
    """
    for name, value in vars(config).items():
        if isinstance(value, bool) or not isinstance(value, int | float):
            continue
        in_range, wanted = value >= 0, "0 or more"
        if name in positive.split():
            in_range, wanted = value > 0, "positive"
        elif name in fractions.split():
            in_range, wanted = 0 <= value <= 1, "from 0 to 1"
        if not (in_range and math.isfinite(value)):
            raise SettingError(f"{name} must be {wanted}, got {value}")


def require_finite(name: str, value: float | np.ndarray, step: int) -> None:
    """Raises FloatingPointError with step, name and value if a quantity has diverged."""
    if not np.isfinite(value).all():
        raise FloatingPointError(f"step {step}: {name} is {value}")
