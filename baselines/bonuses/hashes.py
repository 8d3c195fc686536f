"""SimHash counts (Tang et al., 2017): visits are counted by a hash, k signs of random projections.

Keys with the same hash are counted together: random planes cut the space into cells. Different from
Tang et al.: a key is an observation with its action, not an observation alone, because BBE and DEEP
ask for counts of both; the action weighs less, much as in the kernel counts, whose kernel is far
wider in actions; every key contains a constant, so that planes need not pass through the centre of
the box; the visits of a hash are counted exactly, not by a counting Bloom filter; and the bonus is
the paper's (Eq. 1), of the visits before this one.
"""

from collections import OrderedDict
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from baselines.agent import Bounds, State, check_ranges
from explore_suite.errors import SettingError

_MOST_BITS = 64  # a hash is stored as one 64-bit integer


@dataclass(frozen=True)
class HashConfig:
    """Hyperparameters of a SimHash count."""

    bits: int = 32  # k, random planes; Tang et al. for continuous control
    action_weight: float = 0.1  # scale of actions against observations; about the kernel counts'
    max_hashes: int = 1_048_576  # stored; beyond these, over 1000 episodes, the oldest is dropped

    def __post_init__(self) -> None:
        if not 1 <= self.bits <= _MOST_BITS:
            raise SettingError(f"bits must be 1 to {_MOST_BITS}, got {self.bits}")
        check_ranges(self, positive="max_hashes", fractions="")


class HashCount:
    """Counts visits by the hash sign(A [obs, action_weight * action, 1]); A is standard normal.

    Observations and actions are scaled to [-1, 1] by `bounds` (never clipped). A projection is the
    sum of an obs part and an action part, so that a grid needs each of them once.
    """

    def __init__(
        self, bounds: Bounds, config: HashConfig, *, seed: int, device: torch.device | str = "cpu"
    ) -> None:
        self.config, self._device = config, torch.device(device)
        self._obs_low, self._obs_high = _box(bounds.obs_low, bounds.obs_high)
        self._action_low, self._action_high = _box(bounds.action_low, bounds.action_high)
        width = len(bounds.obs_low) + len(bounds.action_low) + 1
        rng = torch.Generator().manual_seed(seed)
        normals = torch.randn(width, config.bits, generator=rng, dtype=torch.float64)
        self._planes: np.ndarray = normals.numpy()  # (O + A + 1, bits)
        self._visits: OrderedDict[int, int] = OrderedDict()  # by hash, the oldest first

    def __len__(self) -> int:
        """Number of hashes stored."""
        return len(self._visits)

    def visit(self, obs: Any, action: Any) -> float:
        """The count of one (obs, action) before this visit; then records the visit."""
        (key_hash,) = _hashes(self._obs_part(obs) + self._action_part(action)).tolist()
        count = self._visits.get(key_hash, 0)
        self._visits[key_hash] = count + 1
        if len(self._visits) > self.config.max_hashes:
            self._visits.popitem(last=False)
        return float(count)

    def paired(self, obs: Any, action: Any) -> Tensor:
        """(B, O), (B, A) -> (B,): the count of each obs with its own action."""
        return self._counts(_hashes(self._obs_part(obs) + self._action_part(action)))

    def grid(self, obs: Any, actions: Any) -> Tensor:
        """(B, O), (K, A) -> (B, K): the count of every obs with every action."""
        return self._counts(_hashes(self._obs_part(obs)[:, None] + self._action_part(actions)))

    def _obs_part(self, obs: Any) -> np.ndarray:
        """(B, O) -> (B, bits): the projection of the observation and of the constant."""
        keys = _scaled(obs, self._obs_low, self._obs_high)
        return keys @ self._planes[: keys.shape[1]] + self._planes[-1]

    def _action_part(self, action: Any) -> np.ndarray:
        """(K, A) -> (K, bits): the projection of the action."""
        keys = _scaled(action, self._action_low, self._action_high)
        return (self.config.action_weight * keys) @ self._planes[-1 - keys.shape[1] : -1]

    def _counts(self, hashes: np.ndarray) -> Tensor:
        found = [self._visits.get(key_hash, 0) for key_hash in hashes.ravel().tolist()]
        return torch.tensor(found, dtype=torch.float32, device=self._device).view(hashes.shape)

    def state_dict(self) -> State:
        """The planes, and the hashes with their visits, the oldest first."""
        hashes, visits = list(self._visits), list(self._visits.values())
        return {
            "planes": torch.from_numpy(self._planes.copy()),
            "hashes": torch.tensor(hashes, dtype=torch.int64),
            "visits": torch.tensor(visits, dtype=torch.int64),
        }

    def load_state_dict(self, state: State) -> None:
        """Inverse of `state_dict`; ValueError if the saved planes have another shape."""
        planes = state["planes"].cpu().numpy()
        if planes.shape != self._planes.shape:
            raise ValueError(f"planes {planes.shape} do not fit {self._planes.shape}")
        self._planes = planes.copy()
        hashes, visits = state["hashes"].tolist(), state["visits"].tolist()
        self._visits = OrderedDict(zip(hashes, visits, strict=True))


def _box(low: np.ndarray, high: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return np.asarray(low, np.float64), np.asarray(high, np.float64)


def _scaled(values: Any, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """(..., D) -> (B, D), scaled from the box to [-1, 1].

    In float64: a sign must not depend on rounding.
    """
    rows = values.cpu().numpy() if isinstance(values, Tensor) else np.asarray(values)
    return (2 * rows.astype(np.float64).reshape(-1, len(low)) - low - high) / (high - low)


def _hashes(projections: np.ndarray) -> np.ndarray:
    """(..., bits) -> (...,): the signs of each row, packed into one integer."""
    packed = np.packbits(projections >= 0, axis=-1)  # (..., bytes)
    padded = np.zeros((*packed.shape[:-1], 8), np.uint8)
    padded[..., : packed.shape[-1]] = packed
    return padded.view(np.int64)[..., 0]
