"""Optimistic actor-critic (Ciosek et al., 2019): behave as if the critics' upper bound were true.

The action of training is drawn around a mean that is moved uphill on Q_UB, an upper bound of the
value, as far as a bound on the KL divergence from the policy allows. Evaluation and updates are
SAC's. Different from the publication: updates keep SAC's min(Q1, Q2), which is the lower bound
mean - beta_LB |Q1 - Q2| / 2 with beta_LB = 1 in place of the published 3.65, so that the agent
differs from SAC in its behaviour alone.
"""

import math
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from baselines.agents.sac import SAC, SACConfig


@dataclass(frozen=True)
class SACOACConfig(SACConfig):
    """SAC's settings, and those of optimism."""

    beta_upper: float = 4.66  # beta_UB, critics' deviations above their mean; the publication's
    kl_bound: float = 23.53  # delta, of behaviour from the policy before tanh; the publication's


class SACOAC(SAC):
    """SAC that behaves optimistically: its mean is moved up the critics' upper bound."""

    Config = SACOACConfig
    config: SACOACConfig

    def behaviour_action(self, obs: np.ndarray) -> Tensor:
        """A draw of N(mu_E, Sigma), squashed; Sigma and the random stream are the policy's."""
        if self.is_random:
            return super().behaviour_action(obs)
        mean, std = self.actor.moments(obs)
        noise = torch.randn(1, len(mean), generator=self._act_rng)[0].numpy()
        shift = optimistic_shift(self._mean_gradient(obs, mean), std, self.config.kl_bound)
        return torch.from_numpy(self.actor.bounded(mean + shift + std * noise))

    def upper_bound(self, obs: np.ndarray, action: np.ndarray) -> tuple[float, np.ndarray]:
        """Q_UB = (Q1 + Q2) / 2 + beta_UB |Q1 - Q2| / 2 of one pair, and its action gradient (A,).

        On the host: one row at a time is quicker there, whatever the device.
        """
        pair = np.concatenate((obs, action))
        (q1, q2), (gradient1, gradient2) = self.critic.net.values_and_gradients(pair, len(action))
        spread = self.config.beta_upper * np.sign(q1 - q2)
        value = (q1 + q2 + spread * (q1 - q2)) / 2
        return float(value), (gradient1 + gradient2 + spread * (gradient1 - gradient2)) / 2

    def _mean_gradient(self, obs: np.ndarray, mean: np.ndarray) -> np.ndarray:
        """The gradient (A,) of Q_UB at the mean, in the mean: through tanh and the bounds."""
        _, gradient = self.upper_bound(obs, self.actor.bounded(mean))
        return gradient * self.actor.half * (1 - np.tanh(mean) ** 2)


def optimistic_shift(gradient: np.ndarray, std: np.ndarray, kl_bound: float) -> np.ndarray:
    """mu_E - mu = sqrt(2 delta) Sigma g / |g|_Sigma (the publication's proposition 1).

    The step that climbs farthest along a gradient g with KL(N(mu_E, Sigma) | N(mu, Sigma)) = delta;
    none where the gradient is zero.
    """
    length = math.sqrt(float(np.sum((std * gradient) ** 2)))  # |g|_Sigma
    if length == 0:
        return np.zeros_like(gradient)
    return math.sqrt(2 * kl_bound) / length * std**2 * gradient
