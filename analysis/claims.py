"""CLAIMS: what the paper claims. A new claim is a function of Evidence and a line here.

The first line of the function's docstring states the claim, the rest is the criterion, written with
the published numbers and a prototype in sight. All tests are of means over seeds with 95 %
intervals, paired by seed where agents are compared: `part` says how an interval decides, `verdict`
how tests decide together.
"""

import inspect
from collections.abc import Callable

from analysis import claims_control, claims_grid, claims_hallway, claims_settings
from analysis.evidence import Evidence
from analysis.verdict import Verdict

Claim = Callable[[Evidence], Verdict]

CLAIMS: dict[str, Claim] = {
    "C1": claims_grid.warm_start_return,
    "C2": claims_grid.warm_start_coverage,
    "C3": claims_grid.pure_exploration,
    "C4": claims_grid.coverage_at_100,
    "C5": claims_hallway.local_optimum,
    "C6": claims_hallway.adversarial,
    "C7": claims_control.no_cost_on_originals,
    "C8": claims_control.bonus_costs_on_originals,
    "C9": claims_control.best_on_explore,
    "C10": claims_control.bonus_mixed_on_explore,
    "C11": claims_control.after_100_episodes,
    "C12": claims_control.never_worse,
    "C13": claims_control.two_q_never_better,
    "C14": claims_settings.bonus_scale,
    "C15": claims_settings.kernel_scale,
    "C16": claims_settings.table_size,
    "C17": claims_control.data_efficiency,
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
