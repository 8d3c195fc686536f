"""Copied rows are found whoever hands them in; methods that merely earn alike are not."""

import random
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from analysis.submissions import task_limits
from analysis.submissions.duplicate_runs import (
    ENOUGH,
    ScoredRows,
    matches,
    same_actions,
    scored_rows,
    traced_actions,
)
from explore_suite.runs.format import EpisodeRow
from explore_suite.runs.store import ResultStore
from explore_suite.tasks import lookup

RESULTS = Path(__file__).parents[2] / "results"


def run(train, evaluation, coverage=0.5, task="a task", seed=0):
    """A run of these returns; `coverage` tells it from others."""
    rows = []
    for number, pair in enumerate(zip(train, evaluation, strict=True), start=1):
        for phase, return_ in zip(("train", "eval"), pair, strict=True):
            rows.append(EpisodeRow(phase, number, 0, float(return_), 0, 0, coverage, 1.0))
    return ScoredRows(task, seed, rows)


def draws(seed, choices=None, count=110):
    """Returns of a run: any numbers, or some of a few."""
    draw = random.Random(seed)
    return [draw.choice(choices) if choices else draw.uniform(0, 900) for _ in range(count)]


def found(*runs):
    return [(match.first, match.second, match.what) for match in matches(runs)]


def test_equal_rows_are_found_whatever_time_they_took():
    first = run([0] * 9, [0] * 9)
    slower = first._replace(rows=[row._replace(seconds=2.0) for row in first.rows])
    assert found(first, slower) == [(0, 1, "episodes")]
    assert found(first, first._replace(task="another")) == []
    assert not first.varies and run([0] * 9, range(9)).varies


def test_a_longer_run_is_a_copy_by_what_its_score_rests_on():
    task = "ExploreSuite/HallwayAdversarial-v0"
    short, long = (run(draws(0, count=n), draws(1, count=n), task=task).rows for n in (60, 90))
    assert (0, 1, "episodes") in found(scored_rows(task, 0, short), scored_rows(task, 1, long))


def test_nearly_equal_returns_of_either_phase_are_found():
    copied = draws(0)
    noisy = [return_ + 1e-9 for return_ in copied]
    noisy[7] += 1  # one in a hundred is another
    assert found(run(copied, draws(1)), run(noisy, draws(2), 0.6)) == [(0, 1, "train returns")]
    assert found(run(draws(1), copied), run(draws(2), noisy, 0.6)) == [(0, 1, "eval returns")]
    assert found(run(copied, draws(1)), run(copied[1:] + [0], draws(2), 0.6)) == []


@pytest.mark.parametrize(
    "choices",
    [None, range(940, 1000), [0] * 30 + [*range(1, 24)], [0, 23], [0] * 50 + [17], [0]],
    ids=["numbers", "nearly solved", "sometimes", "solved or not", "rarely", "never"],
)
def test_seeds_that_earn_alike_are_no_copies(choices):
    runs = [
        run(draws(2 * seed, choices), draws(2 * seed + 1, choices), seed / 100, seed=seed)
        for seed in range(60)
    ]
    assert found(*runs) == []


def test_two_that_solve_a_task_at_nearly_the_same_time_are_no_copies():
    runs = [run([0] * 110, [0] * n + [23] * (110 - n), n / 110) for n in (50, 51, 52)]
    assert found(*runs) == []


def test_good_policies_that_meet_the_same_starts_are_no_copies():
    """What a start allows is the same for all of one seed; how it is used differs a little."""
    allowed = draws(0, range(900, 990))
    good = [
        run([0] * 110, [a - draw.randrange(12) for a in allowed], seed / 100)
        for seed, draw in enumerate(map(random.Random, range(20)))
    ]
    assert found(*good) == []


def test_noise_does_not_hide_a_copy_whose_returns_settle():
    """A run that soon earns the same in each episode is told by how it came there."""
    runs = []
    for seed in range(4):
        settled = [96 + draw / 1e5 for draw in draws(seed, count=85)]
        runs.append(run(draws(10 + seed, count=15) + settled, draws(20 + seed, count=15) + settled,
                        seed / 100, seed=seed))  # fmt: skip
    noise, rows = random.Random(9), runs[0].rows
    noisy = [row._replace(return_=row.return_ * noise.uniform(0.99, 1.01)) for row in rows]
    noisy = [row._replace(coverage=0.9) for row in noisy]
    assert found(*runs) == []
    assert found(*runs, ScoredRows("a task", 9, noisy)) == [(0, 4, "returns")]


def committed():
    """Every committed run, of ours and of the submissions."""
    stores = [RESULTS / "runs", *sorted(RESULTS.glob("submissions/*/runs"))]
    return [run for store in stores for run in ResultStore(store).runs()]


def test_no_two_independent_committed_runs_are_copies():
    """Only those of ddqn_bbe and its variant without reward are, for they never met a reward."""
    runs = committed()
    scored = [scored_rows(run.header.task, run.header.seed, run.rows) for run in runs]
    pairs = {
        (runs[match.first].header.agent, runs[match.second].header.agent)
        for match in matches(scored)
    }
    assert len(runs) > 100 and pairs <= {("ddqn_bbe", "ddqn_bbe.pure")}


@pytest.mark.parametrize(
    ("size", "bins"), [(1e-6, 0), (1e-6, 1), (0.01, 0), (0.01, 1)],
    ids=["tiny", "tiny, and coverage", "one percent", "one percent, and coverage"],
)  # fmt: skip
def test_a_committed_run_with_noise_is_found(size, bins):
    """Noise in every return and, in every third episode, in the growth of coverage."""
    missed = []
    # Random actions earn too little, too seldom, to be told from other random actions.
    learners = [run for run in committed() if run.header.agent != "random"]
    for mine in learners:
        noisy = with_noise(mine, size, bins)
        both = [
            scored_rows(mine.header.task, seed, rows)
            for seed, rows in enumerate((mine.rows, noisy))
        ]
        if both[0].varies and not list(matches(both)):
            missed.append((mine.header.key, informative(both[0])))
    assert all(episodes < ENOUGH for _, episodes in missed), missed
    assert len(missed) < len(learners) / 10


def with_noise(mine, size, bins):
    """The rows as a forger would change them, within what the task can give."""
    draw, spec = random.Random(0), lookup(mine.header.task)
    count, added, rows = task_limits.bins(spec), 0, []
    sparse = spec.name not in task_limits.LEAST_PAY
    for row in mine.rows:
        if row.phase == "train" and not row.episode % 3:
            added += bins
        steps = row.success_steps
        if sparse and steps and size >= 0.01:
            steps += draw.choice([-1, 1])
        return_ = float(steps) if sparse else row.return_ * (1 + draw.uniform(-size, size))
        coverage = min(count, round(row.coverage * count) + added) / count
        rows.append(
            row._replace(return_=return_, success_steps=steps, coverage=coverage, seconds=1.0)
        )
    return rows


def informative(scored):
    """Evaluations that earn something else than most: those of a run that earns now and then."""
    returns = [row.return_ for row in scored.rows if row.phase == "eval"]
    return len(returns) - max(Counter(returns).values())


def moves(seed, steps=100):
    """Moves of a policy that wanders over the grid world."""
    return np.random.default_rng(seed).integers(0, 4, steps).astype(np.uint8)


def test_copied_actions_are_found_in_any_evaluation():
    runs = [[moves(0), moves(1)], [moves(2), moves(3)], [moves(4), moves(0)], [moves(0), moves(3)]]
    assert list(same_actions(runs)) == [(0, 2), (0, 3), (1, 3), (2, 3)]
    assert list(same_actions([])) == list(same_actions([[], []])) == []


def test_copied_moves_are_found_with_a_few_of_them_changed():
    copied, other = moves(0), moves(0)
    copied[[5, 50, 99]] ^= 1
    other[::10] ^= 1
    assert list(same_actions([[moves(0)], [copied], [other], [moves(1)]])) == [(0, 1)]


@pytest.mark.parametrize("noise", [0.0, 1e-6, 0.001, 0.01])
@pytest.mark.parametrize("saturated", [0, 900])
def test_copied_pushes_are_found_with_noise(noise, saturated):
    """Also of a policy that pushes as hard as it can for nearly all the time."""
    draw = np.random.default_rng(0)
    pushes = draw.uniform(-1, 1, (3, 1000, 2)).astype(np.float32)
    pushes[:, :saturated] = 1.0
    copy = np.clip(pushes[0] + draw.uniform(-noise, noise, pushes[0].shape), -1, 1)
    copy[500, 1] = np.nextafter(copy[500, 1], -2)
    runs = [[pushes[0], pushes[1]], [pushes[2]], [copy.astype(np.float32)]]
    assert list(same_actions(runs)) == [(0, 2)]


# Independent runs that the rule takes for copies of each other. The grid's share a seed, and so a
# first network; those of the hallway are a fault of the rule, which results/README.md names.
KNOWN = {
    "GridWorld": {("ddqn_bbe", "ddqn_bbe.pure"), ("ddqn_deep", "ddqn_deep.pure_slow")},
    "HallwayAdversarial": {("sac", "sac"), ("sac", "sac_2q")},
}


def test_no_two_independent_committed_evaluations_but_known_ones_have_the_same_actions():
    store = RESULTS / "runs"
    traced = [run.header for run in ResultStore(store).runs() if run.header.traces]
    assert len(traced) > 100
    for task in {header.task for header in traced}:
        mine = [header for header in traced if header.task == task]
        alike = same_actions([traced_actions(store, header) for header in mine])
        pairs = {(mine[first].agent, mine[second].agent) for first, second in alike}
        assert pairs == KNOWN.get(lookup(task).name, set())


@pytest.mark.parametrize(
    "actions",
    [[0] * 100, [0, 2] * 50, [0] * 39 + [1] * 39 + [0] * 22, [0, 1] * 39 + [0] * 22],
    ids=["into the wall", "to and fro", "along two walls", "a staircase"],
)
def test_actions_that_honest_seeds_share_are_no_copies(actions):
    assert list(same_actions([[np.array(actions, np.uint8)]] * 2)) == []
