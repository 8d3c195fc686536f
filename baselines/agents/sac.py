"""Soft actor-critic (Haarnoja et al., 2018) with two critics and a learned temperature.

The default hyperparameters are those of pytorch_sac, which the paper kept. The schedule is the
paper's: no update during an episode, all of them at its end.
"""

import math
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from baselines.agent import Action, Bounds, Stateful, check_ranges, require_finite
from baselines.agents.off_policy import OffPolicy, Scalars
from baselines.nn.networks import MLP, Adam, Draw, GaussianActor, Gradient, spawn_seeds
from baselines.nn.replay import Batch, Replay

_POSITIVE = """hidden layers learning_rate batch_size init_temperature target_every actor_every
    replay_capacity"""


@dataclass(frozen=True)
class SACConfig:
    """Hyperparameters of SAC; the defaults are the paper's."""

    hidden: int = 1024  # units per hidden layer of actor and critics; pytorch_sac
    layers: int = 2  # hidden layers; pytorch_sac
    learning_rate: float = 1e-4  # Adam's, for actor, critics and temperature; pytorch_sac
    batch_size: int = 1024  # pytorch_sac
    discount: float = 0.99  # pytorch_sac
    init_temperature: float = 0.1  # initial alpha; pytorch_sac
    tau: float = 0.005  # step size of the soft target update; pytorch_sac
    target_every: int = 2  # critic updates per soft target update; pytorch_sac
    actor_every: int = 1  # critic updates per update of actor and temperature; pytorch_sac
    replay_capacity: int = 1_000_000  # transitions; authors' code
    warmup_steps: int = 128  # environment steps of uniform actions; authors' code
    seed_updates: int = 500  # earlier updates are skipped, and actions stay uniform; authors' code
    updates_per_step: float = 1.0  # gradient steps per environment step; authors' code

    def __post_init__(self) -> None:
        check_ranges(self, positive=_POSITIVE, fractions="discount tau")


@dataclass(frozen=True)
class Value:
    """The value of (obs, action), and its gradient with respect to the action.

    Sums and multiples of Values are taken of both: `a + 0.5 * b`.
    """

    value: Tensor  # (B,)
    gradient: Tensor  # (B, A)

    def __add__(self, other: "Value") -> "Value":
        return Value(self.value + other.value, self.gradient + other.gradient)

    def __rmul__(self, scale: float) -> "Value":
        return Value(scale * self.value, scale * self.gradient)


class Critic(Stateful):
    """Two Q-networks, their target networks and their optimiser."""

    STATE = {"params": "net.params", "target": "target.params", "adam": "adam"}

    def __init__(
        self, obs_dim: int, action_dim: int, config: SACConfig, *, seed: int, device: str
    ) -> None:
        hidden = [config.hidden] * config.layers
        sizes = [obs_dim + action_dim, *hidden, 1]
        self.config = config
        self.net = MLP(sizes, members=2, seed=seed, device=device)
        self.target = MLP(sizes, members=2, seed=seed, device=device)
        self.adam = Adam([self.net.params], config.learning_rate)
        self._gradient = Gradient(self.net)

    def value(self, obs: Tensor, action: Tensor) -> Value:
        """The smaller of the two Q-values, min(Q1, Q2)."""
        q, inputs = self.net.forward(torch.cat((obs, action), dim=1))  # (2, 1, B)
        value, member = q[:, 0].min(0)
        return Value(value, self.net.input_gradient(inputs, member, action.shape[1]))

    def update(
        self, batch: Batch, next_action: Tensor, next_log_prob: Tensor, alpha: Tensor
    ) -> Scalars:
        """One gradient step on the loss mean((Q1 - y)^2) + mean((Q2 - y)^2)."""
        target = self.td_target(batch, next_action, next_log_prob, alpha)  # (B,)
        q, inputs = self.net.forward(torch.cat((batch.obs, batch.action), dim=1))  # (2, 1, B)
        error = q - target
        output_gradient = error * (2 / len(target))  # of the loss with respect to Q1 and Q2
        self.adam.step([self.net.gradient(inputs, output_gradient, self._gradient)])
        loss = error.square().sum() / len(target)
        return {"target": target.mean(), "critic_loss": loss, "q_mean": q.mean()}

    def td_target(
        self, batch: Batch, next_action: Tensor, next_log_prob: Tensor, alpha: Tensor
    ) -> Tensor:
        """Returns y = r + discount (1 - terminated) (min(Q1', Q2') - alpha log pi), (B,)."""
        q, _ = self.target.forward(torch.cat((batch.next_obs, next_action), dim=1))  # (2, 1, B)
        soft_value = q[:, 0].amin(0) - alpha * next_log_prob
        return batch.reward + self.config.discount * (1 - batch.terminated) * soft_value

    def sync(self) -> None:
        """Soft update of the target networks: target += tau * (net - target)."""
        self.target.params.lerp_(self.net.params, self.config.tau)


class SAC(OffPolicy):
    """Soft actor-critic: two critics, a squashed Gaussian actor, a learned temperature.

    A variant overrides what it needs of `stored_reward` (the reward the critics are trained on),
    `actor_value` (what the actor maximises), `update_critics`, `update_actor`, `sync_targets`,
    `sample_actions` (the task policy) and `behaviour_action` (the policy of training). For random
    streams of its own it takes seeds of `spawn_seeds` beyond the first four, so that SAC's stay the
    same. Gradients here are written by hand for speed; a variant may call `backward()` on a loss of
    its own.
    """

    Config: type[SACConfig] = SACConfig
    family, discrete = "sac", False
    STATE = {
        "actor": "actor.net.params", "log_alpha": "log_alpha", "actor_adam": "actor_adam",
        "critic": "critic", "act_rng": "_act_rng", "learn_rng": "_learn_rng",
    }  # fmt: skip

    def __init__(
        self, bounds: Bounds, config: SACConfig, *, seed: int, device: str = "cpu"
    ) -> None:
        obs_dim, action_dim = len(bounds.obs_low), len(bounds.action_low)
        init_seed, act_seed, replay_seed, learn_seed = spawn_seeds(seed, 4)
        actor_seed, critic_seed = spawn_seeds(init_seed, 2)
        replay = Replay(
            config.replay_capacity, obs_dim, action_dim, seed=replay_seed, device=device
        )
        super().__init__(replay, updates_per_step=config.updates_per_step, device=device)
        self.config = config
        hidden = [config.hidden] * config.layers
        net = MLP([obs_dim, *hidden, 2 * action_dim], seed=actor_seed, device=device)
        self.actor = GaussianActor(net, bounds.action_low, bounds.action_high)
        self.critic = Critic(obs_dim, action_dim, config, seed=critic_seed, device=device)
        self.log_alpha = torch.tensor(math.log(config.init_temperature), device=device)
        self.actor_adam = Adam([net.params, self.log_alpha], config.learning_rate)
        self._actor_gradient = Gradient(net)
        self.target_entropy = -float(action_dim)
        self._act_rng = torch.Generator().manual_seed(act_seed)  # actions are sampled on the CPU
        self._learn_rng = torch.Generator(device).manual_seed(learn_seed)

    @property
    def in_warmup(self) -> bool:
        """True during the first environment steps, when actions are uniform."""
        return self.steps < self.config.warmup_steps

    @property
    def is_random(self) -> bool:
        """True while the task policy is uniform: in warm-up and before the first real update."""
        return self.in_warmup or self.updates <= self.config.seed_updates

    def sample_actions(self, obs: np.ndarray, n: int) -> Tensor:
        """`n` samples (n, A) of the task policy at one observation."""
        if self.is_random:
            actions = self.actor.uniform(n, self._act_rng)
        else:
            actions = self.actor.sample(obs, n, self._act_rng)
        return torch.from_numpy(actions).to(self.device)

    def task_action(self, obs: np.ndarray) -> Tensor:
        """The deterministic action: tanh of the Gaussian's mean, scaled to the bounds."""
        return torch.from_numpy(self.actor.mode(obs))

    def as_action(self, action: Tensor) -> Action:
        """As a NumPy array; FloatingPointError if it is not finite."""
        array = action.cpu().numpy()
        require_finite("action", array, self.steps)
        return array

    def _update_once(self) -> Scalars:
        """One update of critics, actor, temperature and targets; none for `seed_updates` calls."""
        if self.updates < self.config.seed_updates:
            return {}
        n = self.config.batch_size
        batch = self.replay.sample(n)
        alpha = self.log_alpha.exp()
        # The critics' update does not change the actor, so one forward pass serves both updates.
        draw = self.actor.draw(torch.cat((batch.obs, batch.next_obs)), self._learn_rng)
        info = self.update_critics(batch, draw.action[n:], draw.log_prob[n:], alpha)
        if self.updates % self.config.actor_every == 0:
            info |= self.update_actor(batch.obs, draw, alpha)
        if self.updates % self.config.target_every == 0:
            self.sync_targets()
        return info

    def update_critics(
        self, batch: Batch, next_action: Tensor, next_log_prob: Tensor, alpha: Tensor
    ) -> Scalars:
        """One gradient step of every critic, given the policy's actions at `batch.next_obs`."""
        return self.critic.update(batch, next_action, next_log_prob, alpha)

    def actor_value(self, obs: Tensor, action: Tensor) -> Value:
        """The value that the actor maximises."""
        return self.critic.value(obs, action)

    def sync_targets(self) -> None:
        """One soft update of every critic's target networks."""
        self.critic.sync()

    def update_actor(self, obs: Tensor, draw: Draw, alpha: Tensor) -> Scalars:
        """One gradient step of the actor and one of the temperature.

        The actor's loss is mean(alpha log pi - value). The temperature's loss is
        mean(alpha (-log pi - target entropy)), minimised over log alpha.
        """
        n = len(obs)
        value = self.actor_value(obs, draw.action[:n])
        gradient = self.actor.gradient(draw, value.gradient / -n, alpha / n, self._actor_gradient)
        entropy = -draw.log_prob[:n].mean()
        alpha_gradient = alpha * (entropy - self.target_entropy)
        self.actor_adam.step([gradient, alpha_gradient])
        loss = -alpha * entropy - value.value.mean()
        return {"actor_loss": loss, "alpha": alpha, "entropy": entropy}

    def policy_dict(self) -> dict[str, Tensor]:
        """The actor's parameters."""
        return {"actor": self.actor.net.params}

    def load_policy_dict(self, weights: dict[str, Tensor]) -> None:
        """Inverse of `policy_dict`."""
        self.actor.net.params.copy_(weights["actor"])
