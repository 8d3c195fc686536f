"""Reacher: dm_control's hard task, and a variant with arm and target on opposite sides."""

import numpy as np

from explore_suite.envs.dm_control_env import DMCEnv
from explore_suite.envs.dm_control_import import Physics, control, suite

_TARGET_RADIUS = 0.015  # metres; upstream's hard task
_ARM_ANGLE = (-np.pi / 4, np.pi / 4)  # radians; both joints, the arm mostly stretched to the right
_TARGET_ANGLE = (1.25 * np.pi, 1.75 * np.pi)  # radians from +y towards +x: a cone around -x
_TARGET_DISTANCE = (0.05, 0.20)  # metres from the shoulder; as upstream


class OppositeReacher(suite.reacher.Reacher):
    """dm_control's task with the arm started on the right and the target on the left."""

    def initialize_episode(self, physics: Physics) -> None:
        """Draws both joints, then the target, from the task's own random source."""
        physics.named.model.geom_size["target", 0] = self._target_size
        for joint in ("shoulder", "wrist"):
            physics.named.data.qpos[joint] = self.random.uniform(*_ARM_ANGLE)
        angle = self.random.uniform(*_TARGET_ANGLE)
        distance = self.random.uniform(*_TARGET_DISTANCE)
        physics.named.model.geom_pos["target", "x"] = distance * np.sin(angle)
        physics.named.model.geom_pos["target", "y"] = distance * np.cos(angle)
        # Skips Reacher's own draw, and does what every task of dm_control's suite does.
        suite.base.Task.initialize_episode(self, physics)


class ReacherHard(DMCEnv):
    """Hold a two-link arm's fingertip at a small target. dm_control's `reacher hard`, unchanged.

    Observation (6): position shoulder, wrist (rad, the shoulder unbounded); to_target x, y (m);
        velocity shoulder, wrist (rad/s).
    Action (2): torque at shoulder and wrist, in [-1, 1].
    Reward: r = 1 if |finger - target| <= 0.025 m (the two spheres touch), else 0.
    Success: the fingertip touches the target.
    Start: shoulder ~ U(-pi, pi), wrist ~ U(-160, 160) degrees; target at angle ~ U(0, 2 pi) and
        distance ~ U(0.05, 0.20) m. The arm may start on the target.
    End: 1000 steps of 0.02 s, by truncation.
    Versions: v0, as published.
    """

    def build(self) -> control.Environment:
        """dm_control's physics and task."""
        return control.Environment(_physics(), suite.reacher.Reacher(_TARGET_RADIUS))

    def closeness(self) -> float:
        """Minus the distance between fingertip and target, in metres."""
        return -float(self.physics.finger_to_target_dist())


class ReacherExplore(ReacherHard):
    """Hold a two-link arm's fingertip at a small target on the other side of the plane.

    Observation, action, reward, success, end: as ReacherHard (the reward is sparse already).
    Start: shoulder and wrist ~ U(-45, 45) degrees, the arm mostly stretched along +x; target at an
        angle ~ U(-45, 45) degrees around -x and a distance ~ U(0.05, 0.20) m.
    Difference from upstream: the start, and a shoulder limited to 0..360 degrees.
    Quirk, kept because published results depend on it: half of all starts lie below the shoulder's
        limit of 0, and the constraint solver throws the arm back within about eight steps, up to
        0.84 rad and 7.6 rad/s. The target can be reached counter-clockwise only.
    Versions: v0, as published (arm angles now come from the environment's seed).
    """

    def build(self) -> control.Environment:
        """dm_control's physics with a limited shoulder, and the opposite start."""
        physics = _physics()
        physics.named.model.jnt_limited["shoulder"] = 1
        physics.named.model.jnt_range["shoulder"] = (0.0, 2 * np.pi)
        return control.Environment(physics, OppositeReacher(_TARGET_RADIUS))


def _physics() -> suite.reacher.Physics:
    return suite.reacher.Physics.from_xml_string(*suite.reacher.get_model_and_assets())
