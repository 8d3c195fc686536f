"""Settings as command-line flags: `--config.explorer.hidden 512`, read and written.

`train` and `sweep` read them by the same rules, and a sweep writes them to start its runs. Numbers
are written with all their digits, so that what is read back is the same config.
"""

import contextlib
import inspect
import math
import re
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from pathlib import Path
from types import NoneType
from typing import Any, NamedTuple, get_args, get_type_hints

from baselines.settings import VARIANTS, algorithm, resolve
from baselines.training.run import RunOptions, RunSpec
from explore_suite.errors import UserError
from explore_suite.tasks import lookup

_PREFIX = "--config."
_WORDS = {"true": True, "false": False, "none": None}


class Setting(NamedTuple):
    """One setting of a config."""

    name: str  # dotted, such as explorer.hidden
    kinds: tuple[type, ...]  # types that its value may have
    value: Any
    owner: type  # the config class that it is a field of

    @property
    def flag(self) -> str:
        """Its name on the command line; underscores are understood as well."""
        return _PREFIX + self.name.replace("_", "-")

    @property
    def kind(self) -> str:
        """What its value may be: `int`, `float|none`, `true|false`."""
        names = {bool: "true|false", NoneType: "none"}
        return "|".join(names.get(kind, kind.__name__) for kind in self.kinds)

    @property
    def about(self) -> str:
        """The comment beside it in the source of its config class."""
        line = re.compile(rf"^    {self.name.rpartition('.')[2]}: [^#\n]*# (.+)$", re.MULTILINE)
        for part in self.owner.__mro__:
            with contextlib.suppress(OSError, TypeError):  # a class without source has no comments
                if match := line.search(inspect.getsource(part)):
                    return match[1]
        return ""

    @property
    def text(self) -> str:
        """Its value as `parse` reads it; `str` of a float has all its digits."""
        return next(
            (word for word, value in _WORDS.items() if value is self.value), str(self.value)
        )

    def parse(self, text: str) -> Any:
        """The value that a text stands for; a UserError if it has another type."""
        for word in (_WORDS.get(text.lower(), text), text):
            if type(word) in self.kinds:
                return word
        for number in {int, float}.intersection(self.kinds):
            with contextlib.suppress(ValueError, OverflowError):
                if math.isfinite(value := number(text)):
                    return value
        raise UserError(f"{self.flag} must be {self.kind}, got {text!r}")


def settings(config: Any, prefix: str = "") -> dict[str, Setting]:
    """Every setting of a config and of its parts, by dotted name."""
    owner, found = type(config), dict[str, Setting]()
    kinds = get_type_hints(owner)
    for item in fields(config):
        name, value, kind = prefix + item.name, getattr(config, item.name), kinds[item.name]
        if is_dataclass(value):
            found |= settings(value, f"{name}.")
        else:
            found[name] = Setting(name, get_args(kind) or (kind,), value, owner)
    return found


def split_config(arguments: list[str]) -> tuple[dict[str, str], list[str]]:
    """The `--config.NAME VALUE` flags of a command line as name -> text, and what remains."""
    texts: dict[str, str] = {}
    others: list[str] = []
    remaining = iter(arguments)
    for argument in remaining:
        if not argument.startswith(_PREFIX):
            others.append(argument)
            continue
        name, equals, text = argument.removeprefix(_PREFIX).partition("=")
        text = text if equals else next(remaining, "--")
        if text.startswith("--"):
            raise UserError(f"{_PREFIX}{name} needs a value, e.g. {_PREFIX}{name} 1")
        texts[name.replace("-", "_")] = text
    return texts, others


def parse_config(preset: str, agent: str, task: str, texts: Mapping[str, str]) -> Any:
    """The agent's config on a task, with the settings of `split_config` in place."""
    known = settings(resolve(preset, agent, task))
    for name in texts:
        if name not in known:
            raise UserError(
                f"{agent} has no setting {name}; `explore-suite train --agent {agent} "
                f"--task {lookup(task).name} --help` lists its settings"
            )
    values = {name: known[name].parse(text) for name, text in texts.items()}
    return resolve(preset, agent, task, values)


def label(preset: str, agent: str, task: str, config: Any, variant: str | None) -> str:
    """What a run is filed under: own settings never mix with the results of the preset."""
    if config == resolve(preset, agent, task):
        if variant:
            raise UserError(
                f"--variant was given, but no --config.* flag differs from preset {preset} for "
                f"{agent} on {lookup(task).name}. Drop --variant or change a setting."
            )
        return agent
    if not variant:
        raise UserError(
            f"--config.* differs from preset {preset} for {agent} on {lookup(task).name}. Add "
            f"--variant NAME: the run is then filed under {algorithm(agent)}.NAME."
        )
    name = f"{algorithm(agent)}.{variant}"
    if name in VARIANTS and config != resolve(preset, name, task):
        raise UserError(
            f"{name} is a variant of the suite with other settings; choose another --variant name"
        )
    return name


def train_flags(spec: RunSpec, root: Path, options: RunOptions) -> list[str]:
    """The flags with which `explore-suite train` makes this run in the store at `root`."""
    agent, variant = spec.agent, []
    if "." in agent and agent not in VARIANTS:
        agent, _, name = agent.partition(".")
        variant = ["--variant", name]
    preset = settings(resolve(spec.preset, agent, spec.task))
    changed = [s for s in settings(spec.config).values() if s.value != preset[s.name].value]
    flags = [
        "--agent", agent, "--task", lookup(spec.task).name, "--seed", str(spec.seed),
        "--preset", spec.preset, "--episodes", str(spec.episodes), "--results", str(root),
        *variant, *(text for setting in changed for text in (setting.flag, setting.text)),
    ]  # fmt: skip
    usual = RunOptions()
    if options.device != usual.device:
        flags += ["--device", options.device]
    if options.threads != usual.threads:
        flags += ["--threads", str(options.threads)]
    if options.checkpoint_seconds != usual.checkpoint_seconds:
        flags += ["--checkpoint-minutes", str(options.checkpoint_seconds / 60)]
    if options.keep_checkpoint:
        flags += ["--keep-checkpoint"]
    return flags
