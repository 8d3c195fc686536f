"""Settings as flags: what is written is read back exactly, and what is wrong is one clear line."""

import math
import re
import shlex
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from baselines import AGENTS
from baselines.cli import sweep, train
from baselines.settings import VARIANTS, can_act, resolve
from baselines.training.flags import settings, split_config, train_flags
from baselines.training.run import RunOptions, RunSpec
from explore_suite.__main__ import main
from explore_suite.errors import UserError
from explore_suite.runs.store import DEFAULT_STORE, ResultStore
from tests.helpers.small_agents import task_of

SWEEP = [
    "--agents",
    "ddqn",
    "ddqn_bbe",
    "--tasks",
    "GridWorld",
    "--seeds",
    "0-1",
    "--episodes",
    "1",
]
# Numbers that lose digits if they are rounded anywhere.
SMALL = [
    "--config.hidden", "8", "--config.batch-size", "8", "--config.updates-per-step", repr(1 / 30),
    "--config.learning-rate", "0.00030000000000000003", "--variant", "odd",
]  # fmt: skip


def odd(value):
    """Another value of the same type, with all the digits that its type can have."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return value + 3
    return math.nextafter(value, 1.0) if isinstance(value, float) else value


@pytest.mark.parametrize("agent", AGENTS)
def test_a_run_with_every_number_changed_is_read_back_from_its_flags(agent):
    task = task_of(agent)
    values = {s.name: odd(s.value) for s in settings(resolve("cpu", agent, task)).values()}
    config = resolve("cpu", agent, task, values)
    spec = RunSpec.of(f"{agent}.odd.1", task, 7, "cpu", 3, config)
    options = RunOptions("cuda", 2, 30.0, True)
    flags = train_flags(spec, Path("a b"), options)
    read = train.parse(flags)
    assert train.spec_of(read) == spec and read.results == Path("a b")
    assert train.run_options_of(read) == options


@pytest.mark.parametrize("agent", ["sac", *VARIANTS])
def test_a_run_of_a_preset_needs_no_settings(agent):
    spec = RunSpec.of(
        agent, "GridWorld" if can_act(agent, "GridWorld") else "ReacherHard", 0, "cpu"
    )
    flags = train_flags(spec, DEFAULT_STORE, RunOptions())
    assert not [flag for flag in flags if flag.startswith(("--config.", "--variant"))]
    assert train.spec_of(train.parse(flags)) == spec


@pytest.mark.parametrize("agent", AGENTS)
def test_the_help_lists_every_setting_with_its_type_and_default(agent, capsys):
    assert main(["train", "--agent", agent, "--task", task_of(agent), "--help"]) == 0
    text = " ".join(capsys.readouterr().out.split())
    kinds = {bool: "true|false", int: "int", float: "float", str: "str", type(None): "float|none"}
    for setting in settings(resolve("cpu", agent, task_of(agent))).values():
        flag = f"{setting.flag} {kinds[type(setting.value)]} "
        assert re.search(rf"{re.escape(flag)}\S.*? \(default: {re.escape(setting.text)}\)", text)
    assert "examples:" in text


def test_names_are_written_with_dashes_or_underscores_and_values_behind_a_space_or_equals_sign():
    texts, rest = split_config(
        [
            "--a",
            "1",
            "--config.learning-rate",
            "-1e-3",
            "--config.tau=0.5",
            "--b",
            "--config.x_y=-1",
        ]
    )
    assert texts == {"learning_rate": "-1e-3", "tau": "0.5", "x_y": "-1"}
    assert rest == ["--a", "1", "--b"]


@pytest.mark.parametrize("text", ["1.5", "1e3", "true", "none", "", "9" * 500, "x"])
def test_a_setting_of_another_type_is_refused(text):
    hidden = settings(resolve("cpu", "sac_deep", "WalkerWalk"))["explorer.hidden"]
    with pytest.raises(UserError, match=r"--config\.explorer\.hidden must be int, got"):
        hidden.parse(text)


def test_words_are_read_by_the_type_of_the_setting():
    known = settings(resolve("cpu", "sac_deep", "WalkerWalk"))
    assert known["explorer.optimism"].parse("False") is False
    assert known["explorer.update_temperature"].parse("none") is None
    assert known["explorer.update_temperature"].parse("1") == 1.0
    assert known["bonus.kind"].parse("none") == "none"
    for name, text in (("tau", "nan"), ("tau", "inf"), ("tau", "true"), ("explorer.optimism", "1")):
        with pytest.raises(UserError, match=f"--config.{name} must be"):
            known[name].parse(text)


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (["--config.hidden"], "--config.hidden needs a value"),
        (["--config.hidden", "--variant", "x"], "--config.hidden needs a value"),
        (["--config.hidden", "8"], "differs from preset cpu for ddqn on GridWorld. Add --variant"),
        (["--config.hiden", "8"], "ddqn has no setting hiden; `explore-suite train --agent ddqn"),
        (["--config.discount", "2", "--variant", "x"], "discount"),
        (["--config.hidden", "8", "--variant", "warm"], "choose another --variant name"),
        (["--config.hidden", "8", "--variant", "a/b"], "cannot name an agent"),
        (["--variant", "x"], "--variant was given, but no --config.* flag differs from preset cpu"),
    ],
)
@pytest.mark.parametrize("command", ["train --agent", "sweep --agents"])
def test_wrong_settings_are_one_line_and_exit_code_2(command, flags, message, tmp_path, capsys):
    task = "--tasks" if command.startswith("sweep") else "--task"
    line = [*command.split(), "ddqn", task, "GridWorld", "--results", str(tmp_path), *flags]
    assert main(line) == 2
    error = capsys.readouterr().err
    assert message in error and error.count("\n") == 1


def test_a_run_that_could_not_be_read_back_is_refused_at_its_start(tmp_path, capsys):
    line = ["train", "--agent", "ddqn", "--task", "GridWorld", "--results", str(tmp_path)]
    assert main([*line, "--config.layers", "17", "--variant", "deep"]) == 2
    assert "config.layers must be at most 16, got 17" in capsys.readouterr().err
    assert not list(tmp_path.rglob("*.json"))


def test_the_name_of_a_variant_is_taken_only_with_its_own_settings():
    line = ["--agent", "ddqn", "--task", "GridWorld", "--variant", "warm"]
    spec = train.spec_of(train.parse([*line, "--config.skilled-steps", "2000"]))
    assert spec == RunSpec.of("ddqn.warm", "GridWorld", 0, "cpu")
    with pytest.raises(UserError, match="ddqn.warm is a variant of the suite with other settings"):
        train.spec_of(train.parse([*line, "--config.skilled-steps", "2001"]))


def test_a_sweep_gives_every_agent_and_task_the_settings():
    line = ["--agents", "sac", "sac_deep.rows_512", "--tasks", "original", "--seeds", "0-1"]
    specs = sweep.specs(sweep.parse([*line, "--config.tau=0.01", "--variant", "fast_target"]))
    assert len(specs) == 2 * 4 * 2 and {spec.config.tau for spec in specs} == {0.01}
    assert {spec.agent for spec in specs} == {"sac.fast_target", "sac_deep.fast_target"}
    for spec in specs:
        base = "sac" if spec.agent.startswith("sac.") else "sac_deep.rows_512"
        expected = replace(resolve("cpu", base, spec.task), tau=0.01)
        assert spec.config == expected
        assert train.spec_of(train.parse(train_flags(spec, Path("r"), RunOptions()))) == spec


@pytest.mark.parametrize(
    ("agents", "flags", "message"),
    [
        (["sac", "sac_deep"], ["--config.explorer.hidden", "9"], "sac has no setting explorer.hid"),
        (["sac_deep", "sac_deep.rows_512"], ["--config.tau", ".1"], "filed under sac_deep.mine"),
        (["sac_bbe", "sac_deep"], ["--config.bonus.kernel.state-scale", "0.16"],
         "no --config.* flag differs from preset cpu for sac_bbe on WalkerExplore"),
    ],
)  # fmt: skip
def test_a_setting_that_does_not_fit_every_agent_and_task_is_refused(agents, flags, message):
    line = ["--agents", *agents, "--tasks", "explore", *flags, "--variant", "mine"]
    with pytest.raises(UserError, match=re.escape(message)):
        sweep.specs(sweep.parse(line))


@pytest.mark.slow
def test_a_sweep_runs_the_settings_to_the_last_digit(tmp_path):
    assert main(["sweep", *SWEEP, *SMALL, "--results", str(tmp_path)]) == 0
    runs = list(ResultStore(tmp_path).runs())
    assert [(run.header.agent, run.header.seed) for run in runs] == [
        ("ddqn.odd", 0), ("ddqn.odd", 1), ("ddqn_bbe.odd", 0), ("ddqn_bbe.odd", 1),
    ]  # fmt: skip
    for run in runs:
        assert run.header.finished and run.header.config["updates_per_step"] == 1 / 30
        assert run.header.config["learning_rate"] == 0.00030000000000000003


@pytest.mark.slow
def test_printed_commands_make_the_missing_runs(tmp_path, capsys):
    """By a shell, into a folder whose name needs quotes."""
    root = tmp_path / "it's a folder"
    line = ["sweep", *SWEEP, *SMALL, "--results", str(root), "--print-commands"]
    assert main(line) == 0
    commands = capsys.readouterr().out.splitlines()
    assert len(commands) == 4 and not root.exists(), "nothing is run"
    assert all(shlex.split(command)[:2] == ["explore-suite", "train"] for command in commands)
    function = f'explore-suite() {{ {shlex.quote(sys.executable)} -m explore_suite "$@"; }}; '
    subprocess.run(["bash", "-c", function + commands[1]], check=True, capture_output=True)
    (run,) = ResultStore(root).runs()
    assert (run.header.agent, run.header.seed) == ("ddqn_bbe.odd", 0) and run.header.finished
    assert main(line) == 0
    assert capsys.readouterr().out.splitlines() == [commands[0], *commands[2:]]


def test_printed_commands_say_how_to_run(capsys, tmp_path):
    how = ["--device", "cuda", "--checkpoint-minutes", "1", "--keep-checkpoint", "--threads", "2"]
    line = ["--agents", "sac", "--tasks", "ReacherHard", "--results", str(tmp_path)]
    assert main(["sweep", *line, *how, "--print-commands"]) == 0
    assert capsys.readouterr().out == (
        "explore-suite train --agent sac --task ReacherHard --seed 0 --preset cpu --episodes 110 "
        f"--results {tmp_path} --device cuda --threads 2 --checkpoint-minutes 1.0 "
        "--keep-checkpoint\n"
    )


@pytest.mark.slow
def test_without_results_runs_are_written_below_the_working_directory(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    line = ["--agent", "random", "--task", "GridWorld", "--episodes", "1"]
    assert main(["train", *line]) == 0
    line = ["--agents", "random", "--tasks", "GridWorld", "--seeds", "0-1", "--episodes", "1"]
    assert main(["sweep", *line]) == 0
    assert [run.header.seed for run in ResultStore(tmp_path / "runs").runs()] == [0, 1]
