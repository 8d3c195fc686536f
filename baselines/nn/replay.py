"""The replay buffer: a ring of transitions, sampled uniformly."""

from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from baselines.agent import State, Transition

FIRST_ROWS = 4096  # memory starts at this size and doubles on demand, up to the capacity


class Batch(NamedTuple):
    """A batch of transitions; all fields are views of one matrix."""

    obs: Tensor  # (B, O)
    action: Tensor  # (B, A)
    reward: Tensor  # (B,)
    next_obs: Tensor  # (B, O)
    terminated: Tensor  # (B,) 1 where next_obs must not be bootstrapped from, else 0


class Replay:
    """The latest `capacity` transitions, sampled uniformly with replacement.

    A transition is one row [obs | action | reward | next_obs | terminated], so that a batch is a
    single gather. Truncation is not stored: a truncated episode bootstraps like any other step.
    """

    def __init__(
        self, capacity: int, obs_dim: int, action_dim: int, *, seed: int, device: str = "cpu"
    ) -> None:
        self.capacity = capacity
        self._widths = (obs_dim, action_dim, 1, obs_dim, 1)
        self._rows = torch.empty(min(capacity, FIRST_ROWS), sum(self._widths), device=device)
        self._size = 0
        self._next = 0  # row of the next transition
        self._rng = torch.Generator(device).manual_seed(seed)
        self._row = torch.empty(sum(self._widths))  # one transition, assembled on the CPU
        self._fields = np.split(self._row.numpy(), np.cumsum(self._widths)[:-1])

    def __len__(self) -> int:
        return self._size

    @property
    def allocated(self) -> int:
        """Transitions that memory is allocated for, at most `capacity`."""
        return len(self._rows)

    def add(self, transition: Transition) -> None:
        """Stores one transition, overwriting the oldest one if the buffer is full."""
        obs, action, reward, next_obs, terminated = self._fields
        obs[:] = transition.obs
        action[:] = transition.action
        reward[0] = transition.reward
        next_obs[:] = transition.next_obs
        terminated[0] = transition.terminated
        if self._next == len(self._rows):
            self._grow(len(self._rows) + 1)
        self._rows[self._next].copy_(self._row)
        self._size = max(self._size, self._next + 1)
        self._next = (self._next + 1) % self.capacity

    def sample(self, n: int, rng: torch.Generator | None = None) -> Batch:
        """`n` transitions drawn with `rng`, by default with the buffer's own random stream."""
        device = self._rows.device
        index = torch.randint(self._size, (n,), generator=rng or self._rng, device=device)
        obs, action, reward, next_obs, terminated = self._rows.index_select(0, index).split(
            self._widths, dim=1
        )
        return Batch(obs, action, reward[:, 0], next_obs, terminated[:, 0])

    def state_dict(self) -> State:
        """The rows in use, the position in the ring and the random stream."""
        rows = self._rows[: self._size].clone()
        return {"rows": rows, "next": self._next, "rng": self._rng.get_state()}

    def load_state_dict(self, state: State) -> None:
        """Inverse of `state_dict`."""
        size, width = state["rows"].shape
        if size > self.capacity or width != sum(self._widths):
            raise ValueError(
                f"a replay buffer of {size} x {width} does not fit into "
                f"{self.capacity} x {sum(self._widths)}"
            )
        if size > len(self._rows):
            self._grow(size)
        self._rows[:size] = state["rows"]
        self._size, self._next = size, int(state["next"])
        self._rng.set_state(state["rng"])

    def _grow(self, needed: int) -> None:
        """Doubles the memory until it holds `needed` rows, never beyond the capacity."""
        rows = len(self._rows)
        while rows < needed:
            rows = min(2 * rows, self.capacity)
        grown = self._rows.new_empty(rows, self._rows.shape[1])
        grown[: self._size] = self._rows[: self._size]
        self._rows = grown
