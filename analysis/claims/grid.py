"""The paper's claims about the grid world, C1 to C4."""

from analysis.claims.hypothesis_tests import (
    HIGHER,
    TOLERANCE,
    Limits,
    Verdict,
    all_of,
    compare,
    measure,
    weigh,
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


def warm_start_return(evidence: Evidence) -> Verdict:
    """Warm-started, DDQN soon finds the optimum and DEEP as soon; BBE stays below.

    GridWorld, the first 20 episodes played by a skilled policy; own episodes are those after it.
    (1) DDQN soon finds it: its mean evaluation return over own episodes 91-100 is above 90 % of the
    best, 20.7. (2) DEEP as soon: its mean evaluation return over all own episodes to 280 is less
    than 10 % of the best (2.3) below DDQN's. (3) BBE stays below: its score is lower than DDQN's by
    more than that.
    """
    ddqn, bbe, deep = (f"{name}.warm" for name in ("ddqn", "ddqn_bbe", "ddqn_deep"))
    own = WARM_EPISODES + 1, LAST
    soon = evidence.returns(ddqn, TASK, WARM_EPISODES + 91, WARM_EPISODES + AFTER_100)
    parts = (
        measure("return, own episodes 91-100", soon, Limits(low=(1 - TOLERANCE) * BEST), 1),
        compare("return, own episodes 1-280", evidence.returns(deep, TASK, *own),
                evidence.returns(ddqn, TASK, *own), _NOT_WORSE, digits=1),
        compare(scored(TASK), evidence.plain_score(bbe, TASK), evidence.plain_score(ddqn, TASK),
                _WORSE, digits=1),
    )  # fmt: skip
    return all_of(parts)


def warm_start_coverage(evidence: Evidence) -> Verdict:
    """Warm-started, DDQN stops exploring, BBE goes on slowly, DEEP explores far more, free of cost.

    GridWorld, the first 20 episodes played by a skilled policy; own episodes are those after it,
    and growth is the coverage gained in them. (1) DDQN's growth to own episode 280 is below 0.1.
    (2) BBE's is higher than DDQN's, and (3) steady: more than a quarter of it falls into the second
    half. (4) DEEP's growth to own episode 100 is more than 1.5 times BBE's. (5) DEEP's score is
    less than 10 % of the best (2.3) below DDQN's.
    """
    ddqn, bbe, deep = (f"{name}.warm" for name in ("ddqn", "ddqn_bbe", "ddqn_deep"))
    half, soon = (WARM_EPISODES + LAST) // 2, WARM_EPISODES + AFTER_100
    growth = {agent: _growth(evidence, agent, WARM_EPISODES, LAST) for agent in (ddqn, bbe)}
    late = _growth(evidence, bbe, half, LAST)
    parts = (
        measure("growth, own episodes 1-280", growth[ddqn], Limits(high=TOLERANCE)),
        compare("growth, own episodes 1-280", growth[bbe], growth[ddqn], HIGHER),
        weigh(f"growth of {bbe}: in the second half − {STEADY:g} × all", [late],
              late.values - STEADY * growth[bbe].values, HIGHER),
        compare("growth, own episodes 1-100", _growth(evidence, deep, WARM_EPISODES, soon),
                _growth(evidence, bbe, WARM_EPISODES, soon), HIGHER, factor=MUCH),
        compare(scored(TASK), evidence.plain_score(deep, TASK), evidence.plain_score(ddqn, TASK),
                _NOT_WORSE, digits=1),
    )  # fmt: skip
    return all_of(parts)


def pure_exploration(evidence: Evidence) -> Verdict:
    """Without rewards BBE covers states much faster than random actions, DEEP much faster than BBE.

    GridWorld, behaviour that no reward reaches; coverage after episode 100. (1) BBE's is more than
    1.5 times that of uniformly random actions. (2) DEEP's is more than 1.5 times BBE's.
    """
    uniform, bbe, deep = (
        evidence.coverage(agent, TASK, AFTER_100)
        for agent in ("random", "ddqn_bbe.pure", "ddqn_deep.pure")
    )
    what = f"coverage, episode {AFTER_100}"
    parts = (
        compare(what, bbe, uniform, HIGHER, factor=MUCH),
        compare(what, deep, bbe, HIGHER, factor=MUCH),
    )
    return all_of(parts)


def coverage_at_100(evidence: Evidence) -> Verdict:
    """After 100 episodes DEEP has visited most states, BBE and DDQN a small fraction.

    GridWorld without warm start; coverage after episode 100. (1) DEEP's is above 1/2. (2) BBE's and
    (3) DDQN's are below 1/3.
    """
    limits = {"ddqn_deep": Limits(low=MOST), "ddqn_bbe": Limits(high=SMALL),
              "ddqn": Limits(high=SMALL)}  # fmt: skip
    parts = tuple(
        measure(f"coverage, episode {AFTER_100}", evidence.coverage(agent, TASK, AFTER_100), limit)
        for agent, limit in limits.items()
    )
    return all_of(parts)


def _growth(evidence: Evidence, agent: str, first: int, last: int) -> Sample:
    """Coverage gained between two episodes."""
    before, after = (evidence.coverage(agent, TASK, episode) for episode in (first, last))
    return after._replace(values=(after.values - before.values).dropna())
