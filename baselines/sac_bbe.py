"""SAC with bonus-based exploration: a visit's bonus is added to its reward, once and for all."""

from dataclasses import dataclass, field

from baselines.agent import Bounds, State, Transition
from baselines.counts import CountConfig, KernelCount, Novelty
from baselines.networks import spawn_seeds
from baselines.sac import SAC, SACConfig


@dataclass(frozen=True)
class SACBBEConfig(SACConfig):
    """SAC's settings, and those of the bonus."""

    bonus_scale: float = 1.0  # of the bonus in the sum; best of .01, .1, 1 and 10 in the paper
    explore_only: bool = False  # store the bonus alone, for exploration without a task
    count: CountConfig = field(default_factory=CountConfig)


class SACBBE(SAC):
    """Differs from SAC in the reward it stores."""

    Config = SACBBEConfig
    config: SACBBEConfig

    def __init__(
        self, bounds: Bounds, config: SACBBEConfig, *, seed: int, device: str = "cpu"
    ) -> None:
        super().__init__(bounds, config, seed=seed, device=device)
        *_, count_seed = spawn_seeds(seed, 5)
        self.count = KernelCount(bounds, config.count, seed=count_seed, device=device)
        self.novelty = Novelty(self.count)

    def stored_reward(self, transition: Transition) -> float:
        """Reward plus bonus; the count is that before this visit, and never looked up again."""
        novelty = self.config.bonus_scale * self.novelty.visit(transition)
        return novelty if self.config.explore_only else transition.reward + novelty

    def update(self) -> dict[str, float]:
        """SAC's burst if the episode has ended, and the episode's mean bonus."""
        info = super().update()
        return info | self.novelty.mean() if info else info

    def state_dict(self) -> State:
        """SAC's state and the counts."""
        return super().state_dict() | {
            "count": self.count.state_dict(),
            "novelty": self.novelty.state_dict(),
        }

    def load_state_dict(self, state: State) -> None:
        """Inverse of `state_dict`."""
        super().load_state_dict(state)
        self.count.load_state_dict(state["count"])
        self.novelty.load_state_dict(state["novelty"])
