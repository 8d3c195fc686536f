"""Tests of the claims about the control suite, C7 to C13 and C17.

Returns and scores are normalised: 0 is the mean return of random actions, 1 the best known or its
bound. The final return is the mean over the last 20 evaluations of the budget over which agents are
compared, the mean return that over all of them.
"""

from collections.abc import Iterable, Sequence

from analysis.claims.hypothesis_tests import (
    EQUAL,
    HIGHER,
    NOT_WORSE,
    Limits,
    Outcome,
    Test,
    Verdict,
    all_of,
    at_least,
    compare,
    corrected,
    every,
    exactly,
    mean_test,
    measure,
    require_learned,
)
from analysis.claims.samples import FINAL_EPISODES, Evidence, scored
from explore_suite.tasks import CONTROL, EXPLORE, ORIGINAL, lookup

SEVERAL = 2  # "several-fold", read as modestly as can be: a budget of 110 shows little more
SOLVED = 0.5  # of the best return
SOLVED_FOR = 10  # evaluations in a row, on average
MANY = 2  # of the four explore tasks


def no_cost_on_originals(evidence: Evidence) -> Verdict:
    """C7: DEEP's final return against SAC's, on the originals."""
    return _never_worse_final(evidence, "sac_deep", "sac", ORIGINAL)


def bonus_costs_on_originals(evidence: Evidence) -> Verdict:
    """C8: BBE's final return against SAC's, on the originals."""
    return exactly({Outcome.WORSE: 2, Outcome.EQUAL: 2}, _bonus(evidence, ORIGINAL))


def best_on_explore(evidence: Evidence) -> Verdict:
    """C9: DEEP's final and mean return against SAC's and BBE's, on the explore tasks."""
    return all_of(
        test(evidence, task, "sac_deep", other, HIGHER)
        for task in EXPLORE
        for other in ("sac", "sac_bbe")
        for test in (_final, _mean)
    )


def bonus_mixed_on_explore(evidence: Evidence) -> Verdict:
    """C10: BBE's final return against SAC's, on the explore tasks."""
    return exactly({Outcome.BETTER: 2, Outcome.WORSE: 2}, _bonus(evidence, EXPLORE))


def after_100_episodes(evidence: Evidence) -> Verdict:
    """C11: DEEP's score against SAC's and BBE's, on all tasks."""
    tests = (
        compare(scored(task), evidence.score("sac_deep", task), evidence.score(other, task),
                NOT_WORSE)
        for task in CONTROL
        for other in ("sac", "sac_bbe")
    )  # fmt: skip
    return all_of(require_learned(test, "sac_deep") for test in tests)


def never_worse(evidence: Evidence) -> Verdict:
    """C12: DEEP's final and mean return against SAC's, on all tasks."""
    tests = []
    for task in CONTROL:
        final = _final(evidence, task, "sac_deep", "sac", NOT_WORSE)
        mean = _mean(evidence, task, "sac_deep", "sac", NOT_WORSE)
        tests += [require_learned(test, "sac_deep", shown_by=final) for test in (final, mean)]
    return all_of(tests)


def two_q_never_better(evidence: Evidence) -> Verdict:
    """C13: BBE's final return against that of SAC 2Q, on all tasks."""
    return _never_worse_final(evidence, "sac_bbe", "sac_2q", CONTROL)


def data_efficiency(evidence: Evidence) -> Verdict:
    """C17: SAC's episodes to solve against DEEP's; DEEP on explore tasks against originals."""
    faster = [_times_faster(evidence, task) for task in EXPLORE]
    as_fast = [_as_fast_as_original(evidence, task) for task in EXPLORE]
    by_task = zip(faster, as_fast, strict=True)
    tests = tuple(test for one, pair in by_task for test in (one, *pair))
    many = at_least(MANY, [every(_corrected(pair, len(tests))) for pair in as_fast])
    return Verdict(every([*_corrected(faster, len(tests)), many]), tests)


def _corrected(tests: Iterable[Test], n_tests: int) -> list[Outcome]:
    return [corrected(test, n_tests) for test in tests]


def _never_worse_final(evidence: Evidence, agent: str, other: str, tasks: Sequence[str]) -> Verdict:
    tests = (_final(evidence, task, agent, other, NOT_WORSE) for task in tasks)
    return all_of(require_learned(test, agent) for test in tests)


def _bonus(evidence: Evidence, tasks: Sequence[str]) -> list[Test]:
    return [_final(evidence, task, "sac_bbe", "sac", EQUAL) for task in tasks]


def _final(evidence: Evidence, task: str, agent: str, other: str, limits: Limits) -> Test:
    budget = evidence.budget(task, agent, other)
    x, y = (evidence.final_return(name, task, budget) for name in (agent, other))
    return compare(_final_quantity(budget), x, y, limits)


def _mean(evidence: Evidence, task: str, agent: str, other: str, limits: Limits) -> Test:
    budget = evidence.budget(task, agent, other)
    x, y = (evidence.mean_return(name, task, budget) for name in (agent, other))
    return compare(f"mean return, episodes 1-{budget}", x, y, limits)


def _final_quantity(budget: int) -> str:
    return f"final return, episodes {budget - FINAL_EPISODES + 1}-{budget}"


def _times_faster(evidence: Evidence, task: str) -> Test:
    """Whether SAC takes several times as many episodes to solve a task."""
    budget = evidence.budget(task, "sac", "sac_deep")
    level = SOLVED * lookup(task).best_return
    sac, deep = (
        evidence.first_above(agent, task, level, budget, SOLVED_FOR)
        for agent in ("sac", "sac_deep")
    )
    saved = sac.values - SEVERAL * deep.values
    never = budget - SOLVED_FOR + 2
    # Of an unsolved SAC run only a lower bound is known: if that is negative, nothing is.
    saved = saved.mask(sac.values >= never, saved.clip(lower=0))
    quantity = f"episodes to solve, of {budget} (never: {never})"
    contrast = f"sac − {SEVERAL} × sac_deep"
    return mean_test(quantity, contrast, [sac, deep], saved, HIGHER, digits=1)


def _as_fast_as_original(evidence: Evidence, task: str) -> tuple[Test, Test]:
    """Whether DEEP solves an explore task, and learns it as fast as the original."""
    original = lookup(task).partner or ""
    budget = min(evidence.budget(name, "sac_deep") for name in (task, original))
    final = evidence.final_return("sac_deep", task, budget)
    here, there = (evidence.mean_return("sac_deep", name, budget) for name in (task, original))
    quantity, contrast = f"mean return, episodes 1-{budget}", f"sac_deep here − on {original}"
    return (
        measure(_final_quantity(budget), final, Limits(low=SOLVED)),
        mean_test(quantity, contrast, [here, there], here.values - there.values, NOT_WORSE),
    )
