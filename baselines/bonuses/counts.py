"""How often an (obs, action) was visited: smoothed by a kernel, or exact in discrete worlds."""

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import torch
from torch import Tensor

from baselines.agent import Bounds, State, check_ranges
from baselines.bonuses.kernels import (
    BACKENDS,
    LONGEST,
    ActionSeries,
    Normaliser,
    Rows,
    half_norms,
    lift_rows,
    row_kernel,
)
from explore_suite.errors import SettingError


class Count(Protocol):
    """Visits of (obs, action) so far; float32, on the count's device."""

    def visit(self, obs: Any, action: Any) -> float:
        """The count of one (obs, action) before this visit; then records the visit."""

    def paired(self, obs: Any, action: Any) -> Tensor:
        """(B, O), (B, A) -> (B,): the count of each obs with its own action."""

    def grid(self, obs: Any, actions: Any) -> Tensor:
        """(B, O), (K, A) -> (B, K): the count of every obs with every action."""

    def state_dict(self) -> State:
        """Everything needed to go on exactly as if never interrupted."""

    def load_state_dict(self, state: State) -> None:
        """Inverse of `state_dict`."""


def bandwidth(obs_dim: int, n: int = 2**22) -> float:
    """Kernel scale for observations normalised to [0, 1]: the paper's rule, 0.3 times Silverman's.

    The paper leaves `n` open; 2**22 reproduces the published scales, hallway's least closely.
    """
    return 0.3 * (4 / ((2 + obs_dim) * n)) ** (1 / (4 + obs_dim))


@dataclass(frozen=True)
class KernelConfig:
    """What a kernel count looks like; scale and tolerance belong to the task."""

    state_scale: float = 0.1  # kernel width, in observations scaled to [0, 1]; see `bandwidth`
    state_factor: float = 1.0  # multiplies state_scale; for ablations of the task's own kernel
    tolerance: float = 0.9  # kernel value above which two visits share a row; .9 or .5 in the code
    action_scale: float = 1.0  # kernel width, in actions scaled to [0, 1]; paper
    max_rows: int = 32768  # size of the table; paper
    backend: str = "product"  # how sums are computed: product, keops or loop

    def __post_init__(self) -> None:
        if self.backend not in BACKENDS:
            names = ", ".join(BACKENDS)
            raise SettingError(f"unknown backend {self.backend!r}; choose from {names}")
        if not 0 < self.tolerance < 1:
            raise SettingError(f"tolerance must lie in (0, 1), got {self.tolerance}")
        if self.max_rows < 2:
            raise SettingError(f"max_rows must be at least 2, got {self.max_rows}")
        check_ranges(self, positive="state_scale state_factor action_scale", fractions="")

    @property
    def width(self) -> float:
        """The kernel's width in observations scaled to [0, 1]."""
        return self.state_scale * self.state_factor


class KernelCount:
    """N(key) = sum_i w_i exp(-1/2 |key - key_i|^2) over a bounded table of visited keys.

    A key is [obs, action], normalised to [0, 1] by `bounds` (never clipped) and divided by the
    scales. A visit whose kernel with M > 0 rows exceeds `tolerance` adds 1 / M to their weights;
    any other takes a row of its own. When the table is full a random row makes room, and the
    others share its weight: the weights always sum to the number of visits.
    """

    def __init__(
        self,
        bounds: Bounds,
        config: KernelConfig,
        *,
        seed: int,
        device: torch.device | str = "cpu",
    ) -> None:
        self._tolerance, self._backend = config.tolerance, BACKENDS[config.backend]()
        self._device = torch.device(device)
        low, high = bounds.obs_low, bounds.obs_high
        self._obs_key = Normaliser("obs", low, high, config.width, self._device)
        low, high = bounds.action_low, bounds.action_high
        self._action_key = Normaliser("action", low, high, config.action_scale, self._device)
        self._obs_dim = len(bounds.obs_low)
        width = self._obs_dim + len(bounds.action_low) + 4
        self._lifted = torch.zeros(config.max_rows, width, dtype=torch.float64, device=self._device)
        self._single = self._lifted.float()
        self._weights = torch.zeros(config.max_rows, dtype=torch.float64, device=self._device)
        self._size, self._reach = 0, 0.0  # rows in use; the longest key so far, evicted or not
        dim = len(bounds.action_low)
        covered = config.backend == "product" and ActionSeries.covers(dim, config.action_scale)
        self._series = ActionSeries(dim, self._device) if covered else None
        length = self._series.length if self._series else 0
        self._features = torch.zeros(config.max_rows, length, device=self._device)
        self._rows: Rows | None = None  # as of the last visit
        self._generator = torch.Generator().manual_seed(seed)  # on the CPU for every device

    def __len__(self) -> int:
        """The rows in use."""
        return self._size

    @property
    def rows(self) -> Rows:
        """The rows in use, good until the next visit."""
        if self._rows is None:
            n, series = self._size, self._series
            self._rows = Rows(
                self._lifted[:n], self._single[:n], self._weights[:n], self._obs_dim, self._reach,
                series, self._features[:n],
            )  # fmt: skip
        return self._rows

    def visit(self, obs: Any, action: Any) -> float:
        """The count of one (obs, action) before this visit; then records the visit."""
        obs_key, action_key = self._obs_key(obs), self._action_key(action)
        weights = self._weights[: self._size]
        kernel = row_kernel(self._lifted[: self._size], obs_key, action_key)  # (n,)
        near = (kernel > self._tolerance).nonzero()[:, 0]
        count = float(kernel @ weights)
        self._rows = None
        if len(near):
            weights[near] += 1 / len(near)
        else:
            self._insert(obs_key, action_key)
        return count

    def paired(self, obs: Any, action: Any) -> Tensor:
        """(B, O), (B, A) -> (B,): the count of each obs with its own action."""
        obs_keys, action_keys = self._obs_key(obs), self._covered(self._action_key(action))
        if self._size == 0:
            return torch.zeros(len(obs_keys), device=self._device)
        return self._backend.paired(self.rows, obs_keys, action_keys).float()

    def grid(self, obs: Any, actions: Any) -> Tensor:
        """(B, O), (K, A) -> (B, K): the count of every obs with every action."""
        obs_keys, action_keys = self._obs_key(obs), self._covered(self._action_key(actions))
        if self._size == 0:
            return torch.zeros(len(obs_keys), len(action_keys), device=self._device)
        return self._backend.grid(self.rows, obs_keys, action_keys).float()

    def _covered(self, action_keys: Tensor) -> Tensor:
        """The same keys; the series is given up for good at the first one it does not cover."""
        if self._series is not None and not self._series.covers_keys(action_keys):
            self._series = self._rows = None
        return action_keys

    def _insert(self, obs_key: Tensor, action_key: Tensor) -> None:
        """A new row of weight 1, in the next free slot or in that of an evicted row."""
        row = lift_rows(obs_key, action_key)
        length = float(half_norms(row, self._obs_dim))
        if not length < LONGEST:  # nor NaN: it would spoil every later count
            visits = round(float(self._weights[: self._size].sum()))
            raise FloatingPointError(
                f"step {visits + 1}: key is not finite: obs {obs_key}, action {action_key}"
            )
        slot = self._free_slot()
        self._lifted[slot], self._single[slot], self._weights[slot] = row[0], row[0], 1
        self._covered(action_key)
        if self._series is not None:
            self._features[slot] = self._series(action_key)[0]
        self._reach = max(self._reach, length)

    def _free_slot(self) -> int:
        if self._size < len(self._weights):
            self._size += 1
            return self._size - 1
        victim = int(torch.randint(self._size, (), generator=self._generator))
        self._weights += self._weights[victim] / (self._size - 1)  # the victim's own is overwritten
        return victim

    def state_dict(self) -> State:
        """The rows in use, their weights and the state of the eviction's random source."""
        rows = self.rows
        return {
            "lifted": rows.lifted.clone(),
            "weights": rows.weights.clone(),
            "reach": self._reach,
            "generator": self._generator.get_state(),
        }

    def load_state_dict(self, state: State) -> None:
        """Inverse of `state_dict`; a ValueError if that table does not fit into this one."""
        rows, columns = state["lifted"].shape
        if rows > len(self._weights) or columns != self._lifted.shape[1]:
            raise ValueError(f"a {rows} x {columns} table does not fit {tuple(self._lifted.shape)}")
        self._size, self._reach = rows, state["reach"]
        self._lifted[:rows], self._weights[:rows] = state["lifted"], state["weights"]
        self._single[:rows] = state["lifted"]
        self._rows = None
        actions = self._covered(self.rows.keys[:, self._obs_dim :])
        if self._series is not None:
            self._features[:rows] = self._series(actions)
        self._generator.set_state(state["generator"])


class TableCount:
    """Exact visits in a discrete world: integer observations and one integer action."""

    def __init__(self, bounds: Bounds, *, device: torch.device | str = "cpu") -> None:
        low = np.concatenate([bounds.obs_low, bounds.action_low])
        high = np.concatenate([bounds.obs_high, bounds.action_high])
        span = high - low
        if np.any(low != np.round(low)) or np.any(span != np.round(span)) or np.any(span < 0):
            raise ValueError(f"a table needs integer bounds with low <= high, got {low} and {high}")
        self._low = torch.tensor(low, dtype=torch.float64, device=device)
        shape = [int(cells) for cells in span + 1]
        self._table = torch.zeros(shape, dtype=torch.int64, device=device)
        self._shape = torch.tensor(shape, device=device)

    def visit(self, obs: Any, action: Any) -> float:
        """The count of one (obs, action) before this visit; then records the visit."""
        cell = self._cells(*self._rows(obs, action))
        count = float(self._table[cell])
        self._table[cell] += 1
        return count

    def paired(self, obs: Any, action: Any) -> Tensor:
        """(B, O), (B, A) -> (B,): the count of each obs with its own action."""
        return self._table[self._cells(*self._rows(obs, action))].float()

    def grid(self, obs: Any, actions: Any) -> Tensor:
        """(B, O), (K, A) -> (B, K): the count of every obs with every action."""
        rows, columns = self._rows(obs, actions)
        pairs = rows.repeat_interleave(len(columns), dim=0), columns.repeat(len(rows), 1)
        return self._table[self._cells(*pairs)].float().view(len(rows), len(columns))

    def _rows(self, obs: Any, action: Any) -> tuple[Tensor, Tensor]:
        """Any numbers -> float64 rows, (B, O) and (K, 1)."""
        obs = torch.as_tensor(obs, dtype=torch.float64, device=self._low.device)
        action = torch.as_tensor(action, dtype=torch.float64, device=self._low.device)
        return obs.reshape(-1, len(self._low) - 1), action.reshape(-1, 1)

    def _cells(self, obs: Tensor, action: Tensor) -> tuple[Tensor, ...]:
        """(B, O), (B, 1) -> one index (B,) per axis of the table; a ValueError outside of it."""
        cells = (torch.cat([obs, action], dim=1) - self._low).round().long()
        outside = ((cells < 0) | (cells >= self._shape)).any(dim=1)
        if outside.any():
            raise ValueError(f"outside the table: {obs[outside][0]}, {action[outside][0]}")
        return cells.unbind(dim=1)

    def state_dict(self) -> State:
        """The table of visits."""
        return {"table": self._table.clone()}

    def load_state_dict(self, state: State) -> None:
        """Inverse of `state_dict`."""
        self._table.copy_(state["table"])
