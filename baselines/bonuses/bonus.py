"""The `Bonus` protocol, and the paper's count-based bonus N^-1/2 (Eq. 1)."""

from collections.abc import Callable
from typing import Any, Protocol

import torch
from torch import Tensor

from baselines.agent import State, Stateful
from baselines.bonuses.counts import Count
from baselines.nn.replay import Batch

Sampler = Callable[[int], Batch]  # n -> n transitions from the agent's replay buffer

_COUNT_EPSILON = 1e-8  # added to counts, as N = 0 would divide by zero; authors' code


class Bonus(Protocol):
    """The novelty of (obs, action), in [0, 1]; tensors are float32, on the bonus's device.

    BBE and SAC 2Q store what `visit` returns; DEEP recomputes bonuses at every update.
    """

    def visit(self, obs: Any, action: Any) -> float:
        """The bonus of one (obs, action) before this visit; then records the visit."""

    def paired(self, obs: Any, action: Any) -> Tensor:
        """(B, O), (B, A) -> (B,): the current bonus of each obs with its own action."""

    def grid(self, obs: Any, actions: Any) -> Tensor:
        """(B, O), (K, A) -> (B, K): the current bonus of every obs with every action."""

    def trust(self, obs: Any, actions: Any) -> Tensor:
        """(B, O), (K, A) -> (B, K) in [0, 1]: w in Eq. 3, the weight of DEEP's learned Q.

        The remaining weight goes to the largest possible Q (optimism).
        """

    def update(self, sample: Sampler) -> dict[str, float]:
        """One gradient step of a learned bonus, called once per environment step.

        Returns its losses; {} for a bonus without parameters.
        """

    def state_dict(self) -> State:
        """Everything needed to resume exactly."""

    def load_state_dict(self, state: State) -> None:
        """Inverse of `state_dict`."""


class CountBonus:
    """The paper's bonus min(1, N^-1/2) (Eq. 1) and trust sqrt(N / (N + c)) (Eq. 3) of a count N."""

    def __init__(self, count: Count, prior_count: float) -> None:
        self.count, self._prior_count = count, prior_count

    def visit(self, obs: Any, action: Any) -> float:
        """The bonus of one (obs, action) before this visit; then records the visit."""
        # In float32 like all other bonuses, so that the same count gives the same bonus.
        return float(bonus_of(torch.tensor(self.count.visit(obs, action))))

    def paired(self, obs: Any, action: Any) -> Tensor:
        """(B, O), (B, A) -> (B,): the current bonus of each obs with its own action."""
        return bonus_of(self.count.paired(obs, action))

    def grid(self, obs: Any, actions: Any) -> Tensor:
        """(B, O), (K, A) -> (B, K): the current bonus of every obs with every action."""
        return bonus_of(self.count.grid(obs, actions))

    def trust(self, obs: Any, actions: Any) -> Tensor:
        """(B, O), (K, A) -> (B, K): the weight of the learned Q, sqrt(N / (N + c)) (Eq. 3)."""
        counts = self.count.grid(obs, actions)
        return (counts / (counts + self._prior_count)).sqrt_()

    def update(self, sample: Sampler) -> dict[str, float]:
        """Does nothing: counts have no parameters."""
        return {}

    def state_dict(self) -> State:
        """The counts."""
        return self.count.state_dict()

    def load_state_dict(self, state: State) -> None:
        """Inverse of `state_dict`."""
        self.count.load_state_dict(state)


def bonus_of(counts: Tensor) -> Tensor:
    """min(1, N^-1/2) (Eq. 1): 1 if never visited."""
    return (counts + _COUNT_EPSILON).rsqrt().clamp(max=1)


class BonusMean(Stateful):
    """Mean bonus since the last `pop`, for progress reports."""

    STATE = {"total": "_total", "visits": "_visits"}

    def __init__(self) -> None:
        self._total, self._visits = 0.0, 0

    def add(self, bonus: float) -> None:
        """Adds the bonus of one visit."""
        self._total, self._visits = self._total + bonus, self._visits + 1

    def pop(self) -> dict[str, float]:
        """Returns {"explore_bonus": mean}, or {} without visits, and resets the mean."""
        mean = {"explore_bonus": self._total / self._visits} if self._visits else {}
        self._total, self._visits = 0.0, 0
        return mean
