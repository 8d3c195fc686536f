"""Every claim on runs of which it is known to hold, fail, be undecided or lack something."""

import dataclasses
import re

import numpy as np
import pytest

from analysis.claims import CLAIMS, ablations
from analysis.claims.hypothesis_tests import Outcome
from analysis.claims.report import key_result
from analysis.claims.samples import ShortRun
from analysis.stats.intervals import Estimate
from explore_suite.tasks import CONTROL, CONTROL_PAIRS, EXPLORE, ORIGINAL, lookup
from tests.helpers import synthetic_claims as invented
from tests.helpers.synthetic_claims import GRID, NEAR, SCENARIOS, TINY, evidence, jump, run, student

OUTCOMES = (Outcome.HOLDS, Outcome.FAILS, Outcome.UNDECIDED)


def judge(name, runs):
    return CLAIMS[name].judge(evidence(runs))


def test_all_seventeen_claims_are_registered_and_have_scenarios():
    names = [f"C{number}" for number in range(1, 18)]
    assert names == list(CLAIMS) == list(SCENARIOS)


@pytest.mark.parametrize("name", CLAIMS)
def test_the_texts_of_each_claim_are_sentences_for_a_table_and_a_paragraph(name):
    statement, criterion, source, _ = CLAIMS[name]
    assert re.fullmatch(r"[A-Z].{20,89}\.", statement) and source[0].isupper()
    assert re.fullmatch(r"[A-Z][^\n]{40,}\.", criterion)
    assert not any("  " in text or "|" in text for text in (statement, criterion, source))


@pytest.mark.slow
@pytest.mark.parametrize("name", CLAIMS)
@pytest.mark.parametrize("index", range(3), ids=[outcome.name for outcome in OUTCOMES])
def test_each_claim_holds_fails_and_is_not_decided(name, index):
    found = judge(name, SCENARIOS[name][index]())
    assert found.outcome is OUTCOMES[index], [(t.name, t.estimate, t.outcome) for t in found.tests]
    assert found.missing == found.too_short == () and all(found.tasks.values())
    shown = key_result(found)  # in the summary: one number with its interval, and no line break
    assert len(shown) <= 100 and "<br>" not in shown and shown.count("[") == 1


@pytest.mark.parametrize("name", CLAIMS)
def test_each_claim_lacks_runs_without_any(name):
    found = judge(name, [])
    assert found.outcome is Outcome.TOO_FEW_RUNS
    assert found.missing and not any(found.tasks.values())
    assert {test.outcome for test in found.tests} == {Outcome.TOO_FEW_RUNS}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "how"),
    [*((name, "absent") for name in CLAIMS),
     *((name, how) for name in ("C2", "C9") for how in ("unfinished", "damaged", "short"))],
)  # fmt: skip
def test_each_claim_names_the_run_it_lacks(name, how):
    *runs, last = (one for one in SCENARIOS[name][0]() if one.header.seed < 3)
    if how == "unfinished":
        header = dataclasses.replace(last.header, finished=False)
        runs.append(last._replace(header=header))
    elif how == "damaged":
        runs.append(last._replace(rows=last.rows[:60]))
    elif how == "short":
        header = dataclasses.replace(last.header, episodes=30)
        runs.append(last._replace(header=header, rows=last.rows[:60]))
    agent, task = last.header.agent, lookup(last.header.task).name
    found = judge(name, runs)
    assert found.outcome is Outcome.TOO_FEW_RUNS
    assert found.missing == ((agent, task),)
    if how == "short":
        (run,) = found.too_short
        assert run[:4] == (agent, task, 2, 30) and 30 < run.needed <= last.header.episodes
    else:
        assert found.too_short == ()
    assert [task for task, there in found.tasks.items() if not there] in ([task], [_explore(task)])


def _explore(task: str) -> str:
    """C17 files a missing original under its explore task."""
    return dict(CONTROL_PAIRS).get(task, task)


def test_one_task_speaks_for_itself_while_the_claim_waits():
    runs = invented.steady({"sac": invented.POOR, "sac_deep": invented.GOOD,
                            "sac_bbe": invented.FAIR}, ["BallInCupExplore"], 110)  # fmt: skip
    found = judge("C9", runs)
    assert found.outcome is Outcome.TOO_FEW_RUNS
    by_task = {task: {t.outcome for t in found.tests if t.task == task} for task in EXPLORE}
    assert by_task.pop("BallInCupExplore") == {Outcome.HOLDS}
    assert set(map(frozenset, by_task.values())) == {frozenset({Outcome.TOO_FEW_RUNS})}
    assert sum(found.tasks.values()) == 1 and len(found.tasks) == 4
    assert {agent for agent, _ in found.missing} == {"sac", "sac_bbe", "sac_deep"}


def test_a_failed_task_does_not_fail_a_claim_whose_runs_are_not_all_there():
    runs = invented.steady({"sac": invented.GOOD, "sac_deep": invented.POOR}, ORIGINAL[:1], 110)
    found = judge("C7", runs)
    assert found.tests[0].outcome is Outcome.FAILS and found.outcome is Outcome.TOO_FEW_RUNS


def test_c1_by_hand():
    """DDQN's level is 22, 23, 21 from own episode 1 on; DEEP's jump to 23 comes 28 later."""
    runs = [run("ddqn.warm", GRID, seed, 300, jump(21, 22.0 + step))
            for seed, step in enumerate((0, 1, -1))]  # fmt: skip
    runs += [run("ddqn_deep.warm", GRID, seed, 300, jump(49, 23.0)) for seed in range(3)]
    runs += [run("ddqn_bbe.warm", GRID, seed, 300, jump(21, 20.0)) for seed in range(3)]
    soon, as_soon, below = judge("C1", runs).tests
    np.testing.assert_allclose(soon.estimate, student(22, 23, 21))
    # 23 in 252 of 280 own episodes is 20.7; minus 22, 23, 21
    np.testing.assert_allclose(as_soon.estimate, student(-1.3, -2.3, -0.3))
    assert as_soon.limits.low == pytest.approx(-2.3)
    np.testing.assert_allclose(below.estimate, student(-2, -3, -1))
    assert below.limits.high == pytest.approx(-2.3) and below.outcome is Outcome.UNDECIDED


def test_c2_by_hand():
    """Coverage is 0.1 after the warm start, then grows by 0.001 (BBE) or 0.005 an episode."""
    found = judge("C2", SCENARIOS["C2"][0]())
    expected = (0.028, 0.28 - 0.028, 0.14 - 0.25 * 0.28, 0.5 - 1.5 * 0.1, 0.0)
    np.testing.assert_allclose([test.estimate.value for test in found.tests], expected, atol=1e-12)


def test_c6_by_hand():
    """SAC arrives at 5, 6, 7; DEEP at 15, 20 and never, which counts as 61."""
    runs = invented.arriving(TINY, 60, {"sac": (5, 6, 7), "sac_deep": (15, 20, 999)}, 900.0)
    sooner, finds = judge("C6", runs).tests
    np.testing.assert_allclose(sooner.estimate, student(10, 14, 54))
    np.testing.assert_allclose(finds.estimate, (2 / 3, 0.2077, 0.9385, 3), atol=1e-4)  # Wilson's
    assert (sooner.outcome, finds.outcome) == (Outcome.UNDECIDED, Outcome.UNDECIDED)
    assert sooner.name.startswith("first episode at the goal, of 60 (never: 61)")


def test_c6_needs_more_than_half_of_the_best_return():
    runs = invented.arriving(TINY, 60, {"sac": (5, 6, 7), "sac_deep": (8, 9, 10)}, 490.0)
    assert judge("C6", runs).tests[1].estimate.value == 0.0


def test_c5_counts_the_runs_at_the_near_goal_and_those_ever_at_the_far_one():
    tests = judge("C5", invented.local_optimum(48, 96, 150)).tests
    assert [test.estimate.value for test in tests[:2]] == [pytest.approx(1 / 3), 0.0]
    tests = judge("C5", invented.local_optimum(0, 1, 2, 0, 1, 2)).tests
    assert [test.outcome for test in tests] == [Outcome.FAILS, Outcome.HOLDS, Outcome.HOLDS]
    assert tests[2].limits.low == pytest.approx(832.9 / 2) and tests[0].task == NEAR


def test_c5_is_not_fooled_by_a_return_from_the_far_goal():
    """SAC sits at the near goal in the end, but has been at the far one in one evaluation."""
    runs = [run("sac", NEAR, seed, 100, lambda e: 800.0 if e == 40 else 96.0) for seed in range(6)]
    runs += [run("sac_deep", NEAR, seed, 100, jump(1, 800.0)) for seed in range(6)]
    found = judge("C5", runs)
    assert [test.estimate.value for test in found.tests] == [1.0, 1.0, 800.0]
    assert found.outcome is Outcome.FAILS


def test_c17_by_hand():
    """A run that jumps to 900 of 1000 at an episode solves the task there, and not before."""
    runs = invented.efficiency((11, 12, 13), (60, 70, 101))
    test = judge("C17", runs).tests[0]
    saved = np.array([60, 70, 101]) - 2 * np.array([11, 12, 13])
    np.testing.assert_allclose(test.estimate, student(*saved))
    assert dict(test.sides)["sac_deep"].value == 12.0
    assert test.name == "episodes to solve, of 110 (never: 102): sac − 2 × sac_deep"


@pytest.mark.parametrize(
    ("deep", "sac", "saved", "outcome"),
    [
        (61, invented.NEVER, 0, Outcome.UNDECIDED),  # 102 or more, minus 122: nobody knows
        (40, invented.NEVER, 102 - 80, Outcome.HOLDS),  # the bound is enough
        (50, 105, 102 - 100, Outcome.HOLDS),  # six of ten evaluations: not yet known to be solved
        (invented.NEVER, invented.NEVER, 0, Outcome.UNDECIDED),
        (invented.NEVER, 60, 60 - 204, Outcome.FAILS),
        (41, 60, 60 - 82, Outcome.FAILS),
    ],
)
def test_c17_takes_an_unsolved_task_for_a_bound(deep, sac, saved, outcome):
    """Of 110 episodes, 101 is the last at which ten evaluations can show a task solved."""
    runs = invented.efficiency((deep,) * 3, (sac,) * 3)
    test = judge("C17", runs).tests[0]
    assert test.estimate == Estimate(saved, saved, saved, 3) and test.outcome is outcome


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
def test_the_budget_is_that_of_most_runs_and_shorter_ones_are_named(sac, deep, budget, seeds):
    found = evidence(equal_runs({"sac": sac, "sac_deep": deep}))
    assert found.budget("BallInCupExplore", "sac", "sac_deep") == budget
    test, whole = (t for t in CLAIMS["C12"].judge(found).tests if t.task == "BallInCupExplore")
    assert test.name == f"final return, episodes {budget - 19}-{budget}: sac_deep − sac"
    assert whole.name == f"mean return, episodes 1-{budget}: sac_deep − sac"
    assert test.estimate.seeds == whole.estimate.seeds == seeds
    if seeds:
        assert test.estimate.value == 0.0
        final, mean = (dict(t.sides)["sac"].value for t in (test, whole))
        np.testing.assert_allclose(final, np.mean(range(budget - 19, budget + 1)) / 1000)
        np.testing.assert_allclose(mean, np.mean(range(1, budget + 1)) / 1000)
    named = [(run.seed, run.budget, run.needed) for run in test.too_short if run.agent == "sac"]
    assert named == [(seed, n, budget) for seed, n in enumerate(sac) if n < budget]


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
    before, after = (judge("C7", found) for found in (runs, runs + short))
    assert before.outcome is after.outcome is Outcome.HOLDS
    assert [test.estimate for test in before.tests] == [test.estimate for test in after.tests]
    assert set(after.too_short) == {ShortRun("sac", task, 8, 45, 110) for task in ORIGINAL}


@pytest.mark.slow
def test_as_good_as_is_not_decided_where_nothing_is_learned():
    nothing = (0.0,) * 3
    labels = ("sac_deep", *ablations.KERNELS)
    kernels = invented.steady(dict.fromkeys(labels, nothing), EXPLORE, 110)
    labels = ("sac", "sac_bbe", "sac_2q", "sac_deep")
    zeros = invented.steady(dict.fromkeys(labels, nothing), CONTROL, 110)
    for name in ("C7", "C11", "C12", "C13"):
        found = judge(name, zeros)
        assert {test.outcome for test in found.tests} == {found.outcome} == {Outcome.UNDECIDED}
    assert judge("C15", kernels).outcome is Outcome.UNDECIDED


def test_c12_takes_a_task_learned_late_for_learned():
    """Both agents learn at episode 90 of 110: the means over all episodes stay below 0.2."""
    runs = [run(agent, task, seed, 110, jump(90, 900.0))
            for agent in ("sac", "sac_deep") for task in CONTROL for seed in range(3)]  # fmt: skip
    found = judge("C12", runs)
    assert found.outcome is Outcome.HOLDS
    assert dict(found.tests[1].sides)["sac_deep"].value < 0.2


def test_c16_compares_the_whole_of_the_coverage_curves():
    """A table that explores at half the speed covers as much in the end."""

    def growing(rate):
        return lambda episode: min(0.9, rate * episode)

    runs = [run(agent, task, seed, 110, float, growing(rate))
            for agent, rate in (("sac_deep.rows_512", 0.01), ("sac_deep.rows_all", 0.02))
            for task in EXPLORE for seed in range(3)]  # fmt: skip
    found = judge("C16", runs)
    means = [np.mean([min(0.9, rate * e) for e in range(1, 111)]) for rate in (0.01, 0.02)]
    assert found.tests[0].estimate.value == pytest.approx(means[0] / means[1])
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
    levels = {"sac_bbe": invented.FAIR} | invented.SCALES
    runs = invented.steady(levels, CONTROL[1:], 110)
    runs += invented.steady(levels | {"sac_bbe.scale_10": invented.GOOD}, CONTROL[:1], 110)
    found = judge("C14", runs)
    assert found.outcome is Outcome.HOLDS and len(found.tests) == 3
    tenfold = found.tests[2].estimate  # 7 tasks with 0.5, 0.4, 0.3 and one with -0.3, -0.4, -0.5
    np.testing.assert_allclose(tenfold, student(0.4, 0.3, 0.2), atol=1e-12)
    assert Outcome.FAILS in {test.outcome for test in found.also_shown}


def test_claims_depend_on_nothing_but_the_runs():
    runs = SCENARIOS["C9"][2]()
    assert judge("C9", runs) == judge("C9", reversed(runs))


def test_criteria_name_the_limits_they_use():
    for claim, numbers in {"C1": "20.7 2.3", "C2": "0.1 1.5 2.3", "C3": "1.5", "C4": "1/2 1/3",
                           "C5": "48 150 416.45", "C6": "490.55", "C7": "0.1 0.2",
                           "C11": "0.1 0.2", "C12": "0.1 0.2", "C13": "0.1 0.2",
                           "C15": "0.1 0.2"}.items():  # fmt: skip
        assert all(number in CLAIMS[claim].criterion for number in numbers.split())
