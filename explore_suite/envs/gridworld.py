"""GridWorld: an empty grid to be crossed from corner to corner, in plain NumPy."""

from typing import Any

import gymnasium
import numpy as np

from explore_suite.envs.base import RenderedEnv

_MOVES = ((1, 0), (0, 1), (-1, 0), (0, -1))  # (row, column) of actions 0..3
_CELL_PIXELS = 12
_FLOOR, _LINE = (245, 245, 242), (225, 225, 220)
_START, _GOAL, _AGENT = (120, 160, 215), (60, 170, 95), (215, 95, 45)


class GridWorld(RenderedEnv):
    """Walk from the lower left corner of an empty square grid to the upper right one.

    Arguments: `size`, cells along each side (40 in the published experiments).
    Observation (2): row, column, as float32 numbers 0..size-1 (not one-hot).
    Action (4, discrete): 0 row + 1, 1 column + 1, 2 row - 1, 3 column - 1; moves off the grid leave
        the agent where it is.
    Reward: r = 1 at every step that ends on the goal (size-1, size-1), else 0.
    Success: the agent stands on the goal.
    Start: (0, 0), always.
    End: 100 steps, by truncation. At size 40 the shortest way takes 78 steps, so the best return is
        23; a larger grid needs `gymnasium.make(..., max_episode_steps=...)`, and Coverage knows
        size 40 alone.
    Versions: v0, as published.
    """

    metadata: dict[str, Any] = {**RenderedEnv.metadata, "render_fps": 20}  # no physical time

    def __init__(self, size: int = 40, render_mode: str | None = None) -> None:
        """An empty grid of size x size cells."""
        super().__init__(render_mode, size=size)
        if not isinstance(size, int | np.integer) or size < 2:
            raise ValueError(f"size must be a whole number of at least 2 cells, got {size!r}")
        self.size = int(size)
        self.observation_space = gymnasium.spaces.Box(0.0, size - 1.0, (2,), np.float32)
        self.action_space = gymnasium.spaces.Discrete(len(_MOVES))
        self._position: tuple[int, int] | None = None

    def get_state(self) -> np.ndarray:
        """Row and column."""
        return self._obs()

    def set_state(self, state: np.ndarray) -> None:
        """Puts the agent on a cell."""
        row, column = state
        self._position = (int(row), int(column))

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.ndarray, dict[str, Any]]:
        """Back to the lower left corner; nothing is random."""
        super().reset(seed=seed)
        self._position = (0, 0)
        if self.render_mode == "human":
            self.show()
        return self._obs(), {"success": False}

    def step(self, action: int) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        """One move."""
        row_move, column_move = _MOVES[_checked(action)]
        if self._position is None:
            raise gymnasium.error.ResetNeeded("call reset() before the first step()")
        row, column, last = (
            self._position[0] + row_move,
            self._position[1] + column_move,
            self.size - 1,
        )
        self._position = (min(max(row, 0), last), min(max(column, 0), last))
        success = self._position == (last, last)
        if self.render_mode == "human":
            self.show()
        return self._obs(), float(success), False, False, {"success": success}

    def _obs(self) -> np.ndarray:
        return np.array(self._position, dtype=np.float32)

    def frame(self) -> np.ndarray:
        """The grid as an image, the start at the lower left."""
        if self._position is None:
            raise gymnasium.error.ResetNeeded("call reset() before render()")
        cells = np.full((self.size, self.size, 3), _FLOOR, np.uint8)
        cells[0, 0], cells[-1, -1] = _START, _GOAL
        cells[self._position] = _AGENT
        image = cells[::-1].repeat(_CELL_PIXELS, axis=0).repeat(_CELL_PIXELS, axis=1)
        image[::_CELL_PIXELS], image[:, ::_CELL_PIXELS] = _LINE, _LINE
        return image


def _checked(action: Any) -> int:
    number = np.asarray(action)
    if (
        number.shape not in ((), (1,))
        or number.dtype.kind not in "iu"
        or not 0 <= int(number.item()) < len(_MOVES)
    ):
        raise ValueError(
            f"action must be a whole number from 0 to {len(_MOVES) - 1}, got {action!r}"
        )
    return int(number.item())
