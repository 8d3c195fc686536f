"""Q(obs, action) as one network of both inputs, and uniform candidate actions."""

import numpy as np
import torch
from torch import Tensor

from baselines.nn.networks import MLP

_PAIRS = 1024  # (obs, action) pairs evaluated at a time, so that activations stay in cache
_TRUNCATED_STD = 0.87962566103423978  # standard deviation of a unit normal truncated to [-2, 2]


class QNetwork(MLP):
    """Q(obs, action), with observations and actions scaled to [-1, 1]."""

    _activations: Tensor | None = None  # (2, rows, H): working memory of `grid`

    def _initialise(self, rng: torch.Generator) -> None:
        """LeCun-normal weights truncated at two standard deviations, as in flax; zero biases."""
        *hidden, last = self._weights  # (1, in, out); the last (1, out, in)
        for weight, fan_in in [*((w, w.shape[1]) for w in hidden), (last, last.shape[2])]:
            std = fan_in**-0.5 / _TRUNCATED_STD
            start = torch.empty(weight.shape, dtype=weight.dtype)
            limits = {"a": -2 * std, "b": 2 * std}
            weight.copy_(torch.nn.init.trunc_normal_(start, std=std, **limits, generator=rng))

    def grid(self, obs: Tensor, actions: Tensor) -> Tensor:
        """(B, O), (K, A) -> (B, K): the value of every obs with every action.

        The first layer is the sum of an obs part and an action part, each computed only once.
        """
        (first, *inner, last), (bias, *biases, last_bias) = self._weights, self._biases
        obs_part = obs @ first[0, : obs.shape[1]]  # (B, H)
        action_part = torch.addmm(bias[0], actions, first[0, obs.shape[1] :])  # (K, H)
        values = []
        for part in obs_part.split(max(1, _PAIRS // len(actions))):
            x, spare = self._blank(len(part) * len(actions))  # (b * K, H)
            torch.add(part[:, None], action_part, out=x.view(len(part), *action_part.shape)).relu_()
            for weight, bias in zip(inner, biases, strict=True):
                x, spare = torch.addmm(bias[0], x, weight[0], out=spare).relu_(), x
            values.append(x @ last[0, 0])
        return torch.cat(values).add_(last_bias[0, 0]).view(len(obs), len(actions))

    def lower(self, amount: Tensor) -> None:
        """Subtracts an amount from every value, through the output bias."""
        self._biases[-1].sub_(amount)

    def _blank(self, rows: int) -> tuple[Tensor, Tensor]:
        """Uninitialised memory for activations, twice (rows, H); reused, as allocating is slow."""
        if self._activations is None or self._activations.shape[1] < rows:
            self._activations = self.params.new_empty(2, rows, self._weights[0].shape[2])
        return self._activations[0, :rows], self._activations[1, :rows]


def uniform_box(n: int, low: Tensor, high: Tensor, rng: torch.Generator) -> tuple[Tensor, Tensor]:
    """`n` uniform actions of a box (n, A), and zeros (n,): the log of how often each was drawn."""
    return torch.lerp(low, high, torch.rand(n, len(low), generator=rng)), torch.zeros(n)


def uniform_discrete(
    n: int, low: Tensor, high: Tensor, rng: torch.Generator
) -> tuple[Tensor, Tensor]:
    """`n` uniform draws of the K discrete actions in [low, high], grouped by action.

    Returns all actions (K, 1) and the log of how often each was drawn (K,). Added to the logits of
    a softmax it gives the softmax over the n draws, at the cost of K.
    """
    actions = int(high - low) + 1
    draws = torch.randint(actions, (n,), generator=rng)
    return low + torch.arange(actions)[:, None], draws.bincount(minlength=actions).float().log()


class Scale:
    """Linear map of a box to [-1, 1], in float32; values outside the box are not clipped."""

    def __init__(self, low: np.ndarray, high: np.ndarray, device: str) -> None:
        self.low = torch.tensor(low, dtype=torch.float32, device=device)
        self.high = torch.tensor(high, dtype=torch.float32, device=device)
        self._centre, self.factor = (self.low + self.high) / 2, 2 / (self.high - self.low)

    def __call__(self, values: Tensor) -> Tensor:
        """(..., D) in the box -> (..., D) in [-1, 1]."""
        return (values - self._centre) * self.factor
