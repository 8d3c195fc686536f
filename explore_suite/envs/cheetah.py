"""Cheetah: dm_control's running task, and a variant that pays nothing below 2.5 m/s."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager

from explore_suite.envs.dm_control_env import DMCEnv
from explore_suite.envs.dm_control_import import Physics, control, suite

LEAST_PAY = 0.25  # reward below which CheetahRunSparse pays nothing; 2.5 m/s


class SparseCheetah(suite.cheetah.Cheetah):
    """dm_control's task with rewards below 0.25 set to 0."""

    def get_reward(self, physics: Physics) -> float:
        """dm_control's reward if it is 0.25 or more, else 0."""
        reward = float(super().get_reward(physics))
        return reward if reward >= LEAST_PAY else 0.0


class CheetahRun(DMCEnv):
    """Make a planar cheetah run. dm_control's `cheetah run`, unchanged.

    Observation (17): position of root z (m, 0 where the model is drawn), root y (the pitch, rad,
        unbounded) and the 6 joints (rad); velocity of root x, root z (m/s), root y and the 6 joints
        (rad/s).
    Action (6): torque at thigh, shin and foot, back then front, in [-1, 1].
    Reward: r = v / 10, clipped to [0, 1], of the forward speed v of the centre of mass (m/s).
    Success: r >= 0.25, the centre of mass moves forward at 2.5 m/s or more. Full speed would be
        10 m/s; where CheetahRunSparse begins to pay is the goal of both.
    Start: limited joints uniform in their range, then 200 physics steps (2 s) without control.
    End: 1000 steps of 0.01 s, by truncation.
    Versions: v0, as in dm_control.
    """

    task_class = suite.cheetah.Cheetah

    def build(self) -> control.Environment:
        """dm_control's physics with this class's task."""
        with _without_deprecation():
            physics = suite.cheetah.Physics.from_xml_string(*suite.cheetah.get_model_and_assets())
        return control.Environment(physics, self.task_class())

    def succeeded(self, reward: float) -> bool:
        """The cheetah runs at 2.5 m/s or more."""
        return reward >= LEAST_PAY

    def closeness(self) -> float:
        """The forward speed of the centre of mass, in m/s."""
        return float(self.physics.speed())


class CheetahRunSparse(CheetahRun):
    """Make a planar cheetah run; slow steps pay nothing.

    Observation, action, success, end: as CheetahRun.
    Reward: r = CheetahRun's reward if that is 0.25 or more (2.5 m/s), else 0: the rule of RE3's
        `cheetah run_sparse` (Seo et al., State Entropy Maximization with Random Encoders for
        Efficient Exploration, ICML 2021).
    Start: as CheetahRun.
    Difference from upstream: the reward alone.
    Versions: v0.
    """

    task_class = SparseCheetah


@contextmanager
def _without_deprecation() -> Iterator[None]:
    """Hides MuJoCo's warning that `settotalmass` in dm_control's XML is deprecated."""

    def keep(record: logging.LogRecord) -> bool:
        return "settotalmass" not in record.getMessage()

    logger = logging.getLogger("absl")  # where dm_control sends MuJoCo's warnings
    logger.addFilter(keep)
    try:
        yield
    finally:
        logger.removeFilter(keep)
