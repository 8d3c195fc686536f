"""Double DQN with a Boltzmann policy, for tasks with a few discrete actions.

As published, the network takes the action's number as one more input and returns one value, so that
task and exploration values use the same kind of network.
"""

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from baselines.agent import Action, Bounds, check_ranges, require_finite
from baselines.agents.off_policy import OffPolicy, Scalars
from baselines.nn.networks import Adam, Gradient, spawn_seeds
from baselines.nn.q_network import QNetwork, Scale, uniform_discrete
from baselines.nn.replay import Replay

_EXPERT_EPSILON = 0.25  # probability of a uniform action of the scripted expert; authors' code
_POSITIVE = """hidden layers learning_rate batch_size target_every candidates train_temperature
    test_temperature replay_capacity"""


@dataclass(frozen=True)
class DDQNConfig:
    """Hyperparameters of DDQN; the defaults are those of the authors' code."""

    hidden: int = 512  # units per hidden layer; paper
    layers: int = 2  # hidden layers; paper
    learning_rate: float = 1e-4  # Adam's; paper
    batch_size: int = 1024  # authors' code
    discount: float = 0.99  # authors' code
    target_every: int = 50  # updates between copies to the target network; paper
    candidates: int = 32  # uniform samples in place of all actions in max, softmax; authors' code
    train_temperature: float = 0.3  # of the Boltzmann policy; authors' code (the paper prints .1)
    test_temperature: float = 0.1  # the same in evaluation, which is not greedy; paper
    replay_capacity: int = 1_000_000  # transitions; authors' code
    warmup_steps: int = 128  # environment steps of uniform actions; authors' code
    skilled_steps: int = 0  # first steps, taken by a scripted expert (the paper's skilled policy)
    updates_per_step: float = 1.0  # gradient steps per environment step

    def __post_init__(self) -> None:
        check_ranges(self, positive=_POSITIVE, fractions="discount")


class DDQN(OffPolicy):
    """Double DQN with a Boltzmann policy, for a few discrete actions."""

    Config: type[DDQNConfig] = DDQNConfig
    family, discrete = "ddqn", True
    STATE = {
        "net": "net.params", "target": "target.params", "adam": "adam",
        "act_rng": "_act_rng", "eval_rng": "_eval_rng", "learn_rng": "_learn_rng",
    }  # fmt: skip

    def __init__(
        self, bounds: Bounds, config: DDQNConfig, *, seed: int, device: str = "cpu"
    ) -> None:
        net_seed, act_seed, replay_seed, learn_seed = spawn_seeds(seed, 4)
        sizes = [len(bounds.obs_low) + 1, *[config.hidden] * config.layers, 1]
        replay = Replay(
            config.replay_capacity, len(bounds.obs_low), 1, seed=replay_seed, device=device
        )
        super().__init__(replay, updates_per_step=config.updates_per_step, device=device)
        self.config, self.bounds = config, bounds
        self.actions = int(bounds.action_high[0] - bounds.action_low[0]) + 1
        self._obs_scale = Scale(bounds.obs_low, bounds.obs_high, device)
        self._action_scale = Scale(bounds.action_low, bounds.action_high, device)
        self.net = QNetwork(sizes, seed=net_seed, device=device)
        self.target = QNetwork(sizes, seed=net_seed, device=device)
        self.adam = Adam([self.net.params], config.learning_rate)
        self._gradient = Gradient(self.net)
        # On the CPU for every device. Evaluation has a stream of its own: it must not change the
        # actions of training.
        behave_seed, eval_seed = spawn_seeds(act_seed, 2)
        self._act_rng = torch.Generator().manual_seed(behave_seed)
        self._eval_rng = torch.Generator().manual_seed(eval_seed)
        self._learn_rng = torch.Generator().manual_seed(learn_seed)

    @property
    def in_warmup(self) -> bool:
        """True while actions are uniform or the scripted expert's."""
        return self.steps < max(self.config.warmup_steps, self.config.skilled_steps)

    def behaviour_action(self, obs: np.ndarray) -> Tensor:
        """One action (1,) of the task policy, or of the scripted expert in its first steps."""
        if self.steps < self.config.skilled_steps:
            return self._expert_action(obs)
        return super().behaviour_action(obs)

    def task_action(self, obs: np.ndarray) -> Tensor:
        """One action (1,) of the task policy at `test_temperature`."""
        return self.sample_actions(obs, 1, explore=False)[0]

    def as_action(self, action: Tensor) -> Action:
        """As an integer."""
        return int(action)

    def sample_actions(self, obs: np.ndarray, n: int, *, explore: bool = True) -> Tensor:
        """`n` samples (n, 1) of the task policy at one observation.

        The policy is the softmax of Q / temperature (section 4.2) over `candidates` uniform
        samples: self-normalised importance sampling with a uniform proposal (section 4.4).
        """
        if explore and self.in_warmup:
            return torch.randint(self.actions, (n, 1), generator=self._act_rng).float()
        config = self.config
        temperature = config.train_temperature if explore else config.test_temperature
        rng = self._act_rng if explore else self._eval_rng
        log_weight = self._log_multiplicities(rng)
        logits = self.values(self.as_tensor(obs)[None])[0].cpu() / temperature + log_weight
        require_finite("action value", logits[log_weight.isfinite()].numpy(), self.steps)
        probabilities = torch.softmax(logits.double(), dim=0)
        actions = torch.multinomial(probabilities, n, replacement=True, generator=rng)
        return actions[:, None].float()

    def values(self, obs: Tensor) -> Tensor:
        """(B, O) -> (B, actions): the learned Q of every action."""
        return self.net.grid(self._obs_scale(obs), self._all_actions())

    def maps(self, obs: np.ndarray) -> dict[str, np.ndarray]:
        """Quantities to plot at (B, O) observations, (B,) each: here the largest Q over actions."""
        return {"task_value": self.values(self.as_tensor(obs)).amax(1).cpu().numpy()}

    def _update_once(self) -> Scalars:
        """One gradient step on mean((Q - y)^2) with the target of double DQN.

        y = r + discount (1 - terminated) Q'(s', argmax_a Q(s', a)), with Q' of the target network.
        The maximum is over the sampled candidates, which are drawn once per batch.
        """
        batch = self.replay.sample(self.config.batch_size)
        next_obs, actions = self._obs_scale(batch.next_obs), self._all_actions()
        drawn = self._log_multiplicities(self._learn_rng).isfinite().to(self.device)  # (actions,)
        best = self.net.grid(next_obs, actions).masked_fill_(~drawn, -torch.inf).argmax(1)  # (B,)
        bootstrap = self.target.grid(next_obs, actions).gather(1, best[:, None])[:, 0]
        target = batch.reward + self.config.discount * (1 - batch.terminated) * bootstrap
        inputs = torch.cat((self._obs_scale(batch.obs), self._action_scale(batch.action)), dim=1)
        values, activations = self.net.forward(inputs)  # (1, 1, B)
        error = values - target
        output_gradient = error * (2 / len(target))  # of the loss with respect to Q
        self.adam.step([self.net.gradient(activations, output_gradient, self._gradient)])
        if self.updates % self.config.target_every == 0:
            self.target.params.copy_(self.net.params)
        return {"critic_loss": error.square().mean(), "q_mean": values.mean()}

    def _log_multiplicities(self, rng: torch.Generator) -> Tensor:
        """(actions,): log of how often each action was sampled as a candidate; -inf if never."""
        low, high = (torch.as_tensor(x) for x in (self.bounds.action_low, self.bounds.action_high))
        return uniform_discrete(self.config.candidates, low, high, rng)[1]

    def _all_actions(self) -> Tensor:
        """All actions as network inputs, (actions, 1)."""
        return self._action_scale(torch.arange(self.actions, device=self.device)[:, None].float())

    def _expert_action(self, obs: np.ndarray) -> Tensor:
        """The next step on a shortest path to the far corner; sometimes a uniform action."""
        if float(torch.rand((), generator=self._act_rng)) < _EXPERT_EPSILON:
            return torch.randint(self.actions, (1,), generator=self._act_rng)
        row, column = obs
        return torch.tensor([0 if column > row else 1])  # 0: to the next row, 1: the next column

    def policy_dict(self) -> dict[str, Tensor]:
        """The Q-network's parameters."""
        return {"net": self.net.params}

    def load_policy_dict(self, weights: dict[str, Tensor]) -> None:
        """Inverse of `policy_dict`."""
        self.net.params.copy_(weights["net"])
