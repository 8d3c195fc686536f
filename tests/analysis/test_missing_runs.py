"""What a claim lacks, and the sweep that makes it."""

import dataclasses

import pytest

from analysis.claims import CLAIMS
from analysis.claims.missing_runs import command, describe, describe_short
from analysis.claims.samples import ShortRun
from baselines.cli import sweep
from baselines.settings import as_json, budget, resolve
from explore_suite.errors import UserError
from explore_suite.runs.format import Run
from explore_suite.tasks import lookup
from tests.helpers import synthetic_claims as invented


def made_by(line: str) -> set[tuple[str, str, int]]:
    """The runs that a command makes, by the sweep's own parser and settings."""
    program, name, *arguments = line.split()
    assert (program, name) == ("explore-suite", "sweep")
    specs = sweep.specs(sweep.parse(arguments))
    return {(spec.agent, lookup(spec.task).name, spec.seed) for spec in specs}


@pytest.mark.parametrize("name", CLAIMS)
def test_the_sweep_of_a_claim_makes_all_that_it_lacks(name):
    missing = CLAIMS[name].judge(invented.evidence([])).missing
    made = made_by(command(missing, "cpu"))
    assert made >= {(*cell, seed) for cell in missing for seed in range(3)}
    agents, tasks = map(set, zip(*missing, strict=True))
    assert made <= {(agent, task, seed) for agent in agents for task in tasks for seed in range(3)}


def test_the_sweep_names_each_agent_and_task_once():
    missing = [("sac", "WalkerWalk"), ("sac_bbe", "WalkerWalk"), ("sac", "ReacherHard")]
    assert command(missing, "paper") == (
        "explore-suite sweep --preset paper --agents sac sac_bbe --tasks WalkerWalk ReacherHard "
        "--seeds 0-2"
    )


def test_the_sweep_skips_finished_runs_and_refuses_short_ones(tmp_path, capsys):
    config = as_json(resolve("cpu", "random", "GridWorld"))

    def finished(seed: int, episodes: int) -> Run:
        one = invented.run("random", "GridWorld", seed, episodes, float)
        return one._replace(header=dataclasses.replace(one.header, config=config))

    arguments = command([("random", "GridWorld")], "cpu").split()[2:]
    arguments += ["--results", str(tmp_path), "--dry-run"]
    invented.write(tmp_path, [finished(1, budget("cpu", "random", "GridWorld"))])
    assert sweep.main(arguments) == 0
    assert "3 runs, 1 finished, 2 to do" in capsys.readouterr().out
    invented.write(tmp_path, [finished(0, 60)])
    with pytest.raises(
        UserError, match="is finished after 60 episodes and cannot be lengthened to 400"
    ):
        sweep.main(arguments)


@pytest.mark.parametrize(
    ("agent", "differs"),
    [
        ("sac_bbe.scale_0.1", lambda config: config.bonus_scale == 0.1),
        ("sac_deep.kernel_triple", lambda c: c.bonus.kernel.width == pytest.approx(0.18)),
        ("sac_deep.rows_512", lambda config: config.bonus.kernel.max_rows == 512),
    ],
)
def test_ablations_change_what_their_labels_say(agent, differs):
    plain = resolve("cpu", agent.partition(".")[0], "ReacherExplore")
    assert differs(resolve("cpu", agent, "ReacherExplore")) and not differs(plain)


def test_what_is_missing_is_one_line():
    missing = [("sac", "WalkerWalk"), ("sac_bbe", "WalkerWalk"), ("sac", "ReacherHard")]
    expected = "`sac` on 2 tasks, `sac_bbe` on WalkerWalk: 3 seeds in common are needed"
    assert describe(missing) == expected


def test_short_runs_are_one_line_that_says_what_to_do():
    runs = [ShortRun("sac", "WalkerWalk", 0, 60, 110), ShortRun("sac", "WalkerWalk", 3, 45, 110)]
    assert describe_short(runs) == (
        "`sac` on WalkerWalk, seed 0: 60 of 110 episodes; `sac` on WalkerWalk, seed 3: 45 of 110 "
        "episodes. A sweep lengthens a run only if its checkpoint was kept; otherwise delete the "
        "run, and the sweep makes it from scratch"
    )
