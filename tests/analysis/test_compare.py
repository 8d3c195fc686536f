"""`explore-suite compare`: differences by hand, answers in words, table and figure."""

import numpy as np
import pytest

from analysis.stats.comparison import answers, compare
from analysis.stats.results import Results
from explore_suite.__main__ import main
from explore_suite.errors import UserError
from explore_suite.runs.format import Run
from explore_suite.tasks import CLASSIC_EXPLORE, CLASSIC_ORIGINAL, EXPLORE, ORIGINAL, lookup
from tests.helpers import synthetic, synthetic_claims


def constant(agent: str, task: str, seed: int, value: float) -> Run:
    """A finished run all of whose evaluations return this."""
    return synthetic_claims.run(agent, task, seed, 110, lambda episode: value)


def results(levels: dict[str, dict[str, list[float]]]) -> Results:
    """agent -> task -> value of each seed."""
    return Results(synthetic.stored(
        constant(agent, task, seed, value)
        for agent, by_task in levels.items()
        for task, values in by_task.items()
        for seed, value in enumerate(values)
    ))  # fmt: skip


def test_differences_and_improvement_by_hand():
    found = results({"a": {"WalkerWalk": [500, 600, 700]}, "b": {"WalkerWalk": [100, 650, 300]}})
    (one,) = compare(found, "a", "b")
    assert one.task == "WalkerWalk" and one.first.seeds == one.second.seeds == 3
    assert one.difference.value == pytest.approx(600 - 350)
    assert one.difference.low < 250 < one.difference.high
    assert one.improvement.value == pytest.approx((2 + 2 + 3) / 9)


def test_the_two_questions_are_answered_with_their_numbers():
    good, equal, poor = ([level + 10 * seed for seed in range(5)] for level in (800, 500, 100))
    levels = {
        "mine": dict.fromkeys(EXPLORE, good) | dict.fromkeys(ORIGINAL, equal),
        "sac": dict.fromkeys(EXPLORE, poor) | dict.fromkeys(ORIGINAL, equal),
    }
    found = results(levels)
    explores, costs = answers(found, "mine", "sac", [*EXPLORE, *ORIGINAL])
    gain = np.mean([700 / (1000 - lookup(task).random_return) for task in EXPLORE])
    assert explores.difference.value == pytest.approx(gain)
    assert explores.question == "Does mine explore better than sac?"
    assert explores.sentence.startswith("Yes, +0.7") and "on 4 explore tasks" in explores.sentence
    assert costs.sentence.startswith("No, +0.00 [") and "on 4 original tasks" in costs.sentence
    back, _ = answers(found, "sac", "mine", EXPLORE + ORIGINAL)
    assert back.sentence.startswith("No: it is worse, -0.7")


def test_classic_pairs_answer_by_themselves_and_change_no_other_answer():
    pairs = {task: [800, 810, 820] for task in (*EXPLORE, *ORIGINAL)}
    few = dict.fromkeys(CLASSIC_EXPLORE + CLASSIC_ORIGINAL, [400.0])  # one seed alone
    found = results({"mine": pairs | few, "sac": pairs | few})
    alone = answers(found, "mine", "sac", [*EXPLORE, *ORIGINAL])
    every = answers(found, "mine", "sac", [one.task for one in compare(found, "mine", "sac")])
    assert every[:2] == alone and len(every) == 4
    assert [one.tasks for one in every[2:]] == [CLASSIC_EXPLORE, CLASSIC_ORIGINAL]
    assert [one.question for one in every[2:]] == [one.question for one in alone]
    assert "on 3 classic explore tasks" in every[2].sentence
    assert "on 3 classic original tasks" in every[3].sentence
    (one,) = answers(found, "mine", "sac", ["CheetahRun"])
    assert one.sentence.startswith("Too few seeds to say (+0.00 in normalised score on 1 classic")


def test_an_answer_of_few_seeds_says_so():
    found = results({"a": {"WalkerExplore": [900] * 3}, "b": {"WalkerExplore": [100, 110, 120]}})
    (answer,) = answers(found, "a", "b", ["WalkerExplore"])
    assert answer.sentence.startswith("Yes, as far as 3 seeds tell, +0.8")


def test_too_few_seeds_decide_nothing():
    found = results({"a": {"WalkerExplore": [900]}, "b": {"WalkerExplore": [100]}})
    (answer,) = answers(found, "a", "b", ["WalkerExplore"])
    assert answer.sentence.startswith("Too few seeds to say (+0.8")


def test_what_cannot_be_compared_is_said():
    found = results({"a": {"WalkerWalk": [1, 2, 3]}, "b": {"WalkerExplore": [1, 2, 3]}})
    with pytest.raises(UserError, match="no runs of c; there are a, b"):
        compare(found, "a", "c")
    with pytest.raises(UserError, match="no task on which both have scores"):
        compare(found, "a", "b")
    with pytest.raises(UserError, match="do not both have scores on WalkerWalk"):
        compare(found, "a", "b", ["WalkerWalk"])
    with pytest.raises(UserError, match="a is compared with itself"):
        compare(found, "a", "a")


def test_a_hint_is_given_only_where_it_helps():
    found = results({"a": {"WalkerWalk": [1]}, "b": {"WalkerExplore": [1]}})
    for last, hint in ((None, True), (2, False)):
        with pytest.raises(UserError) as caught:
            compare(Results(found.runs, last=last), "a", "b")
        assert ("--last N" in str(caught.value)) is hint


def test_scores_that_no_table_tells_apart_are_ties():
    nearly = [500.0, 500.0, 500.0 + 1e-9]
    (one,) = compare(
        results({"a": {"WalkerWalk": nearly}, "b": {"WalkerWalk": [500.0] * 3}}), "a", "b"
    )
    assert one.improvement.value == 0.5


def test_of_few_seeds_there_is_no_probability():
    (one,) = compare(results({"a": {"WalkerWalk": [9, 8]}, "b": {"WalkerWalk": [1, 2]}}), "a", "b")
    assert np.isnan(one.improvement.value) and one.difference.value == 7


@pytest.mark.slow
def test_a_submission_beside_the_store_can_be_compared(capsys):
    assert main(["compare", "sb3-sac", "random", "--tasks", "hallway"]) == 0
    told = capsys.readouterr().out
    assert "HallwayLocalOptimum" in told and "need scores of both methods" in told


def test_the_command_prints_and_draws(tmp_path, capsys):
    runs = [constant(agent, task, seed, value + seed)
            for agent, value in (("mine", 700), ("sac", 300))
            for task in ("WalkerWalk", "WalkerExplore") for seed in range(3)]  # fmt: skip
    synthetic_claims.write(tmp_path / "runs", runs)
    arguments = ["compare", "mine", "sac", "--results", str(tmp_path / "runs")]
    assert main([*arguments, "--out", str(tmp_path / "new" / "compare.png")]) == 0
    told = capsys.readouterr().out
    assert "400 [" in told and "WalkerExplore" in told and "Does mine explore better" in told
    assert (tmp_path / "new" / "compare.png").read_bytes()[:4] == b"\x89PNG"
    assert main([*arguments, "--out", str(tmp_path / "compare.pdf")]) == 2
    assert "must end in .svg or .png" in capsys.readouterr().err
    assert main([*arguments, "--last", "0"]) == 2
    assert "--last must be 1 or more, got 0" in capsys.readouterr().err
