"""SAC 2Q (the paper's Appendix F): a critic of rewards, one of bonuses, an actor for their sum."""

from dataclasses import dataclass, field

from torch import Tensor

from baselines.agent import Bounds, Transition
from baselines.agents.bbe import LoggedBonus
from baselines.agents.off_policy import Scalars
from baselines.agents.sac import SAC, Critic, SACConfig, Value
from baselines.bonuses import BonusConfig
from baselines.nn.networks import spawn_seeds
from baselines.nn.replay import Batch, Replay


@dataclass(frozen=True)
class SAC2QConfig(SACConfig):
    """The hyperparameters of SAC and of the bonus."""

    bonus_scale: float = 1.0  # weight of the bonus critic in the actor's value; authors' code
    bonus: BonusConfig = field(default_factory=BonusConfig)


class SAC2Q(LoggedBonus, SAC):
    """SAC with a second critic for the bonus; the actor maximises the sum of both values.

    The second critic has a replay buffer of its own. The targets of both critics contain the
    entropy term, so entropy counts twice, as published.
    """

    STATE = {"bonus_critic": "bonus_critic", "bonus_replay": "bonus_replay"}
    Config = SAC2QConfig
    config: SAC2QConfig

    def __init__(
        self, bounds: Bounds, config: SAC2QConfig, *, seed: int, device: str = "cpu"
    ) -> None:
        super().__init__(bounds, config, seed=seed, device=device)
        *_, bonus_seed, critic_seed, replay_seed = spawn_seeds(seed, 7)
        obs_dim, action_dim = len(bounds.obs_low), len(bounds.action_low)
        self.add_bonus(config.bonus, bounds, seed=bonus_seed)
        self.bonus_critic = Critic(obs_dim, action_dim, config, seed=critic_seed, device=device)
        self.bonus_replay = Replay(
            config.replay_capacity, obs_dim, action_dim, seed=replay_seed, device=device
        )

    def observe(self, transition: Transition) -> None:
        """Stores the step twice: with its reward, and with its bonus before this visit."""
        self.bonus_replay.add(transition._replace(reward=self.log_bonus(transition)))
        super().observe(transition)

    def update_critics(
        self, batch: Batch, next_action: Tensor, next_log_prob: Tensor, alpha: Tensor
    ) -> Scalars:
        """Updates the bonus critic on a batch of its own, then the task critic."""
        bonus_batch = self.bonus_replay.sample(self.config.batch_size)
        draw = self.actor.draw(bonus_batch.next_obs, self._learn_rng)
        info = self.bonus_critic.update(bonus_batch, draw.action, draw.log_prob, alpha)
        info = {f"bonus_{name}": value for name, value in info.items()}
        return info | super().update_critics(batch, next_action, next_log_prob, alpha)

    def actor_value(self, obs: Tensor, action: Tensor) -> Value:
        """The task critic's value plus the scaled value of the bonus critic."""
        bonus_value = self.bonus_critic.value(obs, action)
        return super().actor_value(obs, action) + self.config.bonus_scale * bonus_value

    def sync_targets(self) -> None:
        """One soft update of both critics' target networks."""
        super().sync_targets()
        self.bonus_critic.sync()
