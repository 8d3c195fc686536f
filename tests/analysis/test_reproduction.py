"""REPRODUCTION.md: complete, the same bytes each time, and honest about what it was made of."""

import dataclasses
import logging
import re

import numpy as np
import pandas as pd
import pytest

from analysis.claims import CLAIMS, Claim, hypothesis_tests
from analysis.claims import report as reproduction
from analysis.claims.hypothesis_tests import Limits, all_of, measure
from analysis.claims.published import PUBLISHED, ours
from analysis.claims.samples import FINAL_EPISODES, Sample
from analysis.stats.intervals import MIN_SEEDS, Estimate
from analysis.stats.results import Results
from baselines.settings import budget, resolve
from explore_suite.tasks import CONTROL, ORIGINAL, lookup
from tests.helpers import synthetic
from tests.helpers import synthetic_claims as invented


def report(root, out) -> str:
    reproduction.write_reproduction(Results.of(root).reference("cpu"), out, "cpu")
    return (out / "REPRODUCTION.md").read_text(encoding="utf-8")


def section(text: str, name: str) -> str:
    return re.search(rf"^## {name}$(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL)[1]


@pytest.fixture(scope="module")
def mixed(tmp_path_factory):
    """Grid runs for C3 and C4, one task of C9, uncommitted code, and runs that do not count."""
    root = tmp_path_factory.mktemp("mixed")
    runs = invented.SCENARIOS["C3"][0]() + invented.SCENARIOS["C4"][1]()
    levels = {"sac": invented.POOR, "sac_bbe": invented.MIXED, "sac_deep": invented.GOOD}
    runs += invented.steady(levels, ["BallInCupExplore"], 110)
    last = runs[-1].header
    runs[-1] = runs[-1]._replace(
        header=dataclasses.replace(last, code={"commit": "a" * 40, "dirty": True})
    )
    extra = invented.run("sac", "WalkerWalk", 0, 3, float)
    runs.append(extra._replace(header=dataclasses.replace(extra.header, finished=False)))
    runs.append(invented.run("sac", "BallInCupExplore", 3, 45, float))
    runs.append(invented.run("sac", "WalkerWalk", 1, 110, float)._replace(rows=extra.rows))
    invented.write(root, runs)
    return root


@pytest.fixture(scope="module")
def text(mixed, tmp_path_factory):
    return report(mixed, tmp_path_factory.mktemp("out"))


@pytest.mark.slow
def test_the_same_runs_give_the_same_bytes(mixed, text, tmp_path):
    assert report(mixed, tmp_path / "new" / "folder") == text


def test_the_head_says_what_it_was_made_of(text):
    head = text.partition("## Summary")[0]
    assert "preset `cpu`" in head and "`explore-suite report --preset cpu`" in head
    assert "\n- Runs: 29, 1 unfinished and ignored.\n" in head
    assert (
        "\n- Left out, because it cannot be used: `cpu/sac/WalkerWalk-v0/seed-001.json`.\n" in head
    )
    assert "`000000000000` (28 runs), `aaaaaaaaaaaa` (1 run, 1 with uncommitted changes)" in head
    assert f"`{synthetic.SOURCE}`" in head


def rows(text: str) -> dict[str, str]:
    """The rows of the summary, by claim."""
    found = re.findall(r"^\| \[(C\d+)\]\((#c\d+)\) .*$", section(text, "Summary"), re.MULTILINE)
    assert all(link == f"#{name.lower()}" for name, link in found)
    lines = [line for line in section(text, "Summary").splitlines() if "](#" in line]
    return dict(zip((name for name, _ in found), lines, strict=True))


def test_every_claim_has_a_row_and_a_section(text):
    assert list(rows(text)) == list(CLAIMS)
    for name, row in rows(text).items():
        assert f"| {CLAIMS[name].statement} |" in row and row.count("|") == 6
        assert f"*Criterion.* {CLAIMS[name].criterion}\n" in section(text, name)
        assert f"*Source.* {CLAIMS[name].source}.\n" in section(text, name)


def test_verdicts_and_numbers_are_those_of_the_claims(text):
    summary = rows(text)
    # BBE covers 0.4, random actions 0.2: 0.4 - 1.5 * 0.2 in every seed
    holds = "**holds** | coverage, ddqn_bbe.pure − 1.5 × random: 0.100 [0.100, 0.100] | 3 |"
    fails = "**fails** | coverage, ddqn_bbe: 0.400 [0.400, 0.400] | 3 |"
    waits = "**not enough runs** | complete on 1 of 4 tasks | 0–3 |"
    assert summary["C3"].endswith(holds)
    assert summary["C4"].endswith(fails)
    assert summary["C9"].endswith(waits)
    assert "**Fails:** complete on 1 of 1 task; 3 tests: fails 1, holds 2." in section(text, "C4")


def test_a_claim_that_waits_shows_the_task_it_has_and_one_command_for_the_rest(text):
    found = section(text, "C9")
    assert "complete on 1 of 4 tasks; 4 tests: not decided 2, holds 2." in found
    assert "| BallInCupExplore | final return, episodes 91-110: sac_deep − sac | " in found
    assert "0.800 [0.800, 0.800] | above 0 | holds | 3 |" in found
    assert "0.400 [−0.594, 1.394] | above 0 | not decided | 3 |" in found
    lacking = "`sac_deep` on 3 tasks, `sac` on 3 tasks, `sac_bbe` on 3 tasks"
    assert f"*Missing.* {lacking}: 3 seeds in common are needed.\n" in found
    assert found.count("explore-suite sweep") == 1
    assert "*Too short.* `sac` on BallInCupExplore, seed 3: 45 of 110 episodes. " in found


def test_the_notes_agree_with_the_code():
    notes = " ".join(reproduction.notes().split())
    window, budgets = lookup("WalkerWalk").score_window, {
        task: budget("cpu", "sac", task)
        for task in ("WalkerWalk", "HallwayLocalOptimum", "HallwayAdversarial")
    }  # fmt: skip
    share = hypothesis_tests.measure_share(
        "", Sample("a", "WalkerWalk", pd.Series([1.0] * 3)), Limits()
    )
    for words in (
        f"with {MIN_SEEDS} common seeds or more",
        f"the limit is {hypothesis_tests.TOLERANCE} of the scale",
        f"level 1 − {hypothesis_tests.ALPHA} / (number of the claim's tests)",
        f"over the last {FINAL_EPISODES} evaluations",
        f"3 of 3 runs give [{share.estimate.low:.2f}, {share.estimate.high:.0f}]",
        f"control tasks have {budgets['WalkerWalk']} episodes",
        f'"final" is episodes {window[0]}-{window[1]}',
        f"HallwayLocalOptimum has {budgets['HallwayLocalOptimum']} episodes",
        f"HallwayAdversarial {budgets['HallwayAdversarial']},",
    ):
        assert words in notes


def test_the_notes_are_part_of_the_report(text):
    assert f"\n\n{reproduction.notes()}\n\n## Summary\n" in text


def test_with_preset_cpu_final_returns_are_scores():
    assert budget("cpu", "sac", "WalkerWalk") == lookup("WalkerWalk").score_window[1] == 110
    found = invented.evidence(invented.SCENARIOS["C12"][2]())
    tests = {
        name: {(test.task, dict(test.sides).keys() >= {"sac"}): test.estimate
               for test in CLAIMS[name].judge(found).tests if "mean return" not in test.name}
        for name in ("C7", "C11", "C12")
    }  # fmt: skip
    assert all(tests["C12"][key] == value for key, value in tests["C7"].items())
    assert all(tests["C11"][key] == value for key, value in tests["C12"].items())


def test_published_numbers_stand_beside_ours(text):
    assert "| `ddqn_deep.pure` | 100 | 0.892 | 0.950 [0.950, 0.950] | 3 |" in section(text, "C3")
    assert "| `random` | 150 | 0.193 | – | 0 |" in section(text, "C3")
    assert "| `sac_deep` | 20 | 720 |" not in section(text, "C5")
    assert "| `sac_deep` | 10 | 720 | – | 0 |" in section(text, "C5")
    assert "no numbers are available" in section(text, "C7")


def test_published_numbers_come_with_the_settings_they_are_of(text):
    found = section(text, "C4")
    assert "| `ddqn_bbe` | 990 | 8.8 | – | 0 |" in found
    assert "exploration discount 0.97, and another DDQN with learning rate 0.001" in found


def test_published_numbers_are_of_tasks_and_agents_that_exist():
    for comparisons in PUBLISHED.values():
        for comparison in comparisons:
            assert comparison.column in ("return", "coverage")
            assert all(resolve("cpu", c.agent, comparison.task) for c in comparison.curves)


def test_ours_is_the_mean_at_that_episode():
    (comparison,) = PUBLISHED["C4"]
    runs = [
        invented.run("ddqn", "GridWorld", seed, 150, lambda e, k=seed: e + k) for seed in range(3)
    ]
    found = ours(invented.evidence(runs), comparison, "ddqn", 150)
    margin = 4.3027 / 3**0.5  # Student's, of 150, 151, 152
    np.testing.assert_allclose(found, (151.0, 151 - margin, 151 + margin, 3), rtol=1e-4)


def test_an_empty_store_lacks_everything(tmp_path):
    (tmp_path / "empty").mkdir()
    found = report(tmp_path / "empty", tmp_path)
    assert "- Runs: 0, all finished.\n" in found
    assert found.count("**not enough runs**") == len(CLAIMS) + 1  # and the explanation
    assert "nan" not in found


def test_a_strangers_source_cannot_write_into_the_page(tmp_path):
    one = invented.run("sac", "WalkerWalk", 0, 1, float)
    header = dataclasses.replace(one.header, source="`x\n## C1\n" + "y" * 200, code={"commit": "|"})
    invented.write(tmp_path, [one._replace(header=header)])
    found = report(tmp_path, tmp_path)
    assert (
        "an unknown commit (1 run)" in found
        and len(re.findall("^## C1$", found, re.MULTILINE)) == 1
    )
    assert "y" * 100 not in found


def test_a_store_of_random_runs_alone_has_not_enough_for_any_claim(tmp_path):
    invented.write(tmp_path, [invented.run("random", "GridWorld", s, 300, float) for s in range(3)])
    found = report(tmp_path, tmp_path)
    assert "- Runs: 3, all finished.\n" in found
    assert all("| **not enough runs** |" in row for row in rows(found).values())


@pytest.mark.slow
def test_a_new_claim_is_one_function_and_one_entry(monkeypatch, mixed, tmp_path, caplog):
    def sac_scores(evidence):
        final = evidence.final_return("sac", "BallInCupExplore", 110)
        return all_of([measure("final return", final, Limits(0.05))])

    claim = Claim("SAC earns something.", "Its final return is above 0.05.", "Nowhere", sac_scores)
    monkeypatch.setitem(CLAIMS, "C99", claim)
    with caplog.at_level(logging.INFO):
        found = section(report(mixed, tmp_path), "C99")
    assert "SAC earns something. **Holds:** complete on 1 of 1 task; 1 test: holds 1.\n" in found
    assert "*Source.* Nowhere.\n" in found
    assert "*Criterion.* Its final return is above 0.05.\n" in found
    assert "  holds: C3, C99" in caplog.messages


@pytest.mark.slow
def test_tests_that_decide_nothing_are_in_the_section_only(tmp_path):
    """C14 is decided by means over the suite; tests by task fail here."""
    levels = {"sac_bbe": invented.FAIR} | invented.SCALES
    runs = invented.steady(levels, CONTROL[1:], 110)
    runs += invented.steady(levels | {"sac_bbe.scale_10": invented.GOOD}, CONTROL[:1], 110)
    invented.write(tmp_path, runs)
    found = report(tmp_path, tmp_path)
    assert "**holds** | score, sac_bbe − sac_bbe.scale_0.01, all tasks: " in rows(found)["C14"]
    assert "**Holds:** complete on 8 of 8 tasks; 3 tests: holds 3." in section(found, "C14")
    assert len(re.findall("^[|] (?!---)", section(found, "C14"), re.M)) == 1 + 3 + 8 * 3


def test_the_summary_shows_a_failure_that_does_not_survive_correction():
    differences = (invented.EQUAL,) * 3 + ((-0.36, -0.3, -0.24),)
    runs = invented.bonus_against_sac(ORIGINAL, differences)
    renamed = [run._replace(header=dataclasses.replace(
        run.header, agent=run.header.agent.replace("bbe", "deep"))) for run in runs]  # fmt: skip
    verdict = CLAIMS["C7"].judge(invented.evidence(renamed))
    assert [str(test.outcome) for test in verdict.tests] == ["holds"] * 3 + ["fails"]
    assert verdict.outcome == "not decided"
    shown = reproduction.key_result(verdict)
    assert shown == "final return, sac_deep − sac, WalkerWalk: −0.300 [−0.449, −0.151]"


@pytest.mark.parametrize(
    ("value", "digits", "text"),
    [(-0.25, 2, "−0.25"), (-0.001, 2, "0.00"), (12.34, 1, "12.3"), (0.0, 0, "0")],
)
def test_numbers_have_a_true_minus_and_none_before_zero(value, digits, text):
    assert reproduction.number(value, digits) == text


def test_estimates_without_enough_seeds_have_no_interval():
    assert (
        reproduction.written(Estimate(1.0, float("nan"), float("nan"), 2), 1) == "1.0 (no interval)"
    )
    assert reproduction.written(Estimate(1.0, 0.5, 2.0, 3), 1) == "1.0 [0.5, 2.0]"
