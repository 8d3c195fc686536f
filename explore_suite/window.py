"""The window of render_mode="human"."""

import os
import platform

import numpy as np

from explore_suite.errors import RenderingUnavailableError

# SDL_VIDEODRIVER=dummy runs without a screen. Left alone there, SDL would pick EGL and, on closing,
# shut down the very display that frames are drawn on.
_SCREENS = ("DISPLAY", "WAYLAND_DISPLAY", "SDL_VIDEODRIVER")


class Window:
    """Shows frames at the environment's own pace."""

    def __init__(self, title: str, fps: int) -> None:
        """Opens at the first frame, in its size."""
        try:
            import pygame
        except ImportError as error:
            raise RenderingUnavailableError(
                'render_mode="human" needs pygame: pip install "explore-suite[video]"'
            ) from error
        if platform.system() == "Linux" and not any(name in os.environ for name in _SCREENS):
            raise RenderingUnavailableError(
                'render_mode="human" needs a screen (DISPLAY or WAYLAND_DISPLAY); '
                'use render_mode="rgb_array", or `explore-suite watch TASK --out FILE.mp4`'
            )
        self._pygame = pygame
        self._title = title
        self._fps = fps
        self._screen: pygame.Surface | None = None
        self._clock = pygame.time.Clock()

    def show(self, frame: np.ndarray) -> None:
        """Draws one frame and waits until it is due."""
        if self._screen is None:
            self._pygame.display.init()
            self._screen = self._pygame.display.set_mode((frame.shape[1], frame.shape[0]))
            self._pygame.display.set_caption(self._title)
        surface = self._pygame.surfarray.make_surface(frame.swapaxes(0, 1))
        self._screen.blit(surface, (0, 0))
        self._pygame.event.pump()
        self._pygame.display.flip()
        self._clock.tick(self._fps)

    def close(self) -> None:
        """Closes the window."""
        self._pygame.display.quit()
        self._screen = None
