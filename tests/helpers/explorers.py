"""Small explorers, the boxes they live in, and rows to learn from."""

from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor

from baselines.agent import Bounds
from baselines.agents.explorer import Explorer, ExplorerConfig
from baselines.bonuses.bonus import CountBonus
from baselines.bonuses.counts import Count, KernelConfig, KernelCount, TableCount
from baselines.nn.replay import Batch, Replay

BOX = Bounds(
    np.array([-2.0, 0, 5]), np.array([2.0, 1, 9]), np.array([-1.0, -3]), np.array([1.0, 3])
)
GRID = Bounds(np.zeros(2), np.full(2, 5.0), np.zeros(1), np.array([3.0]))
SMALL = ExplorerConfig(hidden=16, batch_size=8, update_candidates=12)


def rows(n: int, seed: int = 0, bounds: Bounds = BOX) -> tuple[Tensor, Tensor, Tensor]:
    """n random rows of obs, action and next_obs within the bounds; whole numbers on the grid."""
    rng = np.random.default_rng(seed)

    def draw(low: np.ndarray, high: np.ndarray) -> Tensor:
        values = rng.uniform(low, high, (n, len(low)))
        return torch.tensor(values.round() if bounds is GRID else values).float()

    obs, next_obs = (draw(bounds.obs_low, bounds.obs_high) for _ in range(2))
    return obs, draw(bounds.action_low, bounds.action_high), next_obs


def stream(seed: int = 0, bounds: Bounds = BOX) -> Callable[[int], Batch]:
    """A replay to sample from, whose draws depend on the number of calls alone."""
    data, rng = rows(50, seed, bounds), torch.Generator().manual_seed(seed)

    def sample(n: int) -> Batch:
        index = torch.randint(50, (n,), generator=rng)
        return as_batch(*(x[index] for x in data))

    return sample


def as_batch(obs: Tensor, action: Tensor, next_obs: Tensor) -> Batch:
    """Transitions without reward or end."""
    nothing = torch.zeros(len(obs))
    return Batch(obs, action, nothing, next_obs, nothing)


def make(
    config: ExplorerConfig = SMALL, visits: int = 40, seed: int = 0, prior_count: float = 1e-3
) -> Explorer:
    count = KernelCount(BOX, KernelConfig(state_scale=0.2, tolerance=0.9, max_rows=100), seed=0)
    for obs, action in zip(*rows(visits)[:2], strict=True):
        count.visit(obs, action)
    bonus = CountBonus(count, prior_count)
    return Explorer(BOX, bonus, Replay(9, 3, 2, seed=0), config, discrete=False, seed=seed)


def exploring(count: Count, config: ExplorerConfig = SMALL) -> Explorer:
    """An explorer in the box whose bonus comes from a count."""
    bonus = CountBonus(count, 1e-3)
    return Explorer(BOX, bonus, Replay(9, 3, 2, seed=0), config, discrete=False, seed=0)


def make_discrete(config: ExplorerConfig = SMALL, seed: int = 0) -> Explorer:
    count = TableCount(GRID)
    for obs, action in zip(*rows(30, 1, GRID)[:2], strict=True):
        count.visit(obs, action)
    bonus = CountBonus(count, 1e-3)
    return Explorer(GRID, bonus, Replay(9, 2, 1, seed=0), config, discrete=True, seed=seed)


class FixedCount:
    """A count that answers every question with one number."""

    def __init__(self, number: float) -> None:
        self.number = number

    def visit(self, obs, action) -> float:
        return self.number

    def paired(self, obs, action) -> Tensor:
        return torch.full((len(obs),), self.number)

    def grid(self, obs, actions) -> Tensor:
        return torch.full((len(obs), len(actions)), self.number)

    def state_dict(self) -> dict:
        return {}

    def load_state_dict(self, state: dict) -> None:
        pass
