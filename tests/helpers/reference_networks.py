"""Plain layers, a squashed Gaussian and Adam by the textbook: references for what learns."""

import torch
from torch import Tensor, nn
from torch.distributions import Normal

from baselines.nn.networks import MLP


def outputs(net: MLP, params: Tensor, x: Tensor) -> Tensor:
    """(B, in) -> (members, out, B): what `net` answers with other params, member by member."""
    weights, biases = net.layers(params)
    found = []
    for member in range(net.members):
        h = x
        for weight, bias in zip(weights[:-1], biases[:-1], strict=True):
            h = torch.relu(h @ weight[member] + bias[member])
        found.append(weights[-1][member] @ h.T + biases[-1][member])
    return torch.stack(found)


def as_layers(net: MLP, member: int = 0) -> nn.Sequential:
    """One member as layers of torch in float64."""
    layers: list[nn.Module] = []
    weights, biases = net.layers(net.params.double())
    for number, (weight, bias) in enumerate(zip(weights, biases, strict=True), start=1):
        matrix = weight[member] if number == len(weights) else weight[member].T
        linear = nn.Linear(*matrix.shape[::-1], dtype=torch.float64)
        linear.weight.data, linear.bias.data = matrix.clone(), bias[member].flatten().clone()
        layers += [linear, nn.ReLU()]
    return nn.Sequential(*layers[:-1])


def squashed_gaussian(
    output: Tensor, noise: Tensor, low: Tensor | float = -1.0, high: Tensor | float = 1.0
) -> tuple[Tensor, Tensor]:
    """Actions (B, A) and log-densities (B,), by the textbook's change of variables.

    `output` (B, 2 A) is an actor's: means, then what the standard deviations are made of.
    """
    mean, raw = output.chunk(2, 1)
    log_std = -5 + 0.5 * 7 * (raw.tanh() + 1)
    tanh = (mean + log_std.exp() * noise).tanh()
    half = torch.as_tensor((high - low) / 2)
    density = Normal(0.0, 1.0).log_prob(noise) - log_std - (half * (1 - tanh**2)).log()
    return (high + low) / 2 + half * tanh, density.sum(1)


def adam_step(
    params: Tensor, gradient: Tensor, mean: Tensor, square: Tensor, t: float, rate: float
) -> tuple[Tensor, Tensor, Tensor]:
    """Parameters and both moments after step `t`, counted from 1."""
    mean, square = 0.9 * mean + 0.1 * gradient, 0.999 * square + 0.001 * gradient**2
    step = (mean / (1 - 0.9**t)) / ((square / (1 - 0.999**t)).sqrt() + 1e-8)
    return params - rate * step, mean, square
