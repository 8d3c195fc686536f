"""Random network distillation (Burda et al., 2018): the bonus is a prediction error.

A predictor learns the outputs of a fixed random network at visited observations; its error is large
where it has not been trained. Different from Burda et al.: the bonus of a step is that of the
observation it starts from, not of the one it leads to; observations are vectors scaled by the
task's typical range, not images whitened by running moments; the error is divided by its own
running standard deviation, not by that of a discounted return; the bonus is capped at 1 like all
bonuses; and BBE adds it to the reward of one critic, where theirs has a value of its own. It learns
by ordinary autograd: a bonus needs no hand-written gradients.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import torch
from torch import Tensor, nn

from baselines.agent import Bounds, State, check_ranges
from baselines.bonuses.bonus import Sampler
from baselines.nn.networks import spawn_seeds
from baselines.nn.q_network import Scale


@dataclass(frozen=True)
class RNDConfig:
    """Hyperparameters of RND; networks are far smaller than those of Burda et al. for images."""

    hidden: int = 64  # units per hidden layer of predictor and random network
    layers: int = 2  # hidden layers
    features: int = 16  # outputs of both networks
    learning_rate: float = 1e-4  # Adam's; Burda et al.
    batch_size: int = 64  # transitions per update, one update per environment step

    def __post_init__(self) -> None:
        check_ranges(self, positive="hidden layers features learning_rate batch_size", fractions="")


class RND:
    """The bonus min(1, e / sd), where e is the mean squared prediction error at an observation.

    `sd` is the standard deviation of e over all visits so far; actions are ignored. RND gives no
    estimate of how reliable a learned value is, so its trust is 1: DEEP with this bonus has no
    optimism.
    """

    def __init__(
        self, bounds: Bounds, config: RNDConfig, *, seed: int, device: str = "cpu"
    ) -> None:
        self.config = config
        self._scale = Scale(bounds.obs_low, bounds.obs_high, device)
        sizes = [len(bounds.obs_low), *[config.hidden] * config.layers, config.features]
        seeds = spawn_seeds(seed, 2)
        self._predictor, self._random = (_network(sizes, seed, device) for seed in seeds)
        self._random.requires_grad_(False)
        self._adam = torch.optim.Adam(self._predictor.parameters(), config.learning_rate)
        # Welford's count, mean and sum of squared deviations of the errors at visits.
        self._visits, self._mean, self._squares = 0, 0.0, 0.0

    def visit(self, obs: Any, action: Any) -> float:
        """The bonus of one obs before this visit; then records the visit's error in `sd`."""
        error = float(self._errors(obs)[0])
        bonus = self._bonus(torch.tensor(error))
        self._visits += 1
        distance = error - self._mean
        self._mean += distance / self._visits
        self._squares += distance * (error - self._mean)
        return float(bonus)

    def paired(self, obs: Any, action: Any) -> Tensor:
        """(B, O), (B, A) -> (B,): the current bonus of each obs."""
        return self._bonus(self._errors(obs))

    def grid(self, obs: Any, actions: Any) -> Tensor:
        """(B, O), (K, A) -> (B, K): the current bonus of each obs, the same for all actions."""
        return self._bonus(self._errors(obs))[:, None].expand(-1, len(actions))

    def trust(self, obs: Any, actions: Any) -> Tensor:
        """(B, O), (K, A) -> (B, K): 1 everywhere."""
        return torch.ones(len(obs), len(actions), device=self._scale.low.device)

    def update(self, sample: Sampler) -> dict[str, float]:
        """One gradient step on the mean squared prediction error of a batch of observations."""
        obs = self._scale(sample(self.config.batch_size).obs)
        loss = (self._predictor(obs) - self._random(obs)).square().mean()
        self._adam.zero_grad()
        loss.backward()
        self._adam.step()
        return {"bonus_loss": loss.item()}

    @torch.no_grad()
    def _errors(self, obs: Any) -> Tensor:
        """(..., O) -> (B,): mean squared prediction errors."""
        rows = torch.as_tensor(obs, dtype=torch.float32, device=self._scale.low.device)
        rows = self._scale(rows.reshape(-1, len(self._scale.low)))
        return (self._predictor(rows) - self._random(rows)).square().mean(1)

    def _bonus(self, errors: Tensor) -> Tensor:
        """min(1, e / sd); 1 before the second visit, when sd is not defined yet."""
        deviation = math.sqrt(self._squares / self._visits) if self._visits > 1 else 0.0
        if deviation == 0:
            return torch.ones_like(errors)
        return (errors / deviation).clamp(max=1)

    def state_dict(self) -> State:
        """Both networks, the optimiser, and mean and variance of the errors."""
        moments = self._adam.state_dict()["state"]
        return {
            "predictor": _clone(self._predictor.state_dict()),
            "random": _clone(self._random.state_dict()),
            "adam": {str(index): _clone(values) for index, values in moments.items()},
            "errors": {"visits": self._visits, "mean": self._mean, "squares": self._squares},
        }

    def load_state_dict(self, state: State) -> None:
        """Inverse of `state_dict`."""
        self._predictor.load_state_dict(state["predictor"])
        self._random.load_state_dict(state["random"])
        moments = {int(index): _clone(values) for index, values in state.get("adam", {}).items()}
        groups = self._adam.state_dict()["param_groups"]
        self._adam.load_state_dict({"state": moments, "param_groups": groups})
        errors = state["errors"]
        self._visits, self._mean = errors["visits"], errors["mean"]
        self._squares = errors["squares"]


def _clone(tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    return {name: tensor.clone() for name, tensor in tensors.items()}


def _network(sizes: list[int], seed: int, device: str) -> nn.Sequential:
    """A ReLU network, initialised with orthogonal weights of gain sqrt(2) and zero biases."""
    rng = torch.Generator().manual_seed(seed)
    layers: list[nn.Module] = []
    for n_in, n_out in pairwise(sizes):
        linear = nn.utils.skip_init(nn.Linear, n_in, n_out)  # leaves the global generator alone
        nn.init.orthogonal_(linear.weight, math.sqrt(2), generator=rng)
        nn.init.zeros_(linear.bias)
        layers += [linear, nn.ReLU()]
    return nn.Sequential(*layers[:-1]).to(device)
