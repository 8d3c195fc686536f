"""The `Bonus` protocol, and the paper's bonus: the inverse root of a count of visits."""

from collections.abc import Callable
from typing import Any, Protocol

import torch
from torch import Tensor

from baselines.agent import State
from baselines.bonuses.counts import Count
from baselines.nn.replay import Batch

Sample = Callable[[int], Batch]  # n -> n transitions drawn from what the agent has stored

_FIRST_COUNT = 1e-8  # keeps the bonus of a never visited key finite before the cap; authors' value


class Bonus(Protocol):
    """How new an (obs, action) is, in [0, 1]; tensors are float32, on the bonus's device.

    Given to BBE and SAC 2Q, which store what `visit` returns, and to DEEP, which asks again at
    every update.
    """

    def visit(self, obs: Any, action: Any) -> float:
        """The bonus of one (obs, action) before this visit; then records the visit."""

    def paired(self, obs: Any, action: Any) -> Tensor:
        """(B, O), (B, A) -> (B,): the present bonus of each obs with its own action."""

    def grid(self, obs: Any, actions: Any) -> Tensor:
        """(B, O), (K, A) -> (B, K): the present bonus of every obs with every action."""

    def trust(self, obs: Any, actions: Any) -> Tensor:
        """(B, O), (K, A) -> (B, K) in [0, 1]: how far DEEP believes what it has learnt there.

        Where it is 0, DEEP takes the largest possible value instead: optimism.
        """

    def update(self, sample: Sample) -> dict[str, float]:
        """One step of learning, called once per environment step; {} where nothing is learnt."""

    def state_dict(self) -> State:
        """Everything needed to resume exactly."""

    def load_state_dict(self, state: State) -> None:
        """Inverse of `state_dict`."""


class CountBonus:
    """The paper's: bonus min(1, N^-1/2) and trust sqrt(N / (N + c)) of a count N of visits."""

    def __init__(self, count: Count, prior_count: float) -> None:
        self.count, self._prior_count = count, prior_count

    def visit(self, obs: Any, action: Any) -> float:
        """The bonus of one (obs, action) before this visit; then counts the visit."""
        # As a float32 tensor, like all other bonuses: the same count gives the same bonus.
        return float(bonus_of(torch.tensor(self.count.visit(obs, action))))

    def paired(self, obs: Any, action: Any) -> Tensor:
        """(B, O), (B, A) -> (B,): the present bonus of each obs with its own action."""
        return bonus_of(self.count.paired(obs, action))

    def grid(self, obs: Any, actions: Any) -> Tensor:
        """(B, O), (K, A) -> (B, K): the present bonus of every obs with every action."""
        return bonus_of(self.count.grid(obs, actions))

    def trust(self, obs: Any, actions: Any) -> Tensor:
        """(B, O), (K, A) -> (B, K): the weight of the learned value, sqrt(N / (N + c))."""
        counts = self.count.grid(obs, actions)
        return (counts / (counts + self._prior_count)).sqrt_()

    def update(self, sample: Sample) -> dict[str, float]:
        """Counts have nothing to learn."""
        return {}

    def state_dict(self) -> State:
        """The counts."""
        return self.count.state_dict()

    def load_state_dict(self, state: State) -> None:
        """Inverse of `state_dict`."""
        self.count.load_state_dict(state)


def bonus_of(counts: Tensor) -> Tensor:
    """min(1, N^-1/2): one for the unseen, falling as the inverse root of the visits."""
    return (counts + _FIRST_COUNT).rsqrt().clamp(max=1)


class BonusMean:
    """The mean of the bonuses since it was last asked for, as progress shows it."""

    def __init__(self) -> None:
        self._total, self._visits = 0.0, 0

    def add(self, bonus: float) -> None:
        """Takes in the bonus of one visit."""
        self._total, self._visits = self._total + bonus, self._visits + 1

    def pop(self) -> dict[str, float]:
        """{"explore_bonus": mean}, {} without visits; then starts again."""
        mean = {"explore_bonus": self._total / self._visits} if self._visits else {}
        self._total, self._visits = 0.0, 0
        return mean

    def state_dict(self) -> State:
        """What the next mean is of."""
        return {"total": self._total, "visits": self._visits}

    def load_state_dict(self, state: State) -> None:
        """Inverse of `state_dict`."""
        self._total, self._visits = state["total"], state["visits"]
