"""Tests of the claims about settings, C14 to C16.

They need runs of variants; the agents' settings say what each variant changes.
"""

from collections.abc import Sequence

import pandas as pd

from analysis.claims import hypothesis_tests as ht
from analysis.claims.control import score_test
from analysis.claims.samples import Evidence, Sample
from analysis.stats.comparison import TOLERANCE
from explore_suite.tasks import CONTROL, EXPLORE

SCALES = ("sac_bbe.scale_0.01", "sac_bbe.scale_0.1", "sac_bbe.scale_10")
KERNELS = ("sac_deep.kernel_third", "sac_deep.kernel_triple")
SMALL_TABLE, FULL_TABLE = "sac_deep.rows_512", "sac_deep.rows_all"


def bonus_scale(evidence: Evidence) -> ht.Verdict:
    """C14: BBE's score against that with other bonus scales, over the suite and by task."""
    by_task = [
        score_test(evidence, task, "sac_bbe", other, ht.HIGHER)
        for task in CONTROL
        for other in SCALES
    ]
    return ht.all_of((_over_the_suite(evidence, "sac_bbe", other) for other in SCALES), by_task)


def kernel_scale(evidence: Evidence) -> ht.Verdict:
    """C15: DEEP's score with narrower and wider kernels against that with the task's own."""
    tests = (
        score_test(evidence, task, other, "sac_deep", ht.EQUAL)
        for task in EXPLORE
        for other in KERNELS
    )
    return ht.all_of(ht.require_learned(test, "sac_deep") for test in tests)


def table_size(evidence: Evidence) -> ht.Verdict:
    """C16: DEEP's mean coverage with a small count table, relative to that with a full one."""
    return ht.all_of(_coverage_ratio(evidence, task) for task in EXPLORE)


def _over_the_suite(evidence: Evidence, agent: str, other: str) -> ht.Test:
    """Mean scores over all tasks compared; both agents need runs on every task."""
    mine, theirs = ([evidence.score(name, task) for task in CONTROL] for name in (agent, other))
    x, y = Sample(agent, ht.ALL_TASKS, _mean(mine)), Sample(other, ht.ALL_TASKS, _mean(theirs))
    return ht.mean_test(
        "score, mean over tasks", f"{agent} − {other}",
        [x, y], x.values - y.values, ht.HIGHER, sources=[*mine, *theirs],
    )  # fmt: skip


def _mean(samples: Sequence[Sample]) -> pd.Series:
    """The mean over tasks, of the seeds that all of them have."""
    return pd.concat([sample.values for sample in samples], axis=1).mean(1, skipna=False).dropna()


def _coverage_ratio(evidence: Evidence, task: str) -> ht.Test:
    budget = evidence.budget(task, SMALL_TABLE, FULL_TABLE)
    x, y = (evidence.mean_coverage(agent, task, budget) for agent in (SMALL_TABLE, FULL_TABLE))
    return ht.mean_test(
        f"mean coverage, episodes 1-{budget}", f"{SMALL_TABLE} / {FULL_TABLE}",
        [x, y], x.values / y.values, ht.Limits(1 - TOLERANCE, 1 + TOLERANCE),
    )  # fmt: skip
