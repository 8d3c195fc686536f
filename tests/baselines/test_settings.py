"""Presets: the paper's numbers as published, one set of SAC values for all, clear refusals."""

import json
from dataclasses import asdict, fields, replace

import numpy as np
import pytest

from baselines import AGENTS
from baselines.cli.agents import main as agents_command
from baselines.settings import PRESETS, VARIANTS, bounds, budget, build, can_act, resolve
from explore_suite.__main__ import main
from explore_suite.errors import UserError
from explore_suite.tasks import TASKS, lookup

SAC_AGENTS = [name for name, agent in AGENTS.items() if agent.family == "sac"]
PAPER_SAC = {
    "hidden": 1024, "layers": 2, "learning_rate": 1e-4, "batch_size": 1024, "discount": 0.99,
    "init_temperature": 0.1, "tau": 0.005, "target_every": 2, "actor_every": 1,
    "replay_capacity": 1_000_000, "warmup_steps": 128, "seed_updates": 500, "updates_per_step": 1.0,
}  # fmt: skip
PAPER_EXPLORER = {
    "hidden": 512, "layers": 2, "fit_level": False, "learning_rate": 1e-2,
    "batch_size": 128,
    "update_candidates": 64, "behaviour_candidates": 64, "temperature": 0.1,
    "update_temperature": None,
    "discount": 0.99, "updates_per_step": 2, "target_every": 2,
    "optimism": True, "start_after": 128, "adapt": "step",
}  # fmt: skip
PAPER_DDQN = {
    "hidden": 512, "learning_rate": 1e-4, "batch_size": 1024, "discount": 0.99, "target_every": 50,
    "candidates": 32, "train_temperature": 0.3, "test_temperature": 0.1, "updates_per_step": 1.0,
}  # fmt: skip
PAPER_KERNELS = {  # state scale, tolerance
    "Hallway": (0.02, 0.9), "Reacher": (0.06, 0.9), "BallInCup": (0.078, 0.9),
    "Finger": (0.11, 0.5), "Walker": (0.16, 0.5),
}  # fmt: skip


def test_paper_preset_is_the_published_one():
    config = asdict(resolve("paper", "sac_deep", "WalkerExplore"))
    assert {name: config[name] for name in PAPER_SAC} == PAPER_SAC
    assert config["explorer"] == PAPER_EXPLORER
    assert config["bonus"]["kind"] == "kernel" and config["bonus"]["prior_count"] == 1e-3
    assert config["bonus"]["kernel"] == {
        "state_scale": 0.16, "state_factor": 1.0, "tolerance": 0.5, "action_scale": 1.0,
        "max_rows": 32768, "backend": "product",
    }  # fmt: skip


def test_paper_preset_of_the_grid_is_the_published_one():
    config = asdict(resolve("paper", "ddqn_deep", "GridWorld"))
    assert {name: config[name] for name in PAPER_DDQN} == PAPER_DDQN
    explorer = PAPER_EXPLORER | {"updates_per_step": 10, "target_every": 10}
    assert config["explorer"] == explorer


def test_kernels_belong_to_the_task():
    for spec in TASKS.values():
        if spec.discrete:
            continue
        expected = next(
            (v for prefix, v in PAPER_KERNELS.items() if spec.name.startswith(prefix)), None
        )
        if expected is None:
            continue
        for preset in PRESETS:
            count = resolve(preset, "sac_bbe", spec.name).bonus.kernel
            assert (count.state_scale, count.tolerance) == expected


def test_a_task_without_a_kernel_gets_the_papers_rule(monkeypatch):
    spec = replace(lookup("ReacherHard"), count_scale=None, count_tolerance=None)
    monkeypatch.setattr("baselines.settings.lookup", lambda task: spec)
    count = resolve("cpu", "sac_bbe", "ReacherHard").bonus.kernel
    assert count.state_scale == pytest.approx(0.0609, abs=1e-4) and count.tolerance == 0.9


def test_all_sac_agents_share_one_set_of_sac_values_on_all_tasks():
    for preset in PRESETS:
        sets = {
            tuple(getattr(resolve(preset, agent, spec.name), name) for name in PAPER_SAC)
            for agent in SAC_AGENTS
            for spec in TASKS.values()
            if not spec.discrete
        }
        assert len(sets) == 1


def test_every_agent_resolves_and_builds_where_it_can_act(spec):
    for agent in AGENTS:
        if can_act(agent, spec.name):
            config = resolve("cpu", agent, spec.name)
            assert isinstance(config, AGENTS[agent].Config)
            assert build(agent, spec.name, config, seed=0).config == config
            assert budget("cpu", agent, spec.name) > 0
        else:
            with pytest.raises(UserError, match=f"{agent} cannot act in {spec.name}"):
                resolve("cpu", agent, spec.name)


def test_overrides_reach_inside():
    config = resolve("cpu", "sac_deep", "ReacherHard", {"tau": 0.1, "explorer.discount": 0.97})
    assert config.tau == 0.1 and config.explorer.discount == 0.97
    assert config.explorer.hidden == resolve("cpu", "sac_deep", "ReacherHard").explorer.hidden


@pytest.mark.parametrize("label", VARIANTS)
def test_a_variant_is_its_algorithm_but_for_what_it_names(label):
    task = "GridWorld" if can_act(label, "GridWorld") else "HallwayLocalOptimum"
    plain = asdict(resolve("cpu", label.split(".")[0], task))
    config = resolve("cpu", label, task)
    for path, value in VARIANTS[label].items():
        *parents, name = path.split(".")
        part = plain
        for parent in parents:
            part = part[parent]
        control = label == "sac_noise.white"  # the control: SAC itself
        assert name in part and (part[name] != value) is not control
        part[name] = value
    assert asdict(config) == plain
    assert build(label, task, config, seed=0).config == config
    assert budget("cpu", label, task) == (300 if task == "GridWorld" else 150)
    assert budget("cpu", "ddqn", "GridWorld") == 400


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("cpu", "sac.warm", "ReacherHard"), "unknown variant 'sac.warm'; variants are sac.fast"),
        (("gpu", "sac", "ReacherHard"), "unknown preset 'gpu'; presets are paper, cpu"),
        (("cpu", "ppo", "ReacherHard"), "unknown agent 'ppo'; agents are sac"),
        (("cpu", "sac", "Reacher"), "did you mean Reacher"),
        (("cpu", "sac", "ReacherHard", {"lr": 1}), "SACConfig has no field 'lr'; it has hidden"),
        (
            ("cpu", "sac_deep", "ReacherHard", {"explorer.lr": 1}),
            "ExplorerConfig has no field 'lr'",
        ),
    ],
)
def test_wrong_names_are_refused_by_name(arguments, message):
    with pytest.raises(UserError, match=message):
        resolve(*arguments)


def test_bounds_of_continuous_and_discrete_tasks():
    box = bounds(lookup("HallwayLocalOptimum"))
    np.testing.assert_allclose(box.obs_high, [2.0, 0.1])
    np.testing.assert_array_equal(box.action_low, [-1, -1])
    grid = bounds(lookup("GridWorld"))
    assert grid.action_low.tolist() == [0] and grid.action_high.tolist() == [3]


def test_paper_agents_are_built_at_full_size():
    agent = build("sac_deep", "ReacherHard", resolve("paper", "sac_deep", "ReacherHard"), seed=0)
    assert agent.actor.net.params.numel() == 6 * 1024 + 1024 + 1024**2 + 1024 + 1024 * 4 + 4


def test_every_setting_says_where_it_comes_from():
    """Each field of a config is followed by a comment."""
    import inspect

    for agent in AGENTS.values():
        for config in {agent.Config, *(type(v) for v in vars(agent.Config()).values())}:
            if not hasattr(config, "__dataclass_fields__"):
                continue
            source = inspect.getsource(config)
            own = [f.name for f in fields(config) if f"    {f.name}:" in source]
            for name in own:
                line = next(x for x in source.splitlines() if x.startswith(f"    {name}:"))
                assert "#" in line or "default_factory" in line, f"{config.__name__}.{name}"


@pytest.mark.parametrize(
    ("agent", "task", "episodes"),
    [
        ("sac_deep", "ReacherExplore", 500),
        ("sac_deep", "FingerExplore", 1000),
        ("sac", "HallwayAdversarial", 500),
        ("ddqn.warm", "GridWorld", 500),
        ("ddqn_bbe.pure", "GridWorld", 999),
        ("ddqn_deep.pure_slow", "GridWorld", 999),
        ("ddqn_deep", "GridWorld", 1000),
    ],
)
def test_budgets_of_preset_paper_are_the_published_ones(agent, task, episodes):
    assert budget("paper", agent, task) == episodes


def test_agents_command_lists_and_compares(capsys):
    agents_command([])
    lines = capsys.readouterr().out
    assert all(name in lines for name in AGENTS) and "bonus.prior_count" in lines
    assert main(["agents", "--diff", "sac", "sac_bbe"]) == 0
    difference = capsys.readouterr().out
    assert "bonus_scale" in difference and "learning_rate" not in difference
    assert main(["agents", "--diff", "sac", "sac.fast", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"tau": {"sac": 0.005, "sac.fast": 0.025}}
    assert main(["agents", "--diff", "sac", "sax"]) == 2
    assert main(["agents", "--task", "GridWorld"]) == 0
    assert "sac_deep" not in capsys.readouterr().out
