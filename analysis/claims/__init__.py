"""CLAIMS and SOURCES: what the paper claims, and where. A new claim is a function and two lines.

The first line of the function's docstring states the claim, the rest is the criterion, written with
the published numbers and a prototype in sight. All tests are of means over seeds with 95 %
intervals, paired by seed where agents are compared: `part` says how an interval decides, `verdict`
how tests decide together.
"""

import inspect
from collections.abc import Callable

from analysis.claims import ablations, control, grid, hallway
from analysis.claims.hypothesis_tests import Verdict
from analysis.claims.samples import Evidence

Claim = Callable[[Evidence], Verdict]

CLAIMS: dict[str, Claim] = {
    "C1": grid.warm_start_return,
    "C2": grid.warm_start_coverage,
    "C3": grid.pure_exploration,
    "C4": grid.coverage_at_100,
    "C5": hallway.local_optimum,
    "C6": hallway.adversarial,
    "C7": control.no_cost_on_originals,
    "C8": control.bonus_costs_on_originals,
    "C9": control.best_on_explore,
    "C10": control.bonus_mixed_on_explore,
    "C11": control.after_100_episodes,
    "C12": control.never_worse,
    "C13": control.two_q_never_better,
    "C14": ablations.bonus_scale,
    "C15": ablations.kernel_scale,
    "C16": ablations.table_size,
    "C17": control.data_efficiency,
}
_WARM = "Figure of the warm-started grid-world"
_STATES = "Figure of the grid-world's states in the appendix"
_HALLWAY, _CURVES = "Figure of the hallways", "Learning curves of the control suite"
_TWO_Q = "Section on baselines, and the additional benchmark results"
SOURCES = {  # where the paper claims it
    "C1": f"{_WARM}, (a)",
    "C2": f"{_WARM}, (b)",
    "C3": "Figure of pure exploration, and the paragraph on slow adaptation beside it",
    "C4": _STATES,
    "C5": f"{_HALLWAY}, local optimum",
    "C6": f"{_HALLWAY}, adversarial",
    "C7": f"{_CURVES}, original tasks",
    "C8": f"{_CURVES}, original tasks",
    "C9": f"{_CURVES}, explore tasks",
    "C10": f"{_CURVES}, explore tasks",
    "C11": "Bar chart of the control suite after 100 episodes",
    "C12": "Results and conclusion",
    "C13": f"{_TWO_Q}, which call it worse throughout; only that it is not better is tested",
    "C14": "Section on baselines",
    "C15": "Appendix on pseudo-counts, the kernel",
    "C16": "Appendix on pseudo-counts, eviction",
    "C17": "Abstract",
}


def statement(claim: Claim) -> str:
    """What is claimed, in one sentence."""
    return _text(claim)[0]


def criterion(claim: Claim) -> str:
    """What must be seen for the claim to hold, as one paragraph."""
    return _text(claim)[1]


def _text(claim: Claim) -> tuple[str, str]:
    first, _, rest = (inspect.getdoc(claim) or "").partition("\n")
    return first, " ".join(rest.split())
