"""RenderedEnv: rendering, to arrays or to a window, for every environment of the suite."""

import os
import platform
from typing import Any

import gymnasium
import numpy as np
from gymnasium.utils import EzPickle

from explore_suite.errors import RenderingUnavailableError
from explore_suite.installation import install_command

_SCREENS = ("DISPLAY", "WAYLAND_DISPLAY", "SDL_VIDEODRIVER")
_NO_SCREEN = (
    'render_mode="human" needs a screen: use render_mode="rgb_array", or '
    "`explore-suite watch TASK --out FILE.mp4`"
)


class RenderedEnv(gymnasium.Env, EzPickle):
    """Base class that renders what `frame`, which subclasses provide, returns.

    `rgb_array` renders on demand, `human` into a window at every step. Pickles as its class and
    arguments, so that a copy starts without an episode.
    """

    metadata: dict[str, Any] = {"render_modes": ["rgb_array", "human"]}

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


class Window:
    """A pygame window that shows frames at the environment's frame rate."""

    def __init__(self, title: str, fps: int) -> None:
        """The window opens with the first frame, in its size."""
        os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")  # an advertisement on stdout
        try:
            import pygame
        except ImportError as error:
            raise RenderingUnavailableError(
                f'render_mode="human" needs pygame: {install_command("video")}'
            ) from error
        # SDL_VIDEODRIVER=dummy runs without a screen. Left alone there, SDL would pick EGL and, on
        # closing, shut down the very display that frames are drawn on.
        if platform.system() == "Linux" and not any(name in os.environ for name in _SCREENS):
            raise RenderingUnavailableError(f"there is no screen (no DISPLAY); {_NO_SCREEN}")
        self._pygame = pygame
        self._title = title
        self._fps = fps
        self._screen: pygame.Surface | None = None
        self._clock = pygame.time.Clock()

    def show(self, frame: np.ndarray) -> None:
        """Draws one frame and waits until it is due."""
        if self._screen is None:
            self._screen = self._open((frame.shape[1], frame.shape[0]))
        surface = self._pygame.surfarray.make_surface(frame.swapaxes(0, 1))
        self._screen.blit(surface, (0, 0))
        self._pygame.event.pump()
        self._pygame.display.flip()
        self._clock.tick(self._fps)

    def _open(self, size: tuple[int, int]) -> Any:
        try:
            self._pygame.display.init()
            screen = self._pygame.display.set_mode(size)
        except self._pygame.error as error:
            raise RenderingUnavailableError(f"no window opens ({error}); {_NO_SCREEN}") from error
        self._pygame.display.set_caption(self._title)
        return screen

    def close(self) -> None:
        """Closes the window."""
        self._pygame.display.quit()
        self._screen = None
