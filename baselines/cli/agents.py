"""`explore-suite agents`: the reference agents, their settings, and how two agents differ."""

import argparse
import inspect
import json
from dataclasses import asdict
from typing import Any

from baselines import AGENTS
from baselines.settings import PRESETS, VARIANTS, algorithm, can_act, resolve
from explore_suite.cli.console import say, table

_TASKS = {None: "GridWorld", True: "GridWorld", False: "BallInCupExplore"}  # by Agent.discrete

_EPILOG = """\
examples:
  explore-suite agents --task WalkerExplore
  explore-suite agents --diff sac_deep sac_deep.rows_512
  explore-suite agents --preset paper --json
"""


def main(arguments: list[str]) -> None:
    """Prints all agents, or the difference between two."""
    options = _parser().parse_args(arguments)
    if options.diff:
        first, second = options.diff
        _say_difference(first, second, options)
        return
    able = [name for name in AGENTS if not options.task or can_act(name, options.task)]
    configs = {name: _flat(asdict(_resolve(name, options))) for name in able}
    if options.json:
        say(json.dumps(configs, indent=1))
        return
    rows = [(name, _first_line(AGENTS[name])) for name in able]
    table("agents", ("agent", "what"), rows)
    say()
    settings = list(dict.fromkeys(field for config in configs.values() for field in config))
    cells = [
        (field, *(_text(config.get(field)) for config in configs.values())) for field in settings
    ]
    table(f"settings of preset {options.preset}, {_where(options)}", ("setting", *configs), cells)
    variants = [
        (name, ", ".join(f"{field}={_text(value)}" for field, value in values.items()))
        for name, values in VARIANTS.items()
        if algorithm(name) in able
    ]
    if variants:
        say()
        table("variants", ("agent", "what differs"), variants)


def _say_difference(first: str, second: str, options: argparse.Namespace) -> None:
    left, right = (_flat(asdict(_resolve(name, options))) for name in (first, second))
    fields = dict.fromkeys([*left, *right])
    differing = [field for field in fields if left.get(field) != right.get(field)]
    if options.json:
        pairs = {field: {first: left.get(field), second: right.get(field)} for field in differing}
        say(json.dumps(pairs, indent=1))
        return
    rows = [(field, _text(left.get(field)), _text(right.get(field))) for field in differing]
    if rows:
        table(f"{first} and {second}, preset {options.preset}", ("setting", first, second), rows)
    else:
        say(f"{first} and {second} have the same settings under preset {options.preset}")


def _resolve(agent: str, options: argparse.Namespace) -> Any:
    task = options.task or _TASKS[AGENTS[algorithm(agent)].discrete]
    return resolve(options.preset, agent, task)


def _where(options: argparse.Namespace) -> str:
    """The tasks whose settings are shown; kernels and kinds of actions depend on the task."""
    return f"on {options.task}" if options.task else f"on {_TASKS[False]} or {_TASKS[True]}"


def _flat(values: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    """Settings by dotted name; of alternatives such as bonus kinds, only the chosen one."""
    flat: dict[str, Any] = {}
    for name, value in values.items():
        if isinstance(value, dict) and values.get("kind", name) != name:
            continue
        flat |= (
            _flat(value, f"{prefix}{name}.") if isinstance(value, dict) else {prefix + name: value}
        )
    return flat


def _text(value: Any) -> str:
    return "" if value is None else str(value)


def _first_line(agent: type) -> str:
    return (inspect.getdoc(agent) or "").splitlines()[0]


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="explore-suite agents",
        description="List the agents with their settings, or print how two agents differ.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--preset", choices=PRESETS, default="cpu", help="default: cpu")
    parser.add_argument("--task", help="only agents that can act in it, with its settings")
    parser.add_argument("--diff", nargs=2, metavar=("A", "B"), help="print how two agents differ")
    parser.add_argument("--json", action="store_true", help="print the settings as JSON")
    return parser
