"""REPRODUCTION.md: complete, the same bytes each time, and honest about what it was made of."""

import dataclasses
import logging
import re
import subprocess

import pytest
import synthetic
import synthetic_claims as invented

from analysis import reproduction
from analysis.bootstrap import Estimate
from analysis.claims import CLAIMS, criterion, statement
from analysis.claims_settings import SETTINGS
from analysis.missing import commands, lines, train
from analysis.published import PUBLISHED, ours
from analysis.report import OUTPUTS
from analysis.verdict import Gap, Limits, Verdict, every, measure
from baselines import sweep, train_command
from baselines.settings import VARIANTS, resolve
from explore_suite.results import ResultStore
from explore_suite.tasks import lookup


def write(root, runs) -> None:
    store = ResultStore(root)
    for header, rows in runs:
        with store.open(dataclasses.replace(header, finished=False)) as writer:
            for row in rows:
                writer.append(row)
            if header.finished:
                writer.finish()


def report(root, out) -> str:
    reproduction.write_reproduction(root, out, "cpu")
    return (out / "REPRODUCTION.md").read_text(encoding="utf-8")


def section(text: str, name: str) -> str:
    return re.search(rf"^## {name}$(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL)[1]


def shell(command: str) -> list[list[str]]:
    """The arguments that each call of explore-suite would get."""
    stub = 'explore-suite() { printf "%s " "$@"; echo; }; '
    said = subprocess.run(
        ["bash", "-c", stub + command], capture_output=True, text=True, check=True
    )
    return [line.split() for line in said.stdout.splitlines()]


@pytest.fixture(scope="module")
def mixed(tmp_path_factory):
    """Grid runs for C3 and C4, one task of C9, an unfinished run, and one from uncommitted code."""
    root = tmp_path_factory.mktemp("mixed")
    runs = invented.SCENARIOS["C3"][0]() + invented.SCENARIOS["C4"][1]()
    levels = {"sac": invented.POOR, "sac_bbe": invented.MIXED, "sac_deep": invented.GOOD}
    runs += invented.steady(levels, ["BallInCupExplore"], 20)
    last = runs[-1].header
    runs[-1] = runs[-1]._replace(
        header=dataclasses.replace(last, code={"commit": "a" * 40, "dirty": True})
    )
    extra = invented.run("sac", "WalkerWalk", 0, 3, float)
    runs.append(extra._replace(header=dataclasses.replace(extra.header, finished=False)))
    write(root, runs)
    return root


@pytest.fixture(scope="module")
def text(mixed, tmp_path_factory):
    return report(mixed, tmp_path_factory.mktemp("out"))


def test_it_is_part_of_the_report():
    assert OUTPUTS["reproduction"] is reproduction.write_reproduction


def test_the_same_runs_give_the_same_bytes(mixed, text, tmp_path):
    assert report(mixed, tmp_path / "new" / "folder") == text


def test_the_head_says_what_it_was_made_of(text):
    head = text.partition("## Summary")[0]
    assert "preset `cpu`" in head and "`explore-suite report --preset cpu`" in head
    assert "- Runs: 28, of which 27 finished" in head
    assert "`000000000000` (27 runs), `aaaaaaaaaaaa` (1 run, 1 with uncommitted changes)" in head
    assert f"`{synthetic.SOURCE}`" in head


def test_every_claim_has_a_row_and_a_section(text):
    summary = section(text, "Summary")
    for name, claim in CLAIMS.items():
        (row,) = re.findall(rf"^\| \[{name}\]\(#{name.lower()}\) .*$", summary, re.MULTILINE)
        assert statement(claim) in row and row.count("|") == 6
        assert criterion(claim) in section(text, name)


def test_verdicts_and_numbers_are_those_of_the_claims(text):
    rows = {
        row.split("]")[0][3:]: row for row in section(text, "Summary").splitlines() if "](" in row
    }
    assert "**holds**" in rows["C3"] and "**fails**" in rows["C4"]
    # BBE covers 0.4, random actions 0.2: 0.4 - 1.5 * 0.2 in every seed
    assert "ddqn_bbe.pure − 1.5 × random: 0.100 [0.100, 0.100] (holds)" in rows["C3"]
    assert "ddqn_bbe: 0.400 [0.400, 0.400] (fails)" in rows["C4"]
    assert rows["C3"].endswith("| 3 |")


def test_a_claim_that_waits_shows_the_task_it_has(text):
    found = section(text, "C9")
    assert "**Not enough runs.** 1 of 4 tasks run." in found
    assert "| BallInCupExplore | final return: sac_deep − sac | " in found
    assert "0.800 [0.800, 0.800] | above 0 | holds | 3 |" in found
    assert "0.400 [0.000, 0.800] | above 0 | not decided | 3 |" in found
    assert "12 tests without a common seed." in found
    assert "- `sac` has no runs on ReacherExplore, FingerExplore, WalkerExplore" in found


def test_published_numbers_stand_beside_ours(text):
    assert "| `ddqn_deep.pure` | 100 | 0.892 | 0.950 [0.950, 0.950] | 3 |" in section(text, "C3")
    assert "| `random` | 150 | 0.193 | – | 0 |" in section(text, "C3")
    assert "| `sac_deep` | 20 | 720 |" not in section(text, "C5")
    assert "| `sac_deep` | 10 | 720 | – | 0 |" in section(text, "C5")
    assert "no numbers of it survive" in section(text, "C7")


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
    assert found == Estimate(151.0, 150.0, 152.0, 3)


def test_an_empty_store_lacks_everything(tmp_path):
    found = report(tmp_path / "nowhere", tmp_path)
    assert "- Runs: 0, of which 0 finished" in found
    assert found.count("**not enough runs**") == len(CLAIMS) + 1  # and the explanation
    assert "nan" not in found


def test_a_strangers_source_cannot_write_into_the_page(tmp_path):
    one = invented.run("sac", "WalkerWalk", 0, 1, float)
    header = dataclasses.replace(one.header, source="`x\n## C1\n" + "y" * 200, code={"commit": "|"})
    write(tmp_path, [one._replace(header=header)])
    found = report(tmp_path, tmp_path)
    assert (
        "an unknown commit (1 run)" in found
        and len(re.findall("^## C1$", found, re.MULTILINE)) == 1
    )
    assert "y" * 100 not in found


def test_a_new_claim_is_one_function_and_one_line(monkeypatch, mixed, tmp_path, caplog):
    def sac_scores(evidence):
        """SAC earns something on BallInCupExplore.

        Its mean final return is above 0.05.
        """
        part = measure("final return", evidence.final("sac", "BallInCupExplore", 20), Limits(0.05))
        return Verdict(every([part.outcome]), (part,))

    monkeypatch.setitem(CLAIMS, "C99", sac_scores)
    with caplog.at_level(logging.INFO):
        found = report(mixed, tmp_path)
    assert "SAC earns something on BallInCupExplore. **Holds.** 1 of 1 task run." in found
    assert "*Criterion.* Its mean final return is above 0.05." in section(found, "C99")
    assert "  18/18 C99: holds" in caplog.messages


@pytest.mark.parametrize("agent", SETTINGS)
def test_the_commands_for_variants_file_runs_under_the_labels_looked_for(agent):
    task = "ReacherExplore"
    options = train_command.parse(train("cpu", agent, task, "0").split()[2:])
    assert train_command.label(options) == agent and agent not in VARIANTS
    base = resolve("cpu", agent.partition(".")[0], task)
    expected = {
        "sac_bbe.scale_0.1": lambda config: config.bonus_scale == 0.1,
        "sac_deep.kernel_triple": lambda config: config.count.state_scale == pytest.approx(0.18),
        "sac_deep.rows_512": lambda config: config.count.max_rows == 512,
    }.get(agent, lambda config: config != base)
    assert expected(options.config)


def test_the_commands_make_exactly_what_is_missing():
    gaps = [Gap("sac", "WalkerWalk", ()), Gap("sac_bbe", "WalkerWalk", (4,)),
            Gap("ddqn.warm", "GridWorld", ()), Gap("sac_deep.rows_512", "WalkerExplore", ()),
            Gap("sac_deep.rows_512", "FingerExplore", ())]  # fmt: skip
    made = set()
    for name, *arguments in (call for line in commands(gaps, "cpu") for call in shell(line)):
        if name == "sweep":
            specs = sweep.specs(sweep._parser().parse_args(arguments))
            made |= {(spec.agent, lookup(spec.task).name, spec.seed) for spec in specs}
        else:
            options = train_command.parse(arguments)
            made.add((train_command.label(options), options.task, options.seed))
    assert made == {(gap.agent, gap.task, seed) for gap in gaps for seed in range(3)}


def test_what_is_missing_is_told_by_agent_and_seeds():
    gaps = [
        Gap("sac", "WalkerWalk", ()),
        Gap("sac", "ReacherHard", ()),
        Gap("sac", "WalkerExplore", (0, 4)),
    ]
    assert lines(gaps) == [
        "`sac` has no runs on WalkerWalk, ReacherHard",
        "`sac` has only seeds 0, 4 on WalkerExplore",
    ]


@pytest.mark.parametrize(
    ("value", "digits", "text"),
    [(-0.25, 2, "−0.25"), (-0.001, 2, "0.00"), (12.34, 1, "12.3"), (0.0, 0, "0")],
)
def test_numbers_have_a_true_minus_and_none_before_zero(value, digits, text):
    assert reproduction.number(value, digits) == text


def test_estimates_without_enough_seeds_have_no_interval():
    assert (
        reproduction.estimate(Estimate(1.0, float("nan"), float("nan"), 2), 1)
        == "1.0 (no interval)"
    )
    assert reproduction.estimate(Estimate(1.0, 0.5, 2.0, 3), 1) == "1.0 [0.5, 2.0]"
