"""Hallway: a point steered by velocity along a corridor; its goals are arguments."""

import math
import xml.etree.ElementTree as ET
from collections import OrderedDict
from collections.abc import Sequence
from importlib import resources
from typing import Any, NamedTuple

import numpy as np

from explore_suite.envs.dm_control_env import DMCEnv
from explore_suite.envs.dm_control_import import Physics, control, rewards, suite

_HALF_WIDTH = 0.1  # metres
START_GAP = 0.1  # metres between the left end and the start
_RIM = 0.05  # metres of floor drawn beyond the walls
_SMALLEST_DISC = 0.02  # metres; smaller goals are drawn this large, to be visible
_BEST_COLOUR, _OTHER_COLOUR = ".25 .8 .4 .8", ".95 .8 .3 .8"
_VIEW_MARGIN = 1.12  # length in view, in lengths of the corridor


class Goal(NamedTuple):
    """A disc on the corridor's middle line that pays reward."""

    x: float  # metres from the middle
    radius: float  # metres; full pay inside, a tenth of it at twice the radius
    pay: float  # reward per step inside


class HallwayTask(suite.base.Task):
    """Sets the point's velocity to the action and pays for being near a goal."""

    def __init__(self, length: float, goals: Sequence[Goal]) -> None:
        """The corridor reaches from -length/2 to length/2."""
        self._start_x = -length / 2 + START_GAP
        self.goals = goals
        super().__init__(random=0)  # nothing is drawn: every episode starts the same way

    def initialize_episode(self, physics: Physics) -> None:
        """Puts the point at the left end, at rest."""
        physics.named.data.qpos["root_x"] = self._start_x
        super().initialize_episode(physics)

    def before_step(self, action: np.ndarray, physics: Physics) -> None:
        """Sets the velocity (m/s) to the action; the motors are unused."""
        physics.data.qvel[:] = np.clip(action, -1.0, 1.0)
        physics.data.ctrl[:] = 0.0

    def get_observation(self, physics: Physics) -> OrderedDict[str, np.ndarray]:
        """The point's position; its velocity is the last action and not observed."""
        return OrderedDict(position=physics.position())

    def get_reward(self, physics: Physics) -> float:
        """The sum over goals of pay * closeness, as Hallway defines it."""
        return float(sum(goal.pay * self._closeness(physics, goal) for goal in self.goals))

    def distance(self, physics: Physics, goal: Goal) -> float:
        """Metres between the point and the goal's centre."""
        x, y = physics.data.qpos
        return float(np.hypot(x - goal.x, y))

    def _closeness(self, physics: Physics, goal: Goal) -> float:
        distance = self.distance(physics, goal)
        return rewards.tolerance(distance, bounds=(0, goal.radius), margin=goal.radius)


class Hallway(DMCEnv):
    """Steer a point along a corridor 0.2 m wide; three ids are three settings of this class.

    Arguments: `length` of the corridor (m); `goals`, each (x, radius, pay).
        HallwayLocalOptimum: length 4; a near goal (-1.0, 0.1, 0.1) and a far goal (1.8, 0.2, 1.0).
        HallwayAdversarial: length 4; a tiny near goal (-1.5, 0.01, 1.0), as wide as one step is
        long, and a far goal (1.8, 0.1, 0.1).
        HallwayShort: length 3; a near goal (-1.0, 0.2, 0.1) and a far goal (1.2, 0.2, 1.0). It is
        not the paper's and not part of the benchmark, but made for the demo: the near goal pays a
        little even at the start, so that SAC soon finds it and mostly stays there for a while.
    Observation (2): position x, y (m), x in [-length/2, length/2] and y in [-0.1, 0.1] but for the
        soft walls below.
    Action (2): velocity along x and y in m/s, in [-1, 1]; a full step moves the point 0.02 m.
    Reward: r = sum over goals of pay * closeness(d), with d the distance to the goal's centre:
        closeness = 1 if d <= radius, else 0.1^((d / radius - 1)^2).
    Success: the point is inside the goal that pays most (the first of them).
    Start: x = -length/2 + 0.1, y = 0, always.
    End: 1000 steps of 0.02 s, by truncation.
    Quirks, kept because published results depend on them: the walls are soft, and pushing against
        one for long comes to rest about 0.08 m behind it; the adversarial setting has a far goal
        that the paper's text does not mention.
    Versions: v0, as published.
    """

    default_size = (720, 160)

    def __init__(
        self,
        length: float = 4.0,
        goals: Sequence[Sequence[float]] = ((-1.0, 0.1, 0.1), (1.8, 0.2, 1.0)),
        render_mode: str | None = None,
        width: int | None = None,
        height: int | None = None,
        camera: int | str | None = None,
    ) -> None:
        """A corridor of `length` metres with `goals` of (x, radius, pay)."""
        super().__init__(render_mode, width, height, camera, length=length, goals=goals)

    def build(self, length: float, goals: Sequence[Sequence[float]]) -> control.Environment:  # type: ignore[override]
        """Checks the settings and builds the corridor."""
        if not isinstance(length, int | float) or not 2 * START_GAP < length < math.inf:
            raise ValueError(f"length must be a number above {2 * START_GAP} m, got {length!r}")
        if not isinstance(goals, Sequence) or not goals:
            raise ValueError(
                f"goals must be a list of at least one (x, radius, pay), got {goals!r}"
            )
        checked = [_checked_goal(goal, length) for goal in goals]
        self._best = max(checked, key=lambda goal: goal.pay)
        return control.Environment(_physics(length, checked), HallwayTask(length, checked))

    def succeeded(self, reward: float) -> bool:
        """Inside the radius of the goal that pays most."""
        return self.task.distance(self.physics, self._best) <= self._best.radius


def _checked_goal(goal: Any, length: float) -> Goal:
    numbers = np.asarray(goal)
    if numbers.shape != (3,) or numbers.dtype.kind not in "fiu" or not np.isfinite(numbers).all():
        raise ValueError(f"a goal is three finite numbers (x, radius, pay), got {goal!r}")
    checked = Goal(*numbers.tolist())
    if abs(checked.x) > length / 2 or checked.radius <= 0 or checked.pay < 0:
        raise ValueError(
            f"a goal lies within +-{length / 2} m, has a radius and a pay, got {goal!r}"
        )
    return checked


def _physics(length: float, goals: Sequence[Goal]) -> Physics:
    root = ET.fromstring(resources.files("explore_suite.envs").joinpath("hallway.xml").read_text())
    world = root.find("worldbody")
    assert world is not None
    most = max(goal.pay for goal in goals)
    for goal in goals:
        ET.SubElement(
            world,
            "site",
            type="cylinder",
            pos=f"{goal.x} 0 0",
            size=f"{max(goal.radius, _SMALLEST_DISC)} .002",
            rgba=_BEST_COLOUR if goal.pay == most else _OTHER_COLOUR,
        )
    physics = Physics.from_xml_string(ET.tostring(root, encoding="unicode"), suite.common.ASSETS)
    physics.named.model.jnt_range["root_x"] = (-length / 2, length / 2)
    physics.named.model.geom_size["floor", :2] = (length / 2 + _RIM, _HALF_WIDTH + _RIM)
    # The camera sees the whole length at the default picture shape, whatever the length.
    shape = Hallway.default_size[0] / Hallway.default_size[1]
    view_height = _VIEW_MARGIN * length / shape
    physics.named.model.cam_pos["overview", 2] = view_height / 2 / np.tan(np.deg2rad(45.0) / 2)
    return physics
