"""Copied rows are found whoever hands them in; methods that merely earn alike are not."""

import random

import pytest

from analysis.copies import Told, matches, told_by
from explore_suite.results import EpisodeRow


def run(train, evaluation, coverage=0.5, task="a task"):
    """A run of these returns; `coverage` tells it from others."""
    rows = []
    for number, pair in enumerate(zip(train, evaluation, strict=True), start=1):
        for phase, return_ in zip(("train", "eval"), pair, strict=True):
            rows.append(EpisodeRow(phase, number, 0, float(return_), 0, 0, coverage, 1.0))
    return Told(task, rows)


def draws(seed, choices=None, count=110):
    """Returns of a run: any numbers, or some of a few."""
    draw = random.Random(seed)
    return [draw.choice(choices) if choices else draw.uniform(0, 900) for _ in range(count)]


def found(*runs):
    return [(match.first, match.second, match.what) for match in matches(runs)]


def test_equal_rows_are_found_whatever_time_they_took():
    first = run([0] * 9, [0] * 9)
    slower = Told(first.task, [row._replace(seconds=2.0) for row in first.rows])
    assert found(first, slower) == [(0, 1, "episodes")]
    assert found(first, first._replace(task="another")) == []
    assert not first.varies and run([0] * 9, range(9)).varies


def test_a_longer_run_is_a_copy_by_what_its_score_rests_on():
    task = "ExploreSuite/HallwayAdversarial-v0"
    short, long = (run(draws(0, count=n), draws(1, count=n), task=task).rows for n in (60, 90))
    assert (0, 1, "episodes") in found(told_by(task, short), told_by(task, long))


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
        run(draws(2 * seed, choices), draws(2 * seed + 1, choices), seed / 100)
        for seed in range(60)
    ]
    assert found(*runs) == []


def test_two_that_solve_a_task_at_nearly_the_same_time_are_no_copies():
    runs = [run([0] * 110, [0] * n + [23] * (110 - n), n / 110) for n in (50, 51, 52)]
    assert found(*runs) == []
