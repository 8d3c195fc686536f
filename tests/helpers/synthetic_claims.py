"""Invented runs whose claims are known beforehand: returns that jump once, and when.

Most have three seeds, with which the 95 % interval of a mean reaches 2.48 standard deviations to
either side. Shares of runs need at least four to hold and six to fail.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from scipy import stats

from analysis.claims.samples import Evidence
from analysis.stats.intervals import Estimate
from analysis.stats.results import Results
from explore_suite.runs.format import EpisodeRow, Run, fault
from explore_suite.runs.store import ResultStore
from explore_suite.tasks import CONTROL, EXPLORE, ORIGINAL, lookup
from tests.helpers import synthetic
from tests.helpers.synthetic import stored

GRID, NEAR, TINY = "GridWorld", "HallwayLocalOptimum", "HallwayAdversarial"
Course = Callable[[int], float]  # of a number, by episode
Levels = Sequence[float]  # one per seed


def run(
    agent: str, task: str, seed: int, episodes: int, earned: Course, covered: Course = lambda e: 0.0
) -> Run:
    """A finished run with these evaluation returns and this coverage of training."""
    header = synthetic.header(synthetic.Cell(agent, task, seed, episodes), finished=True)
    steps = lookup(task).horizon
    rows = [
        EpisodeRow(phase, e, e * steps, returned, steps, 0, covered(e), 1.0 * e)
        for e in range(1, episodes + 1)
        for phase, returned in (("train", 0.0), ("eval", earned(e)))
    ]
    return Run(header, rows)


def write(root: Path, runs: Iterable[Run]) -> None:
    """A store of these runs, finished or not as their headers say."""
    store = ResultStore(root)
    for one in runs:
        synthetic.put(store, one)


def evidence(runs: Iterable[Run]) -> Evidence:
    """The evidence of these runs; damaged ones are left out, as a store does."""
    sound = [one for one in runs if fault(*one) is None]
    return Evidence(Results(stored(sound)))


def student(*values: float) -> Estimate:
    """The mean of the values and its Student's t interval of level 95 %, by scipy."""
    low, high = stats.ttest_1samp(values, 0).confidence_interval(0.95)
    return Estimate(sum(values) / len(values), low, high, len(values))


def jump(start: float, level: float) -> Course:
    """Nothing before an episode, this much from there on."""
    return lambda episode: level if episode >= start else 0.0


def steady(levels: Mapping[str, Levels], tasks: Sequence[str], episodes: int) -> list[Run]:
    """Every agent earns its normalised level on every task in every evaluation, by seed."""
    runs = []
    for task in tasks:
        spec = lookup(task)
        span = spec.best_return - spec.random_return
        for agent, of_seeds in levels.items():
            for seed, level in enumerate(of_seeds):
                earned = jump(1, spec.random_return + level * span)
                runs.append(run(agent, task, seed, episodes, earned, jump(1, level)))
    return runs


def warm(returns: Mapping[str, Levels], speeds: Mapping[str, float]) -> list[Run]:
    """Warm-started grid runs: a level of returns by seed, coverage growing at a constant rate."""
    return [
        run(f"{agent}.warm", GRID, seed, 300, jump(21, level), _growing(0.1, 20, speeds[agent]))
        for agent, levels in returns.items()
        for seed, level in enumerate(levels)
    ]


def covering(at_100: Mapping[str, Levels]) -> list[Run]:
    """Grid runs that have covered this much after episode 100, by seed."""
    return [
        run(agent, GRID, seed, 110, jump(1, 0.0), _growing(0.0, 0, level / 100))
        for agent, levels in at_100.items()
        for seed, level in enumerate(levels)
    ]


def arriving(task: str, episodes: int, starts: Mapping[str, Levels], level: float) -> list[Run]:
    """Runs that earn nothing before an episode of their own, by seed, and this much afterwards."""
    return [
        run(agent, task, seed, episodes, jump(start, level))
        for agent, of_seeds in starts.items()
        for seed, start in enumerate(of_seeds)
    ]


def _growing(floor: float, since: int, rate: float) -> Course:
    return lambda episode: min(1.0, floor + rate * max(0, episode - since))


def bonus_against_sac(tasks: Sequence[str], differences: Sequence[Levels]) -> list[Run]:
    """SAC at one half, BBE so much above it, by task and seed."""
    return [
        one
        for task, values in zip(tasks, differences, strict=True)
        for one in steady({"sac": (0.5,) * 3, "sac_bbe": [0.5 + v for v in values]}, [task], 110)
    ]


def efficiency(deep: Levels, sac: Levels) -> list[Run]:
    """DEEP and SAC solve explore tasks at these episodes of 110, DEEP the originals at 10."""
    runs = [one for task in EXPLORE
            for one in arriving(task, 110, {"sac_deep": deep, "sac": sac}, 900.0)]  # fmt: skip
    return runs + [
        one for task in ORIGINAL for one in arriving(task, 110, {"sac_deep": (10,) * 3}, 900.0)
    ]


NEVER = 999  # an episode beyond every budget
GOOD, FAIR, POOR, MIXED = (0.9,) * 3, (0.6, 0.5, 0.4), (0.1,) * 3, (0.1, 0.5, 0.9)
# As far from FAIR in every seed: sure even as one test of many.
ABOVE, BELOW = (1.0, 0.9, 0.8), (0.2, 0.1, 0.0)
WORSE, EQUAL, BETTER, UNCLEAR = (
    (-0.4, -0.3, -0.2),
    (-0.03, 0, 0.03),
    (0.2, 0.3, 0.4),
    (-0.3, 0, 0.3),
)
SURELY_BETTER, SURELY_EQUAL = (0.3, 0.31, 0.32), (-0.01, 0, 0.01)
_BEST, _LOW, _WIDE = (23.0,) * 3, (5.0,) * 3, (3.0, 20.0, 23.0)
_SPEEDS = {"ddqn": 1e-4, "ddqn_bbe": 1e-3, "ddqn_deep": 5e-3}
SCALES = {f"sac_bbe.scale_{scale}": POOR for scale in ("0.01", "0.1", "10")}


def _c1(bbe: Levels, deep: Levels) -> list[Run]:
    return warm({"ddqn": _BEST, "ddqn_bbe": bbe, "ddqn_deep": deep}, _SPEEDS)


def _c2(deep: Levels, **speeds: float) -> list[Run]:
    return warm({"ddqn": _BEST, "ddqn_bbe": _LOW, "ddqn_deep": deep}, _SPEEDS | speeds)


def _c3(bbe: Levels) -> list[Run]:
    return covering({"random": (0.2,) * 3, "ddqn_bbe.pure": bbe, "ddqn_deep.pure": (0.95,) * 3})


def _c4(bbe: Levels) -> list[Run]:
    return covering({"ddqn": (0.1,) * 3, "ddqn_bbe": bbe, "ddqn_deep": (0.8, 0.78, 0.76)})


def local_optimum(*sac: float) -> list[Run]:
    """SAC earns so much on HallwayLocalOptimum, by seed; DEEP is at the far goal."""
    earned = {"sac": sac, "sac_deep": ((830.0, 800.0, 700.0) * 2)[: len(sac)]}
    return [
        run(agent, NEAR, seed, 100, jump(1, level))
        for agent, levels in earned.items()
        for seed, level in enumerate(levels)
    ]


def _c6(*deep: float) -> list[Run]:
    return arriving(TINY, 60, {"sac": (5, 6, 7, 8)[: len(deep)], "sac_deep": deep}, 900.0)


def _deep(deep: Levels, tasks: Sequence[str], episodes: int = 110) -> list[Run]:
    return steady({"sac_bbe": FAIR, "sac_deep": deep, "sac": FAIR}, tasks, episodes)


def _c13(two_q: Levels) -> list[Run]:
    return steady({"sac_2q": two_q, "sac_bbe": FAIR}, CONTROL, 110)


def _c14(bbe: Levels, others: Mapping[str, Levels] | None = None) -> list[Run]:
    return steady({"sac_bbe": bbe} | SCALES | dict(others or {}), CONTROL, 110)


def _c15(triple: Levels) -> list[Run]:
    third = "sac_deep.kernel_third"
    return steady({"sac_deep": FAIR, third: FAIR, "sac_deep.kernel_triple": triple}, EXPLORE, 110)


def _c16(small: Levels) -> list[Run]:
    return steady({"sac_deep.rows_512": small, "sac_deep.rows_all": FAIR}, EXPLORE, 110)


# Claim -> runs of which it holds, fails, is not decided.
SCENARIOS: dict[str, tuple[Callable[[], list[Run]], ...]] = {
    "C1": (lambda: _c1(_LOW, _BEST), lambda: _c1(_LOW, _LOW), lambda: _c1(_LOW, _WIDE)),
    "C2": (lambda: _c2(_BEST), lambda: _c2(_BEST, ddqn_deep=1e-3), lambda: _c2(_WIDE)),
    "C3": (lambda: _c3((0.4,) * 3), lambda: _c3((0.25,) * 3), lambda: _c3((0.2, 0.3, 0.5))),
    "C4": (lambda: _c4((0.2, 0.21, 0.22)), lambda: _c4((0.4,) * 3), lambda: _c4((0.1, 0.3, 0.5))),
    "C5": (lambda: local_optimum(90, 96, 102, 99),
           lambda: local_optimum(830, 820, 800, 830, 820, 800),
           lambda: local_optimum(96, 96, 830)),
    "C6": (lambda: _c6(15, 20, 22, 18), lambda: _c6(2, 3, 4), lambda: _c6(1, 20, 40)),
    "C7": (lambda: _deep(GOOD, ORIGINAL), lambda: _deep(BELOW, ORIGINAL),
           lambda: _deep(MIXED, ORIGINAL)),
    "C8": (lambda: bonus_against_sac(ORIGINAL, (WORSE, EQUAL, WORSE, EQUAL)),
           lambda: bonus_against_sac(ORIGINAL, (WORSE, SURELY_BETTER, UNCLEAR, EQUAL)),
           lambda: bonus_against_sac(ORIGINAL, (WORSE, EQUAL, UNCLEAR, EQUAL))),
    "C9": (lambda: _deep(GOOD, EXPLORE), lambda: _deep(BELOW, EXPLORE),
           lambda: _deep(MIXED, EXPLORE)),
    "C10": (lambda: bonus_against_sac(EXPLORE, (WORSE, BETTER, WORSE, BETTER)),
            lambda: bonus_against_sac(EXPLORE, (WORSE, BETTER, SURELY_EQUAL, BETTER)),
            lambda: bonus_against_sac(EXPLORE, (WORSE, BETTER, UNCLEAR, BETTER))),
    "C11": (lambda: _deep(GOOD, CONTROL), lambda: _deep(BELOW, CONTROL),
            lambda: _deep(MIXED, CONTROL)),
    "C12": (lambda: _deep(FAIR, CONTROL), lambda: _deep(BELOW, CONTROL),
            lambda: _deep(MIXED, CONTROL)),
    "C13": (lambda: _c13(POOR), lambda: _c13(ABOVE), lambda: _c13(MIXED)),
    "C14": (lambda: _c14(FAIR), lambda: _c14(FAIR, {"sac_bbe.scale_0.1": ABOVE}),
            lambda: _c14(MIXED, {"sac_bbe.scale_10": FAIR})),
    "C15": (lambda: _c15((0.6, 0.55, 0.4)), lambda: _c15(BELOW), lambda: _c15(MIXED)),
    "C16": (lambda: _c16((0.6, 0.5, 0.39)), lambda: _c16(POOR), lambda: _c16(MIXED)),
    "C17": (lambda: efficiency((11, 12, 13), (60, 70, NEVER)),
            lambda: efficiency((50, 50, 50), (60, 60, 61)),
            lambda: efficiency((11, 12, 30), (60, 70, 50))),
}  # fmt: skip
