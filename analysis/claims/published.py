"""The published numbers that are still available, and ours at the same episodes.

The paper shows figures only; these numbers are from notebooks in its authors' repository. For all
other claims there are none.
"""

from collections.abc import Mapping
from typing import NamedTuple

from analysis.claims.hypothesis_tests import Limits, measure
from analysis.claims.samples import Evidence
from analysis.stats.intervals import Estimate

_GRID, _HALLWAY = "GridWorld", "HallwayLocalOptimum"


class Published(NamedTuple):
    """One published curve, by training episode."""

    agent: str  # our label of it
    values: Mapping[int, float]


class Comparison(NamedTuple):
    """Published curves of one experiment, and the task and column of ours to compare with."""

    title: str
    task: str
    column: str  # return or coverage
    curves: tuple[Published, ...]
    remark: str = ""


def _curve(agent: str, episodes: str, values: str) -> Published:
    pairs = zip(episodes.split(), values.split(), strict=True)
    return Published(agent, {int(episode): float(value) for episode, value in pairs})


_COVERAGE = "10 20 50 100 150 200"
_RETURNS = "100 150 200 300 500 800 990"
PUBLISHED: dict[str, tuple[Comparison, ...]] = {
    "C3": (
        Comparison(
            "Coverage without rewards; published: one seed, discount 0.97", _GRID, "coverage",
            (
                _curve("ddqn_deep.pure", _COVERAGE, ".150 .276 .588 .892 1 1"),
                _curve("ddqn_deep.pure_plain", _COVERAGE, ".154 .311 .564 .903 .964 .984"),
                _curve("ddqn_bbe.pure", _COVERAGE, ".100 .117 .242 .274 .289 .406"),
                _curve("random", "10 20 50 100 150", ".096 .101 .142 .175 .193"),
            ),
            "Published, mean of four seeds: all states visited after 135.8 episodes (DEEP), 564.7 "
            "(without optimism) and 655 (slow adaptation); BBE and random actions not within 999. "
            "Its BBE made 50 updates of 128 transitions after each episode, with learning rate "
            "0.001. Its slow adaptation is not ours, and not compared: it had no optimism, learned "
            "from bonuses as they were logged, and made 50 updates after each episode. Ours makes "
            "DEEP's updates when the episode ends, and differs in nothing else.",
        ),
    ),
    "C4": (
        Comparison(
            "Evaluation return with the goal's reward; published: four seeds, earlier settings",
            _GRID, "return",
            (
                _curve("ddqn_deep", _RETURNS, "0 0 7.8 22.6 22.9 22.8 23"),
                _curve("ddqn_bbe", _RETURNS, "0 .1 0 0 0 4.8 8.8"),
                _curve("ddqn", _RETURNS, "0 0 0 0 0 0 0"),
            ),
            "The published runs are of archived code with settings of its own: exploration "
            "discount 0.97, and another DDQN with learning rate 0.001 and 50 updates of 128 "
            "transitions after each episode. The coverage at episode 100 is only in a figure.",
        ),
    ),
    "C5": (
        Comparison(
            "Evaluation return; published: one seed, a near goal of radius 1, indicative only",
            _HALLWAY, "return",
            (
                _curve("sac", "30 50 75", "98 733 860"),
                _curve("sac_deep", "10 20", "720 877"),
            ),
        ),
        Comparison(
            "Evaluation return; published: one seed, no near goal, indicative only",
            _HALLWAY, "return",
            (
                _curve("sac", "75 100", "0 0"),
                _curve("sac_deep", "75 100", "247 824"),
            ),
        ),
    ),
    "C9": (
        Comparison(
            "Evaluation return; published: one seed of an earlier reacher with a fixed start, "
            "indicative only",
            "ReacherExplore", "return",
            (
                _curve("sac", "10 20 30 50 75 100", "2 1 25 292 615 659"),
                _curve("sac_deep", "10 20 30 50 75 100", "1 289 514 772 872 971"),
            ),
        ),
    ),
}  # fmt: skip


def ours(evidence: Evidence, comparison: Comparison, agent: str, episode: int) -> Estimate:
    """The mean over seeds of our finished runs at that episode, not smoothed."""
    if comparison.column == "coverage":
        sample = evidence.coverage(agent, comparison.task, episode)
    else:
        sample = evidence.returns(agent, comparison.task, episode, episode)
    return measure("", sample, Limits()).estimate
