"""Values of [obs, action], for exploration and discrete tasks, and actions to try them on."""

import numpy as np
import torch
from torch import Tensor

from baselines.nn.networks import MLP

_PAIRS = 1024  # (obs, action) pairs evaluated at a time, so that activations stay in cache
_CUT_STD = 0.87962566103423978  # standard deviation of a unit normal distribution cut at -2, 2


class QNetwork(MLP):
    """One value of [obs, action], each scaled to [-1, 1]."""

    _activations: Tensor | None = None  # (2, rows, H): working memory of `grid`

    def _initialise(self, rng: torch.Generator) -> None:
        """LeCun-normal weights, cut at two standard deviations as flax does; zero biases."""
        *hidden, last = self._weights  # (1, in, out); the last (1, out, in)
        for weight, fan_in in [*((w, w.shape[1]) for w in hidden), (last, last.shape[2])]:
            std = fan_in**-0.5 / _CUT_STD
            start = torch.empty(weight.shape, dtype=weight.dtype)
            cut = {"a": -2 * std, "b": 2 * std}
            weight.copy_(torch.nn.init.trunc_normal_(start, std=std, **cut, generator=rng))

    def grid(self, obs: Tensor, actions: Tensor) -> Tensor:
        """(B, O), (K, A) -> (B, K): every obs with every action.

        The first layer is the sum of an obs part and an action part: each is computed once.
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
        """Takes an amount from every value."""
        self._biases[-1].sub_(amount)

    def _blank(self, rows: int) -> tuple[Tensor, Tensor]:
        """Memory for activations, twice (rows, H): kept, as fresh pages cost half a product."""
        if self._activations is None or self._activations.shape[1] < rows:
            self._activations = self.params.new_empty(2, rows, self._weights[0].shape[2])
        return self._activations[0, :rows], self._activations[1, :rows]


def uniform_box(n: int, low: Tensor, high: Tensor, rng: torch.Generator) -> tuple[Tensor, Tensor]:
    """Uniform actions of a box, (n, A), each drawn once: log-multiplicities of zero, (n,)."""
    return torch.lerp(low, high, torch.rand(n, len(low), generator=rng)), torch.zeros(n)


def uniform_discrete(
    n: int, low: Tensor, high: Tensor, rng: torch.Generator
) -> tuple[Tensor, Tensor]:
    """Draws `n` times from the K whole actions in [low, high], and groups the draws.

    All actions (K, 1), and the log of how often each was drawn (K,): in a softmax the same as the
    n draws themselves, at the price of K.
    """
    kinds = int(high - low) + 1
    draws = torch.randint(kinds, (n,), generator=rng)
    return low + torch.arange(kinds)[:, None], draws.bincount(minlength=kinds).float().log()


class Scale:
    """A box -> [-1, 1], in float32; values outside the box go on in proportion."""

    def __init__(self, low: np.ndarray, high: np.ndarray, device: str) -> None:
        self.low = torch.tensor(low, dtype=torch.float32, device=device)
        self.high = torch.tensor(high, dtype=torch.float32, device=device)
        self._centre, self._gain = (self.low + self.high) / 2, 2 / (self.high - self.low)

    def __call__(self, values: Tensor) -> Tensor:
        """(..., D) in the box -> (..., D) in [-1, 1]."""
        return (values - self._centre) * self._gain
