"""MaxInfoRL on SAC (Sukhija et al., 2025): maximise the information gained about the dynamics.

Beside the policy's entropy the agent maximises an information gain: the disagreement of an ensemble
of forward models about a step. The weight of the gain is learned: it grows while the policy gains
less information than a slowly following copy of itself, the reference policy.

Different from Sukhija et al.: the ensemble is five linear heads on one trunk instead of five
networks, which costs less; its inputs are scaled by the task's typical range, not by running
moments; it learns between critics and actor instead of after both; the statistics that normalise
the gain are those up to the previous update; standard deviations are kept above 1e-6 instead of
1e-3; and the networks' activations are ReLU, as SAC's, instead of SiLU. As in their work, the gain
is computed on the batch of the update with the policy's current actions and never stored; and the
model has the sizes, the learning rate and the batches of SAC's networks.
"""

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from baselines.agent import Bounds, Stateful, check_ranges
from baselines.agents.off_policy import Scalars
from baselines.agents.sac import SAC, SACConfig, Value
from baselines.nn.networks import MLP, Adam, Draw, GaussianActor, Gradient, spawn_seeds
from baselines.nn.q_network import Scale
from baselines.nn.replay import Batch

_MOST_ROWS = 1_000_000  # largest weight of the past in running moments; Sukhija et al.'s code
_SMALLEST_STD = 1e-6  # in place of 0, where a number such as the reward has never changed


@dataclass(frozen=True)
class SACMaxInfoConfig(SACConfig):
    """The hyperparameters of SAC, which the model shares, and of the information gain."""

    heads: int = 5  # members of the ensemble; Sukhija et al.'s code
    model_noise: float = 1e-3  # sigma, noise of the normalised outcome of a step; their code
    init_gain_weight: float = 1.0  # initial weight of the information gain; their code

    def __post_init__(self) -> None:
        super().__post_init__()
        check_ranges(self, positive="heads model_noise init_gain_weight", fractions="discount tau")


class Moments(Stateful):
    """Running mean and standard deviation (D,) of the rows of all batches so far."""

    STATE = {"mean": "mean", "std": "std", "rows": "_rows"}

    def __init__(self, dim: int, device: str) -> None:
        self.mean, self.std = torch.zeros(dim, device=device), torch.ones(dim, device=device)
        self._rows = 0

    def add(self, rows: Tensor) -> None:
        """Adds a batch (B, D)."""
        old, total = self._rows, self._rows + len(rows)
        mean = (self.mean * old + rows.sum(0)) / total
        squares = (rows - mean).square().sum(0) + old * (self.mean - mean).square()
        variance = (self.std.square() * old + squares) / total
        self.mean, self.std = mean, variance.sqrt().clamp(min=_SMALLEST_STD)
        self._rows = min(total, _MOST_ROWS)


class ForwardModel(Stateful):
    """An ensemble of heads on one trunk; each predicts the outcome of a step.

    The outcome is (change of the observation, reward), D numbers that are normalised by their
    running mean and standard deviation.
    """

    STATE = {"params": "net.params", "adam": "_adam", "steps": "_outcomes"}

    def __init__(self, bounds: Bounds, config: SACMaxInfoConfig, *, seed: int, device: str) -> None:
        self.config = config
        self._obs_scale = Scale(bounds.obs_low, bounds.obs_high, device)
        self._action_scale = Scale(bounds.action_low, bounds.action_high, device)
        obs_dim, action_dim = len(bounds.obs_low), len(bounds.action_low)
        self._shape = (config.heads, obs_dim + 1)
        hidden = [config.hidden] * config.layers
        sizes = [obs_dim + action_dim, *hidden, math.prod(self._shape)]
        self.net = MLP(sizes, seed=seed, device=device)
        self._adam = Adam([self.net.params], config.learning_rate)
        self._gradient = Gradient(self.net)
        self._outcomes = Moments(obs_dim + 1, device)

    def gain(self, obs: Tensor, action: Tensor) -> Tensor:
        """(B, O), (B, A) -> (B,): the mean over dimensions j of log(1 + var_j / sigma^2).

        This is Sukhija et al.'s bound of the information gain. var_j is the variance between the
        heads; the mean in place of their sum is from their code.
        """
        deviations, _ = self._disagreement(obs, action)
        return self._gain_of(deviations.square().mean(0))

    def gain_value(self, obs: Tensor, action: Tensor) -> Value:
        """The gain, with its gradient with respect to the action."""
        deviations, inputs = self._disagreement(obs, action)  # (heads, D, B)
        variance = deviations.square().mean(0)  # (D, B)
        heads, dim = self._shape
        # d(gain)/d(deviation) is the deviation times this, (D, B).
        coefficient = (2 / (heads * dim)) / (variance + self.config.model_noise**2)
        upstream = (deviations * coefficient).view(1, heads * dim, -1)
        gradient = self.net.pull_back(inputs, upstream, action.shape[1])
        return Value(self._gain_of(variance), gradient * self._action_scale.factor)

    def update(self, batch: Batch) -> Scalars:
        """One gradient step on the mean squared error of all heads' predictions."""
        change = self._obs_scale.factor * (batch.next_obs - batch.obs)
        outcomes = torch.cat((change, batch.reward[:, None]), dim=1)  # (B, D)
        self._outcomes.add(outcomes)
        target = ((outcomes - self._outcomes.mean) / self._outcomes.std).T  # (D, B)
        out, inputs = self._predict(batch.obs, batch.action)
        error = out.view(*self._shape, -1) - target
        output_gradient = error.view(out.shape) * (2 / error.numel())
        self._adam.step([self.net.gradient(inputs, output_gradient, self._gradient)])
        return {"model_loss": error.square().mean()}

    def _predict(self, obs: Tensor, action: Tensor) -> tuple[Tensor, list[Tensor]]:
        inputs = torch.cat((self._obs_scale(obs), self._action_scale(action)), dim=1)
        return self.net.forward(inputs)  # (1, heads * D, B)

    def _disagreement(self, obs: Tensor, action: Tensor) -> tuple[Tensor, list[Tensor]]:
        """Predictions minus their mean over the heads, (heads, D, B), and the layers' inputs."""
        out, inputs = self._predict(obs, action)
        out = out.view(*self._shape, -1)
        return out - out.mean(0), inputs

    def _gain_of(self, variance: Tensor) -> Tensor:
        return torch.log1p(variance / self.config.model_noise**2).mean(0)


class SACMaxInfo(SAC):
    """SAC that also maximises the information gained about the dynamics, with a learned weight."""

    STATE = {
        "model": "model", "gains": "gains", "reference": "reference.net.params",
        "reference_rng": "_reference_rng", "log_weight": "log_weight",
        "weight_adam": "_weight_adam",
    }  # fmt: skip
    Config = SACMaxInfoConfig
    config: SACMaxInfoConfig

    def __init__(
        self, bounds: Bounds, config: SACMaxInfoConfig, *, seed: int, device: str = "cpu"
    ) -> None:
        super().__init__(bounds, config, seed=seed, device=device)
        *_, model_seed, reference_seed = spawn_seeds(seed, 6)
        self.model = ForwardModel(bounds, config, seed=model_seed, device=device)
        self.gains = Moments(1, device)
        hidden = [config.hidden] * config.layers
        sizes = [len(bounds.obs_low), *hidden, 2 * len(bounds.action_low)]
        net = MLP(sizes, seed=reference_seed, device=device)
        net.params.copy_(self.actor.net.params)
        self.reference = GaussianActor(net, bounds.action_low, bounds.action_high)
        self.log_weight = torch.tensor(math.log(config.init_gain_weight), device=device)
        self._weight_adam = Adam([self.log_weight], config.learning_rate)
        self._reference_rng = torch.Generator(device).manual_seed(reference_seed)

    def update_critics(
        self, batch: Batch, next_action: Tensor, next_log_prob: Tensor, alpha: Tensor
    ) -> Scalars:
        """One gradient step of the critics on targets with the information gain; then of the model.

        y = r + discount (1 - terminated) (min(Q1', Q2') - alpha log pi + weight gain). The gain is
        that of the next observation and action, as the entropy is.
        """
        gain = (self.model.gain(batch.next_obs, next_action) - self.gains.mean) / self.gains.std
        added = self.config.discount * (1 - batch.terminated) * self.log_weight.exp() * gain
        with_gain = batch._replace(reward=batch.reward + added)
        info = super().update_critics(with_gain, next_action, next_log_prob, alpha)
        return info | self.model.update(batch)

    def actor_value(self, obs: Tensor, action: Tensor) -> Value:
        """min(Q1, Q2) plus the weighted, normalised information gain."""
        gain, scale = self.model.gain_value(obs, action), self.log_weight.exp() / self.gains.std
        weighted = Value(scale * (gain.value - self.gains.mean), scale * gain.gradient)
        return super().actor_value(obs, action) + weighted

    def update_actor(self, obs: Tensor, draw: Draw, alpha: Tensor) -> Scalars:
        """SAC's gradient steps of actor and temperature, then one of the gain's weight."""
        info = super().update_actor(obs, draw, alpha)
        return info | self._update_weight(obs, draw.action[: len(obs)])

    def _update_weight(self, obs: Tensor, action: Tensor) -> Scalars:
        """One gradient step of log(weight) on the loss log(weight) (gain - reference gain).

        So the weight grows while the policy's mean gain is below that of the reference policy.
        """
        reference = self.reference.draw(obs, self._reference_rng).action
        gains = self.model.gain(torch.cat((obs, obs)), torch.cat((action, reference)))
        self.gains.add(gains[:, None])
        own, other = (gains.view(2, -1).mean(1) - self.gains.mean) / self.gains.std
        self._weight_adam.step([own - other])
        return {"gain": own, "reference_gain": other, "gain_weight": self.log_weight.exp()}

    def sync_targets(self) -> None:
        """One soft update of the critics' target networks and of the reference policy."""
        super().sync_targets()
        self.reference.net.params.lerp_(self.actor.net.params, self.config.tau)
