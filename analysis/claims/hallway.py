"""The paper's claims about the hallways, C5 and C6."""

import pandas as pd

from analysis.claims.hypothesis_tests import HIGHER, Limits, Verdict, all_of, compare, measure
from analysis.claims.samples import Evidence, Sample, scored
from explore_suite.tasks import lookup

NEAR_GOAL = 96.0  # the return of staying at the near goal of HallwayLocalOptimum
STUCK = 150.0  # a score below is that of the near goal: the far one pays 832.9
REACHED = 0.5  # of the best return: more cannot be had without the best goal
MOST, FEW = Limits(low=0.5), Limits(high=0.5)  # of an agent's runs


def local_optimum(evidence: Evidence) -> Verdict:
    """SAC stays at the near goal that pays 0.1; DEEP passes it and reaches the far one that pays 1.

    HallwayLocalOptimum. (1) SAC finds the near goal: more than half of its runs have a score above
    48, half of what that goal pays, and below 150. (2) SAC stays there: less than half of its runs
    ever have an evaluation above half of the best, 416.45. (3) DEEP reaches the far goal: its mean
    score is above half of the best.
    """
    task = "HallwayLocalOptimum"
    sac, deep = (evidence.plain_score(agent, task) for agent in ("sac", "sac_deep"))
    near = sac.values.between(REACHED * NEAR_GOAL, STUCK, inclusive="neither")
    budget, level = evidence.budget(task, "sac"), REACHED * lookup(task).best_return
    first = evidence.first_above("sac", task, level, budget)
    parts = (
        measure(f"share of runs at the near goal, {scored(task)}", _share(sac, near), MOST),
        measure(f"share of runs ever at the far goal, of {budget} episodes",
                _share(first, first.values <= budget), FEW),
        measure(scored(task), deep, Limits(low=level), 1),
    )  # fmt: skip
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
    never = f"{budget} (never: {budget + 1})"
    found = _share(deep, deep.values <= budget)
    parts = (
        compare(f"first episode at the goal, of {never}", deep, sac, HIGHER, digits=1),
        measure(f"share of runs at the goal within {budget}", found, MOST),
    )
    return all_of(parts)


def _share(sample: Sample, which: pd.Series) -> Sample:
    """One for each run of which it is true, else zero."""
    return sample._replace(values=which.astype(float))
