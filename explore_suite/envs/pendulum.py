"""Pendulum: dm_control's swing-up, and a variant that always starts hanging."""

import numpy as np

from explore_suite.envs.dm_control_env import DMCEnv
from explore_suite.envs.dm_control_import import Physics, control, suite

_LENGTH, _GRAVITY = 0.5, 9.81  # metres from hinge to mass; m/s^2; of dm_control's model
_NOISE = 0.01  # radians on either side of hanging; the size of dm_control's noise on its cart-pole


class HangingPendulum(suite.pendulum.SwingUp):
    """dm_control's task, started hanging instead of at any angle."""

    def initialize_episode(self, physics: Physics) -> None:
        """Draws the angle from the task's own random source; the pole is at rest."""
        physics.named.data.qpos["hinge"] = np.pi + self.random.uniform(-_NOISE, _NOISE)
        # Skips SwingUp's own draw, and does what every task of dm_control's suite does.
        suite.base.Task.initialize_episode(self, physics)


class PendulumSwingup(DMCEnv):
    """Swing up a heavy pendulum and hold it. dm_control's `pendulum swingup`, unchanged.

    Observation (3): orientation, the cosine and sine of the angle from upright; velocity (rad/s).
    Action (1): torque at the hinge, in [-1, 1] (1 N m; holding the pole level takes 4.9 N m).
    Reward: r = 1 if the pole is within 8 degrees of upright, else 0.
    Success: the pole is within 8 degrees of upright.
    Start: the angle ~ U(-pi, pi), at rest. One start in 22 is upright already.
    End: 1000 steps of 0.02 s, by truncation.
    Versions: v0, as in dm_control.
    """

    task_class = suite.pendulum.SwingUp

    def build(self) -> control.Environment:
        """dm_control's physics with this class's task."""
        physics = suite.pendulum.Physics.from_xml_string(*suite.pendulum.get_model_and_assets())
        return control.Environment(physics, self.task_class())

    def closeness(self) -> float:
        """Energy in units of that of standing upright: -1 hanging at rest, 1 suffices to stand."""
        speed = float(self.physics.angular_velocity()[0])
        return float(self.physics.pole_vertical()) + speed**2 * _LENGTH / (2 * _GRAVITY)


class PendulumExplore(PendulumSwingup):
    """Swing up a pendulum that always starts hanging, and hold it.

    Observation, action, reward, success, end: as PendulumSwingup (the reward is sparse already).
    Start: the angle is pi + U(-0.01, 0.01) from upright: hanging, at rest.
    Difference from upstream: the start alone.
    Versions: v0.
    """

    task_class = HangingPendulum
