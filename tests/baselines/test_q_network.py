"""The network of values: every pair at once, how it starts, how inputs are scaled."""

import pytest
import torch

from baselines.agents.explorer import ExplorerConfig
from baselines.nn.q_network import QNetwork
from tests.helpers.explorers import BOX, make


@pytest.mark.parametrize("layers", [1, 2, 3])
@pytest.mark.parametrize(("n_obs", "n_actions"), [(7, 5), (300, 11), (3, 2000)])
def test_grid_of_values_is_the_network_on_every_pair(layers, n_obs, n_actions):
    net, rng = QNetwork([5, *[16] * layers, 1], seed=0), torch.Generator().manual_seed(1)
    obs, actions = (torch.rand(n, d, generator=rng) for n, d in ((n_obs, 3), (n_actions, 2)))
    net.params.add_(0.1 * torch.randn(net.params.shape, generator=rng))  # biases too
    pairs = obs.repeat_interleave(n_actions, dim=0), actions.repeat(n_obs, 1)
    expected = net.forward(torch.cat(pairs, dim=1))[0].view(n_obs, n_actions)
    torch.testing.assert_close(net.grid(obs, actions), expected, rtol=1e-4, atol=1e-5)


def test_weights_are_lecun_normal_and_biases_zero():
    net = QNetwork([10, 400, 400, 1], seed=0)
    weights, biases = net.layers(net.params)
    for weight, fan_in in zip(weights, (10, 400, 400), strict=True):
        assert float(weight.std()) == pytest.approx(fan_in**-0.5, rel=0.1)
        assert float(weight.abs().max()) <= 2.3 * fan_in**-0.5
    assert all((bias == 0).all() for bias in biases)


def test_inputs_are_scaled_to_one():
    explorer = make(ExplorerConfig(hidden=16, optimism=False))
    low, high = torch.tensor(BOX.obs_low).float(), torch.tensor(BOX.obs_high).float()
    values = explorer.values(torch.stack([low, high]), torch.tensor([[1.0, -3]]))
    scaled_obs, scaled_action = torch.tensor([[-1.0] * 3, [1.0] * 3]), torch.tensor([[1.0, -1]])
    torch.testing.assert_close(values, explorer.net.grid(scaled_obs, scaled_action))
    assert values[0] != values[1]
