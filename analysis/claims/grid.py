"""Tests of the claims about the grid world, C1 to C4."""

from analysis.claims import hypothesis_tests as ht
from analysis.claims.samples import Evidence, Sample, scored
from analysis.stats.results import WARM_EPISODES
from explore_suite.tasks import GRID, lookup

(TASK,) = GRID
BEST = lookup(TASK).best_return
LAST = lookup(TASK).score_window[1]  # the last episode that all runs have
AFTER_100 = 100  # the episode at which the paper reads its figures
MUCH = 1.5  # "much" and "far more": half as much again
SMALL = 1 / 3  # of the states: a "small fraction" is less
MOST = 1 / 2  # of the states: "most" is more
STEADY = 1 / 4  # growth is steady if more than this share of it falls into the second half
_NOT_WORSE, _WORSE = ht.Limits(low=-ht.TOLERANCE * BEST), ht.Limits(high=-ht.TOLERANCE * BEST)
_DDQN, _BBE, _DEEP = "ddqn.warm", "ddqn_bbe.warm", "ddqn_deep.warm"


def warm_start_return(evidence: Evidence) -> ht.Verdict:
    """C1: DDQN's early return; DEEP's mean return against DDQN's; BBE's score against DDQN's."""
    soon = evidence.returns(_DDQN, TASK, WARM_EPISODES + 91, WARM_EPISODES + AFTER_100)
    ddqn, deep = (evidence.returns(name, TASK, WARM_EPISODES + 1, LAST) for name in (_DDQN, _DEEP))
    bbe_score, ddqn_score = (evidence.plain_score(name, TASK) for name in (_BBE, _DDQN))
    optimal = ht.Limits(low=(1 - ht.TOLERANCE) * BEST)
    tests = [
        ht.measure("return, own episodes 91-100", soon, optimal, digits=1),
        ht.paired_test("return, own episodes 1-280", deep, ddqn, _NOT_WORSE, digits=1),
        ht.paired_test(scored(TASK), bbe_score, ddqn_score, _WORSE, digits=1),
    ]
    return ht.all_of(tests)


def warm_start_coverage(evidence: Evidence) -> ht.Verdict:
    """C2: growth of coverage after the warm start, and DEEP's score against DDQN's."""
    half, soon = (WARM_EPISODES + LAST) // 2, WARM_EPISODES + AFTER_100
    ddqn, bbe = (_growth(evidence, name, WARM_EPISODES, LAST) for name in (_DDQN, _BBE))
    late = _growth(evidence, _BBE, half, LAST)
    deep_early, bbe_early = (_growth(evidence, name, WARM_EPISODES, soon) for name in (_DEEP, _BBE))
    deep_score, ddqn_score = (evidence.plain_score(name, TASK) for name in (_DEEP, _DDQN))
    steady = late.values - STEADY * bbe.values
    tests = [
        ht.measure("growth, own episodes 1-280", ddqn, ht.Limits(high=ht.TOLERANCE)),
        ht.paired_test("growth, own episodes 1-280", bbe, ddqn, ht.HIGHER),
        ht.mean_test(
            f"growth of {_BBE}", f"in the second half − {STEADY:g} × all",
            [late], steady, ht.HIGHER,
        ),
        ht.paired_test("growth, own episodes 1-100", deep_early, bbe_early, ht.HIGHER, factor=MUCH),
        ht.paired_test(scored(TASK), deep_score, ddqn_score, _NOT_WORSE, digits=1),
    ]  # fmt: skip
    return ht.all_of(tests)


def pure_exploration(evidence: Evidence) -> ht.Verdict:
    """C3: coverage of BBE against random actions, and of DEEP against BBE."""
    uniform, bbe, deep = (
        evidence.coverage(agent, TASK, AFTER_100)
        for agent in ("random", "ddqn_bbe.pure", "ddqn_deep.pure")
    )
    return ht.all_of(
        ht.paired_test(f"coverage, episode {AFTER_100}", more, less, ht.HIGHER, factor=MUCH)
        for more, less in ((bbe, uniform), (deep, bbe))
    )


def coverage_at_100(evidence: Evidence) -> ht.Verdict:
    """C4: coverage of DEEP, BBE and DDQN."""
    most, few = ht.Limits(low=MOST), ht.Limits(high=SMALL)
    limits = {"ddqn_deep": most, "ddqn_bbe": few, "ddqn": few}
    samples = [evidence.coverage(agent, TASK, AFTER_100) for agent in limits]
    return ht.all_of(
        ht.measure(f"coverage, episode {AFTER_100}", sample, limits[sample.agent])
        for sample in samples
    )


def _growth(evidence: Evidence, agent: str, first: int, last: int) -> Sample:
    """Coverage gained between two episodes."""
    before, after = (evidence.coverage(agent, TASK, episode) for episode in (first, last))
    return after._replace(values=(after.values - before.values).dropna())
