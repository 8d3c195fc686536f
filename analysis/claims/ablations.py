"""Tests of the claims about settings, C14 to C16.

They need runs of variants; the agents' settings say what each variant changes.
"""

from collections.abc import Sequence

import pandas as pd

from analysis.claims.hypothesis_tests import (
    ALL_TASKS,
    EQUAL,
    HIGHER,
    TOLERANCE,
    Limits,
    Test,
    Verdict,
    all_of,
    compare,
    mean_test,
    require_learned,
)
from analysis.claims.samples import Evidence, Sample, scored
from explore_suite.tasks import CONTROL, EXPLORE

SCALES = ("sac_bbe.scale_0.01", "sac_bbe.scale_0.1", "sac_bbe.scale_10")
KERNELS = ("sac_deep.kernel_third", "sac_deep.kernel_triple")
SMALL_TABLE, FULL_TABLE = "sac_deep.rows_512", "sac_deep.rows_all"


def bonus_scale(evidence: Evidence) -> Verdict:
    """C14: BBE's score against that with other bonus scales, over the suite and by task."""
    by_task = [
        compare(scored(task), evidence.score("sac_bbe", task), evidence.score(other, task), HIGHER)
        for task in CONTROL
        for other in SCALES
    ]
    return all_of((_over_the_suite(evidence, "sac_bbe", other) for other in SCALES), by_task)


def kernel_scale(evidence: Evidence) -> Verdict:
    """C15: DEEP's score with narrower and wider kernels against that with the task's own."""
    tests = (
        compare(scored(task), evidence.score(other, task), evidence.score("sac_deep", task), EQUAL)
        for task in EXPLORE
        for other in KERNELS
    )
    return all_of(require_learned(test, "sac_deep") for test in tests)


def table_size(evidence: Evidence) -> Verdict:
    """C16: DEEP's mean coverage with a small count table, relative to that with a full one."""
    return all_of(_coverage_ratio(evidence, task) for task in EXPLORE)


def _over_the_suite(evidence: Evidence, agent: str, other: str) -> Test:
    """Mean scores over all tasks compared; both agents need runs on every task."""
    mine, theirs = ([evidence.score(name, task) for task in CONTROL] for name in (agent, other))
    x, y = Sample(agent, ALL_TASKS, _mean(mine)), Sample(other, ALL_TASKS, _mean(theirs))
    return mean_test(
        "score, mean over tasks", f"{agent} − {other}",
        [x, y], x.values - y.values, HIGHER, sources=[*mine, *theirs],
    )  # fmt: skip


def _mean(samples: Sequence[Sample]) -> pd.Series:
    """The mean over tasks, of the seeds that all of them have."""
    return pd.concat([sample.values for sample in samples], axis=1).mean(1, skipna=False).dropna()


def _coverage_ratio(evidence: Evidence, task: str) -> Test:
    budget = evidence.budget(task, SMALL_TABLE, FULL_TABLE)
    x, y = (evidence.mean_coverage(agent, task, budget) for agent in (SMALL_TABLE, FULL_TABLE))
    return mean_test(
        f"mean coverage, episodes 1-{budget}", f"{SMALL_TABLE} / {FULL_TABLE}",
        [x, y], x.values / y.values, Limits(1 - TOLERANCE, 1 + TOLERANCE),
    )  # fmt: skip
