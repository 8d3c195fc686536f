"""SAC with bonus-based exploration: a visit's bonus is added to its reward, once and for all."""

from dataclasses import dataclass, field

from baselines.agent import Bounds
from baselines.bbe import BBE, BBEConfig
from baselines.counts import CountConfig, KernelCount, Novelty
from baselines.networks import spawn_seeds
from baselines.sac import SAC, SACConfig


@dataclass(frozen=True)
class SACBBEConfig(BBEConfig, SACConfig):
    """SAC's settings, and those of the bonus."""

    count: CountConfig = field(default_factory=CountConfig)


class SACBBE(BBE, SAC):
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
