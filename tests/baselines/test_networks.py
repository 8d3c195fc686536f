"""Networks against autograd in float64, the actor's density against numerical integration."""

import math

import numpy as np
import pytest
import torch
from torch.distributions import Normal

from baselines.nn.networks import MLP, Adam, GaussianActor, spawn_seeds
from tests.helpers.reference_networks import adam_step, outputs, squashed_gaussian

DOUBLE = torch.float64


def random_net(sizes: list[int], members: int, seed: int = 0) -> MLP:
    """A float64 network, biases included in the randomness."""
    net = MLP(sizes, members=members, seed=seed, dtype=DOUBLE)
    net.params += 0.3 * torch.randn(net.params.shape, generator=rng(seed), dtype=DOUBLE)
    return net


def rng(seed: int) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


@pytest.mark.parametrize("sizes", [[3, 7, 1], [3, 7, 5, 4], [3, 6, 6, 6, 1]])
@pytest.mark.parametrize("members", [1, 2])
def test_forward_and_gradient_agree_with_autograd(sizes: list[int], members: int):
    net = random_net(sizes, members)
    x = torch.randn(11, 3, generator=rng(1), dtype=DOUBLE)
    output_gradient = torch.randn(members, sizes[-1], 11, generator=rng(2), dtype=DOUBLE)
    params = net.params.clone().requires_grad_()
    expected = outputs(net, params, x)
    out, inputs = net.forward(x)
    torch.testing.assert_close(out, expected.detach())
    (gradient,) = torch.autograd.grad((expected * output_gradient).sum(), params)
    torch.testing.assert_close(net.gradient(inputs, output_gradient), gradient)


def test_input_gradient_is_that_of_the_chosen_member():
    net = random_net([5, 8, 8, 1], members=2)
    x = torch.randn(40, 5, generator=rng(1), dtype=DOUBLE, requires_grad=True)
    smallest, choice = outputs(net, net.params, x)[:, 0].min(0)
    assert 0 < choice.sum() < 40
    (expected,) = torch.autograd.grad(smallest.sum(), x)
    _, inputs = net.forward(x.detach())
    torch.testing.assert_close(net.input_gradient(inputs, choice, 2), expected[:, -2:])


@pytest.mark.parametrize("members", [1, 2])
def test_pulling_back_agrees_with_autograd(members: int):
    net = random_net([5, 8, 6, 3], members)
    x = torch.randn(9, 5, generator=rng(1), dtype=DOUBLE, requires_grad=True)
    output_gradient = torch.randn(members, 3, 9, generator=rng(2), dtype=DOUBLE)
    (expected,) = torch.autograd.grad((outputs(net, net.params, x) * output_gradient).sum(), x)
    _, inputs = net.forward(x.detach())
    torch.testing.assert_close(net.pull_back(inputs, output_gradient, 2), expected[:, -2:])


def test_members_are_separate_networks():
    both = random_net([4, 6, 6, 1], members=2)
    x = torch.randn(9, 4, generator=rng(1), dtype=DOUBLE)
    out, _ = both.forward(x)
    for member in range(2):
        alone = MLP([4, 6, 6, 1], seed=0, dtype=DOUBLE)
        for parts in zip(alone.layers(alone.params), both.layers(both.params), strict=True):
            for mine, theirs in zip(*parts, strict=True):
                mine.copy_(theirs[member : member + 1])
        torch.testing.assert_close(alone.forward(x)[0][0], out[member])
    assert not torch.allclose(out[0], out[1])


def test_predict_is_forward_for_one_row():
    net = random_net([3, 7, 7, 4], members=1)
    x = np.array([0.3, -1.0, 2.0])
    out, _ = net.forward(torch.from_numpy(x)[None])
    np.testing.assert_allclose(net.predict(x), out[0, :, 0].numpy(), rtol=1e-12)


@pytest.mark.parametrize("sizes", [[5, 8, 1], [5, 8, 7, 1], [5, 6, 6, 6, 1]])
def test_values_and_gradients_of_one_row_agree_with_autograd(sizes: list[int]):
    net = random_net(sizes, members=3)
    for row in torch.randn(6, 5, generator=rng(1), dtype=DOUBLE):
        x = row.clone().requires_grad_()
        expected = outputs(net, net.params, x[None])[:, 0, 0]
        values, gradients = net.values_and_gradients(row.numpy(), 2)
        np.testing.assert_allclose(values, expected.detach(), rtol=1e-12)
        for member in range(3):
            (gradient,) = torch.autograd.grad(expected[member], x, retain_graph=True)
            np.testing.assert_allclose(gradients[member], gradient[-2:], rtol=1e-10, atol=1e-12)


def test_initial_weights_are_orthogonal_and_biases_zero():
    net = MLP([3, 32, 32, 2], members=2, seed=5)
    weights, biases = net.layers(net.params)
    for weight in weights:
        for matrix in weight:
            small = matrix if matrix.shape[0] <= matrix.shape[1] else matrix.T
            torch.testing.assert_close(small @ small.T, torch.eye(len(small)))
    assert all((bias == 0).all() for bias in biases)


def test_initialisation_uses_its_seed_and_no_global_source():
    state = torch.get_rng_state()
    first, same, other = (MLP([3, 8, 2], seed=seed).params for seed in (1, 1, 2))
    assert torch.equal(first, same)
    assert not torch.equal(first, other)
    assert torch.equal(state, torch.get_rng_state())


def test_spawned_seeds_differ_and_longer_lists_begin_with_shorter_ones():
    assert spawn_seeds(3, 7)[:4] == spawn_seeds(3, 4)
    assert len({*spawn_seeds(3, 50), *spawn_seeds(4, 50)}) == 100


def one_dimensional_actor(low: float, high: float, mean: float, raw: float) -> GaussianActor:
    """An actor whose Gaussian has the given mean and raw scale at every observation."""
    net = MLP([1, 4, 2], seed=0, dtype=DOUBLE)
    net.params.zero_()
    net.layers(net.params)[1][-1][0, :, 0] = torch.tensor([mean, raw])  # the output biases
    return GaussianActor(net, np.array([low]), np.array([high]))


@pytest.mark.parametrize("bounds", [(-1.0, 1.0), (-3.0, 0.5)])
@pytest.mark.parametrize("mean, raw", [(0.0, 0.0), (0.7, 0.4), (-1.5, -0.3), (2.0, 0.6)])
def test_density_integrates_to_one(bounds: tuple[float, float], mean: float, raw: float):
    """Sampled (action, log_prob) pairs are points of the density; sorted, they trace its curve."""
    actor = one_dimensional_actor(*bounds, mean, raw)
    draw = actor.draw(torch.zeros(400_000, 1, dtype=DOUBLE), rng(0))
    action, order = draw.action[:, 0].sort()
    density = draw.log_prob[order].exp()
    assert torch.trapezoid(density, action).item() == pytest.approx(1, abs=2e-3)


@pytest.mark.parametrize("bounds", [(-1.0, 1.0), (-3.0, 0.5)])
def test_log_prob_is_the_change_of_variables(bounds: tuple[float, float]):
    """Against the textbook formula, where it is still accurate."""
    actor = one_dimensional_actor(*bounds, 0.3, 0.1)
    draw = actor.draw(torch.zeros(1000, 1, dtype=DOUBLE), rng(0))
    half, centre = (bounds[1] - bounds[0]) / 2, sum(bounds) / 2
    tanh = (draw.action[:, 0] - centre) / half
    std = math.exp(-5 + 0.5 * 7 * (math.tanh(0.1) + 1))
    expected = Normal(0.3, std).log_prob(tanh.atanh()) - (half * (1 - tanh**2)).log()
    inner = tanh.abs() < 0.999
    torch.testing.assert_close(draw.log_prob[inner], expected[inner])


def test_log_prob_stays_finite_in_the_tails():
    for mean in (-300.0, 300.0):
        draw = one_dimensional_actor(-1, 1, mean, 0.0).draw(
            torch.zeros(10, 1, dtype=DOUBLE), rng(0)
        )
        assert draw.log_prob.isfinite().all()
        assert (draw.action.abs() == 1).all()


def test_log_std_stays_between_its_limits():
    for raw, log_std in ((-50.0, -5.0), (0.0, -1.5), (50.0, 2.0)):
        actor = one_dimensional_actor(-1, 1, 0.0, raw)
        draw = actor.draw(torch.zeros(200_000, 1, dtype=DOUBLE), rng(0))
        assert draw.scaled_noise.std().item() == pytest.approx(math.exp(log_std), rel=0.01)


def test_actor_gradient_agrees_with_autograd():
    """Of a loss of the first six of ten draws, with unequal bounds."""
    net = random_net([3, 8, 8, 4], members=1)
    low, high = np.array([-1.0, -4.0]), np.array([1.0, 0.5])
    obs = torch.randn(10, 3, generator=rng(1), dtype=DOUBLE)
    output_gradient = torch.randn(6, 2, generator=rng(2), dtype=DOUBLE)
    weight = torch.tensor(0.37, dtype=DOUBLE)
    draw = GaussianActor(net, low, high).draw(obs, rng(3))
    params = net.params.clone().requires_grad_()
    noise = torch.randn(2, 10, generator=rng(3), dtype=DOUBLE).T
    limits = torch.from_numpy(low), torch.from_numpy(high)
    action, log_prob = squashed_gaussian(outputs(net, params, obs)[0].T, noise, *limits)
    torch.testing.assert_close(draw.action, action.detach())
    torch.testing.assert_close(draw.log_prob, log_prob.detach())
    loss = (action[:6] * output_gradient).sum() + weight * log_prob[:6].sum()
    (expected,) = torch.autograd.grad(loss, params)
    gradient = GaussianActor(net, low, high).gradient(draw, output_gradient, weight)
    torch.testing.assert_close(gradient, expected)


def test_samples_on_the_host_follow_the_same_distribution():
    actor = one_dimensional_actor(-2, 6, 0.4, 0.1)
    drawn = actor.draw(torch.zeros(50_000, 1, dtype=DOUBLE), rng(0)).action[:, 0].numpy()
    sampled = actor.sample(np.zeros(1), 50_000, rng(1))[:, 0]
    for q in (0.1, 0.5, 0.9):
        assert np.quantile(sampled, q) == pytest.approx(np.quantile(drawn, q), abs=0.03)
    assert actor.mode(np.zeros(1)) == pytest.approx([2 + 4 * math.tanh(0.4)])
    uniform = actor.uniform(50_000, rng(2))
    assert uniform.min() >= -2 and uniform.max() <= 6
    assert uniform.mean() == pytest.approx(2, abs=0.05)


def test_actions_never_leave_bounds_that_round_badly():
    low, high = np.array([-0.1, 0.1], np.float32), np.array([0.7, 0.3], np.float32)
    net = MLP([1, 4, 4], seed=0)
    net.layers(net.params)[1][-1][0, :2, 0] = 50.0  # the output biases of the mean
    action = GaussianActor(net, low, high).mode(np.zeros(1, np.float32))
    assert action.dtype == np.float32
    assert (action <= high).all() and action == pytest.approx(high)


def test_adam_agrees_with_the_textbook():
    first, second = torch.tensor([1.0, -2.0]), torch.tensor(0.5)
    adam = Adam([first, second], 0.1)
    expected = [(p.double(), *torch.zeros(2, *p.shape).double()) for p in (first, second)]
    for t in range(1, 6):
        gradients = [torch.tensor([0.3 * t, -1.0]), torch.tensor(2.0 - t)]
        adam.step(gradients)
        expected = [
            adam_step(p, gradient, mean, square, t, 0.1)
            for (p, mean, square), gradient in zip(expected, gradients, strict=True)
        ]
    for found, (params, *_) in zip((first, second), expected, strict=True):
        torch.testing.assert_close(found.double(), params, rtol=1e-5, atol=1e-6)
