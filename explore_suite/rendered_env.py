"""RenderedEnv: what every environment of the suite shares about being looked at."""

from typing import Any

import gymnasium
import numpy as np
from gymnasium.utils import EzPickle

from explore_suite.window import Window


class RenderedEnv(gymnasium.Env, EzPickle):
    """Draws by `frame`, which subclasses provide: on demand for rgb_array, at every step for human.

    Pickles as its class and arguments, so that a copy starts afresh.
    """

    metadata: dict[str, Any] = {"render_modes": ["rgb_array", "human"], "render_fps": 50}

    def __init__(self, render_mode: str | None, **settings: Any) -> None:
        """`settings` are all other arguments of the subclass, by name."""
        EzPickle.__init__(self, render_mode=render_mode, **settings)
        modes = self.metadata["render_modes"]
        if render_mode not in (None, *modes):
            raise ValueError(f"render_mode must be one of {modes}, got {render_mode!r}")
        self.render_mode = render_mode
        self._window: Window | None = None

    def frame(self) -> np.ndarray:
        """The current state as (height, width, 3) bytes."""
        raise NotImplementedError

    def render(self) -> np.ndarray | None:
        """The current frame for `rgb_array`; `human` draws at every step by itself."""
        if self.render_mode is None:
            gymnasium.logger.warn("no render_mode was chosen: pass one to gymnasium.make")
            return None
        return self.frame() if self.render_mode == "rgb_array" else None

    def show(self) -> None:
        """Draws into the window; called after reset and step in `human` mode."""
        if self._window is None:
            self._window = Window(type(self).__name__, self.metadata["render_fps"])
        self._window.show(self.frame())

    def close(self) -> None:
        """Closes the window; harmless when there is none."""
        if self._window is not None:
            self._window.close()
            self._window = None
