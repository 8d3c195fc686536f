"""Walker: dm_control's walking task, and a variant: fallen start, speed reward all or nothing."""

import numpy as np

from explore_suite.envs.dm_control_env import DMCEnv
from explore_suite.envs.dm_control_import import Physics, control, rewards, suite

_CONTROL_STEP = 0.025  # seconds
_WALK_SPEED = 1.0  # metres per second; as upstream
_STAND_HEIGHT = 1.2  # metres; as upstream
LEAST_PAY_OF_SUCCESS = 0.75  # smallest reward of a successful state: one that is upside down
_FALL_STEPS = 200  # physics steps, half a second: enough to reach the ground


class FallenWalker(suite.walker.PlanarWalker):
    """dm_control's task, started after a fall, with a speed reward that is all or nothing."""

    def initialize_episode(self, physics: Physics) -> None:
        """dm_control's random pose, then a fall without control; the velocities are kept."""
        super().initialize_episode(physics)
        physics.after_reset()
        physics.step(_FALL_STEPS)

    def get_reward(self, physics: Physics) -> float:
        """The reward stand (5 move + 1) / 6, as WalkerExplore defines it."""
        standing = rewards.tolerance(
            physics.torso_height(), bounds=(_STAND_HEIGHT, float("inf")), margin=_STAND_HEIGHT / 2
        )
        stand = (3 * standing + (1 + physics.torso_upright()) / 2) / 4
        move = float(physics.horizontal_velocity() >= self._move_speed)
        return stand * (5 * move + 1) / 6


class WalkerWalk(DMCEnv):
    """Make a planar walker walk. dm_control's `walker walk`, unchanged.

    Observation (24): orientations xx, xz of the 7 bodies; height of the torso (m); velocity of root
        z, root x (m/s), root y and the 6 joints (rad/s).
    Action (6): torque at hip, knee and ankle, right then left, in [-1, 1].
    Reward: r = stand (5 move + 1) / 6, of the torso's height h and the speed v (m/s):
        stand = (3 standing + upright) / 4;
        standing = 1 if h >= 1.2 m, else 0.1^(((1.2 - h) / 0.6)^2);
        upright = (1 + cos(angle of the torso from the vertical)) / 2;
        move = v, clipped to [0, 1].
    Success: the torso is above 1.2 m and the centre of mass moves at 1 m/s or more.
    Start: limited joints uniform in their range, the torso at any angle, 1.3 m up.
    End: 1000 steps of 0.025 s, by truncation.
    Versions: v0, as published.
    """

    task_class = suite.walker.PlanarWalker

    def build(self) -> control.Environment:
        """dm_control's physics with this class's task."""
        physics = suite.walker.Physics.from_xml_string(*suite.walker.get_model_and_assets())
        task = self.task_class(move_speed=_WALK_SPEED)
        return control.Environment(physics, task, control_timestep=_CONTROL_STEP)

    def succeeded(self, reward: float) -> bool:
        """The torso is high enough and the centre of mass fast enough."""
        # Reading the physics is slow, and such a state pays (3 + upright) / 4 >= 0.75.
        return reward >= LEAST_PAY_OF_SUCCESS and bool(
            self.physics.torso_height() >= _STAND_HEIGHT
            and self.physics.horizontal_velocity() >= _WALK_SPEED
        )

    def closeness(self) -> float:
        """min(h, 1.3) + 0.5 cos(angle of the torso) + 0.3 v, the speed clipped to [-1, 1.2]."""
        return float(
            min(self.physics.torso_height(), 1.3)
            + 0.5 * self.physics.torso_upright()
            + 0.3 * np.clip(self.physics.horizontal_velocity(), -1, 1.2)
        )


class WalkerExplore(WalkerWalk):
    """Make a planar walker get up and walk at full speed.

    Observation, action, success, end: as WalkerWalk.
    Reward: r = stand (5 move + 1) / 6 with WalkerWalk's shaped stand, but move = 1 if v >= 1 m/s,
        else 0.
    Start: WalkerWalk's start, then 200 physics steps (0.5 s) without control: it lies on the
        ground or is about to, often still moving (torso 0.33 m up on average, at most 1.0 m).
    Difference from upstream: the start and the speed reward.
    Quirk, kept because published results depend on it: only the speed part is sparse. Standing
        still pays up to 1/6 per step, about 167 per episode.
    Versions: v0, as published.
    """

    task_class = FallenWalker
