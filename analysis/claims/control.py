"""Tests of the claims about the control suite, C7 to C13 and C17.

Returns and scores are normalised: 0 is the mean return of random actions, 1 the best known or its
bound. The final return is the mean over the last 20 evaluations of the budget over which agents are
compared, the mean return that over all of them.
"""

from collections.abc import Iterable, Sequence

from analysis.claims import hypothesis_tests as ht
from analysis.claims.samples import FINAL_EPISODES, Evidence, scored
from explore_suite.tasks import CONTROL, EXPLORE, ORIGINAL, lookup

SEVERAL = 2  # the smallest "several-fold": a budget of 110 episodes can show little more
SOLVED = 0.5  # of the best return
SOLVED_FOR = 10  # evaluations whose mean must be above SOLVED, too
MANY = 2  # explore tasks of four: the claim's "many sparse tasks"


def no_cost_on_originals(evidence: Evidence) -> ht.Verdict:
    """C7: DEEP's final return against SAC's, on the originals."""
    return _never_worse_final(evidence, "sac_deep", "sac", ORIGINAL)


def bonus_costs_on_originals(evidence: Evidence) -> ht.Verdict:
    """C8: BBE's final return against SAC's, on the originals."""
    return ht.exactly({ht.Outcome.WORSE: 2, ht.Outcome.EQUAL: 2}, _bonus(evidence, ORIGINAL))


def best_on_explore(evidence: Evidence) -> ht.Verdict:
    """C9: DEEP's final and mean return against SAC's and BBE's, on the explore tasks."""
    return ht.all_of(
        test(evidence, task, "sac_deep", other, ht.HIGHER)
        for task in EXPLORE
        for other in ("sac", "sac_bbe")
        for test in (_final, _mean)
    )


def bonus_mixed_on_explore(evidence: Evidence) -> ht.Verdict:
    """C10: BBE's final return against SAC's, on the explore tasks."""
    return ht.exactly({ht.Outcome.BETTER: 2, ht.Outcome.WORSE: 2}, _bonus(evidence, EXPLORE))


def after_100_episodes(evidence: Evidence) -> ht.Verdict:
    """C11: DEEP's score against SAC's and BBE's, on all tasks."""
    tests = (
        score_test(evidence, task, "sac_deep", other, ht.NOT_WORSE)
        for task in CONTROL
        for other in ("sac", "sac_bbe")
    )
    return ht.all_of(ht.require_learned(test, "sac_deep") for test in tests)


def never_worse(evidence: Evidence) -> ht.Verdict:
    """C12: DEEP's final and mean return against SAC's, on all tasks."""
    tests = []
    for task in CONTROL:
        final = _final(evidence, task, "sac_deep", "sac", ht.NOT_WORSE)
        mean = _mean(evidence, task, "sac_deep", "sac", ht.NOT_WORSE)
        tests += [ht.require_learned(test, "sac_deep", shown_by=final) for test in (final, mean)]
    return ht.all_of(tests)


def two_q_never_better(evidence: Evidence) -> ht.Verdict:
    """C13: BBE's final return against that of SAC 2Q, on all tasks."""
    return _never_worse_final(evidence, "sac_bbe", "sac_2q", CONTROL)


def data_efficiency(evidence: Evidence) -> ht.Verdict:
    """C17: SAC's episodes to solve against DEEP's; DEEP on explore tasks against originals."""
    faster = [_times_faster(evidence, task) for task in EXPLORE]
    as_fast = [_as_fast_as_original(evidence, task) for task in EXPLORE]
    by_task = zip(faster, as_fast, strict=True)
    tests = tuple(test for one, pair in by_task for test in (one, *pair))
    many = ht.at_least(MANY, [ht.every(_corrected(pair, len(tests))) for pair in as_fast])
    return ht.Verdict(ht.every([*_corrected(faster, len(tests)), many]), tests)


def score_test(evidence: Evidence, task: str, agent: str, other: str, limits: ht.Limits) -> ht.Test:
    """Tests the difference of two agents' scores on a task."""
    x, y = (evidence.score(name, task) for name in (agent, other))
    return ht.paired_test(scored(task), x, y, limits)


def _corrected(tests: Iterable[ht.Test], n_tests: int) -> list[ht.Outcome]:
    return [ht.corrected(test, n_tests) for test in tests]


def _never_worse_final(
    evidence: Evidence, agent: str, other: str, tasks: Sequence[str]
) -> ht.Verdict:
    tests = (_final(evidence, task, agent, other, ht.NOT_WORSE) for task in tasks)
    return ht.all_of(ht.require_learned(test, agent) for test in tests)


def _bonus(evidence: Evidence, tasks: Sequence[str]) -> list[ht.Test]:
    return [_final(evidence, task, "sac_bbe", "sac", ht.EQUAL) for task in tasks]


def _final(evidence: Evidence, task: str, agent: str, other: str, limits: ht.Limits) -> ht.Test:
    budget = evidence.budget(task, agent, other)
    x, y = (evidence.final_return(name, task, budget) for name in (agent, other))
    return ht.paired_test(_final_quantity(budget), x, y, limits)


def _mean(evidence: Evidence, task: str, agent: str, other: str, limits: ht.Limits) -> ht.Test:
    budget = evidence.budget(task, agent, other)
    x, y = (evidence.mean_return(name, task, budget) for name in (agent, other))
    return ht.paired_test(f"mean return, episodes 1-{budget}", x, y, limits)


def _final_quantity(budget: int) -> str:
    return f"final return, episodes {budget - FINAL_EPISODES + 1}-{budget}"


def _times_faster(evidence: Evidence, task: str) -> ht.Test:
    """Whether SAC takes several times as many episodes to solve a task."""
    budget = evidence.budget(task, "sac", "sac_deep")
    level = SOLVED * lookup(task).best_return
    sac, deep = (
        evidence.first_above(agent, task, level, budget, SOLVED_FOR)
        for agent in ("sac", "sac_deep")
    )
    saved = sac.values - SEVERAL * deep.values
    never = budget - SOLVED_FOR + 2
    # Of an unsolved SAC run only a lower bound is known; a negative one says nothing.
    saved = saved.mask(sac.values >= never, saved.clip(lower=0))
    quantity = f"episodes to solve, of {budget} (never: {never})"
    contrast = f"sac − {SEVERAL} × sac_deep"
    return ht.mean_test(quantity, contrast, [sac, deep], saved, ht.HIGHER, digits=1)


def _as_fast_as_original(evidence: Evidence, task: str) -> tuple[ht.Test, ht.Test]:
    """Whether DEEP solves an explore task, and learns it as fast as the original."""
    original = lookup(task).partner or ""
    budget = min(evidence.budget(name, "sac_deep") for name in (task, original))
    final = evidence.final_return("sac_deep", task, budget)
    here, there = (evidence.mean_return("sac_deep", name, budget) for name in (task, original))
    quantity, contrast = f"mean return, episodes 1-{budget}", f"sac_deep here − on {original}"
    return (
        ht.measure(_final_quantity(budget), final, ht.Limits(low=SOLVED)),
        ht.mean_test(quantity, contrast, [here, there], here.values - there.values, ht.NOT_WORSE),
    )
