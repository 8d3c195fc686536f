"""Renders MuJoCo scenes without a screen; the first frame searches for a GL backend."""

import importlib
import os
import platform
import sys
import weakref
from typing import Any

import numpy as np

from explore_suite.envs.dm_control_import import mujoco
from explore_suite.errors import RenderingUnavailableError

_HEADLESS = ("egl", "osmesa")  # tried in this order on Linux when MUJOCO_GL does not choose
_ADVICE = (
    "Install one of them (Debian: apt-get install libegl1, or libosmesa6; "
    "Fedora: dnf install mesa-libEGL), or set MUJOCO_GL to a backend that works here. "
    "Training and evaluation need none."
)


class Renderer:
    """Draws one model into RGB arrays of a fixed size."""

    def __init__(self, model: mujoco.MjModel, width: int, height: int) -> None:
        """Opens a GL context; raises RenderingUnavailableError where none can be had."""
        self._context = open_context(width, height)
        model.vis.global_.offwidth = max(width, model.vis.global_.offwidth)
        model.vis.global_.offheight = max(height, model.vis.global_.offheight)
        self._model = model
        self._scene = mujoco.MjvScene(model, maxgeom=1000)
        self._pixels = mujoco.MjrContext(model, mujoco.mjtFontScale.mjFONTSCALE_100)
        mujoco.mjr_setBuffer(mujoco.mjtFramebuffer.mjFB_OFFSCREEN, self._pixels)
        self._viewport = mujoco.MjrRect(0, 0, width, height)
        self._options = mujoco.MjvOption()
        self._camera = mujoco.MjvCamera()
        # Also runs when Python exits with the environment still open, before EGL shuts down.
        self._free = weakref.finalize(self, _free, self._context, self._pixels)

    def frame(self, data: mujoco.MjData, camera: int | str) -> np.ndarray:
        """The scene as (height, width, 3) bytes, seen by a camera of the model."""
        self._context.make_current()
        self._camera.type = mujoco.mjtCamera.mjCAMERA_FIXED
        self._camera.fixedcamid = self._camera_index(camera)
        mujoco.mjv_updateScene(
            self._model, data, self._options, None, self._camera,
            mujoco.mjtCatBit.mjCAT_ALL, self._scene,
        )  # fmt: skip
        mujoco.mjr_render(self._viewport, self._scene, self._pixels)
        upside_down = np.empty((self._viewport.height, self._viewport.width, 3), np.uint8)
        mujoco.mjr_readPixels(upside_down, None, self._viewport, self._pixels)
        return np.ascontiguousarray(upside_down[::-1])

    def close(self) -> None:
        """Frees the GL context; more than once does no harm."""
        self._free()

    def _camera_index(self, camera: int | str) -> int:
        index = camera
        if isinstance(camera, str):
            index = mujoco.mj_name2id(self._model, mujoco.mjtObj.mjOBJ_CAMERA, camera)
        if not 0 <= int(index) < self._model.ncam:
            names = [self._model.camera(i).name for i in range(self._model.ncam)]
            raise ValueError(f"unknown camera {camera!r}; this model has {names}")
        return int(index)


def _free(context: Any, pixels: mujoco.MjrContext) -> None:
    context.make_current()
    pixels.free()
    context.free()


def open_context(width: int, height: int) -> Any:
    """A current GL context from the first backend that works."""
    problems = []
    chosen_before = os.environ.get("PYOPENGL_PLATFORM")
    for name in back_ends():
        try:
            return try_back_end(name, width, height)
        except (ImportError, AttributeError, RuntimeError, OSError) as error:
            problems.append(f"{name}: {type(error).__name__}: {error}")
            _forget_opengl(chosen_before)
    raise RenderingUnavailableError(
        "no OpenGL backend works.\n  " + "\n  ".join(problems) + f"\n{_ADVICE}"
    )


def _forget_opengl(platform_before: str | None) -> None:
    """Undoes what a failed backend leaves behind, which would make the next one fail."""
    if platform_before is None:
        os.environ.pop("PYOPENGL_PLATFORM", None)
    for module in [name for name in sys.modules if name.split(".")[0] == "OpenGL"]:
        del sys.modules[module]
    for name in _HEADLESS:
        sys.modules.pop(f"mujoco.{name}", None)
        sys.modules.pop(f"mujoco.{name}.egl_ext", None)


def back_ends() -> tuple[str, ...]:
    """Backends to try: MUJOCO_GL alone where it is set, else those that need no screen."""
    chosen = os.environ.get("MUJOCO_GL", "").lower()
    if chosen in ("egl", "osmesa", "glfw", "cgl"):
        return (chosen,)
    return _HEADLESS if platform.system() == "Linux" else ("glfw",)


def try_back_end(name: str, width: int = 64, height: int = 64) -> Any:
    """A current GL context of the named backend; raises whatever that backend raises."""
    module = importlib.import_module(f"mujoco.{name}")
    from OpenGL.error import Error as GLError  # after mujoco has chosen PyOpenGL's platform

    try:
        context = module.GLContext(width, height)
        context.make_current()
    except GLError as error:
        raise RuntimeError(f"{name} is installed but does not work: {error}") from error
    return context


if __name__ == "__main__":  # exit code 0 where frames can be drawn, else 1 and the reason
    try:
        open_context(64, 64).free()
    except RenderingUnavailableError as problem:
        raise SystemExit(str(problem)) from problem
