"""PRESETS: what differs from the agents' defaults, one table per preset.

`paper` is the published experiment; the defaults in the agents' files are its values already. Not
known are the final settings of exploration without reward: `ddqn_bbe.pure` keeps those of the warm
start. And during the skilled start evaluations are by the task policy, not by the skilled one.

`cpu` is the same environments, horizons, protocol and algorithms, sized for one core: smaller
networks and batches, fewer updates per step, fewer candidates, a smaller count table. What goes
with so few updates differs too: targets move faster, and the exploration Q starts with spread
biases and, in SAC+DEEP, fits its output bias to every batch. These were chosen by looking at
HallwayLocalOptimum. All agents of a family share one set of values, and none depends on the task
but the kernel's, which belong to the task.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, is_dataclass, replace
from typing import Any, get_type_hints

import numpy as np

from baselines import AGENTS
from baselines.agent import Agent, Bounds
from baselines.counts import CountConfig, bandwidth
from baselines.explorer import ExplorerConfig
from explore_suite.errors import UserError
from explore_suite.results import Header
from explore_suite.tasks import TaskSheet, lookup

SOURCE = "explore-suite train"  # what our runs say in their headers
Values = Mapping[str, Any]


@dataclass(frozen=True)
class Preset:
    """Differences from the defaults, by section, and training episodes by task."""

    episodes: Mapping[str, int]  # by task, or task.variant; "" for all others
    sac: Values = field(default_factory=dict)
    sac_explorer: Values = field(default_factory=dict)
    ddqn: Values = field(default_factory=dict)
    ddqn_explorer: Values = field(default_factory=dict)
    count: Values = field(default_factory=dict)


PRESETS = {
    "paper": Preset(
        episodes={"ReacherHard": 500, "ReacherExplore": 500, "HallwayLocalOptimum": 500,
                  "HallwayAdversarial": 500, "HallwayShort": 500, "GridWorld.warm": 500,
                  **{f"GridWorld.{v}": 999 for v in ("pure", "pure_plain", "pure_slow")}, "": 1000},
        ddqn_explorer={"updates_per_step": 10, "target_every": 10},
    ),
    "cpu": Preset(
        episodes={"HallwayLocalOptimum": 100, "HallwayAdversarial": 60, "HallwayShort": 50,
                  "GridWorld": 400,
                  **{f"GridWorld.{v}": 300 for v in ("warm", "pure", "pure_plain", "pure_slow")},
                  "": 110},
        # The first episode is uniform, as in `paper`; every update after it learns. There are a
        # quarter of the updates, and targets move four times as far in each: a value crosses a task
        # in as many episodes as in `paper`. At 0.005 that of a Hallway's far goal did not reach the
        # start in 100 episodes.
        sac={"hidden": 256, "batch_size": 256, "learning_rate": 3e-4, "tau": 0.02,
             "updates_per_step": 0.25, "seed_updates": 0},
        # With a fraction of the published updates, biases that start at zero never spread: the
        # exploration Q stays a cone over its box, and drives a Hallway's agent into its corner. And
        # values rise to 60 and sink to 20 within the first episodes, where a tenth decides between
        # actions: unless the output's bias follows at once, the weights do, each in its direction.
        sac_explorer={"hidden": 128, "bias_spread": 1.0, "fit_level": True, "learning_rate": 1e-3,
                      "batch_size": 64, "update_candidates": 16, "updates_per_step": 1,
                      "target_every": 1},
        ddqn={"hidden": 256, "batch_size": 256, "learning_rate": 3e-4},
        ddqn_explorer={"hidden": 128, "bias_spread": 1.0, "batch_size": 64,
                       "updates_per_step": 4, "target_every": 4},
        count={"max_rows": 4096},
    ),
}  # fmt: skip

_PURE = {"uniform_candidates": True}  # nothing learnt of the reward reaches behaviour
# The demo's: a far goal's value comes five times as far in an episode as in `cpu`.
_FAST = {"tau": 0.1}
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
    agent_class = AGENTS[algorithm(agent)]
    if "." in agent and agent not in VARIANTS:
        raise UserError(f"unknown variant {agent!r}; variants are {', '.join(VARIANTS)}")
    sheet, table = lookup(task), PRESETS[preset]
    if not can_act(agent, task):
        kind = "discrete" if sheet.discrete else "continuous"
        raise UserError(f"{agent} cannot act in {sheet.name}, whose actions are {kind}")
    names = {item.name for item in fields(agent_class.Config)}
    family = agent_class.family
    values: dict[str, Any] = dict(getattr(table, family, {}))
    if "explorer" in names:
        values["explorer"] = ExplorerConfig(**getattr(table, f"{family}_explorer"))
    if "count" in names:
        values["count"] = CountConfig(**{**table.count, **_kernel(sheet)})
    if "discrete" in names:
        values["discrete"] = sheet.discrete
    return _with(agent_class.Config(**values), {**VARIANTS.get(agent, {}), **(overrides or {})})


def _kernel(sheet: TaskSheet) -> dict[str, float]:
    """The task's own kernel; a task without one gets the paper's rule for its width."""
    scale = sheet.count_scale or bandwidth(sheet.obs_dim)
    return {"state_scale": scale, "tolerance": sheet.count_tolerance or CountConfig.tolerance}


def can_act(agent: str, task: str) -> bool:
    """Whether the agent's actions are of the task's kind."""
    return AGENTS[algorithm(agent)].discrete in (None, lookup(task).discrete)


def build(agent: str, task: str, config: Any, *, seed: int, device: str = "cpu") -> Agent:
    """The agent of this label, made for a task; its config says all that a variant changes."""
    return AGENTS[algorithm(agent)](bounds(lookup(task)), config, seed=seed, device=device)


def config_of(header: Header) -> Any:
    """The config of the agent that made a run; a UserError if none of ours did."""
    if header.source != SOURCE:
        raise UserError(f"{header.agent} was run by {header.source}, not by {SOURCE}")
    return _from_dict(AGENTS[algorithm(header.agent)].Config, header.config)


def _from_dict(config_class: Any, values: dict[str, Any]) -> Any:
    """A config from what a header holds of it."""
    hints = get_type_hints(config_class)
    known = {item.name for item in fields(config_class)}
    if known != set(values):
        wrong = ", ".join(sorted(known.symmetric_difference(values)))
        raise UserError(f"{config_class.__name__} has changed since this run: {wrong}")
    return config_class(
        **{
            name: _from_dict(hints[name], value) if is_dataclass(hints[name]) else value
            for name, value in values.items()
        }
    )


def budget(preset: str, agent: str, task: str) -> int:
    """Training episodes of a run unless told otherwise."""
    episodes, name = PRESETS[preset].episodes, lookup(task).name
    variant = f"{name}.{agent.partition('.')[2]}"
    return episodes.get(variant, episodes.get(name, episodes[""]))


def bounds(sheet: TaskSheet) -> Bounds:
    """What an agent must know of a task's spaces."""
    if sheet.discrete:
        low, high = np.zeros(1, np.float32), np.full(1, sheet.action_dim - 1, np.float32)
    else:
        low, high = (np.full(sheet.action_dim, side, np.float32) for side in (-1, 1))
    return Bounds(sheet.obs_low, sheet.obs_high, low, high)


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
