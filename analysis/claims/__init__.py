"""CLAIMS: each claim of the paper, the criterion that decides it, and the function that judges it.

A new claim is a function and an entry here. Criteria were written with the published numbers and a
prototype in sight; `hypothesis_tests` says how intervals decide.

In: stats of the runs of one preset. Out: verdicts and REPRODUCTION.md.
"""

from collections.abc import Callable
from typing import NamedTuple

from analysis.claims import ablations, control, grid, hallway
from analysis.claims.hypothesis_tests import Verdict
from analysis.claims.samples import Evidence


class Claim(NamedTuple):
    """A claim of the paper, as REPRODUCTION.md prints it, and its tests."""

    statement: str  # one short sentence
    criterion: str  # what must be seen for the claim to hold
    source: str  # where the paper says it
    judge: Callable[[Evidence], Verdict]


CLAIMS: dict[str, Claim] = {
    "C1": Claim(
        "Warm-started, DDQN and DEEP find the optimum equally soon; BBE stays below.",
        "GridWorld, the first 20 episodes played by a scripted expert; own episodes are those "
        "after it. (1) DDQN soon finds the optimum: its mean evaluation return over own episodes "
        "91-100 is above 90 % of the best, 20.7. (2) DEEP finds it as soon: its mean evaluation "
        "return over own episodes 1-280 is less than 10 % of the best (2.3) below DDQN's. (3) BBE "
        "stays below: its score is lower than DDQN's by more than that.",
        "Figure of the warm-started grid-world, (a)",
        grid.warm_start_return,
    ),
    "C2": Claim(
        "Warm-started, DDQN stops exploring; BBE keeps exploring slowly, DEEP fast and at no cost.",
        "GridWorld, the first 20 episodes played by a scripted expert; own episodes are those "
        "after it, and growth is the coverage gained in them. (1) DDQN's growth to own episode 280 "
        "is below 0.1. (2) BBE's is higher than DDQN's, and (3) steady: more than a quarter of it "
        "falls into the second half. (4) DEEP's growth to own episode 100 is more than 1.5 times "
        "BBE's. (5) DEEP's score is less than 10 % of the best (2.3) below DDQN's.",
        "Figure of the warm-started grid-world, (b)",
        grid.warm_start_coverage,
    ),
    "C3": Claim(
        "Without reward BBE explores much faster than random actions, and DEEP than BBE.",
        "GridWorld, behaviour that no reward reaches; coverage after episode 100. (1) BBE's is "
        "more than 1.5 times that of uniformly random actions. (2) DEEP's is more than 1.5 times "
        "BBE's.",
        "Figure of pure exploration, and the paragraph on slow adaptation beside it",
        grid.pure_exploration,
    ),
    "C4": Claim(
        "After 100 episodes DEEP has visited most states, BBE and DDQN a small fraction.",
        "GridWorld without warm start; coverage after episode 100. (1) DEEP's is above 1/2. (2) "
        "BBE's and (3) DDQN's are below 1/3.",
        "Figure of the grid-world's states in the appendix",
        grid.coverage_at_100,
    ),
    "C5": Claim(
        "SAC stays at the near goal, which pays 0.1; DEEP reaches the far one, which pays 1.",
        "HallwayLocalOptimum. (1) SAC finds the near goal: more than half of its runs have a score "
        "above 48, half of what that goal pays, and below 150. (2) SAC stays there: less than half "
        "of its runs ever have an evaluation above half of the best, 416.45. (3) DEEP reaches the "
        "far goal: its mean score is above half of the best.",
        "Figure of the hallways, local optimum",
        hallway.local_optimum,
    ),
    "C6": Claim(
        "SAC finds the tiny near goal sooner than DEEP, which finds it in the end.",
        "HallwayAdversarial; a run finds the goal at the first episode whose evaluation returns "
        "more than half of the best, 490.55, or else one episode after its budget. (1) DEEP's mean "
        "first episode is later than SAC's. (2) More than half of DEEP's runs find it within the "
        "budget.",
        "Figure of the hallways, adversarial",
        hallway.adversarial,
    ),
    "C7": Claim(
        "On all four original tasks DEEP does as well as SAC or better.",
        "On each original task DEEP's mean final return is less than 0.1 below SAC's, and itself "
        "above 0.2: if neither agent learns anything, being as good shows little.",
        "Learning curves of the control suite, original tasks",
        control.no_cost_on_originals,
    ),
    "C8": Claim(
        "BBE impairs SAC on two of the four original tasks and equals it on the other two.",
        "On each original task, BBE's mean final return minus SAC's: equal if the interval lies "
        "within 0.1 of 0; else worse if it lies below 0, better if above. Holds with two worse and "
        "two equal; fails if, after Bonferroni correction for four tests, three are worse, three "
        "equal or one better.",
        "Learning curves of the control suite, original tasks",
        control.bonus_costs_on_originals,
    ),
    "C9": Claim(
        "On all four explore tasks DEEP has the best final return and sample efficiency.",
        "On each explore task DEEP's mean final return is higher than SAC's and than BBE's, and so "
        "is its mean return over all episodes.",
        "Learning curves of the control suite, explore tasks",
        control.best_on_explore,
    ),
    "C10": Claim(
        "BBE is better than SAC on two of the four explore tasks and worse on the others.",
        "On each explore task, BBE's mean final return minus SAC's: equal if the interval lies "
        "within 0.1 of 0; else worse if it lies below 0, better if above. Holds with two better "
        "and two worse; fails if, after Bonferroni correction for four tests, three are better, "
        "three worse or one equal.",
        "Learning curves of the control suite, explore tasks",
        control.bonus_mixed_on_explore,
    ),
    "C11": Claim(
        "After 100 episodes DEEP does as well as SAC and BBE or better on all eight tasks.",
        "On each task DEEP's mean score (evaluations 91-110) is less than 0.1 below SAC's and "
        "BBE's, and itself above 0.2: if no agent learns anything, being as good shows little.",
        "Bar chart of the control suite after 100 episodes",
        control.after_100_episodes,
    ),
    "C12": Claim(
        "DEEP is not worse than SAC on any of the eight tasks.",
        "On each task DEEP's mean final return and its mean return over all episodes are less than "
        "0.1 below SAC's, and its final return is above 0.2: if neither agent learns anything, "
        "being as good shows little.",
        "Results and conclusion",
        control.never_worse,
    ),
    "C13": Claim(
        "SAC with two Q functions and one policy (SAC 2Q) never outperforms BBE.",
        "The paper calls it worse throughout; only that it is not better is tested. On each of the "
        "eight tasks BBE's mean final return is less than 0.1 below SAC 2Q's, and itself above "
        "0.2: if BBE learns nothing, being as good as SAC 2Q shows little.",
        "Section on baselines, and the additional benchmark results",
        control.two_q_never_better,
    ),
    "C14": Claim(
        "Of the bonus scales 0.01, 0.1, 1 and 10, BBE does best overall with 1.",
        "The score of a seed is its mean normalised score over the eight tasks. With scale 1 "
        "(`sac_bbe`) it is higher than with each other scale. The tests by task are shown for "
        "information only.",
        "Section on baselines",
        ablations.bonus_scale,
    ),
    "C15": Claim(
        "A kernel three times as wide or as narrow makes little difference.",
        "The paper says so of all changes below a factor of ten; a factor of three can refute "
        "that, but not confirm all of it. On each explore task DEEP's mean normalised score with a "
        "third of the scale, and with three times it, is within 0.1 of that with the task's own "
        "scale, and the latter is above 0.2: if nothing is learned, equal scores show little.",
        "Appendix on pseudo-counts, the kernel",
        ablations.kernel_scale,
    ),
    "C16": Claim(
        "A very small count table explores nearly as well as an unlimited one.",
        "The paper compares the bonuses earned, which results do not record; here coverage is "
        "compared, averaged over all training episodes, because in the end even poor exploration "
        "has covered much. On each explore task DEEP's coverage with 512 rows, divided by that "
        "with a row for every visit, is between 0.9 and 1.1 in the mean over seeds.",
        "Appendix on pseudo-counts, eviction",
        ablations.table_size,
    ),
    "C17": Claim(
        "DEEP needs several times less data than SAC, on many sparse tasks as little as on dense.",
        "A run solves a task at its first evaluation above half of the best return, if the mean "
        "of the ten evaluations from there on is above it too; a run without one counts with the "
        "first episode that its budget rules out. (1) On each explore task the mean over seeds of "
        "SAC's episode minus twice DEEP's is above 0. If SAC does not solve the task with a seed, "
        "only a lower bound of this difference is known: the seed counts with the bound if that is "
        "above 0, else with 0, which neither supports nor contradicts the claim. (2) On at least "
        "two explore tasks DEEP's mean final return is above 0.5, and its mean return over all "
        "episodes is less than 0.1 below its own on the original.",
        "Abstract",
        control.data_efficiency,
    ),
}
