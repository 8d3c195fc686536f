"""ReLU networks, the squashed Gaussian actor, and Adam, with hand-written gradients.

Networks this small are fast only without overhead around their matrix products. Therefore all
parameters of a network are one vector, the members of an ensemble are evaluated together, and
gradients are written by hand. Tests compare every gradient with autograd.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import softplus

from baselines.agent import State
from baselines.nn.denormals import flushed_denormals

LOG_STD_MIN, LOG_STD_MAX = -5.0, 2.0  # pytorch_sac
LOG_STD_HALF, LOG_STD_MID = (LOG_STD_MAX - LOG_STD_MIN) / 2, (LOG_STD_MAX + LOG_STD_MIN) / 2

relu_backward = torch.ops.aten.threshold_backward.default  # faster than masking by `> 0`
relu_backward_ = torch.ops.aten.threshold_backward.grad_input  # the same in place


def spawn_seeds(seed: int, n: int) -> list[int]:
    """Seeds of `n` independent random streams; a longer list begins with the shorter one."""
    return [int(s) for s in np.random.SeedSequence(seed).generate_state(n, np.uint64)]


class Gradient:
    """Preallocated memory for the gradient of a network: one vector, with a view per layer."""

    def __init__(self, net: "MLP") -> None:
        self.vector = torch.empty_like(net.params)
        self.weights, self.biases = net.layers(self.vector)


class MLP:
    """An ensemble of ReLU networks of the same shape, evaluated on the same input.

    `params` is the vector of all weights and biases. Hidden weights are (members, in, out), output
    weights (members, out, in), because a matrix product with one narrow side is fastest when that
    side comes first. Hand-written gradients cost half as much as autograd in networks this small,
    but autograd works too: `forward` is differentiable with respect to its input.
    """

    def __init__(
        self,
        sizes: Sequence[int],
        *,
        members: int = 1,
        seed: int,
        device: str = "cpu",
        dtype: torch.dtype = torch.float32,
    ) -> None:
        *hidden, (n_last, n_out) = zip(sizes[:-1], sizes[1:], strict=True)
        self.members = members
        self._shapes = [(members, *pair) for pair in hidden] + [(members, n_out, n_last)]
        self._shapes += [(members, 1, n) for _, n in hidden] + [(members, n_out, 1)]
        self._depth = len(sizes) - 1
        length = sum(map(math.prod, self._shapes))
        self.params = torch.zeros(length, device=device, dtype=dtype)
        self._weights, self._biases = self.layers(self.params)
        self._host: list[list[tuple[np.ndarray, np.ndarray]]] | None = None
        self._host_version = 0  # version of `params` that `_host` is a copy of
        self._initialise(torch.Generator().manual_seed(seed))

    def forward(self, x: Tensor) -> tuple[Tensor, list[Tensor]]:
        """Outputs (members, out, B) for inputs (B, in), and the inputs of every layer."""
        inputs = [x.expand(self.members, *x.shape)]  # (members, B, in)
        for weight, bias in zip(self._weights[:-1], self._biases[:-1], strict=True):
            inputs.append(torch.baddbmm(bias, inputs[-1], weight).relu_())
        return torch.baddbmm(self._biases[-1], self._weights[-1], inputs[-1].mT), inputs

    def gradient(
        self, inputs: list[Tensor], output_gradient: Tensor, into: Gradient | None = None
    ) -> Tensor:
        """dL/dparams of a loss L, given dL/doutputs (members, out, B) and the layer inputs.

        The result is written to new memory, or to `into`, overwriting its content.
        """
        into = into or Gradient(self)
        upstream, weight = output_gradient, self._weights[-1]
        torch.bmm(upstream, inputs[-1], out=into.weights[-1])
        torch.sum(upstream, 2, keepdim=True, out=into.biases[-1])
        # With one output this is an outer product, and elementwise multiplication is faster.
        upstream = upstream.mT * weight if weight.shape[1] == 1 else torch.bmm(upstream.mT, weight)
        for layer in reversed(range(self._depth - 1)):
            relu_backward_(upstream, inputs[layer + 1], 0, grad_input=upstream)  # (members, B, H)
            torch.bmm(inputs[layer].mT, upstream, out=into.weights[layer])
            torch.sum(upstream, 1, keepdim=True, out=into.biases[layer])
            if layer:
                upstream = torch.bmm(upstream, self._weights[layer].mT)
        return into.vector

    def input_gradient(self, inputs: list[Tensor], member: Tensor, last: int) -> Tensor:
        """d(output)/d(last `last` inputs), (B, last), for networks with one output.

        Row b is the gradient of the ensemble member `member[b]`; no other is computed.
        """
        total = inputs[0].new_empty(last, len(member))
        for k in range(self.members):
            rows = (member == k).nonzero()[:, 0]
            upstream = self._weights[-1][k].expand(len(rows), -1)  # (rows, H)
            for layer in reversed(range(self._depth - 1)):
                output = inputs[layer + 1][k].index_select(0, rows)
                upstream = relu_backward(upstream, output, 0)
                if layer:
                    upstream = upstream @ self._weights[layer][k].T
            total.index_copy_(1, rows, self._weights[0][k, -last:] @ upstream.T)
        return total.T

    def pull_back(self, inputs: list[Tensor], output_gradient: Tensor, last: int) -> Tensor:
        """dL/d(last `last` inputs), (B, last), of a loss L (a vector-Jacobian product).

        Given dL/doutputs (members, out, B) and the layer inputs, as in `gradient`.
        """
        upstream = torch.bmm(output_gradient.mT, self._weights[-1])  # (members, B, H)
        for layer in reversed(range(self._depth - 1)):
            upstream = relu_backward(upstream, inputs[layer + 1], 0)
            weight = self._weights[layer] if layer else self._weights[0][:, -last:]
            upstream = torch.bmm(upstream, weight.mT)
        return upstream.sum(0)

    def predict(self, x: np.ndarray) -> np.ndarray:
        """The first member's outputs (out,) for a single input (in,).

        In NumPy on the CPU, which for one row is faster than torch on any device.
        """
        *hidden, (head, offset) = self._host_layers()[0]
        x = np.asarray(x, head.dtype)
        for weight, bias in hidden:
            x = np.maximum(x @ weight + bias, 0)
        return head @ x + offset

    def values_and_gradients(self, x: np.ndarray, last: int) -> tuple[np.ndarray, np.ndarray]:
        """Values (members,) at a single input (in,), and their gradients (members, last).

        Gradients are with respect to the last `last` inputs; for networks with one output. In NumPy
        on the CPU, like `predict`.
        """
        values, gradients = [], []
        for *hidden, (head, offset) in self._host_layers():
            outputs = [np.asarray(x, head.dtype)]
            for weight, bias in hidden:
                outputs.append(np.maximum(outputs[-1] @ weight + bias, 0))
            values.append(head[0] @ outputs[-1] + offset[0])
            upstream = head[0] * (outputs[-1] > 0)
            for layer in reversed(range(1, len(hidden))):
                upstream = (hidden[layer][0] @ upstream) * (outputs[layer] > 0)
            gradients.append(hidden[0][0][-last:] @ upstream)
        return np.array(values), np.array(gradients)

    def layers(self, vector: Tensor) -> tuple[list[Tensor], list[Tensor]]:
        """Views of a vector laid out like `params`: the weights and the biases of every layer."""
        pieces = vector.split([math.prod(shape) for shape in self._shapes])
        views = [p.view(shape) for p, shape in zip(pieces, self._shapes, strict=True)]
        return views[: self._depth], views[self._depth :]

    def _host_layers(self) -> list[list[tuple[np.ndarray, np.ndarray]]]:
        """Each member's weights and biases as NumPy arrays, always up to date.

        On the CPU they share memory with `params`. On other devices they are a copy, renewed when
        torch's version counter of `params` has changed.
        """
        version = 0 if self.params.device.type == "cpu" else self.params._version
        if self._host is None or version != self._host_version:
            layers = [
                (w.detach().cpu().numpy(), b.detach().flatten(1).cpu().numpy())
                for w, b in zip(self._weights, self._biases, strict=True)
            ]
            self._host = [[(w[k], b[k]) for w, b in layers] for k in range(self.members)]
            self._host_version = version
        return self._host

    def _initialise(self, rng: torch.Generator) -> None:
        """Orthogonal weights of gain one, zero biases; the same on every device."""
        for weight in self._weights:
            for matrix in weight:
                start = torch.empty(matrix.shape, dtype=matrix.dtype)
                matrix.copy_(torch.nn.init.orthogonal_(start, generator=rng))


class Draw(NamedTuple):
    """Actions sampled at B observations, and the activations that their gradient needs."""

    action: Tensor  # (B, A)
    log_prob: Tensor  # (B,)
    squashed: Tensor  # (A, B) tanh(x), the action before scaling
    scaled_noise: Tensor  # (A, B) noise * std
    tanh_logits: Tensor  # (A, B) in (-1, 1), the log standard deviation before scaling
    inputs: list[Tensor]  # of every layer


class GaussianActor:
    """A Gaussian policy squashed by tanh and scaled to the action bounds."""

    def __init__(self, net: MLP, low: np.ndarray, high: np.ndarray) -> None:
        self.net = net
        kind = np.float64 if net.params.dtype == torch.float64 else np.float32
        self.low: np.ndarray = np.asarray(low, kind)  # (A,)
        self.high: np.ndarray = np.asarray(high, kind)
        self.half, self.centre = (self.high - self.low) / 2, (self.high + self.low) / 2
        self._half = torch.from_numpy(self.half).to(net.params)[:, None]  # (A, 1)
        self._centre = torch.from_numpy(self.centre).to(net.params)[:, None]
        # The constant of every log-density: Gaussian, log 4 of tanh's derivative, action scale.
        self._log_scale = (0.5 * math.log(2 * math.pi) + math.log(4) + self._half.log()).sum()
        self._one, self._log_std_mid = net.params.new_tensor([1, LOG_STD_MID])

    def draw(self, obs: Tensor, rng: torch.Generator) -> Draw:
        """Samples one action at each of (B, O) observations, with its log-density."""
        out, inputs = self.net.forward(obs)
        mean, log_std_logits = out[0].chunk(2)
        tanh_logits = log_std_logits.tanh()
        log_std = torch.add(self._log_std_mid, tanh_logits, alpha=LOG_STD_HALF)
        noise = torch.randn(mean.shape, generator=rng, device=obs.device, dtype=obs.dtype)
        scaled_noise = log_std.exp().mul_(noise)
        x = mean + scaled_noise
        # log(1 - tanh(x)^2) = 2 (log 2 - x - softplus(-2x)), a form without overflow or
        # cancellation.
        softplus_term = torch.sub(x, softplus(x, beta=-2), alpha=2)  # x + softplus(-2x)
        neg_log_prob = torch.sub(log_std, softplus_term, alpha=2).addcmul_(noise, noise, value=0.5)
        squashed = x.tanh()
        action = torch.addcmul(self._centre, self._half, squashed).T
        log_prob = -(neg_log_prob.sum(0) + self._log_scale)
        return Draw(action, log_prob, squashed, scaled_noise, tanh_logits, inputs)

    def gradient(
        self, draw: Draw, action_gradient: Tensor, log_prob_gradient: Tensor,
        into: Gradient | None = None,
    ) -> Tensor:  # fmt: skip
        """dL/dparams of a loss L of the first n actions, by the reparametrisation trick.

        Given dL/daction (n, A), and dL/dlog_prob, one number for all n.
        """
        n = len(action_gradient)
        squashed, scaled_noise, tanh_logits = (
            t[:, :n] for t in (draw.squashed, draw.scaled_noise, draw.tanh_logits)
        )
        # dL/dx: through the action, half (1 - tanh^2), and through log pi, whose term is 2 tanh.
        mean_gradient = torch.addcmul(self._one, squashed, squashed, value=-1).mul_(self._half)
        mean_gradient.mul_(action_gradient.T).addcmul_(log_prob_gradient, squashed, value=2)
        # dL/dlog_std = dL/dx noise std - dL/dlog_prob, then through LOG_STD_HALF tanh.
        logits_gradient = (mean_gradient * scaled_noise - log_prob_gradient) * LOG_STD_HALF
        logits_gradient.mul_(torch.addcmul(self._one, tanh_logits, tanh_logits, value=-1))
        output_gradient = torch.cat((mean_gradient, logits_gradient))[None]  # (1, 2A, n)
        return self.net.gradient([h[:, :n] for h in draw.inputs], output_gradient, into)

    def sample(self, obs: np.ndarray, n: int, rng: torch.Generator) -> np.ndarray:
        """`n` actions (n, A) for a single observation (O,); `rng` is a CPU generator."""
        mean, std = self.moments(obs)
        noise = torch.randn(n, len(mean), generator=rng, dtype=self.net.params.dtype).numpy()
        return self.bounded(mean + std * noise)

    def moments(self, obs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Mean and standard deviation (A,) of the Gaussian before tanh, at one observation (O,)."""
        mean, log_std_logits = self.net.predict(obs).reshape(2, -1)
        return mean, np.exp(LOG_STD_MID + LOG_STD_HALF * np.tanh(log_std_logits))

    def mode(self, obs: np.ndarray) -> np.ndarray:
        """The deterministic action (A,), tanh of the mean, for a single observation (O,)."""
        return self.bounded(self.net.predict(obs)[: len(self.low)])

    def uniform(self, n: int, rng: torch.Generator) -> np.ndarray:
        """`n` actions (n, A), uniform between the bounds."""
        share = torch.rand(n, len(self.low), generator=rng, dtype=self.net.params.dtype).numpy()
        return np.minimum(self.low + (self.high - self.low) * share, self.high)

    def bounded(self, x: np.ndarray) -> np.ndarray:
        """Squashes and scales (..., A) to actions; clipped, as scaling may round past a bound."""
        action = self.centre + self.half * np.tanh(x)
        return np.minimum(np.maximum(action, self.low), self.high)


class Adam:
    """Adam with the usual betas (0.9, 0.999), all tensors in one fused kernel."""

    def __init__(self, params: list[Tensor], learning_rate: float) -> None:
        self._params = params
        self._learning_rate = learning_rate
        self._means = [torch.zeros_like(p) for p in params]
        self._squares = [torch.zeros_like(p) for p in params]
        self._steps = [torch.zeros((), device=p.device) for p in params]

    def step(self, gradients: list[Tensor]) -> None:
        """One step, in place, given a gradient for each parameter tensor."""
        for step in self._steps:
            step.add_(1)
        with flushed_denormals():  # the moments of dead units
            torch._fused_adam_(  # as in torch.optim.Adam(fused=True), with half the overhead
                self._params, gradients, self._means, self._squares, [], self._steps,
                lr=self._learning_rate, beta1=0.9, beta2=0.999, eps=1e-8, weight_decay=0.0,
                amsgrad=False, maximize=False,
            )  # fmt: skip
        # The fused kernel does not increment the version counter that `MLP.predict` relies on.
        torch.autograd.graph.increment_version(self._params)

    def state_dict(self) -> State:
        """Moments and step count of each parameter tensor, by its index."""
        moments = zip(self._means, self._squares, self._steps, strict=True)
        return {
            str(i): {"mean": mean.clone(), "square": square.clone(), "step": step.clone()}
            for i, (mean, square, step) in enumerate(moments)
        }

    def load_state_dict(self, state: State) -> None:
        """Inverse of `state_dict`."""
        for i, mean in enumerate(self._means):
            saved = state[str(i)]
            mean.copy_(saved["mean"])
            self._squares[i].copy_(saved["square"])
            self._steps[i].copy_(saved["step"])
