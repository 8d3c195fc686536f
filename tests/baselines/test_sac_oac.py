"""Optimistic actor-critic: the bound it climbs, how far it goes, and where that leads."""

import numpy as np
import pytest
import torch

from baselines.agents.sac_oac import optimistic_shift
from tests.helpers.generators import generator
from tests.helpers.small_agents import episodes, small

OBS = np.array([0.3, -0.05], np.float32)


def learner(**settings):
    """An agent after a few short episodes."""
    agent = small("sac_oac", **settings)
    episodes(agent, "sac_oac", range(3))
    return agent


def test_the_upper_bound_and_its_gradient_agree_with_autograd():
    agent = learner(beta_upper=3.0)
    rng = torch.Generator().manual_seed(0)
    for obs, action in torch.randn(7, 2, 2, generator=rng):
        value, found = agent.upper_bound(obs.numpy(), action.numpy())
        action = action.clone().requires_grad_()
        q1, q2 = agent.critic.net.forward(torch.cat((obs, action))[None])[0][:, 0, 0]
        expected = (q1 + q2) / 2 + 3 * (q1 - q2).abs() / 2
        assert value == pytest.approx(expected.item(), rel=1e-5)
        (gradient,) = torch.autograd.grad(expected, action)
        np.testing.assert_allclose(found, gradient, rtol=1e-4, atol=1e-7)


def test_the_shift_by_hand():
    """g = (3, 4), std = (1, 2): |g|_Sigma = sqrt(73), Sigma g = (3, 16), sqrt(2 * 8) = 4."""
    shift = optimistic_shift(np.array([3.0, 4.0]), np.array([1.0, 2.0]), 8.0)
    assert shift == pytest.approx(4 * np.array([3, 16]) / np.sqrt(73))
    kl = np.sum((shift / np.array([1.0, 2.0])) ** 2) / 2
    assert kl == pytest.approx(8)
    assert optimistic_shift(np.zeros(2), np.ones(2), 8.0).tolist() == [0, 0]


def test_no_other_step_of_that_length_climbs_farther():
    gradient, std = np.array([3.0, -4.0]), np.array([0.5, 2.0])
    best = gradient @ optimistic_shift(gradient, std, 1.0)
    for angle in np.linspace(0, 2 * np.pi, 100):
        step = np.sqrt(2) * std * np.array([np.cos(angle), np.sin(angle)])
        assert gradient @ step <= best + 1e-9


def test_the_behaviour_is_the_policys_draw_around_the_moved_mean():
    agent, twin = learner(kl_bound=0.02), learner(kl_bound=0.02)
    for one in (agent, twin):  # a mean at which tanh is steeper for one action than for the other
        _, biases = one.actor.net.layers(one.actor.net.params)
        biases[-1][0, :2, 0] = torch.tensor([1.2, -0.1])
    mean, std = twin.actor.moments(OBS)
    at = torch.tensor(mean, requires_grad=True)
    q1, q2 = twin.critic.net.forward(torch.cat((torch.tensor(OBS), at.tanh()))[None])[0][:, 0, 0]
    (gradient,) = torch.autograd.grad((q1 + q2) / 2 + 4.66 * (q1 - q2).abs() / 2, at)
    noise = torch.randn(1, 2, generator=generator(twin.state_dict()["act_rng"]))[0].numpy()
    expected = np.tanh(mean + optimistic_shift(gradient.numpy(), std, 0.02) + std * noise)
    np.testing.assert_allclose(agent.act(OBS, explore=True), expected, rtol=1e-4)


def test_without_optimism_it_is_sac_bit_for_bit():
    plain, sac = small("sac_oac", kl_bound=0.0), small("sac")
    assert episodes(plain, "sac_oac", range(4)) == episodes(sac, "sac", range(4))


def test_evaluation_is_the_policys_own():
    agent = learner()
    np.testing.assert_array_equal(agent.act(OBS, explore=False), agent.actor.mode(OBS))


def test_it_goes_where_the_critics_disagree():
    """Critics that agree on the left, and of which one promises more on the right.

    Q1 = relu(a), Q2 = 0: their minimum, which SAC climbs, is flat. Optimism goes right.
    """
    agent = small("sac_oac", warmup_steps=0)
    agent.updates = 1
    net = agent.critic.net
    net.params.zero_()
    (first, second, last), _ = net.layers(net.params)
    first[0, 2, 0] = second[0, 0, 0] = last[0, 0, 0] = 1.0
    _, biases = agent.actor.net.layers(agent.actor.net.params)
    biases[-1][0, :2, 0] = torch.tensor([0.2, 0.2])  # mean: a little to the right
    obs = np.zeros(2, np.float32)
    assert agent.actor_value(torch.zeros(1, 2), torch.full((1, 2), 0.2)).gradient.tolist() == [
        [0, 0]
    ]
    actions = np.array([agent.act(obs, explore=True) for _ in range(100)])
    assert (actions[:, 0] > 0.5).all()  # moved by sqrt(2 * 23.53) = 6.9 deviations
    assert abs(np.median(actions[:, 1]) - np.tanh(0.2)) < 0.1  # of no use to anyone: unmoved
