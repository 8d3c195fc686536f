"""The `explore-suite` command: a table of subcommands, each imported only when it is run."""

import importlib
import sys
from collections.abc import Callable
from importlib import metadata

from explore_suite.cli.console import exit_code, say
from explore_suite.errors import UserError
from explore_suite.installation import install_command

COMMANDS = {  # name -> where it is, what it does
    "list": ("explore_suite.cli.list:main", "list the tasks, their sizes and returns"),
    "doctor": ("explore_suite.cli.doctor:main", "check this installation and say what to install"),
    "watch": ("explore_suite.cli.watch:main", "show a policy on a task: film, picture or window"),
    "play": ("explore_suite.cli.play:main", "steer a task yourself with the arrow keys"),
    "agents": ("baselines.cli.agents:main", "list the reference agents and their settings"),
    "train": ("baselines.cli.train:main", "train one agent (resumes if interrupted)"),
    "sweep": ("baselines.cli.sweep:main", "run all missing (agent, task, seed) combinations"),
    "verify": ("baselines.cli.verify:main", "re-run a finished run and check that it reproduces"),
    "replay": ("explore_suite.cli.replay:main", "replay a run's stored actions, check its returns"),
    "report": ("analysis.cli.report:main", "write figures, leaderboard and reproduction report"),
    "compare": ("analysis.cli.compare:main", "say which of two methods explores better"),
    "weights": ("analysis.cli.weights:main", "gather trained policies for a release"),
    "leaderboard": ("analysis.cli.leaderboard:main", "write or serve the leaderboard page"),
    "submit": ("analysis.cli.submit:main", "make a submission from finished runs"),
    "validate": ("analysis.cli.validate:main", "check a submission and list every problem"),
}
EXTRAS = ("baselines", "analysis")  # packages of commands that need the extra of the same name


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
        package = module.split(".")[0]
        if package not in EXTRAS or (error.name or "").startswith(("explore_suite", *EXTRAS)):
            raise
        raise UserError(f"needs {error.name}: {install_command(package)}") from error


def _help() -> str:
    width = max(map(len, COMMANDS))
    lines = "".join(f"  {name:{width}}  {about}\n" for name, (_, about) in COMMANDS.items())
    more = "explore-suite COMMAND --help says more."
    return f"usage: explore-suite COMMAND [options]\n\n{lines}\n{more}"


if __name__ == "__main__":
    sys.exit(main())
