"""Every claim on runs of which it is known to hold, fail, be undecided or lack something."""

import dataclasses
import inspect
import re

import numpy as np
import pytest

from analysis.claims import CLAIMS, SOURCES, ablations, control, criterion, statement
from analysis.claims.hypothesis_tests import Outcome
from analysis.claims.samples import Left
from analysis.stats.intervals import Estimate
from analysis.stats.results import EXPLORE, ORIGINAL, SUITE
from explore_suite.tasks import lookup
from tests.helpers import synthetic_claims as invented
from tests.helpers.synthetic_claims import GRID, NEAR, SCENARIOS, TINY, evidence, jump, run, student

OUTCOMES = (Outcome.HOLDS, Outcome.FAILS, Outcome.OPEN)


def test_all_seventeen_claims_are_registered_and_have_scenarios():
    names = [f"C{number}" for number in range(1, 18)]
    assert names == list(CLAIMS) == list(SCENARIOS) == list(SOURCES)


@pytest.mark.parametrize("name", CLAIMS)
def test_each_claim_states_itself_and_its_criterion(name):
    assert re.fullmatch(r"[A-Z].{20,100}\.", statement(CLAIMS[name]))
    assert re.fullmatch(r"[A-Z].{40,}\.", criterion(CLAIMS[name]))
    assert "\n" not in criterion(CLAIMS[name]) and "  " not in criterion(CLAIMS[name])


@pytest.mark.parametrize("name", CLAIMS)
@pytest.mark.parametrize("index", range(3), ids=[outcome.name for outcome in OUTCOMES])
def test_each_claim_holds_fails_and_is_not_decided(name, index):
    found = CLAIMS[name](evidence(SCENARIOS[name][index]()))
    assert found.outcome is OUTCOMES[index], [(p.what, p.found, p.outcome) for p in found.parts]
    assert found.gaps == () and all(found.tasks.values())


@pytest.mark.parametrize("name", CLAIMS)
def test_each_claim_lacks_runs_without_any(name):
    found = CLAIMS[name](evidence([]))
    assert found.outcome is Outcome.LACKING
    assert found.gaps and not any(found.tasks.values())
    assert {part.outcome for part in found.parts} == {Outcome.LACKING}


@pytest.mark.parametrize("name", CLAIMS)
@pytest.mark.parametrize("how", ["absent", "unfinished", "damaged", "short"])
def test_each_claim_names_the_run_it_lacks(name, how):
    runs = SCENARIOS[name][0]()
    last = runs.pop()
    if how == "unfinished":
        header = dataclasses.replace(last.header, finished=False)
        runs.append(last._replace(header=header))
    elif how == "damaged":
        runs.append(last._replace(rows=last.rows[:60]))
    elif how == "short":
        header = dataclasses.replace(last.header, episodes=30)
        runs.append(last._replace(header=header, rows=last.rows[:60]))
    budget = last.header.episodes
    left = {"absent": (), "unfinished": (Left(2, budget, budget, False),),
            "damaged": (Left(2, 0, budget, True),), "short": (Left(2, 30, 30, True),)}  # fmt: skip
    found = CLAIMS[name](evidence(runs))
    task = lookup(last.header.task).name
    assert found.outcome is Outcome.LACKING
    (gap,) = found.gaps
    assert gap[:3] == (last.header.agent, task, (0, 1)) and gap.left == left[how]
    assert 30 < gap.needed <= budget
    assert [task for task, there in found.tasks.items() if not there] in ([task], [_explore(task)])


def _explore(task: str) -> str:
    """C17 files a missing original under its explore task."""
    return dict(zip(ORIGINAL, EXPLORE, strict=True)).get(task, task)


def test_one_task_speaks_for_itself_while_the_claim_waits():
    runs = invented.steady({"sac": invented.POOR, "sac_deep": invented.GOOD,
                            "sac_bbe": invented.FAIR}, ["BallInCupExplore"], 110)  # fmt: skip
    found = CLAIMS["C9"](evidence(runs))
    assert found.outcome is Outcome.LACKING
    by_task = {task: {p.outcome for p in found.parts if p.task == task} for task in EXPLORE}
    assert by_task.pop("BallInCupExplore") == {Outcome.HOLDS}
    assert set(map(frozenset, by_task.values())) == {frozenset({Outcome.LACKING})}
    assert sum(found.tasks.values()) == 1 and len(found.tasks) == 4
    assert {gap.agent for gap in found.gaps} == {"sac", "sac_bbe", "sac_deep"}


def test_a_failed_task_does_not_fail_a_claim_whose_runs_are_not_all_there():
    runs = invented.steady({"sac": invented.GOOD, "sac_deep": invented.POOR}, ORIGINAL[:1], 110)
    found = CLAIMS["C7"](evidence(runs))
    assert found.parts[0].outcome is Outcome.FAILS and found.outcome is Outcome.LACKING


def test_c1_by_hand():
    """DDQN's level is 22, 23, 21 from own episode 1 on; DEEP's jump to 23 comes 28 later."""
    runs = [run("ddqn.warm", GRID, seed, 300, jump(21, 22.0 + step))
            for seed, step in enumerate((0, 1, -1))]  # fmt: skip
    runs += [run("ddqn_deep.warm", GRID, seed, 300, jump(49, 23.0)) for seed in range(3)]
    runs += [run("ddqn_bbe.warm", GRID, seed, 300, jump(21, 20.0)) for seed in range(3)]
    soon, as_soon, below = CLAIMS["C1"](evidence(runs)).parts
    np.testing.assert_allclose(soon.found, student(22, 23, 21))
    # 23 in 252 of 280 own episodes is 20.7; minus 22, 23, 21
    np.testing.assert_allclose(as_soon.found, student(-1.3, -2.3, -0.3))
    assert as_soon.limits.low == pytest.approx(-2.3)
    np.testing.assert_allclose(below.found, student(-2, -3, -1))
    assert below.limits.high == pytest.approx(-2.3) and below.outcome is Outcome.OPEN


def test_c2_by_hand():
    """Coverage is 0.1 after the warm start, then grows by 0.001 (BBE) or 0.005 an episode."""
    found = CLAIMS["C2"](evidence(SCENARIOS["C2"][0]()))
    expected = (0.028, 0.28 - 0.028, 0.14 - 0.25 * 0.28, 0.5 - 1.5 * 0.1, 0.0)
    np.testing.assert_allclose([part.found.value for part in found.parts], expected, atol=1e-12)


def test_c6_by_hand():
    """SAC arrives at 5, 6, 7; DEEP at 15, 20 and never, which counts as 61."""
    runs = invented.arriving(TINY, 60, {"sac": (5, 6, 7), "sac_deep": (15, 20, 999)}, 900.0)
    sooner, finds = CLAIMS["C6"](evidence(runs)).parts
    np.testing.assert_allclose(sooner.found, student(10, 14, 54))
    np.testing.assert_allclose(finds.found, student(1, 1, 0))
    assert (sooner.outcome, finds.outcome) == (Outcome.OPEN, Outcome.OPEN)
    assert sooner.what.startswith("first episode at the goal, of 60 (never: 61)")


def test_c6_needs_more_than_half_of_the_best_return():
    runs = invented.arriving(TINY, 60, {"sac": (5, 6, 7), "sac_deep": (8, 9, 10)}, 490.0)
    assert CLAIMS["C6"](evidence(runs)).parts[1].found.value == 0.0


def test_c5_counts_the_runs_at_the_near_goal_and_those_ever_at_the_far_one():
    parts = CLAIMS["C5"](evidence(invented._c5(48, 96, 150))).parts
    assert [part.found.value for part in parts[:2]] == [pytest.approx(1 / 3), 0.0]
    parts = CLAIMS["C5"](evidence(invented._c5(0, 1, 2))).parts
    assert [part.outcome for part in parts] == [Outcome.FAILS, Outcome.HOLDS, Outcome.HOLDS]
    assert parts[2].limits.low == pytest.approx(832.9 / 2) and parts[0].task == NEAR


def test_c5_is_not_fooled_by_a_return_from_the_far_goal():
    """SAC sits at the near goal in the end, but has been at the far one in one evaluation."""
    runs = [run("sac", NEAR, seed, 100, lambda e: 800.0 if e == 40 else 96.0) for seed in range(3)]
    runs += [run("sac_deep", NEAR, seed, 100, jump(1, 800.0)) for seed in range(3)]
    found = CLAIMS["C5"](evidence(runs))
    assert [part.found.value for part in found.parts] == [1.0, 1.0, 800.0]
    assert found.outcome is Outcome.FAILS


def test_c17_by_hand():
    """A run that jumps to 900 of 1000 at an episode solves the task there, and not before."""
    runs = invented.efficiency((11, 12, 13), (60, 70, 101))
    part = control.data_efficiency(evidence(runs)).parts[0]
    saved = np.array([60, 70, 101]) - 2 * np.array([11, 12, 13])
    np.testing.assert_allclose(part.found, student(*saved))
    assert dict(part.sides)["sac_deep"].value == 12.0
    assert part.what == "episodes to solve, of 110 (never: 102): sac − 2 × sac_deep"


@pytest.mark.parametrize(
    ("deep", "sac", "saved", "outcome"),
    [
        (61, invented.NEVER, 0, Outcome.OPEN),  # 102 or more, minus 122: nobody knows
        (40, invented.NEVER, 102 - 80, Outcome.HOLDS),  # the bound is enough
        (50, 105, 102 - 100, Outcome.HOLDS),  # six of ten evaluations: not yet known to be solved
        (invented.NEVER, invented.NEVER, 0, Outcome.OPEN),
        (invented.NEVER, 60, 60 - 204, Outcome.FAILS),
        (41, 60, 60 - 82, Outcome.FAILS),
    ],
)
def test_c17_takes_an_unsolved_task_for_a_bound(deep, sac, saved, outcome):
    """Of 110 episodes, 101 is the last at which ten evaluations can show a task solved."""
    runs = invented.efficiency((deep,) * 3, (sac,) * 3)
    part = control.data_efficiency(evidence(runs)).parts[0]
    assert part.found == Estimate(saved, saved, saved, 3) and part.outcome is outcome


def equal_runs(lengths: dict[str, tuple[int, ...]], task: str = "BallInCupExplore"):
    """Runs of so many episodes, by agent and seed, that return their episode's number."""
    return [run(agent, task, seed, episodes, float)
            for agent, of_seeds in lengths.items()
            for seed, episodes in enumerate(of_seeds)]  # fmt: skip


@pytest.mark.parametrize(
    ("sac", "deep", "budget", "seeds"),
    [
        ((140,) * 3, (130,) * 3, 130, 3),  # over the shorter
        ((110,) * 8 + (45,), (110,) * 9, 110, 8),  # a short run rules nothing
        ((110,) * 8 + (500,), (110,) * 8 + (500,), 110, 9),  # nor does a long one
        ((500,) * 5 + (110,) * 3, (500,) * 8, 500, 5),
        ((500, 500, 110), (500,) * 3, 110, 3),  # three seeds are needed
        ((60,) * 3, (60,) * 3, 110, 0),  # too short for a score
    ],
)
def test_the_budget_is_that_of_most_runs_and_shorter_ones_are_told(sac, deep, budget, seeds):
    found = evidence(equal_runs({"sac": sac, "sac_deep": deep}))
    assert found.budget("BallInCupExplore", "sac", "sac_deep") == budget
    part, whole = (p for p in CLAIMS["C12"](found).parts if p.task == "BallInCupExplore")
    assert part.what == f"final return, episodes {budget - 19}-{budget}: sac_deep − sac"
    assert whole.what == f"mean return, episodes 1-{budget}: sac_deep − sac"
    assert part.found.seeds == whole.found.seeds == seeds
    if seeds:
        assert part.found.value == 0.0
        final, mean = (dict(p.sides)["sac"].value for p in (part, whole))
        np.testing.assert_allclose(final, np.mean(range(budget - 19, budget + 1)) / 1000)
        np.testing.assert_allclose(mean, np.mean(range(1, budget + 1)) / 1000)
    told = {gap.agent: [(run.seed, run.episodes) for run in gap.left] for gap in part.gaps}
    short = [(seed, n) for seed, n in enumerate(sac) if n < budget]
    assert told.get("sac", []) == short


def test_a_run_that_ends_early_does_not_change_a_verdict():
    """SAC is ahead until episode 50; one of nine SAC runs on each task was stopped at 45."""
    courses = {"sac": lambda e: 600.0 if e >= 30 else 100.0,
               "sac_deep": lambda e: 900.0 if e >= 50 else 100.0}  # fmt: skip
    runs = [
        run(agent, task, seed, 110, course)
        for agent, course in courses.items()
        for task in ORIGINAL
        for seed in range(8)
    ]
    short = [run("sac", task, 8, 45, courses["sac"]) for task in ORIGINAL]
    before, after = (CLAIMS["C7"](evidence(found)) for found in (runs, runs + short))
    assert before.outcome is after.outcome is Outcome.HOLDS
    assert [part.found for part in before.parts] == [part.found for part in after.parts]
    assert {(gap.agent, gap.left) for gap in after.left_out} == {("sac", (Left(8, 45, 45, True),))}


def test_as_good_as_is_not_decided_where_nothing_is_learnt():
    nothing = (0.0,) * 3
    labels = ("sac_deep", *ablations.KERNELS)
    kernels = invented.steady(dict.fromkeys(labels, nothing), EXPLORE, 110)
    labels = ("sac", "sac_bbe", "sac_2q", "sac_deep")
    zeros = invented.steady(dict.fromkeys(labels, nothing), SUITE, 110)
    for name in ("C7", "C11", "C12", "C13"):
        found = CLAIMS[name](evidence(zeros))
        assert {part.outcome for part in found.parts} == {found.outcome} == {Outcome.OPEN}
    assert CLAIMS["C15"](evidence(kernels)).outcome is Outcome.OPEN


def test_c12_takes_a_task_learnt_late_for_learnt():
    """Both agents learn at episode 90 of 110: the means over all episodes stay below 0.2."""
    runs = [run(agent, task, seed, 110, jump(90, 900.0))
            for agent in ("sac", "sac_deep") for task in SUITE for seed in range(3)]  # fmt: skip
    found = CLAIMS["C12"](evidence(runs))
    assert found.outcome is Outcome.HOLDS
    assert dict(found.parts[1].sides)["sac_deep"].value < 0.2


def test_c16_compares_the_whole_of_the_coverage_curves():
    """A table that explores at half the speed covers as much in the end."""

    def growing(rate):
        return lambda episode: min(0.9, rate * episode)

    runs = [run(agent, task, seed, 110, float, growing(rate))
            for agent, rate in (("sac_deep.rows_512", 0.01), ("sac_deep.rows_all", 0.02))
            for task in EXPLORE for seed in range(3)]  # fmt: skip
    found = CLAIMS["C16"](evidence(runs))
    means = [np.mean([min(0.9, rate * e) for e in range(1, 111)]) for rate in (0.01, 0.02)]
    assert found.parts[0].found.value == pytest.approx(means[0] / means[1])
    assert found.outcome is Outcome.FAILS


def test_the_first_episode_above_a_level_against_a_plain_loop():
    rng = np.random.default_rng(0)
    for width in (1, 3, 10):
        returns = rng.uniform(0, 1000, 40)
        one = run("a", "WalkerWalk", 0, 40, lambda e, of=returns: of[e - 1])
        starts = [i for i in range(41 - width) if returns[i] > 600]
        solved = [i + 1 for i in starts if np.mean(returns[i : i + width]) > 600]
        expected = solved[0] if solved else 42 - width
        found = evidence([one]).first_above("a", "WalkerWalk", 600, 40, width)
        assert found.values.tolist() == [expected]


def test_c14_is_decided_by_the_mean_over_the_suite_not_by_one_task():
    levels = {"sac_bbe": invented.FAIR} | invented._SCALES
    runs = invented.steady(levels, SUITE[1:], 110)
    runs += invented.steady(levels | {"sac_bbe.scale_10": invented.GOOD}, SUITE[:1], 110)
    found = ablations.bonus_scale(evidence(runs))
    assert found.outcome is Outcome.HOLDS and len(found.parts) == 3
    tenfold = found.parts[2].found  # 7 tasks with 0.5, 0.4, 0.3 and one with -0.3, -0.4, -0.5
    np.testing.assert_allclose(tenfold, student(0.4, 0.3, 0.2), atol=1e-12)
    assert Outcome.FAILS in {part.outcome for part in found.beside}


def test_claims_depend_on_nothing_but_the_runs():
    runs = SCENARIOS["C9"][2]()
    assert CLAIMS["C9"](evidence(runs)) == CLAIMS["C9"](evidence(reversed(runs)))


def test_criteria_name_the_limits_they_use():
    for claim, numbers in {"C1": "20.7 2.3", "C2": "0.1 1.5 2.3", "C3": "1.5", "C4": "1/2 1/3",
                           "C5": "48 150 416.45", "C6": "490.55", "C7": "0.1 0.2",
                           "C11": "0.1 0.2", "C12": "0.1 0.2", "C13": "0.1 0.2",
                           "C15": "0.1 0.2"}.items():  # fmt: skip
        assert all(number in inspect.getdoc(CLAIMS[claim]) for number in numbers.split())
