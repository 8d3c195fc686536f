"""Uniformly random actions; their mean return is the 0 of normalised scores."""

import json
from dataclasses import dataclass

import numpy as np
from torch import Tensor

from baselines.agent import Action, Bounds, State, Transition

_STREAMS = ("evaluation", "behaviour")  # names of the random streams in a checkpoint


@dataclass(frozen=True)
class RandomConfig:
    """The kind of actions; `resolve` sets it by task."""

    discrete: bool = False  # an integer instead of a point in the box


class RandomAgent:
    """Uniformly random actions, in training and in evaluation."""

    Config = RandomConfig
    family, discrete = "random", None

    def __init__(
        self, bounds: Bounds, config: RandomConfig, *, seed: int, device: str = "cpu"
    ) -> None:
        self.config = config
        self._low, self._high = bounds.action_low, bounds.action_high
        self._rngs = {  # two streams: evaluation must not change training actions
            explore: np.random.Generator(np.random.PCG64([seed, explore]))
            for explore in (False, True)
        }

    def act(self, obs: np.ndarray, *, explore: bool) -> Action:
        """A uniformly random action, whatever `explore` is."""
        rng = self._rngs[explore]
        if self.config.discrete:
            return int(rng.integers(self._low[0], self._high[0], endpoint=True))
        return rng.uniform(self._low, self._high).astype(np.float32)

    def observe(self, transition: Transition) -> None:
        """Does nothing."""

    def update(self) -> dict[str, float]:
        """Does nothing."""
        return {}

    def policy_dict(self) -> dict[str, Tensor]:
        """Empty: there are no weights."""
        return {}

    def load_policy_dict(self, weights: dict[str, Tensor]) -> None:
        """Inverse of `policy_dict`."""

    def state_dict(self) -> State:
        """The states of both random streams, as JSON because their integers have 128 bits."""
        states = (rng.bit_generator.state for rng in self._rngs.values())
        return {name: json.dumps(state) for name, state in zip(_STREAMS, states, strict=True)}

    def load_state_dict(self, state: State) -> None:
        """Inverse of `state_dict`."""
        for name, rng in zip(_STREAMS, self._rngs.values(), strict=True):
            rng.bit_generator.state = json.loads(state[name])
