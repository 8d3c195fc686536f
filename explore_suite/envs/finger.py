"""Finger: dm_control's hard turning task, and a variant that starts far from its goal."""

import numpy as np

from explore_suite.envs.dm_control_env import DMCEnv
from explore_suite.envs.dm_control_import import Physics, control, suite

_CONTROL_STEP = 0.02  # seconds
_TARGET_RADIUS = 0.03  # metres; upstream's hard task
_QUADRANT = (-np.pi / 4, np.pi / 4)  # radians around each joint's centre
_JOINT_CENTRES = {"proximal": np.pi, "distal": 0.0, "hinge": np.pi}  # away from the spinner; down
_MAX_DRAWS = 1000  # as upstream
_APPROACH = 0.3  # of the finger's distance to the spinner, so that a search first brings it there


class TurnFromAfar(suite.finger.Turn):
    """dm_control's task with the finger pointing away, the spinner down and the target up."""

    def initialize_episode(self, physics: Physics) -> None:
        """Draws the target's angle, then the joints until nothing touches."""
        angle = self.random.uniform(*_QUADRANT)  # 0 is straight up
        hinge = physics.named.data.xanchor["hinge", ["x", "z"]]
        reach = physics.named.model.geom_size["cap1"].sum()
        target = hinge + reach * np.array([np.sin(angle), np.cos(angle)])
        physics.named.model.site_pos["target", ["x", "z"]] = target
        physics.named.model.site_size["target", 0] = self._target_radius
        self._draw_joints(physics)
        # Skips Turn's own draw, and does what every task of dm_control's suite does.
        suite.base.Task.initialize_episode(self, physics)

    def _draw_joints(self, physics: Physics) -> None:
        for _ in range(_MAX_DRAWS):
            for joint, centre in _JOINT_CENTRES.items():
                physics.named.data.qpos[joint] = centre + self.random.uniform(*_QUADRANT)
            physics.after_reset()
            if physics.data.ncon == 0:
                return
        raise RuntimeError(f"no start without contact in {_MAX_DRAWS} draws")


class FingerTurnHard(DMCEnv):
    """Turn a free spinner until its tip is in the target: dm_control's `finger turn_hard`.

    Observation (12): position proximal, distal (rad), tip_x, tip_z relative to the hinge (m);
        velocity proximal, distal, hinge (rad/s); touch top, bottom (log1p of the force);
        target_position x, z relative to the hinge (m); dist_to_target (m, negative inside).
    Action (2): torque at the proximal and distal joint, in [-1, 1].
    Reward: r = 1 if |tip - target| <= 0.03 m, else 0.
    Success: the spinner's tip is inside the target.
    Start: joints uniform within their limits, the spinner anywhere, drawn again while anything
        touches; target anywhere on the tip's circle. About 6 % of starts are paid already.
    End: 1000 steps of 0.02 s, by truncation.
    Versions: v0, as published.
    """

    task_class = suite.finger.Turn

    def build(self) -> control.Environment:
        """dm_control's physics with this class's task."""
        physics = suite.finger.Physics.from_xml_string(*suite.finger.get_model_and_assets())
        task = self.task_class(target_radius=_TARGET_RADIUS)
        return control.Environment(physics, task, control_timestep=_CONTROL_STEP)

    def closeness(self) -> float:
        """-|tip - target| - 0.3 |finger - spinner|, in metres (the target counts from its edge)."""
        finger, spinner = self.physics.named.data.geom_xpos[["fingertip", "cap2"]]
        approach = _APPROACH * np.linalg.norm(spinner - finger)
        return float(-self.physics.dist_to_target() - approach)


class FingerExplore(FingerTurnHard):
    """Turn a free spinner from hanging down to a target above, with a finger that starts away.

    Observation, action, reward, success, end: as FingerTurnHard (the reward is sparse already).
    Start: proximal ~ pi + U(-45, 45) degrees (away from the spinner), distal ~ U(-45, 45) degrees,
        spinner ~ pi + U(-45, 45) degrees (down), drawn again while anything touches; target at an
        angle ~ U(-45, 45) degrees around straight up.
    Difference from upstream: the start alone.
    Quirk, kept because published results depend on it: the proximal joint's range is +-110 degrees,
        so every start lies outside it and the constraint solver throws the finger back within about
        ten steps, at up to 35 rad/s.
    Versions: v0, as published.
    """

    task_class = TurnFromAfar
