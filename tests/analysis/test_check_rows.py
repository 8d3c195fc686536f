"""What rows may say: all that the tasks really give, and nothing that they cannot give."""

from pathlib import Path

import gymnasium
import numpy as np
import pytest

import explore_suite
from analysis.submissions.check_manifest import mean_score
from analysis.submissions.check_rows import check_rows
from analysis.submissions.task_limits import (
    HALLWAY_START_GAP,
    LEAST_PAY,
    MOST_PAY_WITHOUT,
    bins,
    bins_to_success,
    earliest_success,
    least_budget,
    reachable_bins,
)
from explore_suite import TASKS, Coverage
from explore_suite.envs import cartpole, cheetah, hallway, walker
from explore_suite.runs.format import EpisodeRow
from explore_suite.tools.measure import solution
from tests.helpers.good_submission import csv_of, rows_of

STARTS = 20  # seeds of starts that are looked at


def of(name):
    return TASKS[f"ExploreSuite/{name}-v0"]


def still(spec):
    """An action that does as good as nothing."""
    return 0 if spec.discrete else np.zeros(spec.action_dim)


def faults(spec, rows):
    return check_rows(csv_of(rows), spec, len(rows) // 2)[1]


def test_budgets_and_windows():
    budgets = {spec.name: least_budget(spec) for spec in TASKS.values()}
    assert budgets.pop("GridWorld") == 300 and budgets.pop("HallwayAdversarial") == 60
    assert budgets.pop("HallwayLocalOptimum") == 100 and budgets.pop("HallwayShort") == 50
    assert set(budgets.values()) == {110}
    rows = [EpisodeRow("eval", n, 0, float(n), 0, 0, 0, 0) for n in range(1, 121)]
    assert mean_score(of("WalkerWalk").id, [rows]) == 100.5


def test_constants_are_those_of_the_environments():
    assert hallway.START_GAP == HALLWAY_START_GAP
    assert cartpole.LEAST_PAY_OF_SUCCESS == LEAST_PAY["CartpoleSwingup"]
    assert walker.LEAST_PAY_OF_SUCCESS == LEAST_PAY["WalkerWalk"] == LEAST_PAY["WalkerExplore"]
    assert cheetah.LEAST_PAY == LEAST_PAY["CheetahRun"] == LEAST_PAY["CheetahRunSparse"]
    assert cheetah.LEAST_PAY == MOST_PAY_WITHOUT["CheetahRun"]


def test_what_a_known_solution_earns_passes(spec):
    """The rules of returns and coverage hold of real episodes that succeed, and bind."""
    seed, actions = solution(spec)
    coverage, total, successes = Coverage(spec.id), 0.0, []
    with gymnasium.make(spec.id) as env:
        coverage.add(env.reset(seed=seed)[0])
        for step in range(spec.horizon):
            obs, reward, _, _, info = env.step(
                actions[step] if step < len(actions) else still(spec)
            )
            coverage.add(obs)
            total += float(reward)
            successes += [step + 1] if info["success"] else []
            if len(successes) == 1:
                assert np.count_nonzero(coverage.visits) >= bins_to_success(spec)
    rows = [
        EpisodeRow(
            phase, 1, spec.horizon, total, spec.horizon, len(successes), coverage.fraction, 1.0
        )
        for phase in ("train", "eval")
    ]
    assert successes[0] >= earliest_success(spec)
    if spec.group in ("hallway", "grid"):  # whose solutions go straight to the goal
        assert successes[0] == earliest_success(spec)
    assert check_rows(csv_of(rows), spec, 1) == (rows, [])
    most = int(total / LEAST_PAY.get(spec.name, 1.0))
    forged = [row._replace(success_steps=most + 1) for row in rows]
    assert faults(spec, forged)


@pytest.mark.slow
def test_what_random_actions_earn_passes(spec, tmp_path):
    """Rows as the recorder writes them, of real episodes."""
    env = explore_suite.record(spec.id, "random", 0, tmp_path, episodes=2)
    env.action_space.seed(0)
    while not env.finished:
        for played in (env, env.eval_env):
            played.reset()
            over = False
            while not over:
                _, _, terminated, truncated, _ = played.step(env.action_space.sample())
                over = terminated or truncated
    env.close()
    (path,) = tmp_path.rglob("*.csv")
    rows, problems = check_rows(path.read_bytes(), spec, 2)
    assert problems == [] and len(rows) == 4


@pytest.mark.parametrize("group", ["explore", "hallway", "grid", "classic"])
def test_no_start_lies_at_the_goal_where_the_rules_say_so(group):
    for spec in (spec for spec in TASKS.values() if spec.group == group):
        if spec.name == "PendulumSwingup":  # the one whose start may be upright
            assert earliest_success(spec) == bins_to_success(spec) == 1
            continue
        assert earliest_success(spec) > 1 and bins_to_success(spec) > 1
        with gymnasium.make(spec.id) as env:
            env.action_space.seed(0)
            for seed in range(STARTS):
                assert not env.reset(seed=seed)[1]["success"]
                assert not env.step(env.action_space.sample())[4]["success"]


@pytest.mark.slow
def test_bins_said_to_be_out_of_reach_are_not_reached():
    """The hallways and the grid are within reach as a whole; a falling torso is nowhere else."""
    for name in ("GridWorld", "HallwayLocalOptimum", "HallwayAdversarial", "HallwayShort"):
        assert reachable_bins(of(name)) == bins(of(name))
    spec, coverage, draw = of("WalkerWalk"), Coverage("WalkerWalk"), np.random.default_rng(0)
    lowest = np.inf
    with gymnasium.make(spec.id) as env:
        for seed in range(STARTS):
            env.reset(seed=seed)
            for step in range(200):
                if step % 20 == 0:
                    action = draw.choice([-1.0, 1.0], spec.action_dim)
                obs = env.step(action)[0]
                coverage.add(obs)
                lowest = min(lowest, obs[14] - 0.3 * abs(obs[0]) - 0.07)  # of the torso's capsule
    assert np.count_nonzero(coverage.visits) < reachable_bins(spec) < bins(spec)
    assert -0.15 < lowest < 0.05


@pytest.mark.slow
@pytest.mark.parametrize("name", ["CartpoleSwingup", "CartpoleSwingupSparse", "PendulumExplore"])
def test_a_hanging_pole_passes_every_bin_on_its_way_up(name):
    """Pumped as hard as it can be, it turns by less than a bin in a step until it is up."""
    spec = of(name)
    (axis,) = (i for i, a in enumerate(spec.coverage_projection.axes) if a.name.startswith("pole"))
    project, width = spec.coverage_projection.project, spec.coverage_projection.axes[axis].width
    draw, ups = np.random.default_rng(0), []
    with gymnasium.make(spec.id) as env:
        for seed in range(STARTS):
            obs, _ = env.reset(seed=seed)
            angle = project(obs)[axis]
            for step in range(spec.horizon):
                if name == "PendulumExplore":
                    action = np.sign(obs[2:]) if obs[2] else np.ones(1)  # along its velocity
                elif step % 10 == 0:
                    action = draw.choice([-1.0, 1.0], 1)
                obs, before = env.step(action)[0], angle
                angle = project(obs)[axis]
                assert abs((angle - before + np.pi) % (2 * np.pi) - np.pi) < width
                if abs(angle) < width / 2:
                    ups.append(step + 1)
                    break
    assert len(ups) > STARTS / 4 and min(ups) >= earliest_success(spec)
    assert earliest_success(spec) + 1 == bins_to_success(spec) == 12


@pytest.mark.parametrize(
    ("task", "most"), [("CheetahRun", 10 + 0.25 * 990), ("CheetahRunSparse", 10.0)]
)
def test_slow_steps_of_a_cheetah_pay_little_or_nothing(task, most):
    rows = rows_of(of(task).id, 0)
    rows[0] = rows[0]._replace(success_steps=10, return_=most)
    assert faults(of(task), rows) == []
    rows[0] = rows[0]._replace(return_=most + 0.01)
    (line,) = faults(of(task), rows)
    assert "is too high for 10 success_steps: others pay" in line


@pytest.mark.parametrize("task", ["GridWorld", "ReacherExplore", "BallInCupCatch", "FingerExplore"])
def test_where_only_success_pays_the_return_is_their_number(task):
    spec = of(task)
    rows = rows_of(spec.id, 0)
    rows[0] = rows[0]._replace(return_=rows[0].return_ + 1)
    (line,) = faults(spec, rows)
    assert "success_steps, which alone pay" in line


def row(place, **changes):
    """A change of one row; `changes` are fields of EpisodeRow."""
    return lambda rows: [*rows[:place], rows[place]._replace(**changes), *rows[place + 1 :]]


def visit(first, later):
    """Coverage of the grid world by bins: in the first episode, and from the second on."""
    return lambda rows: [
        row._replace(coverage=(first if row.episode == 1 else later) / 1600) for row in rows
    ]


IMPOSSIBLE = {
    "too many visits at first": ("GridWorld", visit(102, 102), "more than 100 steps can add"),
    "too many visits later": ("GridWorld", visit(101, 202), "more than 100 steps can add"),
    "goal without a way": ("GridWorld", visit(78, 150), "on the way to which lie 79 bins"),
    "24 at the corner": ("GridWorld", row(0, return_=24.0, success_steps=24), "outside 0 to 23.0"),
    "corner before step 78": ("GridWorld", row(0, return_=24.0, success_steps=24), "from step 78"),
    "caught at once": ("BallInCupExplore", row(1, return_=1000.0, success_steps=1000),
                       "from step 2 on, where the first can be"),
    "always walking": ("WalkerWalk", row(1, return_=1000.0, success_steps=1000),
                       "lies outside 0 to just below 1000.0"),
    "up at once": ("WalkerExplore", row(1, return_=999.9, success_steps=1000), "from step 2 on"),
    "solved without training": ("HallwayLocalOptimum", lambda rows: [
        r._replace(coverage=2 / 160, **({"return_": 0.0, "success_steps": 0}
                                        if r.phase == "train" else {})) for r in rows],
                                "training never went the way to the goal, of 35 bins"),
    "torso in the floor": ("WalkerWalk", lambda rows: [
        r._replace(coverage=min(1.0, 340 * r.episode / 360)) for r in rows],
                           "is more than the 344 of 360 bins within reach"),
    "up without a swing": ("PendulumExplore", row(1, return_=995.0, success_steps=995),
                           "from step 11 on"),
    "stands without a way": ("CartpoleSwingupSparse", lambda rows: [
        r._replace(coverage=11 / 480) for r in rows], "on the way to which lie 12 bins"),
    "always upright": ("CartpoleSwingup", row(1, return_=1000.0, success_steps=990),
                       "lies outside 0 to just below 1000.0"),
    "stands for less than it pays": ("CartpoleSwingup", row(1, return_=38.0, success_steps=100),
                                     "which pay 0.39 or more each"),
    "never moved": ("ReacherExplore", lambda rows: [r._replace(coverage=1 / 576) for r in rows],
                    "on the way to which lie 2 bins"),
}  # fmt: skip


@pytest.mark.parametrize("name", IMPOSSIBLE)
def test_what_no_task_can_give_is_refused(name):
    task, change, reason = IMPOSSIBLE[name]
    rows = rows_of(of(task).id, 0)
    assert faults(of(task), rows) == []
    assert any(reason in line for line in faults(of(task), change(rows)))


@pytest.mark.parametrize(
    ("task", "change"),
    [
        ("GridWorld", visit(101, 201)),
        (
            "GridWorld",
            lambda rows: [
                r._replace(
                    coverage=(60 if r.episode <= 3 else 100) / 1600,
                    **({"return_": 0.0, "success_steps": 0} if r.phase == "train" else {}),
                )
                for r in rows
            ],
        ),
        ("ReacherHard", row(1, return_=1000.0, success_steps=1000)),
        ("BallInCupCatch", row(0, return_=1000.0, success_steps=1000)),
        ("FingerTurnHard", row(1, return_=1000.0, success_steps=1000)),
        ("ReacherExplore", row(1, return_=999.0, success_steps=999)),
        ("PendulumSwingup", row(1, return_=1000.0, success_steps=1000)),
        ("HallwayLocalOptimum", row(1, return_=832.9, success_steps=826)),
        ("WalkerWalk", row(1, return_=999.99, success_steps=1000)),
    ],
)
def test_what_is_only_unlikely_passes(task, change):
    assert faults(of(task), change(rows_of(of(task).id, 0))) == []


def test_the_readme_states_the_bounds():
    told = " ".join((Path(__file__).parents[2] / "results" / "README.md").read_text().split())
    for name, sentence in {
        "GridWorld": "GridWorld's corner takes {} steps and {} cells",
        "HallwayLocalOptimum": "HallwayLocalOptimum {} steps and {} bins",
        "HallwayAdversarial": "HallwayAdversarial {} and {};",
        "PendulumExplore": "it stands after {} steps and {} bins",
    }.items():
        assert sentence.format(earliest_success(of(name)), bins_to_success(of(name))) in told


def test_rows_are_checked_without_a_header():
    spec = of("HallwayAdversarial")
    rows = rows_of(spec.id, 0)
    assert check_rows(csv_of(rows), spec, None) == (rows, [])
    assert check_rows(csv_of(rows_of(spec.id, 0, 70)), spec, None)[1] == []
    (line,) = check_rows(csv_of(rows[:-2]), spec, None)[1]
    assert line == "holds 118 rows where 60 episodes make 120"
