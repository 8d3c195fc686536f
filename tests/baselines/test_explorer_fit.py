"""How the exploration Q fits its targets: against autograd, by hand, and in a small world."""

import functools
from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import Tensor

from baselines.agents.explorer import Explorer, ExplorerConfig
from baselines.bonuses.bonus import Sampler
from baselines.nn.q_network import QNetwork
from baselines.nn.replay import Batch
from baselines.settings import resolve
from tests.helpers.explorers import BOX, FixedCount, as_batch, exploring, make
from tests.helpers.reference_networks import adam_step, outputs

SHIPPED: ExplorerConfig = resolve("cpu", "sac_deep", "HallwayLocalOptimum").explorer
Batches = list[tuple[Tensor, Tensor]]  # inputs (B, 5) and targets (B,) of each step


def batches(steps: int, rows: int = 32, dtype: torch.dtype = torch.float32) -> Batches:
    """Targets far above a fresh network's values."""
    rng = np.random.default_rng(4)
    return [
        (
            torch.tensor(rng.uniform(-1, 1, (rows, 5)), dtype=dtype),
            torch.tensor(rng.uniform(20, 60, rows), dtype=dtype),
        )
        for _ in range(steps)
    ]


def make_double(config: ExplorerConfig, monkeypatch) -> Explorer:
    """An explorer whose networks and Adam are of float64.

    A fitted level leaves no gradient in biases that move all values alike; in float32 Adam would
    take full steps along what rounding makes of that.
    """
    double = functools.partial(QNetwork, dtype=torch.float64)
    monkeypatch.setattr("baselines.agents.explorer.QNetwork", double)
    return make(config)


def fit_by_autograd(explorer: Explorer, data: Batches) -> tuple[Tensor, Tensor, list[float]]:
    """Parameters and target after one fit per batch, and the loss that each step of Adam saw."""
    net, config = explorer.net, explorer.config
    params = target = net.params.clone()
    mean, square, losses = torch.zeros_like(params), torch.zeros_like(params), []
    for t, (inputs, targets) in enumerate(data, start=1):
        params = params.clone()
        if config.fit_level:  # first the output's bias that fits best, then Adam from there
            params[-1] -= (outputs(net, params, inputs)[0, 0] - targets).mean()
        params.requires_grad_()
        loss = (outputs(net, params, inputs)[0, 0] - targets).square().mean()
        (gradient,) = torch.autograd.grad(loss, params)
        params, mean, square = adam_step(
            params.detach(), gradient, mean, square, t, config.learning_rate
        )
        if t % config.target_every == 0:
            target = params
        losses.append(loss.item())
    return params, target, losses


@pytest.mark.parametrize("fit_level", [False, True])
@pytest.mark.parametrize("steps", [1, 8])
def test_fits_agree_with_autograd(steps, fit_level, monkeypatch):
    config = replace(SHIPPED, hidden=16, target_every=3, fit_level=fit_level)
    explorer = make_double(config, monkeypatch)
    data = batches(steps, dtype=torch.float64)
    params, target, losses = fit_by_autograd(explorer, data)
    assert [float(explorer.fit(*batch)) for batch in data] == pytest.approx(losses, rel=1e-9)
    torch.testing.assert_close(explorer.net.params, params, rtol=1e-9, atol=1e-9)
    torch.testing.assert_close(explorer.target.params, target, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("fit_level", [False, True])
def test_a_fitted_level_takes_the_mean_error_from_every_value_at_once(fit_level):
    """With weights that hardly move: values before and after differ by the batch's mean error."""
    explorer = make(ExplorerConfig(hidden=16, fit_level=fit_level, learning_rate=1e-12))
    ((inputs, targets),) = batches(1, rows=6)
    before = explorer.net.forward(inputs)[0][0, 0].double()
    loss = float(explorer.fit(inputs, targets))
    after = explorer.net.forward(inputs)[0][0, 0].double()
    error = before - targets.double()
    shift = float(error.mean()) if fit_level else 0.0
    assert (before - after).tolist() == pytest.approx([shift] * 6, abs=1e-4)
    assert loss == pytest.approx(float((error - shift).square().mean()), rel=1e-5)


VISITS = (100.0, 4.0)  # of the known and of the novel place: bonuses of 0.1 and 0.5


class PlaceCount(FixedCount):
    """A count that knows two places, told apart by the sign of obs[0]."""

    def paired(self, obs, action) -> Tensor:
        return torch.tensor(VISITS)[(obs[:, 0] > 0).long()]

    def grid(self, obs, actions) -> Tensor:
        return self.paired(obs, None)[:, None].repeat(1, len(actions))


def two_places(seed: int) -> Sampler:
    """Uniform steps in a world where the sign of action[0] is the place that it leads to."""
    rng = torch.Generator().manual_seed(seed)

    def uniform(n: int, low: np.ndarray, high: np.ndarray) -> Tensor:
        share = torch.rand(n, len(low), generator=rng)
        return torch.lerp(torch.tensor(low).float(), torch.tensor(high).float(), share)

    def sample(n: int) -> Batch:
        obs, next_obs = (uniform(n, BOX.obs_low, BOX.obs_high) for _ in range(2))
        action = uniform(n, BOX.action_low, BOX.action_high)
        next_obs[:, 0] = next_obs[:, 0].abs() * action[:, 0].sign()
        return as_batch(obs, action, next_obs)

    return sample


def values_of_two_places(config: ExplorerConfig) -> np.ndarray:
    """(place, place moved to): the optimistic values that solve Bellman's equation."""
    visits, values = np.array(VISITS), np.zeros((2, 2))
    trust = np.sqrt(visits / (visits + 1e-3))[:, None]
    for _ in range(3000):
        odds = np.exp((values - values.max(1, keepdims=True)) / config.temperature)
        worth = (odds * values).sum(1) / odds.sum(1)  # of being in a place
        plain = visits[:, None] ** -0.5 + config.discount * worth
        values = trust * plain + (1 - trust) * config.max_return
    return values


@pytest.fixture(scope="module")
def learnt() -> tuple[Tensor, Tensor, Tensor]:
    """Values (B, K) after 1000 steps, which places (B,) are novel, which moves (K,) lead there."""
    explorer, sample = exploring(PlaceCount(0), SHIPPED), two_places(0)
    for _ in range(1000):
        explorer.adapt(sample)
    obs, actions, *_ = two_places(1)(400)  # away from the edge between the places
    obs, actions = obs[obs[:, 0].abs() > 0.5], actions[actions[:, 0].abs() > 0.25]
    return explorer.values(obs, actions), obs[:, 0] > 0, actions[:, 0] > 0


@pytest.mark.slow
def test_the_shipped_settings_rank_places_and_moves(learnt):
    """The worst of the novel kind is above the best of the other, though by 0.4 of 50."""
    values, novel, there = learnt
    places = values[novel].amin(0) > values[~novel].amax(0)  # (K,)
    moves = values[:, there].amin(1) > values[:, ~there].amax(1)  # (B,)
    assert places.float().mean() > 0.95
    assert moves.float().mean() > 0.95


def test_the_shipped_settings_come_near_the_solution(learnt):
    """At the edge values blur: a fiftieth lost at every step is two in their sum."""
    values, novel, there = learnt
    kinds = [[values[novel == place][:, there == move] for move in (0, 1)] for place in (0, 1)]
    found = np.array([[float(kind.mean()) for kind in row] for row in kinds])
    expected = values_of_two_places(SHIPPED)
    assert found.mean() == pytest.approx(expected.mean(), abs=4)
    assert found - found.mean() == pytest.approx(expected - expected.mean(), abs=0.15)
