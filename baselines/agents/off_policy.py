"""The base class of SAC and DDQN: a replay buffer, and all updates at the end of an episode.

What BBE and DEEP add is the same for both: `bbe.py` and `deep.py` hold it as mixins.
"""

from abc import ABC, abstractmethod

import numpy as np
import torch
from torch import Tensor

from baselines.agent import Action, State, Stateful, Transition, require_finite
from baselines.nn.replay import Replay

Scalars = dict[str, Tensor]  # scalars, not yet copied from the device
_COUNTERS = ("steps", "updates", "_episode_length", "_due")  # saved in checkpoints


class OffPolicy(Stateful, ABC):
    """Off-policy agent whose updates are all made at the end of each episode, as in the paper."""

    STATE = {"replay": "replay"}

    def __init__(self, replay: Replay, *, updates_per_step: float, device: str) -> None:
        self.replay, self.device = replay, torch.device(device)
        self._updates_per_step = updates_per_step
        self.steps = 0  # environment steps observed
        self.updates = 0  # calls of `_update_once`, including those that do nothing
        self._episode_length = 0
        self._due = 0  # updates to make for episodes that have ended

    @property
    @abstractmethod
    def in_warmup(self) -> bool:
        """True during the first environment steps, whose actions ignore what was learned."""

    @abstractmethod
    def sample_actions(self, obs: np.ndarray, n: int) -> Tensor:
        """`n` samples (n, A) of the task policy at one observation."""

    @abstractmethod
    def task_action(self, obs: np.ndarray) -> Tensor:
        """The action (A,) in an evaluation episode."""

    @abstractmethod
    def as_action(self, action: Tensor) -> Action:
        """Converts an action (A,) to what the environment accepts."""

    @abstractmethod
    def _update_once(self) -> Scalars:
        """Makes one update on a sampled batch; returns its losses and statistics."""

    def act(self, obs: np.ndarray, *, explore: bool) -> Action:
        """An action of the behaviour policy, or with `explore=False` of the task policy."""
        return self.as_action(self.behaviour_action(obs) if explore else self.task_action(obs))

    def behaviour_action(self, obs: np.ndarray) -> Tensor:
        """The action (A,) in a training episode: one sample of the task policy."""
        return self.sample_actions(obs, 1)[0]

    def observe(self, transition: Transition) -> None:
        """Stores a step; the last step of an episode makes the episode's updates due."""
        self.replay.add(transition._replace(reward=self.stored_reward(transition)))
        self.steps += 1
        self._episode_length += 1
        if transition.terminated or transition.truncated:
            self._due += round(self._episode_length * self._updates_per_step)
            self._episode_length = 0

    def stored_reward(self, transition: Transition) -> float:
        """The reward to store in the replay buffer.

        Called exactly once per step, because an override may record a visit.
        """
        return transition.reward

    def update(self) -> dict[str, float]:
        """Makes the updates that are due; returns the losses and statistics of the last one."""
        due, self._due = self._due, 0
        return self.learn(due)

    def learn(self, updates: int) -> dict[str, float]:
        """Makes this many updates now; returns the losses and statistics of the last one."""
        info: Scalars = {}
        for _ in range(updates):
            self.updates += 1
            info = self._update_once()
        if not info:
            return {}
        # Stacked, so that a GPU is waited for once and not once per number.
        numbers = dict(zip(info, torch.stack(tuple(info.values())).tolist(), strict=True))
        for name, number in numbers.items():
            require_finite(name, number, self.steps)
        return numbers

    def as_tensor(self, obs: np.ndarray) -> Tensor:
        """One or more observations as a float32 tensor on the agent's device."""
        return torch.as_tensor(obs, dtype=torch.float32, device=self.device)

    def state_dict(self) -> State:
        """What `STATE` lists, and the counters; subclasses list networks and random streams."""
        counters = {name: getattr(self, name) for name in _COUNTERS}
        return super().state_dict() | {"counters": counters}

    def load_state_dict(self, state: State) -> None:
        """Inverse of `state_dict`."""
        super().load_state_dict(state)
        for name in _COUNTERS:
            setattr(self, name, state["counters"][name])
