"""explore_suite: a benchmark of exploration in continuous control.

Importing the package registers every task with Gymnasium; MuJoCo is loaded by the first `make`.

    import gymnasium, explore_suite
    env = gymnasium.make("ExploreSuite/WalkerExplore-v0")

`record` makes a run of any agent, `register` adds tasks of your own.
"""

import importlib
import os
import sys
from typing import Any

import gymnasium

from explore_suite.coverage import Coverage
from explore_suite.errors import UserError
from explore_suite.installation import install_command
from explore_suite.runs.recorder import record
from explore_suite.tasks import TASKS, TaskSpec, UnknownTaskError, lookup

__all__ = ["TASKS", "Coverage", "TaskSpec", "UnknownTaskError", "lookup", "record", "register"]
__version__ = "0.2.0"


def __getattr__(name: str) -> Any:
    """`load_results` of the analysis, which needs pandas: imported when it is first asked for."""
    if name != "load_results":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        return importlib.import_module("analysis.stats.tables").load_results
    except ModuleNotFoundError as error:
        hiding = sys.modules.get("analysis")
        if hiding is not None and str(error.name).startswith("analysis."):
            raise UserError(
                f"{hiding.__file__} hides the package `analysis` of explore-suite: rename it, or "
                "start Python in another folder"
            ) from error
        raise UserError(f"needs {error.name}: {install_command('analysis')}") from error


def register(spec: TaskSpec) -> None:
    """Adds a task of your own, for Gymnasium and for every command of this process.

    Commands such as `sweep` start further processes: name the module that registers your tasks in
    the environment variable EXPLORE_SUITE_IMPORT (several with commas), and each of them imports
    it. Registering an equal spec again does nothing.
    """
    if TASKS.setdefault(spec.id, spec) != spec:
        raise UserError(f"another task is registered as {spec.id} already: choose another name")
    if spec.id not in gymnasium.registry:
        gymnasium.register(
            spec.id,
            entry_point=spec.entry_point,
            max_episode_steps=spec.horizon,
            kwargs=spec.kwargs,
        )


def import_tasks(modules: str) -> None:
    """Imports modules that register tasks: the names in EXPLORE_SUITE_IMPORT, with commas."""
    for name in filter(None, map(str.strip, modules.split(","))):
        try:
            importlib.import_module(name)
        except ImportError as error:
            raise UserError(
                f"EXPLORE_SUITE_IMPORT names the module {name}, which does not import: {error} "
                "(its folder must be on PYTHONPATH)"
            ) from error


for _spec in list(TASKS.values()):
    register(_spec)
import_tasks(os.environ.get("EXPLORE_SUITE_IMPORT", ""))
