"""PRESETS: the hyperparameters that differ from the agents' defaults, one table per preset.

`paper` is the published experiment. Its values are the defaults in the agents' files already, so
its table is short. Two things differ: the final settings of exploration without reward are not
published, so `ddqn_bbe.pure` keeps those of the warm start; and during the warm start evaluations
use the task policy, not the scripted expert.

`cpu` has the same environments, horizons, protocol and algorithms, sized for one core. SAC and DDQN
keep the published update schedule with smaller networks and batches. DEEP's exploration Q is
reduced further: on the control tasks one update per step instead of two, fewer candidates, a
smaller count table, and an output bias fitted to every batch. docs/preset.md shows how the values
were chosen. All agents of a family share one set of values; only the kernel's depend on the task.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, is_dataclass, replace
from types import NoneType
from typing import Any, get_args, get_type_hints

import numpy as np

from baselines import AGENTS
from baselines.agent import Agent, Bounds
from baselines.bonuses.counts import bandwidth
from explore_suite.errors import SettingError, UserError
from explore_suite.runs.format import Header
from explore_suite.runs.header_rules import OUR_SOURCE
from explore_suite.tasks import TaskSpec, lookup

Values = Mapping[str, Any]  # field, or part.field for a nested config -> value


@dataclass(frozen=True)
class Preset:
    """Training episodes by task, and overrides of the agents' defaults."""

    episodes: Mapping[str, int]  # task, or task.variant -> budget; "" for all others
    families: Mapping[str, Values] = field(default_factory=dict)  # family -> overrides
    agents: Mapping[str, Values] = field(default_factory=dict)  # algorithm -> overrides


PRESETS = {
    "paper": Preset(
        episodes={"ReacherHard": 500, "ReacherExplore": 500, "HallwayLocalOptimum": 500,
                  "HallwayAdversarial": 500, "HallwayShort": 500, "GridWorld.warm": 500,
                  **{f"GridWorld.{v}": 999 for v in ("pure", "pure_plain", "pure_slow")}, "": 1000},
        agents={"ddqn_deep": {"explorer.updates_per_step": 10, "explorer.target_every": 10}},
    ),
    "cpu": Preset(
        episodes={"HallwayLocalOptimum": 150, "HallwayAdversarial": 100, "HallwayShort": 50,
                  "GridWorld": 400,
                  **{f"{task}.long": 300 for task in
                     ("FingerTurnHard", "FingerExplore", "WalkerExplore")},
                  **{f"GridWorld.{v}": 300 for v in ("warm", "pure", "pure_plain", "pure_slow")},
                  "": 110},
        families={
            "sac": {"hidden": 128, "batch_size": 128, "learning_rate": 1e-3},
            "ddqn": {"hidden": 256, "batch_size": 256, "learning_rate": 3e-4},
        },
        agents={
            "sac_deep": {
                "explorer.hidden": 128, "explorer.batch_size": 64, "explorer.update_candidates": 16,
                "explorer.updates_per_step": 1, "explorer.target_every": 1,
                "explorer.fit_level": True, "bonus.kernel.max_rows": 4096,
            },
            "ddqn_deep": {
                "explorer.hidden": 128, "explorer.batch_size": 64,
                "explorer.updates_per_step": 10, "explorer.target_every": 10,
            },
        },
    ),
}  # fmt: skip

_PURE = {"uniform_candidates": True}  # behaviour does not depend on the reward
# For the demo: target networks that move five times as fast, so that the value of the far goal
# spreads in fewer episodes.
_FAST = {"tau": 0.025}
# Named variants, most of them from the paper's other experiments: algorithm.variant -> overrides.
VARIANTS: dict[str, Values] = {
    "sac.fast": _FAST,
    "sac_deep.fast": _FAST,
    "sac.long": {},  # as the preset, but for the number of episodes
    "sac_deep.long": {},
    "ddqn.warm": {"skilled_steps": 2000},
    "ddqn_bbe.warm": {"skilled_steps": 2000},
    "ddqn_deep.warm": {"skilled_steps": 2000},
    "ddqn_bbe.pure": {"explore_only": True},
    "ddqn_deep.pure": _PURE,
    "ddqn_deep.pure_plain": {**_PURE, "explorer.optimism": False},
    "ddqn_deep.pure_slow": {**_PURE, "explorer.adapt": "episode"},
    "sac_bbe.rnd": {"bonus.kind": "rnd"},
    "sac_deep.rnd": {"bonus.kind": "rnd"},
    "sac_bbe.hash": {"bonus.kind": "hash"},
    "sac_deep.hash": {"bonus.kind": "hash"},
    "sac_noise.white": {"noise": "white"},
    "sac_noise.pink": {"noise": "pink"},
    "sac_noise.zeta": {"noise": "zeta"},
    "sac_bbe.scale_0.01": {"bonus_scale": 0.01},
    "sac_bbe.scale_0.1": {"bonus_scale": 0.1},
    "sac_bbe.scale_10": {"bonus_scale": 10.0},
    "sac_deep.kernel_third": {"bonus.kernel.state_factor": 1 / 3},
    "sac_deep.kernel_triple": {"bonus.kernel.state_factor": 3.0},
    "sac_deep.rows_512": {"bonus.kernel.max_rows": 512},
    "sac_deep.rows_all": {"bonus.kernel.max_rows": 1_000_000},
}


def algorithm(agent: str) -> str:
    """The algorithm of an agent label, which is `algorithm` or `algorithm.variant`."""
    name = agent.partition(".")[0]
    if name not in AGENTS:
        raise UserError(f"unknown agent {agent!r}; agents are {', '.join([*AGENTS, *VARIANTS])}")
    return name


def resolve(preset: str, agent: str, task: str, overrides: Values | None = None) -> Any:
    """The agent's config for a task: defaults, then preset, task, variant and `overrides`.

    `{"explorer.discount": 0.97}` overrides a field of a nested config.
    """
    if preset not in PRESETS:
        raise UserError(f"unknown preset {preset!r}; presets are {', '.join(PRESETS)}")
    name = algorithm(agent)
    if "." in agent and agent not in VARIANTS:
        raise UserError(f"unknown variant {agent!r}; variants are {', '.join(VARIANTS)}")
    spec, table = lookup(task), PRESETS[preset]
    if not can_act(agent, task):
        kind = "discrete" if spec.discrete else "continuous"
        raise UserError(f"{agent} cannot act in {spec.name}, whose actions are {kind}")
    config = AGENTS[name].Config()
    for values in (
        table.families.get(AGENTS[name].family, {}), table.agents.get(name, {}),
        _task_values(config, spec), VARIANTS.get(agent, {}), overrides or {},
    ):  # fmt: skip
        config = _with(config, values)
    return config


def _task_values(config: Any, spec: TaskSpec) -> Values:
    """The fields of this config that depend on the task: kernel width and kind of actions."""
    names, values = {item.name for item in fields(config)}, dict[str, Any]()
    if "bonus" in names and not spec.discrete:
        # A task without a measured scale uses the paper's rule, Eq. 10.
        values["bonus.kernel.state_scale"] = spec.count_scale or bandwidth(spec.obs_dim)
        if spec.count_tolerance:
            values["bonus.kernel.tolerance"] = spec.count_tolerance
    if "discrete" in names:
        values["discrete"] = spec.discrete
    return values


def can_act(agent: str, task: str) -> bool:
    """Whether the agent can act in the task: both discrete or both continuous."""
    return AGENTS[algorithm(agent)].discrete in (None, lookup(task).discrete)


def build(agent: str, task: str, config: Any, *, seed: int, device: str = "cpu") -> Agent:
    """Makes an agent for a task; a variant differs from its algorithm in `config` only."""
    return AGENTS[algorithm(agent)](bounds(lookup(task)), config, seed=seed, device=device)


def config_of(header: Header) -> Any:
    """The config of a run of one of our agents; UserError for other runs and for invalid configs.

    A field that the header lacks gets its default: it was added after the run was made, and the
    default of a new field leaves the agent's behaviour unchanged.
    """
    if header.source != OUR_SOURCE:
        raise UserError(f"{header.agent} was run by {header.source}, not by {OUR_SOURCE}")
    return _from_dict(AGENTS[algorithm(header.agent)].Config, header.config, "config")


def settings_of(header: Header) -> dict[str, Any]:
    """A run's config for comparisons: with new fields filled in, unchanged if not our agent's."""
    return as_json(config_of(header)) if header.source == OUR_SOURCE else header.config


def as_json(config: Any) -> dict[str, Any]:
    """A config as nested dicts, as stored in a run's header."""
    return json.loads(json.dumps(asdict(config)))


# Largest values accepted from a header, which may be untrusted; 10^9 for all other fields.
_LARGEST = {"hidden": 8192, "layers": 16, "features": 8192, "batch_size": 65536,
            "updates_per_step": 1000, "candidates": 65536, "update_candidates": 65536,
            "behaviour_candidates": 65536, "max_rows": 2**22, "max_hashes": 2**22,
            "replay_capacity": 10**8, "heads": 1024, "noise_length": 10**6}  # fmt: skip


def _from_dict(config_class: Any, values: Any, where: str) -> Any:
    """A config from the dict in a header; UserError names the first invalid setting."""
    if not isinstance(values, dict):
        raise UserError(f"{where} must hold settings, got {values!r:.40}")
    hints = get_type_hints(config_class)
    unknown = sorted(set(values) - {item.name for item in fields(config_class)})
    if unknown:
        raise UserError(f"{config_class.__name__} has no setting {', '.join(unknown)}")
    parts = {
        name: _from_dict(hints[name], value, f"{where}.{name}")
        if is_dataclass(hints[name])
        else _checked(hints[name], value, f"{where}.{name}")
        for name, value in values.items()
    }
    try:
        return config_class(**parts)
    except SettingError as error:
        raise UserError(f"{where}: {error}") from error


def _checked(kind: Any, value: Any, where: str) -> Any:
    """The value, if it has this type and is not too large; UserError otherwise."""
    kinds = get_args(kind) or (kind,)
    whole = type(value) is int and float in kinds  # JSON may write 1.0 as 1
    if type(value) not in kinds and not whole:
        names = " or ".join("null" if k is NoneType else k.__name__ for k in kinds)
        raise UserError(f"{where} must be {names}, got {value!r:.40}")
    largest = _LARGEST.get(where.rpartition(".")[2], 10**9)
    if isinstance(value, int | float) and not abs(value) <= largest:  # nor NaN
        raise UserError(f"{where} must be at most {largest}, got {value}")
    return float(value) if whole and int not in kinds else value


def budget(preset: str, agent: str, task: str) -> int:
    """The preset's number of training episodes for a run."""
    episodes, name = PRESETS[preset].episodes, lookup(task).name
    variant = f"{name}.{agent.partition('.')[2]}"
    return episodes.get(variant, episodes.get(name, episodes[""]))


def bounds(spec: TaskSpec) -> Bounds:
    """The bounds of a task's observations and actions."""
    if spec.discrete:
        low, high = np.zeros(1, np.float32), np.full(1, spec.action_dim - 1, np.float32)
    else:
        low, high = (np.full(spec.action_dim, side, np.float32) for side in (-1, 1))
    return Bounds(spec.obs_low, spec.obs_high, low, high)


def _with(config: Any, overrides: Values) -> Any:
    """A copy of a config with some fields, or fields of nested configs, replaced."""
    for path, value in overrides.items():
        name, _, rest = path.partition(".")
        if name not in {item.name for item in fields(config)}:
            known = ", ".join(item.name for item in fields(config))
            raise UserError(f"{type(config).__name__} has no field {name!r}; it has {known}")
        config = replace(
            config, **{name: _with(getattr(config, name), {rest: value}) if rest else value}
        )
    return config
