"""The fast-adapting exploration Q of DEEP: the bonuses an action leads to, learned every step."""

import math
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from baselines.agent import Bounds, State, Transition, check_ranges, require_finite
from baselines.bonuses.bonus import Bonus, BonusMean, Sample
from baselines.nn.networks import Adam, Gradient, spawn_seeds
from baselines.nn.q_network import QNetwork, Scale, uniform_box, uniform_discrete
from baselines.nn.replay import Batch, Replay
from explore_suite.errors import SettingError

_POSITIVE = """hidden layers learning_rate batch_size update_candidates behaviour_candidates
    temperature update_temperature updates_per_step target_every"""


@dataclass(frozen=True)
class ExplorerConfig:
    """Hyperparameters; the sources are the paper and, where they differ, its authors' code."""

    hidden: int = 512  # units per hidden layer; paper and code
    layers: int = 2  # hidden layers; paper and code
    fit_level: bool = False  # give every batch the output bias that fits it; code: Adam moves it
    learning_rate: float = 1e-2  # Adam's; code (the paper prints 1e-3)
    batch_size: int = 128  # transitions per update; paper and code
    update_candidates: int = 64  # uniform next actions in a target; paper and code
    behaviour_candidates: int = 64  # task-policy actions the agent chooses among; paper and code
    temperature: float = 0.1  # of the behaviour's choice; paper and code
    update_temperature: float | None = None  # of the policy in the targets; code: the same
    discount: float = 0.99  # paper and code
    updates_per_step: int = 2  # paper and code; 10 in the grid world
    target_every: int = 2  # updates between hard copies of the target; one step's worth
    optimism: bool = True  # False: the ablation that trusts the plain Q
    start_after: int = 128  # steps before the first update, or DDQN's skilled ones; code
    adapt: str = "step"  # when updates are made: "step", or "episode" for the slow ablation

    def __post_init__(self) -> None:
        if self.adapt not in ("step", "episode"):
            raise SettingError(f"adapt must be 'step' or 'episode', got {self.adapt!r}")
        if not 0 <= self.discount < 1:  # at 1 there is no largest return to be optimistic about
            raise SettingError(f"discount must lie in [0, 1), got {self.discount}")
        check_ranges(self, positive=_POSITIVE, fractions="")

    @property
    def max_return(self) -> float:
        """The discounted sum of the largest bonus, 1, for ever."""
        return 1 / (1 - self.discount)


class Explorer:
    """Learns Q(obs, action), the discounted sum of bonuses to come, and chooses by its optimism.

    Bonuses are the present ones: asked of `bonus` at every update, never stored.
    """

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
        self._net, self._target = (QNetwork(sizes, seed=net_seed, device=device) for _ in range(2))
        self._adam = Adam([self._net.params], config.learning_rate)
        self._gradient = Gradient(self._net)
        self._updates = 0
        self._ceiling = torch.tensor(config.max_return, device=device)
        self._rng = torch.Generator().manual_seed(own_seed)  # on the CPU for every device
        # The replay is shared, its random stream is not: the task learner's batches stay the same.
        self._replay_rng = torch.Generator(device).manual_seed(replay_seed)
        self._steps = 0  # observed
        self._owed, self._due = 0, 0  # of these, not yet learnt from; and due now

    def observe(self, transition: Transition) -> None:
        """Records the visit, and lets one step's worth of updates fall due in its time."""
        self.bonus_mean.add(self.bonus.visit(transition.obs, transition.action))
        self._steps += 1
        self._owed += 1
        if self.config.adapt == "step" or transition.terminated or transition.truncated:
            self._due, self._owed = self._due + self._owed, 0

    def update(self) -> dict[str, float]:
        """Lets the bonus learn and makes the updates that are due; the last step's means."""
        info = self.bonus.update(self._sample)
        if self._steps > self.config.start_after:
            for _ in range(self._due):
                info |= self.adapt(self._sample)
        self._due = 0
        return info

    def adapt(self, sample: Sample) -> dict[str, float]:
        """One step's worth of updates on fresh samples; the means of bonus, target and loss."""
        obs, action, _, next_obs, _ = sample(self.config.batch_size * self.config.updates_per_step)
        bonuses = self.bonus.paired(obs, action)  # (U * B,), one question for all updates
        inputs = torch.cat([self._obs_scale(obs), self._action_scale(action)], dim=1)
        losses, targets = [], []
        for start in range(0, len(obs), self.config.batch_size):
            batch = slice(start, start + self.config.batch_size)
            targets.append(self._targets(bonuses[batch], next_obs[batch]))
            losses.append(self._fit(inputs[batch], targets[-1]))
        means = {"bonus_replayed": [bonuses], "target": targets, "loss": losses}
        found = torch.stack([torch.stack(parts).mean() for parts in means.values()]).tolist()
        numbers = {f"explore_{name}": mean for name, mean in zip(means, found, strict=True)}
        if not math.isfinite(sum(found)):
            for name, number in numbers.items():
                require_finite(name, number, self._steps)
        return numbers

    def _targets(self, bonuses: Tensor, next_obs: Tensor) -> Tensor:
        """(B,), (B, O) -> (B,): by candidates shared by the batch and fresh at every update."""
        candidates, log_weight = self._draw_candidates()
        trust = self._trust(next_obs, candidates)  # (B, K)
        values = self._next_values(self._obs_scale(next_obs), self._action_scale(candidates), trust)
        return bellman_targets(bonuses, *values, log_weight, self.config)

    def values(self, obs: Tensor, actions: Tensor) -> Tensor:
        """(B, O), (K, A) -> (B, K): Q of every obs with every action, optimistic if unvisited."""
        values = self._net.grid(self._obs_scale(obs), self._action_scale(actions))
        return optimistic(values, self._trust(obs, actions), self._ceiling)

    def maps(self, obs: Tensor, actions: Tensor) -> dict[str, np.ndarray]:
        """For pictures, (B,) each: largest value, largest optimistic value, smallest bonus."""
        maps = {
            "exploration_value": self._net.grid(self._obs_scale(obs), self._action_scale(actions)),
            "optimistic_value": self.values(obs, actions),
        }
        best = {name: values.amax(1) for name, values in maps.items()}
        best["bonus"] = self.bonus.grid(obs, actions).amin(1)
        return {name: values.cpu().numpy() for name, values in best.items()}

    def choose(self, obs: Tensor, candidates: Tensor) -> int:
        """(O,), (K, A) -> the index of one candidate, drawn by softmax of its optimistic Q."""
        values = self.values(obs[None], candidates.to(obs.device))[0].cpu()  # (K,)
        require_finite("exploration value", values.numpy(), self._steps)
        chances = torch.softmax(values.double() / self.config.temperature, dim=0)
        return int(torch.multinomial(chances, 1, generator=self._rng))

    def _sample(self, n: int) -> Batch:
        return self._replay.sample(n, self._replay_rng)

    def _draw_candidates(self) -> tuple[Tensor, Tensor]:
        """Uniform actions (K, A), and the log of how often each was drawn (K,)."""
        low, high = self._action_scale.low, self._action_scale.high
        n, draw = self.config.update_candidates, uniform_discrete if self._discrete else uniform_box
        actions, log_weight = draw(n, low.cpu(), high.cpu(), self._rng)
        return actions.to(low.device), log_weight.to(low.device)

    def _trust(self, obs: Tensor, actions: Tensor) -> Tensor:
        """(B, K) in [0, 1]: weight of the learned Q against the ceiling; 1 without optimism."""
        if not self.config.optimism:
            return torch.ones(len(obs), len(actions), device=self._net.params.device)
        return self.bonus.trust(obs, actions)

    def _next_values(
        self, next_obs: Tensor, candidates: Tensor, trust: Tensor
    ) -> tuple[Tensor, Tensor]:
        """(B, K) twice: the optimistic values by the learning net and by its target."""
        ceiling = self._ceiling
        online = optimistic(self._net.grid(next_obs, candidates), trust, ceiling)
        if self._updates % self.config.target_every == 0:  # just copied: the target is the net
            return online, online
        return online, optimistic(self._target.grid(next_obs, candidates), trust, ceiling)

    def _fit(self, inputs: Tensor, targets: Tensor) -> Tensor:
        """One step on mean((Q - y)^2), plain Q and targets y; then the target's copy if due."""
        values, activations = self._net.forward(inputs)  # (1, 1, B)
        error = values - targets
        if self.config.fit_level:
            level = error.mean()
            self._net.lower(level)
            error -= level
        output_gradient = error * (2 / len(targets))  # of mean((Q - y)^2), in Q
        self._adam.step([self._net.gradient(activations, output_gradient, self._gradient)])
        self._updates += 1
        if self._updates % self.config.target_every == 0:
            self._target.params.copy_(self._net.params)
        return error.square().mean()

    def state_dict(self) -> State:
        """Bonus, both networks, Adam's moments, the schedule and the random sources."""
        return {
            "bonus": self.bonus.state_dict(),
            "bonus_mean": self.bonus_mean.state_dict(),
            "net": self._net.params.clone(),
            "target": self._target.params.clone(),
            "adam": self._adam.state_dict(),
            "updates": self._updates,
            "steps": self._steps,
            "owed": self._owed,
            "due": self._due,
            "rng": self._rng.get_state(),
            "replay_rng": self._replay_rng.get_state(),
        }

    def load_state_dict(self, state: State) -> None:
        """Inverse of `state_dict`."""
        self._net.params.copy_(state["net"])
        self._target.params.copy_(state["target"])
        self._adam.load_state_dict(state["adam"])
        self.bonus.load_state_dict(state["bonus"])
        self.bonus_mean.load_state_dict(state["bonus_mean"])
        self._updates = state["updates"]
        self._steps, self._owed, self._due = state["steps"], state["owed"], state["due"]
        self._rng.set_state(state["rng"])
        self._replay_rng.set_state(state["replay_rng"])


def optimistic(values: Tensor, trust: Tensor, ceiling: Tensor) -> Tensor:
    """`values` where trust is 1, `ceiling` where it is 0, in proportion between."""
    return torch.lerp(ceiling, values, trust)


def bellman_targets(
    bonuses: Tensor, online: Tensor, target: Tensor, log_weight: Tensor, config: ExplorerConfig
) -> Tensor:
    """(B,), (B, K), (B, K), (K,) -> (B,) in [0, max_return].

    bonus + discount * sum_k p_k target_k, where p is the softmax of the online values over the
    candidates, each counted exp(log_weight) times. There is no terminal state in exploration.
    """
    temperature = config.update_temperature or config.temperature
    policy = torch.softmax(online / temperature + log_weight, dim=1)
    values = bonuses + config.discount * (policy * target).sum(dim=1)
    return values.clamp(0, config.max_return)
