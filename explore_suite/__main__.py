"""The `explore-suite` command: names of subcommands, each imported only when used."""

import importlib
import sys
from collections.abc import Callable
from importlib import metadata

from explore_suite.cli.console import exit_code, say
from explore_suite.errors import UserError

COMMANDS = {
    "list": ("explore_suite.cli.list:main", "the tasks, with their sizes and returns"),
    "doctor": ("explore_suite.cli.doctor:main", "what of this machine works, and what to install"),
    "watch": ("explore_suite.cli.watch:main", "a video, picture or window of a policy on a task"),
    "replay": (
        "explore_suite.cli.replay:main",
        "play a run's stored actions and check its returns",
    ),
    "train": ("baselines.cli.train:main", "train an agent on a task; goes on if interrupted"),
    "sweep": (
        "baselines.cli.sweep:main",
        "many runs: agents x tasks x seeds, what is missing of them",
    ),
    "verify": ("baselines.cli.verify:main", "run a run again and compare it row by row"),
    "report": (
        "analysis.cli.report:main",
        "figures, leaderboard and reproduction report from runs",
    ),
    "leaderboard": ("analysis.cli.leaderboard:main", "the leaderboard page, written or served"),
    "submit": ("analysis.cli.submit:main", "make a submission from finished runs of a store"),
    "validate": ("analysis.cli.validate:main", "check a submission; lists every problem"),
    "agents": ("baselines.cli.agents:main", "the reference agents, their settings, how two differ"),
}
EXTRAS = {"baselines": "baselines", "analysis": "analysis"}  # package a command lives in -> extra


def main(arguments: list[str] | None = None) -> int:
    """Runs one subcommand; returns the exit code (2 for wrong input, 75 for a locked run)."""
    arguments = sys.argv[1:] if arguments is None else arguments
    if arguments[:1] == ["--version"]:
        say(metadata.version("explore-suite"))
        return 0
    if not arguments or arguments[0] in ("-h", "--help"):
        say(_help())
        return 0 if arguments else 2
    name, rest = arguments[0], arguments[1:]
    return exit_code(f"explore-suite {name}", lambda: _load(name)(rest))


def _load(name: str) -> Callable[[list[str]], int | None]:
    if name not in COMMANDS:
        raise UserError(f"no such command; commands are {', '.join(COMMANDS)}")
    module, function = COMMANDS[name][0].split(":")
    try:
        return getattr(importlib.import_module(module), function)
    except ModuleNotFoundError as error:
        extra = EXTRAS.get(module.split(".")[0])
        if extra is None or (error.name or "").startswith(
            ("explore_suite", "baselines", "analysis")
        ):
            raise
        raise UserError(f"needs {error.name}: pip install 'explore-suite[{extra}]'") from error


def _help() -> str:
    width = max(map(len, COMMANDS))
    lines = [f"  {name.ljust(width)}  {about}" for name, (_, about) in COMMANDS.items()]
    return "\n".join(
        [
            "usage: explore-suite COMMAND [options]",
            "",
            *lines,
            "",
            "explore-suite COMMAND --help says more.",
        ]
    )


if __name__ == "__main__":
    sys.exit(main())
