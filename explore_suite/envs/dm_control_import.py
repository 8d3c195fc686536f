"""Imports dm_control without loading OpenGL.

On import dm_control looks for a rendering backend, which loads GL libraries, may warn and may even
fail on a machine that only trains. That is switched off here; this package renders through
`envs/rendering.py`, which picks a backend when the first frame is asked for. A user who sets
MUJOCO_GL asks both packages to load that backend at once, and gets it.
"""

import contextlib
import os
from collections.abc import Iterator

from explore_suite.errors import RenderingUnavailableError


@contextlib.contextmanager
def _no_search_for_gl() -> Iterator[None]:
    if "MUJOCO_GL" in os.environ:
        yield
        return
    os.environ["MUJOCO_GL"] = "disabled"
    try:
        yield
    finally:
        del os.environ["MUJOCO_GL"]


try:
    # mujoco first and with the environment as it is: its own Renderer keeps working for the user.
    import mujoco

    with _no_search_for_gl():
        from dm_control import suite
        from dm_control.mujoco import Physics
        from dm_control.rl import control
        from dm_control.utils import rewards
except (AttributeError, ImportError, RuntimeError) as error:
    if "MUJOCO_GL" not in os.environ:
        raise
    raise RenderingUnavailableError(
        f"MUJOCO_GL={os.environ['MUJOCO_GL']} names a rendering backend that does not load here "
        f"({type(error).__name__}: {error}); unset it to train, or to let a working one be found"
    ) from error

__all__ = ["Physics", "control", "mujoco", "rewards", "suite"]
