"""Kernel sums over weighted rows, N(q) = sum_i w_i exp(-1/2 |q - x_i|^2), in three ways.

A key is [obs part, action part], and its kernel is the product of the kernels of its parts. A
backend answers two questions: `paired`, one count per (obs, action), and `grid`, the counts of
every obs with every action.
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

# Keys carry this factor, so that exp(-1/2 |.|^2) is 2^(-1/2 |.|^2): exp2 costs a third of exp.
_BASE_TWO = math.sqrt(math.log2(math.e))
_LOWEST_POWER = -80 * math.log2(math.e)  # e^-80: below float32's normal range exp2 is very slow
_NEAR = 192.0  # halved squared norm of a key up to which float32 is exact enough
_KEOPS_NEAR = 8192.0  # the same where keys are subtracted, and only their rounding counts
LONGEST = 1e30  # 1/2 |key|^2 of what float32 can still hold; a longer key is a broken world
_BLOCK_VALUES = 2**18, 2**24  # kernel values in work at a time: in a CPU's cache; on a GPU
_SERIES_DEGREE = 7  # of the action kernel's power series: wrong by less than 1e-6 of its value
_SERIES_REACH = 0.51  # largest |a . b| that the degree is enough for: two actions of width 1


class Normaliser:
    """Values in a box -> float64 rows of keys, zero at its centre and 1 / scale from end to end.

    Centred because distances by matrix product lose digits far from zero.
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
        """(..., D) -> (B, D)."""
        rows = torch.as_tensor(values, dtype=torch.float64, device=self._gain.device)
        return (rows.reshape(-1, len(self._gain)) - self._centre) * self._gain


class ActionSeries:
    """The action kernel as a short sum of products: exp(-1/2 |a - b|^2) = f(a) . f(b).

    exp(a . b) is a power series in the products of powers of a and b, and short where actions lie
    close together in units of the kernel's width, as they do in the paper. A table that keeps f of
    its rows answers for any number of actions without a single exponential of them.
    """

    def __init__(self, action_dim: int, device: torch.device) -> None:
        self._longest = _BASE_TWO * math.sqrt(_SERIES_REACH / action_dim)  # of one coordinate
        powers = torch.arange(_SERIES_DEGREE + 1, device=device)
        self._powers = powers.double()
        self._norms = torch.lgamma(self._powers + 1).mul(0.5).exp()  # sqrt(k!)
        degrees = sum(torch.meshgrid(*[powers] * action_dim, indexing="ij"))
        self._kept = (torch.as_tensor(degrees).flatten() <= _SERIES_DEGREE).nonzero()[:, 0]

    @staticmethod
    def covers(action_dim: int, scale: float) -> bool:
        """Whether it is exact, and short, for keys of this many actions of this kernel width."""
        return action_dim <= 2 and action_dim / (4 * scale**2) < _SERIES_REACH

    def covers_keys(self, keys: Tensor) -> bool:
        """Whether these keys (B, A) are within the range of actions that it is exact for."""
        return keys.numel() == 0 or float(keys.abs().max()) <= self._longest

    @property
    def length(self) -> int:
        """How many numbers f has."""
        return len(self._kept)

    def __call__(self, keys: Tensor) -> Tensor:
        """Action keys (B, A) -> f (B, length), float32."""
        keys = keys / _BASE_TWO
        terms = keys[:, :, None] ** self._powers / self._norms  # (B, A, degree + 1)
        first, *others = terms.unbind(1)
        for other in others:
            first = (first[:, :, None] * other[:, None]).flatten(1)
        gauss = keys.square().sum(1, keepdim=True).mul_(-0.5).exp_()
        return (first[:, self._kept] * gauss).float()


class Part(NamedTuple):
    """Rows whose distances are computed in one precision."""

    lifted: Tensor  # (n, O + A + 4), float32 or float64
    weights: Tensor  # (n,) float32
    weighted: Tensor  # (n, series length) float32: weight times f of the row's action


@dataclass(frozen=True)
class Rows:
    """The used rows of a table, lifted: a part x is stored as [x, -1/2 |x|^2, 1].

    The product with a query lifted to [q, 1, -1/2 |q|^2] is then -1/2 |q - x|^2.
    """

    lifted: Tensor  # (n, O + A + 4) float64
    single: Tensor  # the same in float32, kept because converting costs as much as a product
    weights: Tensor  # (n,) float64
    obs_dim: int
    reach: float  # no part of a row is longer, in 1/2 |x|^2
    series: ActionSeries | None  # of the action kernel, where one covers it
    features: Tensor  # (n, series length, or 0) float32: f of each row's action

    @property
    def keys(self) -> Tensor:
        """(n, O + A): the rows without their lifting columns."""
        split = self.obs_dim + 2
        return torch.cat([self.lifted[:, : self.obs_dim], self.lifted[:, split:-2]], dim=1)

    @cached_property
    def parts(self) -> list[Part]:
        """All rows for float32, far ones without weight, then only the far ones for float64."""
        weights = self.weights.float()
        weighted = self.features * weights[:, None]
        if self.reach <= _NEAR:
            return [Part(self.single, weights, weighted)]
        far = (half_norms(self.lifted, self.obs_dim) > _NEAR).nonzero()[:, 0]
        distant = Part(self.lifted[far], weights[far], weighted[far])
        near = weights.index_fill(0, far, 0), weighted.index_fill(0, far, 0)
        return [Part(self.single, *near), distant]


def lift_rows(obs: Tensor, action: Tensor) -> Tensor:
    """(n, O), (n, A) -> (n, O + A + 4): both parts lifted as rows are stored."""
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
    """(B, D) -> (B, D + 2)."""
    return torch.cat([keys, torch.ones_like(keys[:, :1]), _half_norm(keys)], dim=1)


def _half_norm(keys: Tensor) -> Tensor:
    return keys.square().sum(dim=1, keepdim=True).mul_(-0.5)


class ByProduct:
    """The fast backend: distances, and whole grids of counts, by matrix products.

    Distances by matrix product cancel: in float32 a power of two is wrong by some 3e-7 of the
    halved squared norms. Up to `_NEAR` the kernel stays right to 1e-4, and most rows are near. The
    far ones (observations leave their range) go through float64, which takes twice the time.
    Between a near row and a query so far that float32 fails it too, the kernel is nearly zero.
    """

    def __init__(self) -> None:
        self._memory: dict[str, Tensor] = {}  # fresh pages would cost as much as the arithmetic

    def paired(self, rows: Rows, obs: Tensor, action: Tensor) -> Tensor:
        """(B, O), (B, A) -> (B,)."""
        queries = torch.cat([_lift_queries(obs), _lift_queries(action)], dim=1)
        total = torch.zeros(len(obs), device=obs.device)
        for part in self._blocks(rows, len(obs)):
            total.addmv_(self._kernel("pairs", part.lifted, queries).T, part.weights)
        return total

    def grid(self, rows: Rows, obs: Tensor, actions: Tensor) -> Tensor:
        """N = (K_obs diag(w)) K_action^T: exact, from (B + K) n kernel values instead of B K n."""
        series = rows.series
        if series is not None and len(actions) > series.length:  # fewer are cheaper without
            return self._with_series(rows, obs, series) @ series(actions).T
        split = rows.obs_dim + 2
        obs, actions = _lift_queries(obs), _lift_queries(actions)
        total = torch.zeros(len(obs), len(actions), device=obs.device)
        for part in self._blocks(rows, max(len(obs), len(actions))):
            action_kernel = self._kernel("action", part.lifted[:, split:], actions)  # (m, K)
            obs_kernel = self._kernel("obs", part.lifted[:, :split], obs)  # (m, B)
            total.addmm_(obs_kernel.T, action_kernel.mul_(part.weights[:, None]))
        return total

    def _with_series(self, rows: Rows, obs: Tensor, series: ActionSeries) -> Tensor:
        """K_obs diag(w) f(rows), (B, series length): its product with f(action) is a count."""
        queries, split = _lift_queries(obs), rows.obs_dim + 2
        total = torch.zeros(len(obs), series.length, device=obs.device)
        for part in self._blocks(rows, len(obs)):
            obs_kernel = self._kernel("obs", part.lifted[:, :split], queries)  # (m, B)
            total.addmm_(obs_kernel.T, part.weighted)
        return total

    def _blocks(self, rows: Rows, width: int) -> Iterator[Part]:
        """Runs of rows, in float32 where that is exact, for `width` kernel values per row."""
        length = max(256, _BLOCK_VALUES[rows.lifted.device.type != "cpu"] // width)
        for part in rows.parts:
            for start in range(0, len(part.lifted), length):
                block = slice(start, start + length)
                yield Part(part.lifted[block], part.weights[block], part.weighted[block])

    def _kernel(self, name: str, lifted: Tensor, queries: Tensor) -> Tensor:
        """(m, D + 2), (B, D + 2) -> (m, B) float32, with distances in the rows' precision."""
        queries = queries.to(lifted.dtype).T
        powers = self._buffer(name, lifted, columns=queries.shape[1])
        torch.mm(lifted, queries, out=powers)
        return powers.float().clamp_(_LOWEST_POWER, 0).exp2_()

    def _buffer(self, name: str, like: Tensor, columns: int) -> Tensor:
        """Working memory with as many rows as `like`; its content is arbitrary."""
        size, key = len(like) * columns, f"{name} {like.dtype}"
        if key not in self._memory or self._memory[key].numel() < size:
            self._memory[key] = like.new_empty(size)
        return self._memory[key][:size].view(len(like), columns)


class ByPairs(ABC):
    """A backend that knows single counts only: a grid is all its pairs."""

    @abstractmethod
    def paired(self, rows: Rows, obs: Tensor, action: Tensor) -> Tensor:
        """(B, O), (B, A) -> (B,)."""

    def grid(self, rows: Rows, obs: Tensor, actions: Tensor) -> Tensor:
        """(B, O), (K, A) -> (B, K)."""
        pairs = obs.repeat_interleave(len(actions), dim=0), actions.repeat(len(obs), 1)
        return self.paired(rows, *pairs).view(len(obs), len(actions))


class ByKeOps(ByPairs):
    """The paper's own: a lazy reduction compiled by KeOps, in float32 while that is exact."""

    def paired(self, rows: Rows, obs: Tensor, action: Tensor) -> Tensor:
        """(B, O), (B, A) -> (B,)."""
        dtype = torch.float32 if rows.reach <= _KEOPS_NEAR else torch.float64
        exponent = obs.new_tensor([-math.log(2) / 2])
        inputs = torch.cat([obs, action], dim=1), rows.keys, rows.weights[:, None], exponent
        formula = _keops_formula(inputs[0].shape[1])
        return formula(*(x.to(dtype) for x in inputs))[:, 0]


@cache
def _keops_formula(dim: int) -> Callable[..., Tensor]:
    """Compiled once per key dimension, in some ten seconds; hence one formula for all."""
    from pykeops.torch import Genred

    variables = [f"x=Vi({dim})", f"y=Vj({dim})", "w=Vj(1)", "c=Pm(1)"]
    return Genred("Exp(c*SqDist(x,y))*w", variables, reduction_op="Sum", axis=1)


class ByLoop(ByPairs):
    """The plain reference: one query at a time, in float64."""

    def paired(self, rows: Rows, obs: Tensor, action: Tensor) -> Tensor:
        """(B, O), (B, A) -> (B,)."""
        keys = rows.keys
        distances = ((keys - query).square().sum(dim=1) for query in torch.cat([obs, action], 1))
        return torch.stack([rows.weights @ torch.exp2(-0.5 * squared) for squared in distances])


BACKENDS: dict[str, type[ByProduct] | type[ByPairs]] = {
    "product": ByProduct,
    "keops": ByKeOps,
    "loop": ByLoop,
}
