"""The paper's claims about the control suite: C7 to C13, and C17 of its abstract.

Returns and scores are normalised: 0 is the mean return of random actions, 1 the best known or its
bound. The final return is the mean over the last 20 evaluations of the budget over which agents are
compared, the mean return that over all.
"""

from collections.abc import Sequence

from analysis.claims.hypothesis_tests import (
    EQUAL,
    HIGHER,
    NOT_WORSE,
    Limits,
    Outcome,
    Part,
    Verdict,
    all_of,
    at_least,
    compare,
    every,
    exactly,
    measure,
    settled,
    weigh,
    where_learnt,
)
from analysis.claims.samples import FINAL_EPISODES, Evidence, scored
from explore_suite.tasks import CONTROL, EXPLORE, ORIGINAL, lookup

SEVERAL = 2  # "several-fold", read as modestly as can be: a budget of 110 shows little more
SOLVED = 0.5  # of the best return
SOLVED_FOR = 10  # evaluations in a row, on average
MANY = 2  # of the four explore tasks


def no_cost_on_originals(evidence: Evidence) -> Verdict:
    """On all four original tasks DEEP does as well as SAC or better.

    On each original task DEEP's mean final return is less than 0.1 below SAC's, and itself above
    0.2: where neither learns anything, that DEEP is as good shows little.
    """
    return all_of(
        where_learnt(_final(evidence, task, "sac_deep", "sac", NOT_WORSE), "sac_deep")
        for task in ORIGINAL
    )


def bonus_costs_on_originals(evidence: Evidence) -> Verdict:
    """BBE impairs SAC on two of the four original tasks and equals it on the other two.

    On each original task, BBE's mean final return minus SAC's: equal if the interval lies within
    0.1 of 0; else worse if it lies below 0, better if above. Holds with two worse and two equal;
    fails if, as tests among four, three are worse, three equal or one better.
    """
    return exactly({Outcome.WORSE: 2, Outcome.EQUAL: 2}, _bonus(evidence, ORIGINAL))


def best_on_explore(evidence: Evidence) -> Verdict:
    """On all four explore tasks DEEP has the best final performance and the best sample efficiency.

    On each explore task DEEP's mean final return is higher than SAC's and than BBE's, and so is its
    mean return over all episodes.
    """
    return all_of(
        test(evidence, task, "sac_deep", other, HIGHER)
        for task in EXPLORE
        for other in ("sac", "sac_bbe")
        for test in (_final, _whole)
    )


def bonus_mixed_on_explore(evidence: Evidence) -> Verdict:
    """BBE is better than SAC on two of the four explore tasks and worse on the other two.

    On each explore task, BBE's mean final return minus SAC's: equal if the interval lies within
    0.1 of 0; else worse if it lies below 0, better if above. Holds with two better and two worse;
    fails if, as tests among four, three are better, three worse or one equal.
    """
    return exactly({Outcome.BETTER: 2, Outcome.WORSE: 2}, _bonus(evidence, EXPLORE))


def after_100_episodes(evidence: Evidence) -> Verdict:
    """After 100 episodes DEEP does as well as SAC and BBE or better, on all eight tasks.

    On each task DEEP's mean score (evaluations 91-110) is less than 0.1 below SAC's and BBE's, and
    itself above 0.2: where nobody learns anything, that DEEP is as good shows little.
    """
    return all_of(
        where_learnt(
            compare(
                scored(task),
                evidence.score("sac_deep", task),
                evidence.score(other, task),
                NOT_WORSE,
            ),
            "sac_deep",
        )
        for task in CONTROL
        for other in ("sac", "sac_bbe")
    )


def never_worse(evidence: Evidence) -> Verdict:
    """DEEP is never worse than SAC: not on one of the eight tasks.

    On each task DEEP's mean final return and its mean return over all episodes are less than 0.1
    below SAC's, and its final return is above 0.2: where neither learns anything, that DEEP is as
    good shows little.
    """
    parts = []
    for task in CONTROL:
        final = _final(evidence, task, "sac_deep", "sac", NOT_WORSE)
        whole = _whole(evidence, task, "sac_deep", "sac", NOT_WORSE)
        parts += [where_learnt(part, "sac_deep", final) for part in (final, whole)]
    return all_of(parts)


def two_q_never_better(evidence: Evidence) -> Verdict:
    """Two Q functions with one policy (SAC 2Q) never outperform BBE.

    On each of the eight tasks BBE's mean final return is less than 0.1 below SAC 2Q's, and itself
    above 0.2: where BBE learns nothing, that nothing is better than it shows little.
    """
    return all_of(
        where_learnt(_final(evidence, task, "sac_bbe", "sac_2q", NOT_WORSE), "sac_bbe")
        for task in CONTROL
    )


def data_efficiency(evidence: Evidence) -> Verdict:
    """DEEP needs several times less data than SAC on sparse tasks; many are as fast as dense ones.

    A run solves a task at the first evaluation that returns more than half of the best, if the ten
    from it on do so on average; a run without one takes longer than could be seen. (1) On each
    explore task SAC's mean episode minus twice DEEP's is above 0. Of a SAC run that does not solve
    the task only a bound is known: its seed counts with the bound where that is above 0, else as 0,
    which neither supports nor contradicts. (2) On at least two explore tasks DEEP's mean final
    return is above 0.5, and its mean return over all episodes less than 0.1 below its own on the
    original.
    """
    faster = [_times_faster(evidence, task) for task in EXPLORE]
    as_fast = [_as_fast_as_original(evidence, task) for task in EXPLORE]
    triples = zip(faster, as_fast, strict=True)
    parts = tuple(part for one, pair in triples for part in (one, *pair))
    tests = len(parts)
    many = at_least(MANY, [every(settled(part, tests) for part in pair) for pair in as_fast])
    return Verdict(every([*(settled(part, tests) for part in faster), many]), parts)


def _bonus(evidence: Evidence, tasks: Sequence[str]) -> list[Part]:
    return [_final(evidence, task, "sac_bbe", "sac", EQUAL) for task in tasks]


def _final(evidence: Evidence, task: str, agent: str, other: str, limits: Limits) -> Part:
    budget = evidence.budget(task, agent, other)
    x, y = (evidence.final(name, task, budget) for name in (agent, other))
    return compare(_last(budget), x, y, limits)


def _whole(evidence: Evidence, task: str, agent: str, other: str, limits: Limits) -> Part:
    budget = evidence.budget(task, agent, other)
    x, y = (evidence.whole(name, task, budget) for name in (agent, other))
    return compare(f"mean return, episodes 1-{budget}", x, y, limits)


def _last(budget: int) -> str:
    return f"final return, episodes {budget - FINAL_EPISODES + 1}-{budget}"


def _times_faster(evidence: Evidence, task: str) -> Part:
    """Whether SAC takes several times as many episodes to solve a task."""
    budget = evidence.budget(task, "sac", "sac_deep")
    level = SOLVED * lookup(task).best_return
    sac, deep = (
        evidence.first_above(agent, task, level, budget, SOLVED_FOR)
        for agent in ("sac", "sac_deep")
    )
    saved = sac.values - SEVERAL * deep.values
    bound = sac.values > budget - SOLVED_FOR + 1  # SAC takes so long or longer
    never = f"{budget} (never: {budget - SOLVED_FOR + 2})"
    what = f"episodes to solve, of {never}: sac − {SEVERAL} × sac_deep"
    return weigh(what, [sac, deep], saved.mask(bound, saved.clip(lower=0)), HIGHER, 1)


def _as_fast_as_original(evidence: Evidence, task: str) -> tuple[Part, Part]:
    """Whether DEEP solves an explore task, and learns it as fast as the original."""
    original = lookup(task).partner or ""
    budget = min(evidence.budget(name, "sac_deep") for name in (task, original))
    here, there = (evidence.whole("sac_deep", name, budget) for name in (task, original))
    what = f"mean return, episodes 1-{budget}: sac_deep here − on {original}"
    return (
        measure(_last(budget), evidence.final("sac_deep", task, budget), Limits(low=SOLVED)),
        weigh(what, [here, there], here.values - there.values, NOT_WORSE),
    )
