"""The `explore-suite` command: names of subcommands, each imported only when used."""

import importlib
import sys
from collections.abc import Callable
from importlib import metadata

from explore_suite.console import say
from explore_suite.errors import UserError
from explore_suite.pipe import CLOSED, say_no_more

COMMANDS = {
    "list": ("explore_suite.listing:main", "the tasks, with their sizes and returns"),
    "doctor": ("explore_suite.doctor:main", "what of this machine works, and what to install"),
    "watch": ("explore_suite.watch:main", "a video, picture or window of a policy on a task"),
    "replay": ("explore_suite.replay:main", "play a run's stored actions and check its returns"),
    "train": ("baselines.train_command:main", "train an agent on a task; goes on if interrupted"),
    "sweep": ("baselines.sweep:main", "many runs: agents x tasks x seeds, what is missing of them"),
    "verify": ("baselines.verify:main", "run a run again and compare it row by row"),
    "report": ("analysis.report:main", "figures, leaderboard and reproduction report from runs"),
    "leaderboard": ("analysis.leaderboard_command:main", "the leaderboard page, written or served"),
    "submit": ("analysis.submit_command:main", "make a submission from finished runs of a store"),
    "validate": ("analysis.validate_command:main", "check a submission; lists every problem"),
    "agents": ("baselines.listing:main", "the reference agents, their settings, how two differ"),
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
    try:
        return _load(name)(rest) or 0
    except UserError as error:
        sys.stderr.write(f"explore-suite {name}: {error}\n")
        return error.exit_code
    except BrokenPipeError:
        say_no_more()
        return CLOSED  # not 0: what the command had still to find out may have been a failure
    except KeyboardInterrupt:
        sys.stderr.write("explore-suite: stopped\n")
        return 130


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
