"""What a claim lacks, and the commands that make it."""

import subprocess

import pytest

from analysis.claims import CLAIMS
from analysis.claims.ablations import ABLATIONS
from analysis.claims.hypothesis_tests import Gap
from analysis.claims.missing_runs import commands, lines, train
from analysis.claims.samples import Left
from baselines.cli import sweep
from baselines.cli import train as train_command
from baselines.settings import VARIANTS, resolve
from explore_suite.tasks import lookup
from tests.helpers import synthetic_claims as invented


def shell(command: str) -> list[list[str]]:
    """The arguments that each call of explore-suite would get."""
    stub = 'explore-suite() { printf "%s " "$@"; echo; }; '
    said = subprocess.run(
        ["bash", "-c", stub + command], capture_output=True, text=True, check=True
    )
    return [line.split() for line in said.stdout.splitlines()]


@pytest.mark.parametrize("agent", ABLATIONS)
def test_the_commands_for_variants_file_runs_under_the_labels_looked_for(agent):
    task = "ReacherExplore"
    spec = train_command.spec_of(train_command.parse(train("cpu", agent, task, "0").split()[2:]))
    assert spec.agent == agent and agent in VARIANTS
    base = resolve("cpu", agent.partition(".")[0], task)
    expected = {
        "sac_bbe.scale_0.1": lambda config: config.bonus_scale == 0.1,
        "sac_deep.kernel_triple": lambda config: config.bonus.kernel.width == pytest.approx(0.18),
        "sac_deep.rows_512": lambda config: config.bonus.kernel.max_rows == 512,
    }.get(agent, lambda config: config != base)
    assert expected(spec.config)


def made_by(lines_of_shell: list[str]) -> set[tuple[str, str, int]]:
    made = set()
    for name, *arguments in (call for line in lines_of_shell for call in shell(line)):
        if name == "sweep":
            specs = sweep.specs(sweep.parse(arguments))
        else:
            specs = [train_command.spec_of(train_command.parse(arguments))]
        made |= {(spec.agent, lookup(spec.task).name, spec.seed) for spec in specs}
    return made


def test_the_commands_make_exactly_what_is_missing():
    gaps = [Gap("sac", "WalkerWalk", ()), Gap("sac_bbe", "WalkerWalk", (1, 4)),
            Gap("ddqn.warm", "GridWorld", ()), Gap("sac_deep.rows_512", "WalkerExplore", ()),
            Gap("sac_deep.rows_512", "FingerExplore", ())]  # fmt: skip
    assert made_by(commands(gaps, "cpu")) == {
        (gap.agent, gap.task, seed) for gap in gaps for seed in range(3) if seed not in gap.seeds
    }


def test_no_sweep_is_advised_that_would_be_refused(tmp_path):
    """Seed 0 is finished and too short, 1 longer than the preset's, 2 under way."""
    runs = [invented.run("random", "GridWorld", 0, 60, float),
            invented.run("random", "GridWorld", 1, 500, float)]  # fmt: skip
    invented.write(tmp_path, runs)
    found = CLAIMS["C3"](invented.evidence(runs))
    advice = [line for line in commands(found.gaps, "cpu") if "random" in line]
    assert made_by(advice) == {("random", "GridWorld", 0), ("random", "GridWorld", 2)}
    (swept,) = (line.split()[2:] for line in advice if " sweep " in line)
    assert sweep.main([*swept, "--results", str(tmp_path), "--dry-run"]) == 0
    (anew,) = (line for line in advice if " train " in line)
    assert "for seed in 0; do" in anew and "--overwrite" in anew


def test_unfinished_runs_of_the_right_length_go_on_and_others_begin_anew():
    gap = Gap("sac", "WalkerWalk", (), 110, (Left(0, 45, 110, False), Left(1, 45, 60, False)))
    sweeps, anew = commands([gap], "cpu")
    assert "--seeds 0,2" in sweeps and "for seed in 1; do" in anew and "--overwrite" in anew


def test_what_is_missing_is_told_by_agent_and_seeds():
    short = tuple(Left(seed, 60, 60, True) for seed in range(3))
    gaps = [
        Gap("sac", "WalkerWalk", ()),
        Gap("sac", "ReacherHard", ()),
        Gap("sac", "WalkerExplore", (0, 4)),
        Gap("sac", "FingerExplore", (), 110, short),
        Gap("sac", "FingerTurnHard", (4,), 110, (*short, Left(3, 45, 110, False))),
    ]
    too_short = "3 finished runs of 60 episodes, 110 needed (seeds 0, 1, 2)"
    assert lines(gaps) == [
        "`sac` has no runs on WalkerWalk, ReacherHard",
        "`sac` has only seeds 0, 4 on WalkerExplore",
        f"`sac` has no runs that count on FingerExplore: {too_short}",
        f"`sac` has only seed 4 on FingerTurnHard: {too_short}; "
        "1 unfinished run of 45 episodes, 110 needed (seed 3)",
    ]
