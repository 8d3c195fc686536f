"""Networks against autograd in float64, the actor's density against numerical integration."""

import math

import numpy as np
import pytest
import torch
from torch import Tensor
from torch.distributions import Normal

from baselines.nn.networks import MLP, Adam, GaussianActor, spawn_seeds

DOUBLE = torch.float64


def random_net(sizes: list[int], members: int, seed: int = 0) -> MLP:
    """A float64 network, biases included in the randomness."""
    net = MLP(sizes, members=members, seed=seed, dtype=DOUBLE)
    net.params += 0.3 * torch.randn(net.params.shape, generator=rng(seed), dtype=DOUBLE)
    return net


def rng(seed: int) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def plain(net: MLP, params: Tensor, x: Tensor) -> Tensor:
    """The same outputs, (members, out, B), one member after another and by ordinary layers."""
    weights, biases = net.layers(params)
    outputs = []
    for member in range(net.members):
        h = x
        for weight, bias in zip(weights[:-1], biases[:-1], strict=True):
            h = torch.relu(h @ weight[member] + bias[member])
        outputs.append(weights[-1][member] @ h.T + biases[-1][member])
    return torch.stack(outputs)


@pytest.mark.parametrize("sizes", [[3, 7, 1], [3, 7, 5, 4], [3, 6, 6, 6, 1]])
@pytest.mark.parametrize("members", [1, 2])
def test_forward_and_gradient_agree_with_autograd(sizes: list[int], members: int):
    net = random_net(sizes, members)
    x = torch.randn(11, 3, generator=rng(1), dtype=DOUBLE)
    output_gradient = torch.randn(members, sizes[-1], 11, generator=rng(2), dtype=DOUBLE)
    params = net.params.clone().requires_grad_()
    expected = plain(net, params, x)
    out, inputs = net.forward(x)
    torch.testing.assert_close(out, expected.detach())
    (gradient,) = torch.autograd.grad((expected * output_gradient).sum(), params)
    torch.testing.assert_close(net.gradient(inputs, output_gradient), gradient)


def test_input_gradient_is_that_of_the_chosen_member():
    net = random_net([5, 8, 8, 1], members=2)
    x = torch.randn(40, 5, generator=rng(1), dtype=DOUBLE, requires_grad=True)
    smallest, choice = plain(net, net.params, x)[:, 0].min(0)
    assert 0 < choice.sum() < 40
    (expected,) = torch.autograd.grad(smallest.sum(), x)
    _, inputs = net.forward(x.detach())
    torch.testing.assert_close(net.input_gradient(inputs, choice, 2), expected[:, -2:])


def test_members_are_separate_networks():
    both = random_net([4, 6, 6, 1], members=2)
    x = torch.randn(9, 4, generator=rng(1), dtype=DOUBLE)
    out, _ = both.forward(x)
    for member in range(2):
        alone = MLP([4, 6, 6, 1], seed=0, dtype=DOUBLE)
        for mine, theirs in zip(
            alone._weights + alone._biases, both._weights + both._biases, strict=True
        ):
            mine.copy_(theirs[member : member + 1])
        torch.testing.assert_close(alone.forward(x)[0][0], out[member])
    assert not torch.allclose(out[0], out[1])


def test_predict_is_forward_for_one_row():
    net = random_net([3, 7, 7, 4], members=1)
    x = np.array([0.3, -1.0, 2.0])
    out, _ = net.forward(torch.from_numpy(x)[None])
    np.testing.assert_allclose(net.predict(x), out[0, :, 0].numpy(), rtol=1e-12)


def test_initial_weights_are_orthogonal_and_biases_zero():
    net = MLP([3, 32, 32, 2], members=2, seed=5)
    for weight in net._weights:
        for matrix in weight:
            small = matrix if matrix.shape[0] <= matrix.shape[1] else matrix.T
            torch.testing.assert_close(small @ small.T, torch.eye(len(small)))
    assert all((bias == 0).all() for bias in net._biases)


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
    net._biases[-1][0, :, 0] = torch.tensor([mean, raw])
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
    mean, raw = plain(net, params, obs)[0].T.chunk(2, 1)
    noise = torch.randn(2, 10, generator=rng(3), dtype=DOUBLE).T
    log_std = -5 + 0.5 * 7 * (raw.tanh() + 1)
    tanh = (mean + log_std.exp() * noise).tanh()
    half, centre = torch.from_numpy((high - low) / 2), torch.from_numpy((high + low) / 2)
    density = Normal(0.0, 1.0).log_prob(noise) - log_std - (half * (1 - tanh**2)).log()
    torch.testing.assert_close(draw.action, (centre + half * tanh).detach())
    torch.testing.assert_close(draw.log_prob, density.sum(1).detach())
    loss = ((centre + half * tanh)[:6] * output_gradient).sum() + weight * density[:6].sum()
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
    net._biases[-1][0, :2, 0] = 50.0
    action = GaussianActor(net, low, high).mode(np.zeros(1, np.float32))
    assert action.dtype == np.float32
    assert (action <= high).all() and action == pytest.approx(high)


def test_adam_agrees_with_the_textbook():
    first, second = torch.tensor([1.0, -2.0]), torch.tensor(0.5)
    adam = Adam([first, second], 0.1)
    reference = [p.double().clone() for p in (first, second)]
    means = [torch.zeros_like(p) for p in reference]
    squares = [torch.zeros_like(p) for p in reference]
    for t in range(1, 6):
        gradients = [torch.tensor([0.3 * t, -1.0]), torch.tensor(2.0 - t)]
        adam.step(gradients)
        for p, m, v, g in zip(reference, means, squares, gradients, strict=True):
            m.mul_(0.9).add_(0.1 * g)
            v.mul_(0.999).add_(0.001 * g * g)
            p -= 0.1 * (m / (1 - 0.9**t)) / ((v / (1 - 0.999**t)).sqrt() + 1e-8)
    torch.testing.assert_close(first.double(), reference[0], rtol=1e-5, atol=1e-6)
    torch.testing.assert_close(second.double(), reference[1], rtol=1e-5, atol=1e-6)


def test_adam_goes_on_where_it_was_saved():
    def after(saved_at: int | None) -> Tensor:
        params = torch.ones(3)
        adam = Adam([params], 0.1)
        for t in range(6):
            if t == saved_at:
                state, adam = adam.state_dict(), Adam([params], 0.1)
                adam.load_state_dict(state)
            adam.step([torch.tensor([1.0, -t, 0.1 * t])])
        return params

    assert torch.equal(after(None), after(3))
