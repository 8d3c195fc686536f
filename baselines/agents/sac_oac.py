"""Optimistic actor-critic (Ciosek et al., 2019): behaviour that follows the critics' upper bound.

Actions in training are drawn around a mean that is moved along the gradient of Q_UB, an upper bound
of the value, as far as a bound on the KL divergence from the policy allows. Evaluation and updates
are SAC's. Different from Ciosek et al.: updates keep SAC's min(Q1, Q2), which is the lower bound
mean - beta_LB |Q1 - Q2| / 2 with beta_LB = 1 in place of their 3.65, so that the agent differs from
SAC in its behaviour alone.
"""

import math
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from baselines.agents.sac import SAC, SACConfig


@dataclass(frozen=True)
class SACOACConfig(SACConfig):
    """The hyperparameters of SAC and of optimism."""

    beta_upper: float = 4.66  # beta_UB, the critics' deviations above their mean; Ciosek et al.
    kl_bound: float = 23.53  # delta, KL divergence of behaviour and policy before tanh; the same


class SACOAC(SAC):
    """SAC with optimistic behaviour: the mean action moves up the critics' upper bound."""

    Config = SACOACConfig
    config: SACOACConfig

    def behaviour_action(self, obs: np.ndarray) -> Tensor:
        """A squashed sample of N(mu_E, Sigma), where Sigma is the policy's own covariance."""
        if self.is_random:
            return super().behaviour_action(obs)
        mean, std = self.actor.moments(obs)
        noise = torch.randn(1, len(mean), generator=self._act_rng)[0].numpy()
        shift = optimistic_shift(self._mean_gradient(obs, mean), std, self.config.kl_bound)
        return torch.from_numpy(self.actor.bounded(mean + shift + std * noise))

    def upper_bound(self, obs: np.ndarray, action: np.ndarray) -> tuple[float, np.ndarray]:
        """Q_UB = (Q1 + Q2) / 2 + beta_UB |Q1 - Q2| / 2, and its gradient in the action (A,).

        For one observation (O,) and action (A,), in NumPy, which for one row is faster than torch.
        """
        pair = np.concatenate((obs, action))
        (q1, q2), (gradient1, gradient2) = self.critic.net.values_and_gradients(pair, len(action))
        signed_beta = self.config.beta_upper * np.sign(q1 - q2)  # |d| = sign(d) d
        value = (q1 + q2 + signed_beta * (q1 - q2)) / 2
        return float(value), (gradient1 + gradient2 + signed_beta * (gradient1 - gradient2)) / 2

    def _mean_gradient(self, obs: np.ndarray, mean: np.ndarray) -> np.ndarray:
        """The gradient (A,) of Q_UB with respect to the mean: through the bounds and tanh."""
        _, gradient = self.upper_bound(obs, self.actor.bounded(mean))
        return gradient * self.actor.half * (1 - np.tanh(mean) ** 2)


def optimistic_shift(gradient: np.ndarray, std: np.ndarray, kl_bound: float) -> np.ndarray:
    """mu_E - mu = sqrt(2 delta) Sigma g / |g|_Sigma (proposition 1 of Ciosek et al.).

    The shift that gains most along the gradient g with KL(N(mu_E, Sigma) | N(mu, Sigma)) = delta; 0
    where the gradient is 0.
    """
    length = math.sqrt(float(np.sum((std * gradient) ** 2)))  # |g|_Sigma
    if length == 0:
        return np.zeros_like(gradient)
    return math.sqrt(2 * kl_bound) / length * std**2 * gradient
