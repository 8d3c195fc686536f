"""DMCEnv: the adapter from a dm_control environment to a Gymnasium one."""

import math
from typing import Any

import gymnasium
import numpy as np

from explore_suite.envs.base import RenderedEnv
from explore_suite.envs.dm_control_import import control
from explore_suite.envs.rendering import Renderer

_MAX_VALUE = 1e10  # of an observation: with larger numbers MuJoCo calls a simulation diverged
_MAX_LEGACY_SEED = 2**32 - 1  # the largest of the RandomState that dm_control draws from


class DMCEnv(RenderedEnv):
    """A dm_control task with flat float32 observations, seeding, success and rendering.

    Subclasses say how to build the task (`build`), when its goal is met (`succeeded`) and what it
    is (the class docstring is the specification); `closeness()`, a number that grows towards the
    goal, is for tools/find_solutions.py alone. Physics stays in float64. Nothing terminates and
    nothing here counts steps: Gymnasium's TimeLimit is the only clock.
    """

    default_size = (480, 480)  # width, height in pixels
    default_camera: int | str = 0

    def __init__(
        self,
        render_mode: str | None = None,
        width: int | None = None,
        height: int | None = None,
        camera: int | str | None = None,
        **settings: Any,
    ) -> None:
        """Builds the task; `width`, `height` and `camera` matter only to rendering."""
        super().__init__(render_mode, width=width, height=height, camera=camera, **settings)
        self._size = (width or self.default_size[0], height or self.default_size[1])
        self._camera = self.default_camera if camera is None else camera
        self._env = self.build(**settings)
        fps = round(1 / self._env.control_timestep())
        self.metadata = {**self.metadata, "render_fps": fps}  # films run in simulated time
        self._slices = _slices(self._env.observation_spec())
        obs_dim = self._slices[-1][1].stop
        action_spec = self._env.action_spec()
        self.observation_space = gymnasium.spaces.Box(
            -_MAX_VALUE, _MAX_VALUE, (obs_dim,), np.float32
        )
        self.action_space = gymnasium.spaces.Box(-1.0, 1.0, action_spec.shape, np.float32)
        self._action_shape = action_spec.shape
        self._substeps = round(self._env.control_timestep() / self.physics.timestep())
        self._running = False
        self._renderer: Renderer | None = None

    def build(self) -> control.Environment:
        """The dm_control environment, without a time limit."""
        raise NotImplementedError

    def succeeded(self, reward: float) -> bool:
        """Whether the goal is met in the current state, whose reward is `reward`."""
        return reward >= 1.0

    @property
    def physics(self) -> Any:
        """dm_control's Physics, for reading the world in float64."""
        return self._env.physics

    @property
    def task(self) -> Any:
        """dm_control's Task."""
        return self._env.task

    def get_state(self) -> np.ndarray:
        """Positions and velocities of the world, in float64."""
        return self.physics.get_state()

    def set_state(self, state: np.ndarray) -> None:
        """Restores a state of `get_state`; targets stay where the last reset put them."""
        with self.physics.reset_context():
            self.physics.set_state(state)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.ndarray, dict[str, Any]]:
        """Starts an episode; with a seed, the task's random source is reseeded from it."""
        super().reset(seed=seed)
        if seed is not None:
            entropy = (
                seed if seed <= _MAX_LEGACY_SEED else np.random.SeedSequence(seed).generate_state(4)
            )
            self.task.random.seed(entropy)
        obs = self._flat(self._env.reset().observation)
        self._running = True
        if self.render_mode == "human":
            self.show()
        return obs, {"success": self.succeeded(float(self.task.get_reward(self.physics)))}

    def step(self, action: np.ndarray) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        """One control step. Actions beyond the box are clipped by MuJoCo, as in dm_control."""
        action = self._checked(action)
        if not self._running:
            raise gymnasium.error.ResetNeeded("call reset() before the first step()")
        # dm_control's own step, without the end of the episode and the TimeStep around it.
        task, physics = self._env.task, self._env.physics
        task.before_step(action, physics)
        physics.step(self._substeps)
        task.after_step(physics)
        reward = float(task.get_reward(physics))
        obs = self._flat(task.get_observation(physics))
        if self.render_mode == "human":
            self.show()
        # Never terminated: dm_control's tasks end by time alone, and time is TimeLimit's.
        return obs, reward, False, False, {"success": self.succeeded(reward)}

    def frame(self) -> np.ndarray:
        """What the camera sees; the first frame opens the renderer."""
        if self._renderer is None:
            self._renderer = Renderer(self.physics.model.ptr, *self._size)
        return self._renderer.frame(self.physics.data.ptr, self._camera)

    def close(self) -> None:
        """Frees the renderer and the window; harmless when there are none."""
        super().close()
        if self._renderer is not None:
            self._renderer.close()
            self._renderer = None

    def _checked(self, action: Any) -> np.ndarray:
        action = np.asarray(action)
        if action.shape != self._action_shape:
            raise ValueError(
                f"action must have shape {self._action_shape}, got {action.shape}: {action!r}"
            )
        if action.dtype.kind not in "fiu":
            raise ValueError(f"action must hold real numbers, got dtype {action.dtype}: {action!r}")
        if not all(map(math.isfinite, action.tolist())):  # quicker than NumPy on a few numbers
            raise ValueError(f"action must be finite, got {action!r}")
        return action

    def _flat(self, observation: dict[str, Any]) -> np.ndarray:
        flat = np.empty(self._slices[-1][1].stop, np.float32)
        for key, part in self._slices:
            flat[part] = observation[key]
        return flat


def _slices(spec: dict[str, Any]) -> list[tuple[str, slice]]:
    """Where each key of the observation goes in the flat array, in the task's own order."""
    slices, start = [], 0
    for key, array in spec.items():
        stop = start + int(np.prod(array.shape))
        slices.append((key, slice(start, stop)))
        start = stop
    return slices
