"""What the agent remembers: a ring of transitions that are drawn uniformly."""

from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from baselines.agent import State, Transition

FIRST_ROWS = 4096  # a ring starts at this size and doubles on demand, up to its capacity


class Batch(NamedTuple):
    """Transitions side by side, the batch axis first; all fields are views of one matrix."""

    obs: Tensor  # (B, O)
    action: Tensor  # (B, A)
    reward: Tensor  # (B,)
    next_obs: Tensor  # (B, O)
    terminated: Tensor  # (B,) one where the value of next_obs must not be counted, else zero


class Replay:
    """The latest `capacity` transitions, sampled uniformly with replacement.

    One transition is one row [obs | action | reward | next_obs | terminated], so that a batch is
    a single gather. Truncation is not stored: an episode that only ran out of time bootstraps.
    """

    def __init__(
        self, capacity: int, obs_dim: int, action_dim: int, *, seed: int, device: str = "cpu"
    ) -> None:
        if capacity < 1:
            raise ValueError(f"capacity must be at least 1, got {capacity}")
        self.capacity = capacity
        self._widths = (obs_dim, action_dim, 1, obs_dim, 1)
        self._rows = torch.empty(min(capacity, FIRST_ROWS), sum(self._widths), device=device)
        self._size = 0
        self._next = 0  # the slot that the next transition takes
        self._rng = torch.Generator(device).manual_seed(seed)
        self._lay_out_row()

    def __getstate__(self) -> dict[str, Any]:
        """What a copy is made of: not the row, whose fields copied would be views of it no more."""
        return {name: x for name, x in vars(self).items() if name not in ("_row", "_fields")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._lay_out_row()

    def __len__(self) -> int:
        return self._size

    def add(self, transition: Transition) -> None:
        """Stores one transition, over the oldest one when the ring is full."""
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
        """A batch of `n` independent draws from everything stored; by the ring's own `rng`."""
        if not self._size:
            raise ValueError("cannot sample from an empty replay")
        device = self._rows.device
        index = torch.randint(self._size, (n,), generator=rng or self._rng, device=device)
        obs, action, reward, next_obs, terminated = self._rows.index_select(0, index).split(
            self._widths, dim=1
        )
        return Batch(obs, action, reward[:, 0], next_obs, terminated[:, 0])

    def state_dict(self) -> State:
        """The rows in use, the position of the ring and of its random stream."""
        rows = self._rows[: self._size].clone()
        return {"rows": rows, "next": self._next, "rng": self._rng.get_state()}

    def load_state_dict(self, state: State) -> None:
        """Inverse of `state_dict`."""
        size, width = state["rows"].shape
        if size > self.capacity or width != sum(self._widths):
            raise ValueError(
                f"a {size} x {width} replay does not fit {self.capacity} x {sum(self._widths)}"
            )
        if size > len(self._rows):
            self._grow(size)
        self._rows[:size] = state["rows"]
        self._size, self._next = size, int(state["next"])
        self._rng.set_state(state["rng"])

    def _lay_out_row(self) -> None:
        self._row = torch.empty(sum(self._widths))  # one transition, assembled on the CPU
        self._fields = np.split(self._row.numpy(), np.cumsum(self._widths)[:-1])

    def _grow(self, needed: int) -> None:
        """Doubles the memory until it holds `needed` rows, never beyond the capacity."""
        rows = len(self._rows)
        while rows < needed:
            rows = min(2 * rows, self.capacity)
        grown = self._rows.new_empty(rows, self._rows.shape[1])
        grown[: self._size] = self._rows[: self._size]
        self._rows = grown
