"""Uniformly random actions: the floor that every agent is measured from."""

from dataclasses import dataclass

import numpy as np

from baselines.agent import Action, Bounds, State, Transition


@dataclass(frozen=True)
class RandomConfig:
    """What kind of actions to draw."""

    discrete: bool = False  # one whole number instead of a point in the box


class RandomAgent:
    """Draws; never learns."""

    Config = RandomConfig

    def __init__(
        self, bounds: Bounds, config: RandomConfig, *, seed: int, device: str = "cpu"
    ) -> None:
        self.config = config
        self._low, self._high = bounds.action_low, bounds.action_high
        self._rng = np.random.Generator(np.random.PCG64(seed))

    def act(self, obs: np.ndarray, *, explore: bool) -> Action:
        """A uniform draw, exploring or not."""
        if self.config.discrete:
            return int(self._rng.integers(self._low[0], self._high[0], endpoint=True))
        return self._rng.uniform(self._low, self._high).astype(np.float32)

    def observe(self, transition: Transition) -> None:
        """Nothing is remembered."""

    def update(self) -> dict[str, float]:
        """Nothing is learnt."""
        return {}

    def state_dict(self) -> State:
        """The position of the random stream; its integers have 128 bits and travel as text."""
        state = self._rng.bit_generator.state
        return {
            "state": str(state["state"]["state"]),
            "inc": str(state["state"]["inc"]),
            "has_uint32": state["has_uint32"],
            "uinteger": state["uinteger"],
        }

    def load_state_dict(self, state: State) -> None:
        """Inverse of `state_dict`."""
        self._rng.bit_generator.state = {
            "bit_generator": "PCG64",
            "state": {"state": int(state["state"]), "inc": int(state["inc"])},
            "has_uint32": state["has_uint32"],
            "uinteger": state["uinteger"],
        }
