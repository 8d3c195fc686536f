"""Tests of the claims about the grid world, C1 to C4."""

from analysis.claims.hypothesis_tests import (
    HIGHER,
    TOLERANCE,
    Limits,
    Verdict,
    all_of,
    compare,
    mean_test,
    measure,
)
from analysis.claims.samples import Evidence, Sample, scored
from analysis.stats.results import WARM_EPISODES
from explore_suite.tasks import GRID, lookup

(TASK,) = GRID
BEST = lookup(TASK).best_return
LAST = lookup(TASK).score_window[1]  # the last episode that all runs have
AFTER_100 = 100  # where the paper reads its pictures
MUCH = 1.5  # "much" and "far more": half as much again
SMALL = 1 / 3  # of the states: a "small fraction" is less
MOST = 1 / 2  # of the states: "most" is more
STEADY = 1 / 4  # of all growth, at least, falls into the second half of steady growth
_NOT_WORSE, _WORSE = Limits(low=-TOLERANCE * BEST), Limits(high=-TOLERANCE * BEST)
_DDQN, _BBE, _DEEP = "ddqn.warm", "ddqn_bbe.warm", "ddqn_deep.warm"


def warm_start_return(evidence: Evidence) -> Verdict:
    """C1: DDQN's early return; DEEP's mean return against DDQN's; BBE's score against DDQN's."""
    soon = evidence.returns(_DDQN, TASK, WARM_EPISODES + 91, WARM_EPISODES + AFTER_100)
    ddqn, deep = (evidence.returns(name, TASK, WARM_EPISODES + 1, LAST) for name in (_DDQN, _DEEP))
    bbe_score, ddqn_score = (evidence.plain_score(name, TASK) for name in (_BBE, _DDQN))
    optimal = Limits(low=(1 - TOLERANCE) * BEST)
    tests = [
        measure("return, own episodes 91-100", soon, optimal, digits=1),
        compare("return, own episodes 1-280", deep, ddqn, _NOT_WORSE, digits=1),
        compare(scored(TASK), bbe_score, ddqn_score, _WORSE, digits=1),
    ]
    return all_of(tests)


def warm_start_coverage(evidence: Evidence) -> Verdict:
    """C2: growth of coverage after the warm start, and DEEP's score against DDQN's."""
    half, soon = (WARM_EPISODES + LAST) // 2, WARM_EPISODES + AFTER_100
    ddqn, bbe = (_growth(evidence, name, WARM_EPISODES, LAST) for name in (_DDQN, _BBE))
    late = _growth(evidence, _BBE, half, LAST)
    deep_early, bbe_early = (_growth(evidence, name, WARM_EPISODES, soon) for name in (_DEEP, _BBE))
    deep_score, ddqn_score = (evidence.plain_score(name, TASK) for name in (_DEEP, _DDQN))
    steady = late.values - STEADY * bbe.values
    tests = [
        measure("growth, own episodes 1-280", ddqn, Limits(high=TOLERANCE)),
        compare("growth, own episodes 1-280", bbe, ddqn, HIGHER),
        mean_test(
            f"growth of {_BBE}", f"in the second half − {STEADY:g} × all",
            [late], steady, HIGHER,
        ),
        compare("growth, own episodes 1-100", deep_early, bbe_early, HIGHER, factor=MUCH),
        compare(scored(TASK), deep_score, ddqn_score, _NOT_WORSE, digits=1),
    ]  # fmt: skip
    return all_of(tests)


def pure_exploration(evidence: Evidence) -> Verdict:
    """C3: coverage of BBE against random actions, and of DEEP against BBE."""
    uniform, bbe, deep = (
        evidence.coverage(agent, TASK, AFTER_100)
        for agent in ("random", "ddqn_bbe.pure", "ddqn_deep.pure")
    )
    return all_of(
        compare(f"coverage, episode {AFTER_100}", more, less, HIGHER, factor=MUCH)
        for more, less in ((bbe, uniform), (deep, bbe))
    )


def coverage_at_100(evidence: Evidence) -> Verdict:
    """C4: coverage of DEEP, BBE and DDQN."""
    limits = {
        "ddqn_deep": Limits(low=MOST),
        "ddqn_bbe": Limits(high=SMALL),
        "ddqn": Limits(high=SMALL),
    }
    return all_of(
        measure(f"coverage, episode {AFTER_100}", evidence.coverage(agent, TASK, AFTER_100), limit)
        for agent, limit in limits.items()
    )


def _growth(evidence: Evidence, agent: str, first: int, last: int) -> Sample:
    """Coverage gained between two episodes."""
    before, after = (evidence.coverage(agent, TASK, episode) for episode in (first, last))
    return after._replace(values=(after.values - before.values).dropna())
