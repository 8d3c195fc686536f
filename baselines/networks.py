"""The function approximators: ReLU networks, the squashed Gaussian actor, and their optimiser.

The networks are small, so an update spends its time in a few matrix products if nothing stands in
their way. Hence three habits: all parameters of a network are one vector, copies of a network are
evaluated together, and gradients are written by hand (the tests compare them with autograd).
"""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import softplus

from baselines.agent import State

LOG_STD_MIN, LOG_STD_MAX = -5.0, 2.0  # pytorch_sac
LOG_STD_HALF, LOG_STD_MID = (LOG_STD_MAX - LOG_STD_MIN) / 2, (LOG_STD_MAX + LOG_STD_MIN) / 2

_VIEWS = ("_weights", "_biases", "_weight_slopes", "_bias_slopes", "_host")  # of a network

relu_backward = torch.ops.aten.threshold_backward.default  # comparing is slower
relu_backward_ = torch.ops.aten.threshold_backward.grad_input  # in place


def spawn_seeds(seed: int, n: int) -> list[int]:
    """Seeds of `n` independent random streams; a longer list begins with the shorter one."""
    return [int(s) for s in np.random.SeedSequence(seed).generate_state(n, np.uint64)]


class MLP:
    """`copies` ReLU networks of one shape, fed the same input.

    `params` holds every weight and bias. Hidden weights are (copies, in, out), the output's
    (copies, out, in): a product with one narrow side is fastest when that side comes first.
    """

    def __init__(
        self,
        sizes: Sequence[int],
        *,
        copies: int = 1,
        seed: int,
        device: str = "cpu",
        dtype: torch.dtype = torch.float32,
    ) -> None:
        *hidden, (n_last, n_out) = zip(sizes[:-1], sizes[1:], strict=True)
        self.copies = copies
        self._shapes = [(copies, *pair) for pair in hidden] + [(copies, n_out, n_last)]
        self._shapes += [(copies, 1, n) for _, n in hidden] + [(copies, n_out, 1)]
        self._depth = len(sizes) - 1
        length = sum(map(math.prod, self._shapes))
        self.params = torch.zeros(length, device=device, dtype=dtype)
        self._gradient = torch.empty_like(self.params)
        self._lay_out()
        self._initialise(torch.Generator().manual_seed(seed))
        self.refresh()

    def __getstate__(self) -> dict[str, Any]:
        """What a copy is made of: not the views, which copied one by one would be views no more."""
        return {name: value for name, value in vars(self).items() if name not in _VIEWS}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._lay_out()
        self.refresh()

    def forward(self, x: Tensor) -> tuple[Tensor, list[Tensor]]:
        """Outputs (copies, out, B) of inputs (B, in); and what `gradient` will need again."""
        inputs = [x.expand(self.copies, *x.shape)]  # of each layer, (copies, B, in)
        for weight, bias in zip(self._weights[:-1], self._biases[:-1], strict=True):
            inputs.append(torch.baddbmm(bias, inputs[-1], weight).relu_())
        return torch.baddbmm(self._biases[-1], self._weights[-1], inputs[-1].mT), inputs

    def gradient(self, inputs: list[Tensor], slope: Tensor) -> Tensor:
        """The gradient in `params` of a loss whose slope in the outputs is (copies, out, B).

        The same memory is returned, and overwritten, every time.
        """
        weight = self._weights[-1]
        torch.bmm(slope, inputs[-1], out=self._weight_slopes[-1])
        torch.sum(slope, 2, keepdim=True, out=self._bias_slopes[-1])
        # One output makes this an outer product, where multiplying beats the matrix product.
        slope = slope.mT * weight if weight.shape[1] == 1 else torch.bmm(slope.mT, weight)
        for layer in reversed(range(self._depth - 1)):
            relu_backward_(slope, inputs[layer + 1], 0, grad_input=slope)  # (copies, B, width)
            torch.bmm(inputs[layer].mT, slope, out=self._weight_slopes[layer])
            torch.sum(slope, 1, keepdim=True, out=self._bias_slopes[layer])
            if layer:
                slope = torch.bmm(slope, self._weights[layer].mT)
        return self._gradient

    def input_slope(self, inputs: list[Tensor], choice: Tensor, last: int) -> Tensor:
        """Slope of a one-output network in its `last` inputs, (B, last).

        Each row asks the copy that `choice` (B,) names, and only that one is computed.
        """
        total = inputs[0].new_empty(last, len(choice))
        for copy in range(self.copies):
            rows = (choice == copy).nonzero()[:, 0]
            slope = self._weights[-1][copy].expand(len(rows), -1)  # (rows, width)
            for layer in reversed(range(self._depth - 1)):
                output = inputs[layer + 1][copy].index_select(0, rows)
                slope = relu_backward(slope, output, 0)
                if layer:
                    slope = slope @ self._weights[layer][copy].T
            total.index_copy_(1, rows, self._weights[0][copy, -last:] @ slope.T)
        return total.T

    def predict(self, x: np.ndarray) -> np.ndarray:
        """The first copy's outputs (out,) for a single input (in,), as of the last `refresh`.

        In NumPy on the host: for one row that is quicker than torch, whatever the device.
        """
        *hidden, (head, offset) = self._host
        x = np.asarray(x, head.dtype)
        for weight, bias in hidden:
            x = np.maximum(x @ weight + bias, 0)
        return head @ x + offset

    def refresh(self) -> None:
        """Lets `predict` see the present parameters; on the CPU it shares their memory anyway."""
        layers = zip(self._weights, self._biases, strict=True)
        self._host = [(w[0].cpu().numpy(), b[0].flatten().cpu().numpy()) for w, b in layers]

    def _lay_out(self) -> None:
        self._weights, self._biases = self._split(self.params)
        self._weight_slopes, self._bias_slopes = self._split(self._gradient)

    def _split(self, vector: Tensor) -> tuple[list[Tensor], list[Tensor]]:
        """Views of a parameter vector: weights and biases, layer by layer."""
        pieces = vector.split([math.prod(shape) for shape in self._shapes])
        views = [p.view(shape) for p, shape in zip(pieces, self._shapes, strict=True)]
        return views[: self._depth], views[self._depth :]

    def _initialise(self, rng: torch.Generator) -> None:
        """Orthogonal weights of gain one, zero biases; the same on every device."""
        for weight in self._weights:
            for matrix in weight:
                start = torch.empty(matrix.shape, dtype=matrix.dtype)
                matrix.copy_(torch.nn.init.orthogonal_(start, generator=rng))


class Draw(NamedTuple):
    """Actions drawn at B observations, and what their gradient will need again."""

    action: Tensor  # (B, A)
    log_prob: Tensor  # (B,)
    squashed: Tensor  # (A, B) in (-1, 1), the action before scaling
    spread: Tensor  # (A, B) noise times standard deviation
    bend: Tensor  # (A, B) in (-1, 1), the log standard deviation before scaling
    inputs: list[Tensor]


class GaussianActor:
    """A Gaussian squashed by tanh and scaled to the action bounds; inside, actions are (A, B)."""

    def __init__(self, net: MLP, low: np.ndarray, high: np.ndarray) -> None:
        self.net = net
        kind = np.float64 if net.params.dtype == torch.float64 else np.float32
        self.low: np.ndarray = np.asarray(low, kind)  # (A,)
        self.high: np.ndarray = np.asarray(high, kind)
        self.half, self.centre = (self.high - self.low) / 2, (self.high + self.low) / 2
        self._half = torch.from_numpy(self.half).to(net.params)[:, None]  # (A, 1)
        self._centre = torch.from_numpy(self.centre).to(net.params)[:, None]
        # Part of every log-density: the Gaussian's constant, tanh's 4 and the bounds' scale.
        self._log_scale = (0.5 * math.log(2 * math.pi) + math.log(4) + self._half.log()).sum()
        self._one, self._log_std_mid = net.params.new_tensor([1, LOG_STD_MID])

    def draw(self, obs: Tensor, rng: torch.Generator) -> Draw:
        """One action for each of (B, O) observations, with its log-density."""
        out, inputs = self.net.forward(obs)
        mean, raw = out[0].chunk(2)
        bend = raw.tanh()
        log_std = torch.add(self._log_std_mid, bend, alpha=LOG_STD_HALF)
        noise = torch.randn(mean.shape, generator=rng, device=obs.device, dtype=obs.dtype)
        spread = log_std.exp().mul_(noise)
        x = mean + spread
        # log(1 - tanh(x)^2) = 2 (log 2 - x - softplus(-2x)) neither overflows nor cancels.
        tail = torch.sub(x, softplus(x, beta=-2), alpha=2)  # x + softplus(-2x)
        surprise = torch.sub(log_std, tail, alpha=2).addcmul_(noise, noise, value=0.5)
        squashed = x.tanh()
        action = torch.addcmul(self._centre, self._half, squashed).T
        log_prob = -(surprise.sum(0) + self._log_scale)
        return Draw(action, log_prob, squashed, spread, bend, inputs)

    def gradient(self, draw: Draw, action_slope: Tensor, log_prob_slope: Tensor) -> Tensor:
        """Gradient in the parameters of a loss of the first n draws.

        Its slope is (n, A) in the actions and one number, the same for all, in the log-densities.
        """
        n = len(action_slope)
        squashed, spread, bend = (t[:, :n] for t in (draw.squashed, draw.spread, draw.bend))
        x_slope = torch.addcmul(self._one, squashed, squashed, value=-1).mul_(self._half)
        x_slope.mul_(action_slope.T).addcmul_(log_prob_slope, squashed, value=2)
        bend_slope = (x_slope * spread - log_prob_slope) * LOG_STD_HALF
        raw_slope = bend_slope.mul_(torch.addcmul(self._one, bend, bend, value=-1))
        slope = torch.cat((x_slope, raw_slope))[None]  # (1, 2A, n)
        return self.net.gradient([h[:, :n] for h in draw.inputs], slope)

    def sample(self, obs: np.ndarray, n: int, rng: torch.Generator) -> np.ndarray:
        """`n` actions (n, A) for a single observation (O,); `rng` is a CPU generator."""
        mean, raw = self.net.predict(obs).reshape(2, -1)
        std = np.exp(LOG_STD_MID + LOG_STD_HALF * np.tanh(raw))
        noise = torch.randn(n, len(mean), generator=rng, dtype=self.net.params.dtype).numpy()
        return self._bounded(mean + std * noise)

    def mode(self, obs: np.ndarray) -> np.ndarray:
        """The squashed mean (A,) for a single observation (O,)."""
        return self._bounded(self.net.predict(obs)[: len(self.low)])

    def uniform(self, n: int, rng: torch.Generator) -> np.ndarray:
        """`n` actions (n, A) drawn evenly between the bounds."""
        share = torch.rand(n, len(self.low), generator=rng, dtype=self.net.params.dtype).numpy()
        return np.minimum(self.low + (self.high - self.low) * share, self.high)

    def _bounded(self, x: np.ndarray) -> np.ndarray:
        """Unbounded (..., A) to actions; clipped, because scaling rounds."""
        action = self.centre + self.half * np.tanh(x)
        return np.minimum(np.maximum(action, self.low), self.high)


class Adam:
    """Adam with the usual betas (0.9, 0.999), all tensors in one fused pass."""

    def __init__(self, params: list[Tensor], learning_rate: float) -> None:
        self._params = params
        self._learning_rate = learning_rate
        self._means = [torch.zeros_like(p) for p in params]
        self._squares = [torch.zeros_like(p) for p in params]
        self._steps = [torch.zeros((), device=p.device) for p in params]

    def step(self, gradients: list[Tensor]) -> None:
        """Moves the parameters in place, one gradient for each."""
        for step in self._steps:
            step.add_(1)
        torch._fused_adam_(  # what torch.optim.Adam(fused=True) calls, at half the cost around it
            self._params, gradients, self._means, self._squares, [], self._steps,
            lr=self._learning_rate, beta1=0.9, beta2=0.999, eps=1e-8, weight_decay=0.0,
            amsgrad=False, maximize=False,
        )  # fmt: skip

    def state_dict(self) -> State:
        """Moments and step counts, numbered like the parameters."""
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
