"""Ball-in-cup: dm_control's task, and a variant whose ball starts hanging below the cup."""

import numpy as np

from explore_suite.envs.dm_control_env import DMCEnv
from explore_suite.envs.dm_control_import import Physics, control, suite

_CONTROL_STEP = 0.02  # seconds
_HANGING_X = (-0.1, 0.1)  # metres, joint coordinate; upstream: +-0.2
_HANGING_Z = (0.2, 0.3)  # metres, joint coordinate (body origin 0.2 up); upstream: 0.2 to 0.5


class HangingBall(suite.ball_in_cup.BallInCup):
    """dm_control's task with the ball released from a small window below the cup."""

    def initialize_episode(self, physics: Physics) -> None:
        """Draws the ball's position until it touches nothing."""
        touching = True
        while touching:
            physics.named.data.qpos["ball_x"] = self.random.uniform(*_HANGING_X)
            physics.named.data.qpos["ball_z"] = self.random.uniform(*_HANGING_Z)
            physics.after_reset()
            touching = physics.data.ncon > 0
        # Skips BallInCup's own draw, and does what every task of dm_control's suite does.
        suite.base.Task.initialize_episode(self, physics)


class BallInCupCatch(DMCEnv):
    """Swing the ball, tethered to a cup, into it. dm_control's `ball_in_cup catch`, unchanged.

    Observation (8): position cup_x, cup_z, ball_x, ball_z (m); the same four velocities (m/s).
    Action (2): force on the cup along x and z, in [-1, 1].
    Reward: r = 1 if |ball - target| < 0.025 m along x and along z (the ball is in the cup), else 0.
    Success: the ball is in the cup.
    Start: ball_x ~ U(-0.2, 0.2), ball_z ~ U(0.2, 0.5), drawn again while anything touches; about
        1.5 % of starts are already in the cup. Cup at rest in the middle.
    End: 1000 steps of 0.02 s, by truncation.
    Versions: v0, as published.
    """

    task_class = suite.ball_in_cup.BallInCup

    def build(self) -> control.Environment:
        """dm_control's physics with this class's task."""
        physics = suite.ball_in_cup.Physics.from_xml_string(
            *suite.ball_in_cup.get_model_and_assets()
        )
        return control.Environment(physics, self.task_class(), control_timestep=_CONTROL_STEP)

    def closeness(self) -> float:
        """Minus the distance between ball and target, in metres."""
        return -float(np.linalg.norm(self.physics.ball_to_target()))


class BallInCupExplore(BallInCupCatch):
    """Swing the ball, tethered to a cup, into it, starting from a ball that hangs below.

    Observation, action, reward, success, end: as BallInCupCatch (the reward is sparse already).
    Start: ball_x ~ U(-0.1, 0.1), ball_z ~ U(0.2, 0.3), drawn again while anything touches: never in
        the cup. Cup at rest in the middle.
    Difference from upstream: the start alone.
    Versions: v0, as published.
    """

    task_class = HangingBall
