"""Soft actor-critic (Haarnoja et al., 2018) with two critics and a learned temperature.

The values are those of pytorch_sac, which the paper kept; the schedule is the paper's: no update
inside an episode, one burst of updates when it ends.
"""

import math
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from baselines.agent import Action, Bounds, State, check_ranges, require_finite
from baselines.agents.off_policy import Info, OffPolicy
from baselines.nn.networks import MLP, Adam, Draw, GaussianActor, Gradient, spawn_seeds
from baselines.nn.replay import Batch, Replay

_POSITIVE = """hidden layers learning_rate batch_size init_temperature target_every actor_every
    replay_capacity"""


@dataclass(frozen=True)
class SACConfig:
    """Everything that may differ between runs; the defaults are the paper's."""

    hidden: int = 1024  # width of actor and critics; pytorch_sac
    layers: int = 2  # pytorch_sac
    learning_rate: float = 1e-4  # Adam's, for actor, critics and temperature; pytorch_sac
    batch_size: int = 1024  # pytorch_sac
    discount: float = 0.99  # pytorch_sac
    init_temperature: float = 0.1  # alpha at the start; pytorch_sac
    tau: float = 0.005  # how far a target moves towards its critic; pytorch_sac
    target_every: int = 2  # updates between two such moves; pytorch_sac
    actor_every: int = 1  # updates between two steps of actor and temperature; pytorch_sac
    replay_capacity: int = 1_000_000  # transitions; the paper's code
    warmup_steps: int = 128  # environment steps of uniform actions; the paper's code
    seed_updates: int = 500  # first update that learns; uniform actions until after it; the code
    updates_per_step: float = 1.0  # all spent in one burst when the episode ends; the code

    def __post_init__(self) -> None:
        check_ranges(self, positive=_POSITIVE, fractions="discount tau")


@dataclass(frozen=True)
class Value:
    """A value of (obs, action), (B,), and its gradient in the action, (B, A)."""

    value: Tensor  # (B,)
    gradient: Tensor  # (B, A)

    def __add__(self, other: "Value") -> "Value":
        return Value(self.value + other.value, self.gradient + other.gradient)

    def __rmul__(self, scale: float) -> "Value":
        return Value(scale * self.value, scale * self.gradient)


class Critic:
    """Two Q-networks, their slow targets and their optimiser."""

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
        """min(Q1, Q2)."""
        q, inputs = self.net.forward(torch.cat((obs, action), dim=1))  # (2, 1, B)
        value, member = q[:, 0].min(0)
        return Value(value, self.net.input_gradient(inputs, member, action.shape[1]))

    def update(
        self, batch: Batch, next_action: Tensor, next_log_prob: Tensor, alpha: Tensor
    ) -> Info:
        """One step on the loss mean((Q1 - y)^2) + mean((Q2 - y)^2)."""
        target = self._bootstrap(batch, next_action, next_log_prob, alpha)  # (B,)
        q, inputs = self.net.forward(torch.cat((batch.obs, batch.action), dim=1))  # (2, 1, B)
        error = q - target
        output_gradient = error * (2 / len(target))  # of the loss, in Q1 and Q2
        self.adam.step([self.net.gradient(inputs, output_gradient, self._gradient)])
        loss = error.square().sum() / len(target)
        return {"target": target.mean(), "critic_loss": loss, "q_mean": q.mean()}

    def sync(self) -> None:
        """Moves the targets a little towards the critics."""
        self.target.params.lerp_(self.net.params, self.config.tau)

    def state_dict(self) -> State:
        """Both parameter vectors and the optimiser."""
        return {
            "params": self.net.params.clone(),
            "target": self.target.params.clone(),
            "adam": self.adam.state_dict(),
        }

    def load_state_dict(self, state: State) -> None:
        """Inverse of `state_dict`."""
        self.net.params.copy_(state["params"])
        self.target.params.copy_(state["target"])
        self.adam.load_state_dict(state["adam"])

    def _bootstrap(
        self, batch: Batch, next_action: Tensor, next_log_prob: Tensor, alpha: Tensor
    ) -> Tensor:
        """Returns y = r + discount (1 - terminated) (min Q' - alpha log pi)."""
        q, _ = self.target.forward(torch.cat((batch.next_obs, next_action), dim=1))  # (2, 1, B)
        soft_value = q[:, 0].amin(0) - alpha * next_log_prob
        return batch.reward + self.config.discount * (1 - batch.terminated) * soft_value


class SAC(OffPolicy):
    """Soft actor-critic: two critics, a squashed Gaussian actor, a learned temperature.

    It is also the base of its variants. A variant changes what it must of: `stored_reward` (what
    the critic learns to predict), `actor_value` (what the actor climbs), `update_critics` and
    `sync_targets` (more critics), `sample_actions` and `behaviour_action`. Each takes random
    streams of its own from `spawn_seeds`, beyond the first four: the base's draws stay the same.
    Gradients here are written by hand; a variant may call `backward()` on a loss of its own.
    """

    Config: type[SACConfig] = SACConfig
    family, discrete = "sac", False

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
        self._act_rng = torch.Generator().manual_seed(act_seed)  # acting happens on the host
        self._learn_rng = torch.Generator(device).manual_seed(learn_seed)

    @property
    def in_warmup(self) -> bool:
        """True during the first environment steps, when actions are uniform whatever is learnt."""
        return self.steps < self.config.warmup_steps

    @property
    def is_random(self) -> bool:
        """True while the task policy is uniform: in warm-up and in the seed phase."""
        return self.in_warmup or self.updates <= self.config.seed_updates

    def sample_actions(self, obs: np.ndarray, n: int) -> Tensor:
        """`n` draws (n, A) of the task policy at one observation."""
        if self.is_random:
            actions = self.actor.uniform(n, self._act_rng)
        else:
            actions = self.actor.sample(obs, n, self._act_rng)
        return torch.from_numpy(actions).to(self.device)

    def task_action(self, obs: np.ndarray) -> Tensor:
        """The squashed mean of the task policy."""
        return torch.from_numpy(self.actor.mode(obs))

    def as_action(self, action: Tensor) -> Action:
        """As numpy takes it; stops the run if it is not finite."""
        array = action.cpu().numpy()
        require_finite("action", array, self.steps)
        return array

    def _learn(self) -> Info:
        """One update, once the seed phase is over: critics, actor and temperature, targets."""
        if self.updates < self.config.seed_updates:
            return {}
        n = self.config.batch_size
        batch = self.replay.sample(n)
        alpha = self.log_alpha.exp()
        # The critics' update leaves the actor alone, so one pass serves both their draws.
        draw = self.actor.draw(torch.cat((batch.obs, batch.next_obs)), self._learn_rng)
        info = self.update_critics(batch, draw.action[n:], draw.log_prob[n:], alpha)
        if self.updates % self.config.actor_every == 0:
            info |= self._update_actor(batch.obs, draw, alpha)
        if self.updates % self.config.target_every == 0:
            self.sync_targets()
        return info

    def update_critics(
        self, batch: Batch, next_action: Tensor, next_log_prob: Tensor, alpha: Tensor
    ) -> Info:
        """One step of every critic, given the policy's draws at the batch's next observations."""
        return self.critic.update(batch, next_action, next_log_prob, alpha)

    def actor_value(self, obs: Tensor, action: Tensor) -> Value:
        """What the actor climbs."""
        return self.critic.value(obs, action)

    def sync_targets(self) -> None:
        """One soft move of every critic's targets."""
        self.critic.sync()

    def _update_actor(self, obs: Tensor, draw: Draw, alpha: Tensor) -> Info:
        """One step of the actor and one of the temperature.

        The actor's loss is mean(alpha log pi - value); the temperature's, in log alpha, is
        mean(alpha (-log pi - target entropy)).
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

    def state_dict(self) -> State:
        """Networks, optimisers, replay, random streams and counters."""
        return super().state_dict() | {
            "actor": self.actor.net.params.clone(),
            "log_alpha": self.log_alpha.clone(),
            "actor_adam": self.actor_adam.state_dict(),
            "critic": self.critic.state_dict(),
            "act_rng": self._act_rng.get_state(),
            "learn_rng": self._learn_rng.get_state(),
        }

    def load_state_dict(self, state: State) -> None:
        """Inverse of `state_dict`."""
        super().load_state_dict(state)
        self.actor.net.params.copy_(state["actor"])
        self.log_alpha.copy_(state["log_alpha"])
        self.actor_adam.load_state_dict(state["actor_adam"])
        self.critic.load_state_dict(state["critic"])
        self._act_rng.set_state(state["act_rng"])
        self._learn_rng.set_state(state["learn_rng"])
