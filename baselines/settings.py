"""PRESETS: what differs from the agents' defaults, one table per preset.

`paper` is the published experiment; the defaults in the agents' files are its values already. Not
known are the final settings of exploration without reward: `ddqn_bbe.pure` keeps those of the warm
start. And during the skilled start evaluations are by the task policy, not by the skilled one.

`cpu` is the same environments, horizons, protocol and algorithms, sized for one core. The learners
keep the published schedule with smaller networks and batches. DEEP's exploration Q is cut further:
on the control tasks one update per step instead of two, fewer candidates, a smaller count table,
and an output bias fitted to every batch. docs/preset.md has the tables they were chosen from. All
agents of a family share one set of values, and none depends on the task but the kernel's, which
belong to the task.
"""

import json
import math
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
from explore_suite.tasks import TaskSpec, lookup

SOURCE = "explore-suite train"  # what our runs say in their headers
Values = Mapping[str, Any]  # field, or field.field of a part -> value


@dataclass(frozen=True)
class Preset:
    """Training episodes by task, and what differs from the defaults by family and by algorithm."""

    episodes: Mapping[str, int]  # by task, or task.variant; "" for all others
    families: Mapping[str, Values] = field(default_factory=dict)  # for every agent of a family
    agents: Mapping[str, Values] = field(default_factory=dict)  # for one algorithm


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

_PURE = {"uniform_candidates": True}  # nothing learnt of the reward reaches behaviour
# The demo's: a far goal's value comes five times as far in an episode as in `cpu`.
_FAST = {"tau": 0.025}
# Named settings, most of them the paper's other experiments, as label -> what differs from the
# algorithm before the dot.
VARIANTS: dict[str, Values] = {
    "sac.fast": _FAST,
    "sac_deep.fast": _FAST,
    "ddqn.warm": {"skilled_steps": 2000},
    "ddqn_bbe.warm": {"skilled_steps": 2000},
    "ddqn_deep.warm": {"skilled_steps": 2000},
    "ddqn_bbe.pure": {"explore_only": True},
    "ddqn_deep.pure": _PURE,
    "ddqn_deep.pure_plain": {**_PURE, "explorer.optimism": False},
    "ddqn_deep.pure_slow": {**_PURE, "explorer.adapt": "episode"},
    "sac_bbe.rnd": {"bonus.kind": "rnd"},
    "sac_deep.rnd": {"bonus.kind": "rnd"},
    "sac_bbe.scale_0.01": {"bonus_scale": 0.01},
    "sac_bbe.scale_0.1": {"bonus_scale": 0.1},
    "sac_bbe.scale_10": {"bonus_scale": 10.0},
    "sac_deep.kernel_third": {"bonus.kernel.state_factor": 1 / 3},
    "sac_deep.kernel_triple": {"bonus.kernel.state_factor": 3.0},
    "sac_deep.rows_512": {"bonus.kernel.max_rows": 512},
    "sac_deep.rows_all": {"bonus.kernel.max_rows": 1_000_000},
}


def algorithm(agent: str) -> str:
    """The algorithm of a label, which is `algorithm` or `algorithm.variant`."""
    name = agent.partition(".")[0]
    if name not in AGENTS:
        raise UserError(f"unknown agent {agent!r}; agents are {', '.join([*AGENTS, *VARIANTS])}")
    return name


def resolve(preset: str, agent: str, task: str, overrides: Values | None = None) -> Any:
    """The agent's config; `overrides` win, and `{"explorer.discount": 0.97}` reaches inside."""
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
        _of_the_task(config, spec), VARIANTS.get(agent, {}), overrides or {},
    ):  # fmt: skip
        config = _with(config, values)
    return config


def _of_the_task(config: Any, spec: TaskSpec) -> Values:
    """What belongs to the task, of what this config has: the kernel, and the kind of actions."""
    names, values = {item.name for item in fields(config)}, dict[str, Any]()
    if "bonus" in names and not spec.discrete:
        # A task without a scale of its own gets the paper's rule.
        values["bonus.kernel.state_scale"] = spec.count_scale or bandwidth(spec.obs_dim)
        if spec.count_tolerance:
            values["bonus.kernel.tolerance"] = spec.count_tolerance
    if "discrete" in names:
        values["discrete"] = spec.discrete
    return values


def can_act(agent: str, task: str) -> bool:
    """Whether the agent's actions are of the task's kind."""
    return AGENTS[algorithm(agent)].discrete in (None, lookup(task).discrete)


def build(agent: str, task: str, config: Any, *, seed: int, device: str = "cpu") -> Agent:
    """The agent of this label, made for a task; its config says all that a variant changes."""
    return AGENTS[algorithm(agent)](bounds(lookup(task)), config, seed=seed, device=device)


def config_of(header: Header) -> Any:
    """The config of the agent that made a run; a UserError if none of ours did, or none could.

    A setting that is absent has its default: it was added after the run was made, and the default
    of a new setting is what agents did without it.
    """
    if header.source != SOURCE:
        raise UserError(f"{header.agent} was run by {header.source}, not by {SOURCE}")
    return _from_dict(AGENTS[algorithm(header.agent)].Config, header.config, "config")


def settings_of(header: Header) -> dict[str, Any]:
    """A run's settings, absent ones filled in: what to compare; of others' runs as they are."""
    return as_json(config_of(header)) if header.source == SOURCE else header.config


def as_json(config: Any) -> dict[str, Any]:
    """A config as a header holds it."""
    return json.loads(json.dumps(asdict(config)))


# Largest values of a config read from a file, which may be a stranger's; 10^9 for all others.
_LARGEST = {"hidden": 8192, "layers": 16, "features": 8192, "batch_size": 65536,
            "updates_per_step": 1000, "candidates": 65536, "update_candidates": 65536,
            "behaviour_candidates": 65536, "max_rows": 2**22, "replay_capacity": 10**8}  # fmt: skip


def _from_dict(config_class: Any, values: Any, where: str) -> Any:
    """A config from what a header holds of it; a UserError names a setting that does not fit."""
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
    """The value, if it is of this type and no number is beyond what an agent can be made with."""
    kinds = get_args(kind) or (kind,)
    whole = type(value) is int and float in kinds  # JSON writes 1.0 as it likes
    if type(value) not in kinds and not whole:
        names = " or ".join("null" if k is NoneType else k.__name__ for k in kinds)
        raise UserError(f"{where} must be {names}, got {value!r:.40}")
    largest = _LARGEST.get(where.rpartition(".")[2], 10**9)
    if isinstance(value, int | float) and not (math.isfinite(value) and abs(value) <= largest):
        raise UserError(f"{where} must be at most {largest}, got {value}")
    return float(value) if whole and int not in kinds else value


def budget(preset: str, agent: str, task: str) -> int:
    """Training episodes of a run unless told otherwise."""
    episodes, name = PRESETS[preset].episodes, lookup(task).name
    variant = f"{name}.{agent.partition('.')[2]}"
    return episodes.get(variant, episodes.get(name, episodes[""]))


def bounds(spec: TaskSpec) -> Bounds:
    """What an agent must know of a task's spaces."""
    if spec.discrete:
        low, high = np.zeros(1, np.float32), np.full(1, spec.action_dim - 1, np.float32)
    else:
        low, high = (np.full(spec.action_dim, side, np.float32) for side in (-1, 1))
    return Bounds(spec.obs_low, spec.obs_high, low, high)


def _with(config: Any, overrides: Values) -> Any:
    """A copy of a config with some fields, or fields of its parts, replaced."""
    for path, value in overrides.items():
        name, _, rest = path.partition(".")
        if name not in {item.name for item in fields(config)}:
            known = ", ".join(item.name for item in fields(config))
            raise UserError(f"{type(config).__name__} has no field {name!r}; it has {known}")
        config = replace(
            config, **{name: _with(getattr(config, name), {rest: value}) if rest else value}
        )
    return config
