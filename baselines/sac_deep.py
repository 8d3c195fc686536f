"""SAC + DEEP: the task policy proposes actions, a fast exploration Q chooses among them."""

from dataclasses import dataclass, field

import numpy as np

from baselines.agent import Bounds, State, Transition
from baselines.counts import CountConfig, KernelCount
from baselines.explorer import Explorer, ExplorerConfig
from baselines.networks import spawn_seeds
from baselines.sac import SAC, SACConfig


@dataclass(frozen=True)
class SACDeepConfig(SACConfig):
    """SAC's settings, and those of exploration."""

    explorer: ExplorerConfig = field(default_factory=ExplorerConfig)
    count: CountConfig = field(default_factory=CountConfig)


class SACDeep(SAC):
    """Differs from SAC in how it behaves while exploring, not in how it learns the task.

    Behaviour is the product of both policies, by self-normalised importance sampling: draw from the
    task policy, choose by the exploration policy. With one candidate this is SAC, bit for bit.
    """

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

    def act(self, obs: np.ndarray, *, explore: bool) -> np.ndarray:
        """The candidate of the task policy that promises most novelty, softly."""
        if not explore or self.in_warmup:
            return super().act(obs, explore=explore)
        candidates = self.sample_actions(obs, self.config.explorer.behaviour_candidates)
        choice = self.explorer.choose(self.as_tensor(obs), candidates)
        return self.checked(candidates[choice])

    def observe(self, transition: Transition) -> None:
        """Stores the step with the environment's reward, and counts the visit."""
        super().observe(transition)
        self.explorer.observe(transition)

    def update(self) -> dict[str, float]:
        """The exploration Q at every step; SAC's burst and the mean bonus when an episode ends."""
        info, burst = self.explorer.update(), super().update()
        return info | burst | self.explorer.novelty.mean() if burst else info

    def state_dict(self) -> State:
        """SAC's state and the explorer's."""
        return super().state_dict() | {"explorer": self.explorer.state_dict()}

    def load_state_dict(self, state: State) -> None:
        """Inverse of `state_dict`."""
        super().load_state_dict(state)
        self.explorer.load_state_dict(state["explorer"])
