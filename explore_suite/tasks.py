"""TASKS: the spec of every task, without importing MuJoCo; and the frozen sets of the benchmark."""

import difflib
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib import resources
from typing import Any

import numpy as np

from explore_suite import projections
from explore_suite.errors import UserError
from explore_suite.projections import Projection

NAMESPACE = "ExploreSuite"
VERSION = "v0"
TASK_GROUPS = ("explore", "original", "hallway", "grid", "classic")  # of the benchmark's tasks


@dataclass(frozen=True)
class TaskSpec:
    """Everything that is known about one task; `gymnasium.make` takes its `id`."""

    name: str
    entry_point: str
    group: str  # explore, original, hallway, grid, classic, or a word of your own
    features: tuple[tuple[str, float, float], ...]  # observation elements: name, typical low, high
    action_dim: int  # number of actions if discrete
    horizon: int  # steps until Gymnasium's TimeLimit truncates
    control_step: float  # seconds of simulated time per step; 0 where there is no clock
    best_return: float  # best known return; where none is, the upper bound `horizon`
    goal: str  # what info["success"] reports
    summary: str
    partner: str | None = None  # the original of an explore task, and the other way round
    # Kernel width on states scaled to [0, 1]. None: the paper's rule for this many observation
    # elements; a discrete task is counted exactly.
    count_scale: float | None = None
    count_tolerance: float | None = None  # kernel value above which two visits are one
    discrete: bool = False
    # First and last episode whose evaluations make the score of a run; the published bar chart's.
    score_window: tuple[int, int] = (91, 110)
    smoothing: int = 20  # window of the published curves, in evaluations
    projection: Projection | None = None  # for coverage; None: the first two elements
    floor: float = 0.0  # return of random actions where it has not been measured
    kwargs: dict[str, Any] = field(default_factory=dict)

    @property
    def id(self) -> str:
        """Id with namespace and version, as in `ExploreSuite/WalkerExplore-v0`."""
        return f"{NAMESPACE}/{self.name}-{VERSION}"

    @property
    def obs_names(self) -> tuple[str, ...]:
        """One name per observation element, `key.element`, in the order of the array."""
        return tuple(name for name, _, _ in self.features)

    @property
    def obs_dim(self) -> int:
        """Length of the observation."""
        return len(self.features)

    @property
    def obs_low(self) -> np.ndarray:
        """Typical lowest observation (S_min): a scale for counts and networks, not a limit."""
        return np.array([low for _, low, _ in self.features], dtype=np.float32)

    @property
    def obs_high(self) -> np.ndarray:
        """Typical highest observation (S_max): a scale for counts and networks, not a limit."""
        return np.array([high for _, _, high in self.features], dtype=np.float32)

    @property
    def random_return(self) -> float:
        """Mean return of uniformly random actions over 100 episodes, by tools/measure.py."""
        found = measured("random_returns").get(self.name)
        return self.floor if found is None else found["mean"]

    @property
    def coverage_projection(self) -> Projection:
        """The projection of observations whose bins coverage counts."""
        return self.projection or projections.first_elements(self.features)

    @property
    def best_is_bound(self) -> bool:
        """Whether `best_return` is the upper bound of 1 per step, which no policy can reach."""
        return self.best_return == self.horizon


class UnknownTaskError(UserError, LookupError):
    """Raised for a task name that is not registered; the message suggests the nearest ones."""


def task_names(names: Sequence[str]) -> list[str]:
    """Task names, with every group, or `all`, replaced by its tasks of the benchmark."""
    chosen: dict[str, None] = {}
    for name in names:
        if name in (*TASK_GROUPS, "all"):
            chosen |= {s.name: None for s in BENCHMARK.values() if name in (s.group, "all")}
        else:
            chosen[lookup(name).name] = None
    return list(chosen)


def lookup(name: str) -> TaskSpec:
    """The spec of `WalkerExplore`, `WalkerExplore-v0` or `ExploreSuite/WalkerExplore-v0`."""
    for spec in TASKS.values():
        if name in (spec.name, f"{spec.name}-{VERSION}", spec.id):
            return spec
    names = {spec.name.lower(): spec.name for spec in TASKS.values()}
    bare = name.removeprefix(f"{NAMESPACE}/").rsplit("-v", 1)[0].lower()
    close = difflib.get_close_matches(bare, names, n=2, cutoff=0.6)
    inside = [known for known in names if bare and bare in known]
    near = [names[found] for found in dict.fromkeys([*close, *inside])]
    hint = (
        f"did you mean {' or '.join(near)}?"
        if near
        else f"known tasks: {', '.join(names.values())}"
    )
    raise UnknownTaskError(f"unknown task {name!r}; {hint}")


def measured(what: str) -> dict[str, Any]:
    """Measurements stored in explore_suite/data/WHAT.json, by task name (see tools)."""
    text = resources.files("explore_suite").joinpath(f"data/{what}.json").read_text()
    return json.loads(text)


def _features(
    key: str, names: str, low: float, high: float
) -> tuple[tuple[str, float, float], ...]:
    return tuple((f"{key}.{name}", low, high) for name in names.split())


# Typical ranges are the published ones, oddities included (ball_x and ball_z look swapped, the
# shoulder of ReacherHard starts below its range, a fallen walker's torso lies below its own):
# counts and exploration networks scale by them, and nothing is clipped to them.
_BALL_IN_CUP = (
    ("position.cup_x", -0.25, 0.25),
    ("position.cup_z", -0.3, 0.2),
    ("position.ball_x", -0.2, 0.5),
    ("position.ball_z", -0.2, 0.25),
    *_features("velocity", "cup_x cup_z ball_x", -1.5, 1.5),
    ("velocity.ball_z", -3.0, 1.0),
)
_REACHER = (
    ("position.shoulder", 0.0, 6.28),
    ("position.wrist", -3.0, 3.0),
    *_features("to_target", "x y", -0.4, 0.4),
    *_features("velocity", "shoulder wrist", -5.0, 5.0),
)
_FINGER = (
    *_features("position", "proximal distal", -2.0, 2.0),
    *_features("position", "tip_x tip_z", -0.1, 0.1),
    *_features("velocity", "proximal distal hinge", -12.0, 12.0),
    *_features("touch", "top bottom", 0.0, 5.0),
    *_features("target_position", "x z", -0.13, 0.13),
    ("dist_to_target", -0.2, 0.23),
)
_BODIES = "torso right_thigh right_leg right_foot left_thigh left_leg left_foot".split()
_ORIENTATIONS = " ".join(f"{body}_{axis}" for body in _BODIES for axis in ("xx", "xz"))
_JOINTS = "right_hip right_knee right_ankle left_hip left_knee left_ankle"
_WALKER = (
    *_features("orientations", _ORIENTATIONS, -1.0, 1.0),
    ("height", 0.3, 1.3),
    *_features("velocity", "root_z root_x", -5.0, 5.0),
    ("velocity.root_y", -20.0, 20.0),
    *_features("velocity", _JOINTS, -40.0, 40.0),
)
_HALLWAY = (("position.x", -2.0, 2.0), ("position.y", -0.1, 0.1))
_SHORT_HALLWAY = (("position.x", -1.5, 1.5), ("position.y", -0.1, 0.1))
_GRID = (("row", 0.0, 39.0), ("column", 0.0, 39.0))
# Ranges of our own, for the classic tasks: what 98 % of the steps of 20 episodes lie in, rounded,
# and for the cart its rail. Actions were -1 or 1, drawn for ten steps at a time; those of the
# pendulum, which these hardly swing up, always along its velocity. The cheetah is to become faster
# than it was then: its highest speed is the one that pays 1.
_CARTPOLE = (
    ("position.cart", -1.8, 1.8),
    *_features("position", "pole_cos pole_sin", -1.0, 1.0),
    ("velocity.cart", -5.0, 5.0),
    ("velocity.pole", -20.0, 20.0),
)
_PENDULUM = (*_features("orientation", "cos sin", -1.0, 1.0), ("velocity", -12.0, 12.0))
_CHEETAH_JOINTS = "back_thigh back_shin back_foot front_thigh front_shin front_foot"
_CHEETAH = (
    ("position.root_z", -0.6, 0.5),
    ("position.root_y", -3.14, 3.14),
    ("position.back_thigh", -0.6, 0.9),
    *_features("position", "back_shin back_foot", -0.9, 0.9),
    ("position.front_thigh", -1.0, 0.1),
    ("position.front_shin", -1.0, 0.9),
    ("position.front_foot", -0.6, 0.6),
    ("velocity.root_x", -3.0, 10.0),
    ("velocity.root_z", -3.0, 3.0),
    ("velocity.root_y", -6.0, 6.0),
    *_features("velocity", _CHEETAH_JOINTS, -25.0, 25.0),
)

_IN_CUP = "the ball is in the cup"
_AT_TARGET = "the fingertip touches the target"
_TURNED = "the spinner's tip is inside the target"
_WALKING = "the torso is above 1.2 m and the centre of mass moves at 1 m/s or more"
_AT_BEST_GOAL = "the point is inside the goal that pays most"
_STANDING = "the pole is within 5.7 degrees of upright and the cart within 0.25 m of the middle"
_UPRIGHT = "the pole is within 8 degrees of upright"
_RUNNING = "the centre of mass moves forward at 2.5 m/s or more, which pays 0.25"

_SPECS = (
    TaskSpec(
        "BallInCupCatch", "explore_suite.envs.ball_in_cup:BallInCupCatch", "original", _BALL_IN_CUP,
        action_dim=2, horizon=1000, control_step=0.02, best_return=1000.0, goal=_IN_CUP,
        summary="swing a tethered ball into a cup; the ball starts anywhere, sparse",
        partner="BallInCupExplore", count_scale=0.078, count_tolerance=0.9,
        projection=projections.BALL,
    ),
    TaskSpec(
        "BallInCupExplore", "explore_suite.envs.ball_in_cup:BallInCupExplore", "explore",
        _BALL_IN_CUP,
        action_dim=2, horizon=1000, control_step=0.02, best_return=1000.0, goal=_IN_CUP,
        summary="swing a tethered ball up into a cup; the ball starts hanging below it, sparse",
        partner="BallInCupCatch", count_scale=0.078, count_tolerance=0.9,
        projection=projections.BALL,
    ),
    TaskSpec(
        "ReacherHard", "explore_suite.envs.reacher:ReacherHard", "original", _REACHER,
        action_dim=2, horizon=1000, control_step=0.02, best_return=1000.0, goal=_AT_TARGET,
        summary="bring a two-link arm's finger to a small target anywhere in the plane, sparse",
        partner="ReacherExplore", count_scale=0.06, count_tolerance=0.9,
        projection=projections.ARM,
    ),
    TaskSpec(
        "ReacherExplore", "explore_suite.envs.reacher:ReacherExplore", "explore", _REACHER,
        action_dim=2, horizon=1000, control_step=0.02, best_return=1000.0, goal=_AT_TARGET,
        summary="swing a two-link arm from the right to a small target on the left, sparse",
        partner="ReacherHard", count_scale=0.06, count_tolerance=0.9,
        projection=projections.ARM,
    ),
    TaskSpec(
        "FingerTurnHard", "explore_suite.envs.finger:FingerTurnHard", "original", _FINGER,
        action_dim=2, horizon=1000, control_step=0.02, best_return=1000.0, goal=_TURNED,
        summary="turn a free spinner with a finger until its tip is at the target, sparse",
        partner="FingerExplore", count_scale=0.11, count_tolerance=0.5,
        projection=projections.FINGER,
    ),
    TaskSpec(
        "FingerExplore", "explore_suite.envs.finger:FingerExplore", "explore", _FINGER,
        action_dim=2, horizon=1000, control_step=0.02, best_return=1000.0, goal=_TURNED,
        summary="turn a hanging spinner up to a target; the finger starts pointing away, sparse",
        partner="FingerTurnHard", count_scale=0.11, count_tolerance=0.5,
        projection=projections.FINGER,
    ),
    TaskSpec(
        "WalkerWalk", "explore_suite.envs.walker:WalkerWalk", "original", _WALKER,
        action_dim=6, horizon=1000, control_step=0.025, best_return=1000.0, goal=_WALKING,
        summary="make a planar walker walk; it starts above the ground, speed pays by degrees",
        partner="WalkerExplore", count_scale=0.16, count_tolerance=0.5,
        projection=projections.TORSO,
    ),
    TaskSpec(
        "WalkerExplore", "explore_suite.envs.walker:WalkerExplore", "explore", _WALKER,
        action_dim=6, horizon=1000, control_step=0.025, best_return=1000.0, goal=_WALKING,
        summary="make a fallen planar walker get up and walk; speed pays only from 1 m/s on",
        partner="WalkerWalk", count_scale=0.16, count_tolerance=0.5,
        projection=projections.TORSO,
    ),
    TaskSpec(
        "HallwayLocalOptimum", "explore_suite.envs.hallway:Hallway", "hallway", _HALLWAY,
        action_dim=2, horizon=1000, control_step=0.02, best_return=832.9, goal=_AT_BEST_GOAL,
        summary="steer a point along a corridor; the near goal pays 0.1, the far goal 1",
        count_scale=0.02, count_tolerance=0.9,
        kwargs={"length": 4.0, "goals": ((-1.0, 0.1, 0.1), (1.8, 0.2, 1.0))},
        score_window=(91, 100),
        projection=projections.HALLWAY, smoothing=5,
    ),
    TaskSpec(
        "HallwayAdversarial", "explore_suite.envs.hallway:Hallway", "hallway", _HALLWAY,
        action_dim=2, horizon=1000, control_step=0.02, best_return=981.1, goal=_AT_BEST_GOAL,
        summary="steer a point along a corridor; a tiny near goal pays 1, the far goal 0.1",
        count_scale=0.02, count_tolerance=0.9,
        kwargs={"length": 4.0, "goals": ((-1.5, 0.01, 1.0), (1.8, 0.1, 0.1))},
        score_window=(51, 60),
        projection=projections.HALLWAY, smoothing=5,
    ),
    TaskSpec(
        "HallwayShort", "explore_suite.envs.hallway:Hallway", "hallway", _SHORT_HALLWAY,
        action_dim=2, horizon=1000, control_step=0.02, best_return=889.5, goal=_AT_BEST_GOAL,
        summary="steer a point along a short corridor, for a look in minutes; the far goal pays 1",
        count_scale=0.02, count_tolerance=0.9,
        kwargs={"length": 3.0, "goals": ((-1.0, 0.2, 0.1), (1.2, 0.2, 1.0))},
        score_window=(41, 50),
        projection=projections.SHORT_HALLWAY, smoothing=5,
    ),
    TaskSpec(
        "GridWorld", "explore_suite.envs.gridworld:GridWorld", "grid", _GRID,
        action_dim=4, horizon=100, control_step=0.0, best_return=23.0,
        goal="the agent stands on the goal cell",
        summary="walk from one corner of a 40 x 40 grid to the other; only the corner pays",
        discrete=True, score_window=(281, 300),
        projection=projections.GRID, smoothing=10,
    ),
    TaskSpec(
        "CartpoleSwingup", "explore_suite.envs.cartpole:CartpoleSwingup", "classic", _CARTPOLE,
        action_dim=1, horizon=1000, control_step=0.01, best_return=1000.0, goal=_STANDING,
        summary="swing up a pole by moving the cart it hangs on; every degree pays",
        partner="CartpoleSwingupSparse", projection=projections.CARTPOLE,
    ),
    TaskSpec(
        "CartpoleSwingupSparse", "explore_suite.envs.cartpole:CartpoleSwingupSparse", "classic",
        _CARTPOLE,
        action_dim=1, horizon=1000, control_step=0.01, best_return=1000.0, goal=_STANDING,
        summary="swing up a pole by moving its cart; only standing near the middle pays",
        partner="CartpoleSwingup", projection=projections.CARTPOLE,
    ),
    TaskSpec(
        "PendulumSwingup", "explore_suite.envs.pendulum:PendulumSwingup", "classic", _PENDULUM,
        action_dim=1, horizon=1000, control_step=0.02, best_return=1000.0, goal=_UPRIGHT,
        summary="swing up a pendulum too heavy to lift; it starts at any angle, sparse",
        partner="PendulumExplore", projection=projections.PENDULUM,
    ),
    TaskSpec(
        "PendulumExplore", "explore_suite.envs.pendulum:PendulumExplore", "classic", _PENDULUM,
        action_dim=1, horizon=1000, control_step=0.02, best_return=1000.0, goal=_UPRIGHT,
        summary="swing up a pendulum too heavy to lift; it starts hanging at rest, sparse",
        partner="PendulumSwingup", projection=projections.PENDULUM,
    ),
    TaskSpec(
        "CheetahRun", "explore_suite.envs.cheetah:CheetahRun", "classic", _CHEETAH,
        action_dim=6, horizon=1000, control_step=0.01, best_return=1000.0, goal=_RUNNING,
        summary="make a planar cheetah run; speed pays by degrees, up to 10 m/s",
        partner="CheetahRunSparse", projection=projections.CHEETAH,
    ),
    TaskSpec(
        "CheetahRunSparse", "explore_suite.envs.cheetah:CheetahRunSparse", "classic", _CHEETAH,
        action_dim=6, horizon=1000, control_step=0.01, best_return=1000.0, goal=_RUNNING,
        summary="make a planar cheetah run; speed pays only from 2.5 m/s on",
        partner="CheetahRun", projection=projections.CHEETAH,
    ),
)  # fmt: skip

# Everything that can be made and run. `explore_suite.register` adds tasks of your own.
TASKS: dict[str, TaskSpec] = {spec.id: spec for spec in _SPECS}

# The benchmark, frozen by name: what the paper's claims, its figures, the ranked sections and the
# groups of submissions speak of. A new task never changes these; a new set stands beside them, as
# CLASSIC does, which no claim of the paper speaks of. Originals and variants are in the same order.
ORIGINAL = ("BallInCupCatch", "ReacherHard", "FingerTurnHard", "WalkerWalk")
EXPLORE = ("BallInCupExplore", "ReacherExplore", "FingerExplore", "WalkerExplore")
CONTROL = ORIGINAL + EXPLORE
HALLWAYS = ("HallwayLocalOptimum", "HallwayAdversarial")
GRID = ("GridWorld",)
CLASSIC_ORIGINAL = ("CartpoleSwingup", "PendulumSwingup", "CheetahRun")
CLASSIC_EXPLORE = ("CartpoleSwingupSparse", "PendulumExplore", "CheetahRunSparse")
CLASSIC = CLASSIC_ORIGINAL + CLASSIC_EXPLORE
# (original, explore variant) of each
CONTROL_PAIRS = tuple(zip(ORIGINAL, EXPLORE, strict=True))
CLASSIC_PAIRS = tuple(zip(CLASSIC_ORIGINAL, CLASSIC_EXPLORE, strict=True))
BENCHMARK: dict[str, TaskSpec] = {
    spec.id: spec for spec in _SPECS if spec.name in CONTROL + HALLWAYS + GRID + CLASSIC
}
