"""DEEP's exploration Q (section 4.3): the value of future bonuses, updated at every step."""

import math
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from baselines.agent import Bounds, Stateful, Transition, check_ranges, require_finite
from baselines.bonuses.bonus import Bonus, BonusMean, Sampler
from baselines.nn.networks import Adam, Gradient, spawn_seeds
from baselines.nn.q_network import QNetwork, Scale, uniform_box, uniform_discrete
from baselines.nn.replay import Batch, Replay
from explore_suite.errors import SettingError

_POSITIVE = """hidden layers learning_rate batch_size update_candidates behaviour_candidates
    temperature update_temperature updates_per_step target_every"""


@dataclass(frozen=True)
class ExplorerConfig:
    """Hyperparameters; the defaults are the paper's, or the authors' code's where it differs."""

    hidden: int = 512  # units per hidden layer; paper
    layers: int = 2  # hidden layers; paper
    fit_level: bool = False  # set the output bias to its least-squares value at every update
    learning_rate: float = 1e-2  # Adam's; authors' code (the paper prints 1e-3)
    batch_size: int = 128  # transitions per update; paper
    update_candidates: int = 64  # uniform next actions in a target; paper
    behaviour_candidates: int = 64  # task-policy actions to choose among; paper
    temperature: float = 0.1  # tau of the exploration policy (Eq. 2); paper
    update_temperature: float | None = None  # tau in targets (Eq. 11); None: `temperature`; paper
    discount: float = 0.99  # paper
    updates_per_step: int = 2  # gradient steps per environment step; paper; 10 in the grid world
    target_every: int = 2  # updates between copies to the target network; paper: once per step
    optimism: bool = True  # False: the ablation without Eq. 3
    start_after: int = 128  # environment steps before the first update; authors' code
    adapt: str = "step"  # update at every "step", or at the end of the "episode" (slow ablation)

    def __post_init__(self) -> None:
        if self.adapt not in ("step", "episode"):
            raise SettingError(f"adapt must be 'step' or 'episode', got {self.adapt!r}")
        if not 0 <= self.discount < 1:  # at 1 the largest return, the optimistic value, is infinite
            raise SettingError(f"discount must lie in [0, 1), got {self.discount}")
        check_ranges(self, positive=_POSITIVE, fractions="")

    @property
    def max_return(self) -> float:
        """The largest discounted sum of bonuses, r-bar = 1 / (1 - discount): every bonus is 1."""
        return 1 / (1 - self.discount)


class Explorer(Stateful):
    """Learns Q(obs, action), the discounted sum of future bonuses, and chooses optimistic actions.

    Bonuses are recomputed at every update and never stored (Appendix C).
    """

    STATE = {
        "bonus": "bonus", "bonus_mean": "bonus_mean",
        "net": "net.params", "target": "target.params", "adam": "adam",
        "updates": "_updates", "steps": "_steps", "owed": "_owed", "due": "_due",
        "rng": "_rng", "replay_rng": "_replay_rng",
    }  # fmt: skip

    def __init__(
        self,
        bounds: Bounds,
        bonus: Bonus,
        replay: Replay,
        config: ExplorerConfig,
        *,
        discrete: bool,
        seed: int,
        device: str = "cpu",
    ) -> None:
        self.config, self.bonus, self._replay, self._discrete = config, bonus, replay, discrete
        self.bonus_mean = BonusMean()
        self._obs_scale = Scale(bounds.obs_low, bounds.obs_high, device)
        self._action_scale = Scale(bounds.action_low, bounds.action_high, device)
        sizes = [len(bounds.obs_low) + len(bounds.action_low), *[config.hidden] * config.layers, 1]
        net_seed, own_seed, replay_seed = spawn_seeds(seed, 3)
        self.net, self.target = (QNetwork(sizes, seed=net_seed, device=device) for _ in range(2))
        self.adam = Adam([self.net.params], config.learning_rate)
        self._gradient = Gradient(self.net)
        self._updates = 0
        self._ceiling = torch.tensor(config.max_return, device=device)
        self._rng = torch.Generator().manual_seed(own_seed)  # on the CPU for every device
        # The replay buffer is shared, its random stream is not: the task learner's batches stay
        # those of SAC or DDQN.
        self._replay_rng = torch.Generator(device).manual_seed(replay_seed)
        self._steps = 0  # environment steps observed
        self._owed = 0  # steps whose updates wait for the end of the episode
        self._due = 0  # steps whose updates are made by the next `update`

    def observe(self, transition: Transition) -> None:
        """Records the visit; its updates are due at once or, by `adapt`, when the episode ends."""
        self.bonus_mean.add(self.bonus.visit(transition.obs, transition.action))
        self._steps += 1
        self._owed += 1
        if self.config.adapt == "step" or transition.terminated or transition.truncated:
            self._due, self._owed = self._due + self._owed, 0

    def update(self) -> dict[str, float]:
        """Updates the bonus, then Q for every step that is due; returns the last statistics."""
        info = self.bonus.update(self._sample)
        if self._steps > self.config.start_after:
            for _ in range(self._due):
                info |= self.adapt(self._sample)
        self._due = 0
        return info

    def adapt(self, sample: Sampler) -> dict[str, float]:
        """Makes the updates of Q for one step; returns the means of bonus, target and loss."""
        obs, action, _, next_obs, _ = sample(self.config.batch_size * self.config.updates_per_step)
        bonuses = self.bonus.paired(obs, action)  # (U * B,); one call for all updates is faster
        inputs = torch.cat([self._obs_scale(obs), self._action_scale(action)], dim=1)
        losses, targets = [], []
        for start in range(0, len(obs), self.config.batch_size):
            batch = slice(start, start + self.config.batch_size)
            targets.append(self._targets(bonuses[batch], next_obs[batch]))
            losses.append(self.fit(inputs[batch], targets[-1]))
        means = {"bonus_replayed": [bonuses], "target": targets, "loss": losses}
        found = torch.stack([torch.stack(parts).mean() for parts in means.values()]).tolist()
        numbers = {f"explore_{name}": mean for name, mean in zip(means, found, strict=True)}
        if not math.isfinite(sum(found)):  # one check, as this runs at every step
            for name, number in numbers.items():
                require_finite(name, number, self._steps)
        return numbers

    def _targets(self, bonuses: Tensor, next_obs: Tensor) -> Tensor:
        """(B,), (B, O) -> (B,): targets (Eq. 12), with fresh candidates that the batch shares.

        Shared candidates make the counts one matrix product (see `kernels.py`).
        """
        candidates, log_weight = self._draw_candidates()
        trust = self._trust(next_obs, candidates)  # (B, K)
        values = self._next_values(self._obs_scale(next_obs), self._action_scale(candidates), trust)
        return bellman_targets(bonuses, *values, log_weight, self.config)

    def values(self, obs: Tensor, actions: Tensor) -> Tensor:
        """(B, O), (K, A) -> (B, K): the optimistic Q+ (Eq. 3) of every obs with every action."""
        values = self.net.grid(self._obs_scale(obs), self._action_scale(actions))
        return optimistic(values, self._trust(obs, actions), self._ceiling)

    def maps(self, obs: Tensor, actions: Tensor) -> dict[str, np.ndarray]:
        """Quantities to plot, (B,) each: largest Q, largest optimistic Q and smallest bonus."""
        maps = {
            "exploration_value": self.net.grid(self._obs_scale(obs), self._action_scale(actions)),
            "optimistic_value": self.values(obs, actions),
        }
        best = {name: values.amax(1) for name, values in maps.items()}
        best["bonus"] = self.bonus.grid(obs, actions).amin(1)
        return {name: values.cpu().numpy() for name, values in best.items()}

    def choose(self, obs: Tensor, candidates: Tensor) -> int:
        """(O,), (K, A) -> index of one candidate, drawn by the softmax of Q+ / temperature (Eq. 2).

        With candidates from the task policy this samples the product policy (Eq. 4).
        """
        values = self.values(obs[None], candidates.to(obs.device))[0].cpu()  # (K,)
        require_finite("exploration value", values.numpy(), self._steps)
        probabilities = torch.softmax(values.double() / self.config.temperature, dim=0)
        return int(torch.multinomial(probabilities, 1, generator=self._rng))

    def _sample(self, n: int) -> Batch:
        return self._replay.sample(n, self._replay_rng)

    def _draw_candidates(self) -> tuple[Tensor, Tensor]:
        """Uniform actions (K, A), and the log of how often each was sampled (K,)."""
        low, high = self._action_scale.low, self._action_scale.high
        n, draw = self.config.update_candidates, uniform_discrete if self._discrete else uniform_box
        actions, log_weight = draw(n, low.cpu(), high.cpu(), self._rng)
        return actions.to(low.device), log_weight.to(low.device)

    def _trust(self, obs: Tensor, actions: Tensor) -> Tensor:
        """(B, K) in [0, 1]: the weight w of the learned Q in Eq. 3; 1 without optimism."""
        if not self.config.optimism:
            return torch.ones(len(obs), len(actions), device=self.net.params.device)
        return self.bonus.trust(obs, actions)

    def _next_values(
        self, next_obs: Tensor, candidates: Tensor, trust: Tensor
    ) -> tuple[Tensor, Tensor]:
        """(B, K) each: the optimistic Q+ of the online network and of the target network."""
        ceiling = self._ceiling
        online = optimistic(self.net.grid(next_obs, candidates), trust, ceiling)
        if self._updates % self.config.target_every == 0:  # just copied: both networks are equal
            return online, online
        return online, optimistic(self.target.grid(next_obs, candidates), trust, ceiling)

    def fit(self, inputs: Tensor, targets: Tensor) -> Tensor:
        """One gradient step on mean((Q - y)^2), without optimism in Q; returns the loss.

        `fit_level` first subtracts the mean error from the output bias. Every `target_every`
        updates the network is copied to the target network.
        """
        values, activations = self.net.forward(inputs)  # (1, 1, B)
        error = values - targets
        if self.config.fit_level:
            mean_error = error.mean()
            self.net.lower(mean_error)
            error -= mean_error
        output_gradient = error * (2 / len(targets))  # of the loss with respect to Q
        self.adam.step([self.net.gradient(activations, output_gradient, self._gradient)])
        self._updates += 1
        if self._updates % self.config.target_every == 0:
            self.target.params.copy_(self.net.params)
        return error.square().mean()


def optimistic(values: Tensor, trust: Tensor, ceiling: Tensor) -> Tensor:
    """Q+ = w Q + (1 - w) r-bar (Eq. 3), with w = `trust` and r-bar = `ceiling`."""
    return torch.lerp(ceiling, values, trust)


def bellman_targets(
    bonuses: Tensor, online: Tensor, target: Tensor, log_weight: Tensor, config: ExplorerConfig
) -> Tensor:
    """The soft double-DQN targets of Eq. 12: (B,), (B, K), (B, K), (K,) -> (B,).

    y = clip(bonus + discount * sum_k p_k target_k, 0, max_return), where p is the softmax of
    `online` / temperature over the candidates (Eq. 11), each counted exp(log_weight) times.
    Termination is ignored: exploration has no terminal state.
    """
    temperature = config.update_temperature or config.temperature
    policy = torch.softmax(online / temperature + log_weight, dim=1)
    values = bonuses + config.discount * (policy * target).sum(dim=1)
    return values.clamp(0, config.max_return)
