"""Visit counts of (obs, action): kernel pseudo-counts, and exact counts for discrete tasks."""

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
        """Everything needed to resume exactly."""

    def load_state_dict(self, state: State) -> None:
        """Inverse of `state_dict`."""


def bandwidth(obs_dim: int, n: int = 2**22) -> float:
    """The kernel width sigma for observations in [0, 1]: the paper's rule of thumb (Eq. 10).

    The paper does not state `n`; 2**22 reproduces the published widths, the hallway's least
    closely.
    """
    return 0.3 * (4 / ((2 + obs_dim) * n)) ** (1 / (4 + obs_dim))


@dataclass(frozen=True)
class KernelConfig:
    """Hyperparameters of a kernel count; `state_scale` and `tolerance` are set by task."""

    state_scale: float = 0.1  # kernel width for observations in [0, 1]; see `bandwidth`
    state_factor: float = 1.0  # multiplies state_scale, for ablations of the kernel width
    tolerance: float = 0.9  # kernel value to share a row; authors' code: .9 or .5 (paper: .95)
    action_scale: float = 1.0  # kernel width for actions in [0, 1]; paper
    max_rows: int = 32768  # table size; paper
    backend: str = "product"  # implementation of the kernel sums: product, keops or loop

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
        """The kernel width for observations in [0, 1]."""
        return self.state_scale * self.state_factor


class KernelCount:
    """Pseudo-count N(key) = sum_i w_i exp(-1/2 |key - key_i|^2) over a table of visited keys.

    A key is [obs, action], normalised to [0, 1] by `bounds` (never clipped) and divided by the
    kernel widths: Eq. 6 to 8 and Appendix B of the paper. If the kernel between a visit and M > 0
    rows exceeds `tolerance`, the visit adds 1 / M to the weight of each; otherwise it takes a new
    row. When the table is full, a random row is evicted and its weight spread evenly over the
    others, so the weights always sum to the number of visits.
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
        self._size, self._reach = 0, 0.0  # rows in use; largest `half_norms` so far, evicted or not
        dim = len(bounds.action_low)
        covered = config.backend == "product" and ActionSeries.covers(dim, config.action_scale)
        self._series = ActionSeries(dim, self._device) if covered else None
        length = self._series.length if self._series else 0
        self._features = torch.zeros(config.max_rows, length, device=self._device)
        self._rows: Rows | None = None  # cache of `rows`; a visit clears it
        self._generator = torch.Generator().manual_seed(seed)  # on the CPU for every device

    def __len__(self) -> int:
        """Number of rows in use."""
        return self._size

    @property
    def rows(self) -> Rows:
        """The rows in use; views that the next visit changes."""
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
        """Returns the same keys; drops the series for good if it is not exact for all of them."""
        if self._series is not None and not self._series.covers_keys(action_keys):
            self._series = self._rows = None
        return action_keys

    def _insert(self, obs_key: Tensor, action_key: Tensor) -> None:
        """Adds a row of weight 1, in the next free slot or in that of an evicted row."""
        row = lift_rows(obs_key, action_key)
        length = float(half_norms(row, self._obs_dim))
        if not length < LONGEST:  # true for NaN too, which would turn every later count into NaN
            visits = round(float(self._weights[: self._size].sum()))
            raise FloatingPointError(
                f"step {visits + 1}: obs or action is not finite or far too large; normalised: "
                f"obs {obs_key}, action {action_key}"
            )
        slot = self._free_slot()
        self._lifted[slot], self._single[slot], self._weights[slot] = row[0], row[0], 1
        self._covered(action_key)
        if self._series is not None:
            self._features[slot] = self._series(action_key)[0]
        self._reach = max(self._reach, length)

    def _free_slot(self) -> int:
        """The index for a new row; evicts a random row if the table is full (Appendix B)."""
        if self._size < len(self._weights):
            self._size += 1
            return self._size - 1
        evicted = int(torch.randint(self._size, (), generator=self._generator))
        # Also adds to the evicted row's own weight, which the caller overwrites.
        self._weights += self._weights[evicted] / (self._size - 1)
        return evicted

    def state_dict(self) -> State:
        """The rows in use, their weights and the random stream of evictions."""
        rows = self.rows
        return {
            "lifted": rows.lifted.clone(),
            "weights": rows.weights.clone(),
            "reach": self._reach,
            "generator": self._generator.get_state(),
        }

    def load_state_dict(self, state: State) -> None:
        """Inverse of `state_dict`; ValueError if the saved table does not fit into this one."""
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
    """Exact visit counts for integer observations and one integer action."""

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
        cell = self._cells(*self._as_rows(obs, action))
        count = float(self._table[cell])
        self._table[cell] += 1
        return count

    def paired(self, obs: Any, action: Any) -> Tensor:
        """(B, O), (B, A) -> (B,): the count of each obs with its own action."""
        return self._table[self._cells(*self._as_rows(obs, action))].float()

    def grid(self, obs: Any, actions: Any) -> Tensor:
        """(B, O), (K, A) -> (B, K): the count of every obs with every action."""
        rows, columns = self._as_rows(obs, actions)
        pairs = rows.repeat_interleave(len(columns), dim=0), columns.repeat(len(rows), 1)
        return self._table[self._cells(*pairs)].float().view(len(rows), len(columns))

    def _as_rows(self, obs: Any, action: Any) -> tuple[Tensor, Tensor]:
        """Observations and actions of any shape -> float64 rows, (B, O) and (K, 1)."""
        obs = torch.as_tensor(obs, dtype=torch.float64, device=self._low.device)
        action = torch.as_tensor(action, dtype=torch.float64, device=self._low.device)
        return obs.reshape(-1, len(self._low) - 1), action.reshape(-1, 1)

    def _cells(self, obs: Tensor, action: Tensor) -> tuple[Tensor, ...]:
        """(B, O), (B, 1) -> one index (B,) per axis of the table; ValueError outside of it."""
        cells = (torch.cat([obs, action], dim=1) - self._low).round().long()
        outside = ((cells < 0) | (cells >= self._shape)).any(dim=1)
        if outside.any():
            raise ValueError(f"outside the table: {obs[outside][0]}, {action[outside][0]}")
        return cells.unbind(dim=1)

    def state_dict(self) -> State:
        """The table of counts."""
        return {"table": self._table.clone()}

    def load_state_dict(self, state: State) -> None:
        """Inverse of `state_dict`."""
        self._table.copy_(state["table"])
