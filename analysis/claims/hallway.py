"""Tests of the claims about the hallways, C5 and C6."""

import pandas as pd

from analysis.claims import hypothesis_tests as ht
from analysis.claims.samples import Evidence, Sample, scored
from explore_suite.tasks import lookup

NEAR_GOAL = 96.0  # the return of staying at the near goal of HallwayLocalOptimum
STUCK = 150.0  # a score below shows a run at the near goal: the far one pays 832.9
REACHED = 0.5  # of the best return: only the best goal pays more
MOST, FEW = ht.Limits(low=0.5), ht.Limits(high=0.5)  # of an agent's runs


def local_optimum(evidence: Evidence) -> ht.Verdict:
    """C5: share of SAC runs at the near goal and ever at the far one; DEEP's score."""
    task = "HallwayLocalOptimum"
    sac, deep = (evidence.plain_score(agent, task) for agent in ("sac", "sac_deep"))
    near = sac.values.between(REACHED * NEAR_GOAL, STUCK, inclusive="neither")
    budget, level = evidence.budget(task, "sac"), REACHED * lookup(task).best_return
    first = evidence.first_above("sac", task, level, budget)
    at_near, ever_far = _indicator(sac, near), _indicator(first, first.values <= budget)
    tests = [
        ht.measure_share(f"share of runs at the near goal, {scored(task)}", at_near, MOST),
        ht.measure_share(f"share of runs ever at the far goal, {budget} episodes", ever_far, FEW),
        ht.measure(scored(task), deep, ht.Limits(low=level), digits=1),
    ]
    return ht.all_of(tests)


def adversarial(evidence: Evidence) -> ht.Verdict:
    """C6: first episode at the goal, DEEP against SAC; share of DEEP runs that get there."""
    task = "HallwayAdversarial"
    budget = evidence.budget(task, "sac", "sac_deep")
    level = REACHED * lookup(task).best_return
    sac, deep = (evidence.first_above(agent, task, level, budget) for agent in ("sac", "sac_deep"))
    quantity = f"first episode at the goal, of {budget} (never: {budget + 1})"
    found = _indicator(deep, deep.values <= budget)
    tests = [
        ht.paired_test(quantity, deep, sac, ht.HIGHER, digits=1),
        ht.measure_share(f"share of runs at the goal, within {budget} episodes", found, MOST),
    ]
    return ht.all_of(tests)


def _indicator(sample: Sample, which: pd.Series) -> Sample:
    """1 for each run for which `which` is true, else 0."""
    return sample._replace(values=which.astype(float))
