"""The paper's claims about the hallways, C5 and C6."""

from analysis.evidence import Evidence, scored
from analysis.part import HIGHER, Limits, compare, measure
from analysis.verdict import Verdict, all_of
from explore_suite.tasks import lookup

NEAR_GOAL = 96.0  # the return of staying at the near goal of HallwayLocalOptimum
STUCK = 150.0  # a mean score below is that of the near goal: the far one pays 832.9
REACHED = 0.5  # of the best return: more cannot be had without the best goal


def local_optimum(evidence: Evidence) -> Verdict:
    """SAC stays at the near goal that pays 0.1; DEEP passes it and reaches the far one that pays 1.

    HallwayLocalOptimum, mean scores. (1) SAC finds the near goal: its score is above half of what
    that goal pays, 48. (2) SAC stays there: its score is below 150. (3) DEEP reaches the far goal:
    its score is above half of the best, 416.45.
    """
    task = "HallwayLocalOptimum"
    sac, deep = (evidence.plain_score(agent, task) for agent in ("sac", "sac_deep"))
    parts = (
        measure(scored(task), sac, Limits(low=REACHED * NEAR_GOAL), 1),
        measure(scored(task), sac, Limits(high=STUCK), 1),
        measure(scored(task), deep, Limits(low=REACHED * lookup(task).best_return), 1),
    )
    return all_of(parts)


def adversarial(evidence: Evidence) -> Verdict:
    """SAC finds the tiny near goal sooner than DEEP; DEEP finds it in the end.

    HallwayAdversarial; a run finds the goal at the first episode whose evaluation returns more than
    half of the best, 490.55, or else one episode after its budget. (1) DEEP's mean first episode is
    later than SAC's. (2) More than half of DEEP's runs find it within the budget.
    """
    task = "HallwayAdversarial"
    budget = evidence.budget(task, "sac", "sac_deep")
    level = REACHED * lookup(task).best_return
    sac, deep = (evidence.first_above(agent, task, level, budget) for agent in ("sac", "sac_deep"))
    found = deep._replace(values=(deep.values <= budget).astype(float))
    parts = (
        compare(f"first episode at the goal, of {budget}", deep, sac, HIGHER, digits=1),
        measure(f"share of runs at the goal within {budget}", found, Limits(low=0.5)),
    )
    return all_of(parts)
