"""SAC + DEEP: the task policy proposes actions, a fast exploration Q chooses among them."""

from dataclasses import dataclass, field

from baselines.agent import Bounds
from baselines.counts import CountConfig, KernelCount
from baselines.deep import Deep
from baselines.explorer import Explorer, ExplorerConfig
from baselines.networks import spawn_seeds
from baselines.sac import SAC, SACConfig


@dataclass(frozen=True)
class SACDeepConfig(SACConfig):
    """SAC's settings, and those of exploration."""

    explorer: ExplorerConfig = field(default_factory=ExplorerConfig)
    count: CountConfig = field(default_factory=CountConfig)


class SACDeep(Deep, SAC):
    """SAC, and an explorer that counts by kernels."""

    Config = SACDeepConfig
    config: SACDeepConfig

    def __init__(
        self, bounds: Bounds, config: SACDeepConfig, *, seed: int, device: str = "cpu"
    ) -> None:
        super().__init__(bounds, config, seed=seed, device=device)
        *_, count_seed, explorer_seed = spawn_seeds(seed, 6)
        count = KernelCount(bounds, config.count, seed=count_seed, device=device)
        self.explorer = Explorer(
            bounds, count, self.replay, config.explorer,
            discrete=False, seed=explorer_seed, device=device,
        )  # fmt: skip
