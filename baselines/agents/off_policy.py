"""The base of SAC and DDQN: a replay, and learning in one burst when an episode ends.

What BBE and DEEP add to such a learner does not depend on its kind: `bbe.py` and `deep.py` hold it,
to be mixed into either.
"""

from abc import ABC, abstractmethod

import numpy as np
import torch
from torch import Tensor

from baselines.agent import Action, State, Transition, require_finite
from baselines.nn.replay import Replay

Info = dict[str, Tensor]  # scalars, not yet copied from the device
_COUNTERS = ("steps", "updates", "_episode_length", "_due")


class OffPolicy(ABC):
    """Makes no update inside an episode and all of them when it ends, as the paper does."""

    def __init__(self, replay: Replay, *, updates_per_step: float, device: str) -> None:
        self.replay, self.device = replay, torch.device(device)
        self._updates_per_step = updates_per_step
        self.steps = 0  # environment steps observed
        self.updates = 0  # calls of `_learn`, including those that do nothing
        self._episode_length = 0
        self._due = 0  # updates owed for episodes that have ended

    @property
    @abstractmethod
    def in_warmup(self) -> bool:
        """True during the first environment steps, whose actions are not learnt."""

    @abstractmethod
    def sample_actions(self, obs: np.ndarray, n: int) -> Tensor:
        """`n` draws (n, A) of the task policy at one observation."""

    @abstractmethod
    def task_action(self, obs: np.ndarray) -> Tensor:
        """The action (A,) of an evaluation."""

    @abstractmethod
    def as_action(self, action: Tensor) -> Action:
        """An action (A,) as the environment takes it."""

    @abstractmethod
    def _learn(self) -> Info:
        """One update; its losses and means."""

    def act(self, obs: np.ndarray, *, explore: bool) -> Action:
        """The behaviour policy's action, or without exploring the task policy's."""
        return self.as_action(self.behaviour_action(obs) if explore else self.task_action(obs))

    def behaviour_action(self, obs: np.ndarray) -> Tensor:
        """The action (A,) of training: one draw of the task policy."""
        return self.sample_actions(obs, 1)[0]

    def observe(self, transition: Transition) -> None:
        """Stores a step; at the end of an episode its updates fall due."""
        self.replay.add(transition._replace(reward=self.stored_reward(transition)))
        self.steps += 1
        self._episode_length += 1
        if transition.terminated or transition.truncated:
            self._due += round(self._episode_length * self._updates_per_step)
            self._episode_length = 0

    def stored_reward(self, transition: Transition) -> float:
        """The reward that goes into the replay; asked for once per step: it may count a visit."""
        return transition.reward

    def update(self) -> dict[str, float]:
        """Makes the updates that are due, in one burst; returns the last one's losses and means."""
        info: Info = {}
        for _ in range(self._due):
            self.updates += 1
            info = self._learn()
        self._due = 0
        if not info:
            return {}
        numbers = dict(zip(info, torch.stack(tuple(info.values())).tolist(), strict=True))
        for name, number in numbers.items():
            require_finite(name, number, self.steps)
        return numbers

    def as_tensor(self, obs: np.ndarray) -> Tensor:
        """An observation, or a batch of them, as the networks take it."""
        return torch.as_tensor(obs, dtype=torch.float32, device=self.device)

    def state_dict(self) -> State:
        """The replay and the counters; a subclass adds what it learns and its random streams."""
        counters = {name: getattr(self, name) for name in _COUNTERS}
        return {"replay": self.replay.state_dict(), "counters": counters}

    def load_state_dict(self, state: State) -> None:
        """Inverse of `state_dict`."""
        self.replay.load_state_dict(state["replay"])
        for name in _COUNTERS:
            setattr(self, name, int(state["counters"][name]))
