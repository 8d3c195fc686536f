"""Three backends for the pseudo-count N(q) = sum_i w_i exp(-1/2 |q - x_i|^2) (Eq. 8).

A key is [obs part, action part], and its kernel (Eq. 6) is the product of the kernels of its parts.
A backend has two methods: `paired`, one count per (obs, action), and `grid`, the counts of every
obs with every action.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from baselines.nn.denormals import flushed_denormals

# Keys are multiplied by this, which turns exp(-1/2 |.|^2) into 2^(-1/2 |.|^2): exp2 costs a third
# of exp.
_BASE_TWO = math.sqrt(math.log2(math.e))
_LOWEST_POWER = -80 * math.log2(math.e)  # e^-80: exp2 is very slow where float32 is denormal
_NEAR = 192.0  # 1/2 |key|^2 up to which distances by float32 matrix product are exact enough
_KEOPS_NEAR = 8192.0  # the same for KeOps, which subtracts keys and so loses fewer digits
LONGEST = 1e30  # largest 1/2 |key|^2 accepted: float32 must hold it
BLOCK_VALUES = 2**18, 2**24  # kernel values per block: on a CPU, to stay in cache; on a GPU
_SERIES_DEGREE = 7  # of the action kernel's power series: relative error below 1e-6
_SERIES_REACH = 0.51  # largest |a . b| for which that holds: two actions, kernel width 1


class Normaliser:
    """Scales values in a box to float64 keys: 0 at its centre, 1 / scale from end to end (Eq. 7).

    Keys are centred because distances by matrix product lose digits far from 0.
    """

    def __init__(
        self, name: str, low: np.ndarray, high: np.ndarray, scale: float, device: torch.device
    ) -> None:
        low, high = np.asarray(low, np.float64), np.asarray(high, np.float64)
        if not np.all(low < high):
            raise ValueError(f"{name} bounds need low < high, got {low} and {high}")
        self._centre = torch.tensor((low + high) / 2, device=device)  # (D,)
        self._gain = torch.tensor(_BASE_TWO / (scale * (high - low)), device=device)  # (D,)

    def __call__(self, values: Any) -> Tensor:
        """Values (..., D) -> keys (B, D)."""
        rows = torch.as_tensor(values, dtype=torch.float64, device=self._gain.device)
        return (rows.reshape(-1, len(self._gain)) - self._centre) * self._gain


class ActionSeries:
    """The action kernel as a dot product of features: exp(-1/2 |a - b|^2) = f(a) . f(b).

    f holds the terms of the power series of exp(a . b), of which a few are enough when actions
    differ by no more than the kernel width, as in the paper. With f of its rows stored, a table
    needs no exponential for its actions.
    """

    def __init__(self, action_dim: int, device: torch.device) -> None:
        self._largest = _BASE_TWO * math.sqrt(_SERIES_REACH / action_dim)  # |coordinate| of a key
        powers = torch.arange(_SERIES_DEGREE + 1, device=device)
        self._powers = powers.double()
        self._norms = torch.lgamma(self._powers + 1).mul(0.5).exp()  # sqrt(k!)
        degrees = sum(torch.meshgrid(*[powers] * action_dim, indexing="ij"))
        self._kept = (torch.as_tensor(degrees).flatten() <= _SERIES_DEGREE).nonzero()[:, 0]

    @staticmethod
    def covers(action_dim: int, scale: float) -> bool:
        """Whether the series is exact and short for actions in bounds, with this kernel width."""
        return action_dim <= 2 and action_dim / (4 * scale**2) < _SERIES_REACH

    def covers_keys(self, keys: Tensor) -> bool:
        """Whether the series is exact for these keys (B, A)."""
        return keys.numel() == 0 or float(keys.abs().max()) <= self._largest

    @property
    def length(self) -> int:
        """The number of features."""
        return len(self._kept)

    def __call__(self, keys: Tensor) -> Tensor:
        """Action keys (B, A) -> features f (B, length), float32."""
        keys = keys / _BASE_TWO
        terms = keys[:, :, None] ** self._powers / self._norms  # (B, A, degree + 1)
        first, *others = terms.unbind(1)
        for other in others:
            first = (first[:, :, None] * other[:, None]).flatten(1)
        gauss = keys.square().sum(1, keepdim=True).mul_(-0.5).exp_()
        return (first[:, self._kept] * gauss).float()


class Block(NamedTuple):
    """Rows whose distances are computed together, in the precision of `lifted`."""

    lifted: Tensor  # (n, O + A + 4), float32 or float64
    weights: Tensor  # (n,) float32
    weighted: Tensor  # (n, series length) float32: weight times f of the row's action


@dataclass(frozen=True)
class Rows:
    """The used rows of a table, each part x lifted to [x, -1/2 |x|^2, 1].

    The dot product with a query lifted to [q, 1, -1/2 |q|^2] is then -1/2 |q - x|^2.
    """

    lifted: Tensor  # (n, O + A + 4) float64
    single: Tensor  # `lifted` in float32, stored because converting costs as much as a product
    weights: Tensor  # (n,) float64
    obs_dim: int
    reach: float  # upper bound of 1/2 |x|^2 over all parts of all rows
    series: ActionSeries | None  # of the action kernel, if it is exact
    features: Tensor  # (n, length of the series or 0) float32: f of each row's action

    @property
    def keys(self) -> Tensor:
        """(n, O + A): the rows without their lifting columns."""
        split = self.obs_dim + 2
        return torch.cat([self.lifted[:, : self.obs_dim], self.lifted[:, split:-2]], dim=1)

    @cached_property
    def by_precision(self) -> list[Block]:
        """All rows in float32, far ones with weight 0; then the far ones in float64, if any."""
        weights = self.weights.float()
        weighted = self.features * weights[:, None]
        if self.reach <= _NEAR:
            return [Block(self.single, weights, weighted)]
        far = (half_norms(self.lifted, self.obs_dim) > _NEAR).nonzero()[:, 0]
        distant = Block(self.lifted[far], weights[far], weighted[far])
        near = weights.index_fill(0, far, 0), weighted.index_fill(0, far, 0)
        return [Block(self.single, *near), distant]


def lift_rows(obs: Tensor, action: Tensor) -> Tensor:
    """(n, O), (n, A) -> (n, O + A + 4): keys as stored in `Rows.lifted`."""
    ones = torch.ones_like(obs[:, :1])
    return torch.cat([obs, _half_norm(obs), ones, action, _half_norm(action), ones], dim=1)


def row_kernel(lifted: Tensor, obs: Tensor, action: Tensor) -> Tensor:
    """(n, O + A + 4), (1, O), (1, A) -> (n,) float64: the kernel between one key and each row."""
    query = torch.cat([_lift_queries(obs), _lift_queries(action)], dim=1)[0]
    return torch.mv(lifted, query).clamp_(min=_LOWEST_POWER).exp2_()


def half_norms(lifted: Tensor, obs_dim: int) -> Tensor:
    """(n, O + A + 4) -> (n,): 1/2 |x|^2 of the longer part of each row."""
    return -torch.minimum(lifted[:, obs_dim], lifted[:, -2])


def _lift_queries(keys: Tensor) -> Tensor:
    """(B, D) -> (B, D + 2): queries lifted to [q, 1, -1/2 |q|^2]."""
    return torch.cat([keys, torch.ones_like(keys[:, :1]), _half_norm(keys)], dim=1)


def _half_norm(keys: Tensor) -> Tensor:
    return keys.square().sum(dim=1, keepdim=True).mul_(-0.5)


class ByProduct:
    """The fast backend: distances, and whole grids of counts, by matrix products.

    Distances by matrix product suffer from cancellation: in float32 the exponent's error is about
    3e-7 times the halved squared norms. Up to `_NEAR` the kernel is exact to 1e-4, and most rows
    are near. The far ones (observations may leave their typical range) are computed in float64, at
    twice the time. A far query and a near row need no care: their kernel is nearly 0.
    """

    def __init__(self) -> None:
        # Working memory, reused because allocating it costs as much as the arithmetic.
        self._memory: dict[str, Tensor] = {}

    def paired(self, rows: Rows, obs: Tensor, action: Tensor) -> Tensor:
        """(B, O), (B, A) -> (B,): the count of each obs with its own action."""
        queries = torch.cat([_lift_queries(obs), _lift_queries(action)], dim=1)
        total = torch.zeros(len(obs), device=obs.device)
        for block in self._blocks(rows, len(obs)):
            total.addmv_(self._kernel("pairs", block.lifted, queries).T, block.weights)
        return total

    @flushed_denormals()  # products of two small kernel values
    def grid(self, rows: Rows, obs: Tensor, actions: Tensor) -> Tensor:
        """N = (K_obs diag(w)) K_action^T: exact, from (B + K) n kernel values instead of B K n."""
        series = rows.series
        if series is not None and len(actions) > series.length:  # for fewer actions it is slower
            return self._with_series(rows, obs, series) @ series(actions).T
        split = rows.obs_dim + 2
        obs, actions = _lift_queries(obs), _lift_queries(actions)
        total = torch.zeros(len(obs), len(actions), device=obs.device)
        for block in self._blocks(rows, max(len(obs), len(actions))):
            action_kernel = self._kernel("action", block.lifted[:, split:], actions)  # (m, K)
            obs_kernel = self._kernel("obs", block.lifted[:, :split], obs)  # (m, B)
            total.addmm_(obs_kernel.T, action_kernel.mul_(block.weights[:, None]))
        return total

    def _with_series(self, rows: Rows, obs: Tensor, series: ActionSeries) -> Tensor:
        """K_obs diag(w) f(rows), (B, length of the series): times f(action) it is a count."""
        queries, split = _lift_queries(obs), rows.obs_dim + 2
        total = torch.zeros(len(obs), series.length, device=obs.device)
        for block in self._blocks(rows, len(obs)):
            obs_kernel = self._kernel("obs", block.lifted[:, :split], queries)  # (m, B)
            total.addmm_(obs_kernel.T, block.weighted)
        return total

    def _blocks(self, rows: Rows, width: int) -> Iterator[Block]:
        """Blocks of rows small enough for `width` kernel values per row."""
        length = max(256, BLOCK_VALUES[rows.lifted.device.type != "cpu"] // width)
        for whole in rows.by_precision:
            for start in range(0, len(whole.lifted), length):
                some = slice(start, start + length)
                yield Block(whole.lifted[some], whole.weights[some], whole.weighted[some])

    def _kernel(self, name: str, lifted: Tensor, queries: Tensor) -> Tensor:
        """(m, D + 2), (B, D + 2) -> (m, B): float32 kernel, distances in the precision of rows."""
        queries = queries.to(lifted.dtype).T
        powers = self._buffer(name, lifted, columns=queries.shape[1])
        torch.mm(lifted, queries, out=powers)
        return powers.float().clamp_(_LOWEST_POWER, 0).exp2_()

    def _buffer(self, name: str, like: Tensor, columns: int) -> Tensor:
        """Uninitialised working memory with as many rows as `like`."""
        size, key = len(like) * columns, f"{name} {like.dtype}"
        if key not in self._memory or self._memory[key].numel() < size:
            self._memory[key] = like.new_empty(size)
        return self._memory[key][:size].view(len(like), columns)


class ByPairs(ABC):
    """Base of backends that compute a grid of counts as the counts of all its pairs."""

    @abstractmethod
    def paired(self, rows: Rows, obs: Tensor, action: Tensor) -> Tensor:
        """(B, O), (B, A) -> (B,): the count of each obs with its own action."""

    def grid(self, rows: Rows, obs: Tensor, actions: Tensor) -> Tensor:
        """(B, O), (K, A) -> (B, K): the count of every obs with every action."""
        pairs = obs.repeat_interleave(len(actions), dim=0), actions.repeat(len(obs), 1)
        return self.paired(rows, *pairs).view(len(obs), len(actions))


class ByKeOps(ByPairs):
    """The paper's backend: a reduction compiled by KeOps, in float32 where that is exact."""

    def paired(self, rows: Rows, obs: Tensor, action: Tensor) -> Tensor:
        """(B, O), (B, A) -> (B,): the count of each obs with its own action."""
        dtype = torch.float32 if rows.reach <= _KEOPS_NEAR else torch.float64
        exponent = obs.new_tensor([-math.log(2) / 2])  # base 2, as keys hold `_BASE_TWO`
        inputs = torch.cat([obs, action], dim=1), rows.keys, rows.weights[:, None], exponent
        formula = _keops_formula(inputs[0].shape[1])
        return formula(*(x.to(dtype) for x in inputs))[:, 0]


@cache
def _keops_formula(dim: int) -> Callable[..., Tensor]:
    """The compiled reduction; compiling takes about ten seconds per key dimension."""
    from pykeops.torch import Genred

    variables = [f"x=Vi({dim})", f"y=Vj({dim})", "w=Vj(1)", "c=Pm(1)"]
    return Genred("Exp(c*SqDist(x,y))*w", variables, reduction_op="Sum", axis=1)


class ByLoop(ByPairs):
    """The reference implementation: one query at a time, in float64."""

    def paired(self, rows: Rows, obs: Tensor, action: Tensor) -> Tensor:
        """(B, O), (B, A) -> (B,): the count of each obs with its own action."""
        keys = rows.keys
        distances = ((keys - query).square().sum(dim=1) for query in torch.cat([obs, action], 1))
        return torch.stack([rows.weights @ torch.exp2(-0.5 * squared) for squared in distances])


BACKENDS: dict[str, type[ByProduct] | type[ByPairs]] = {
    "product": ByProduct,
    "keops": ByKeOps,
    "loop": ByLoop,
}
