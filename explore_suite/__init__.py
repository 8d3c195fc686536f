"""explore_suite: a benchmark of exploration in continuous control.

Importing the package registers every task with Gymnasium; MuJoCo is loaded by the first `make`.

    import gymnasium, explore_suite
    env = gymnasium.make("ExploreSuite/WalkerExplore-v0")

`record` writes the episodes of any agent in such an env down as a run.
"""

import gymnasium

from explore_suite.coverage import Coverage
from explore_suite.runs.recorder import record
from explore_suite.tasks import TASKS, TaskSheet, UnknownTaskError, lookup

__all__ = ["TASKS", "Coverage", "TaskSheet", "UnknownTaskError", "lookup", "record"]
__version__ = "0.2.0"

for _sheet in TASKS.values():
    gymnasium.register(
        _sheet.id,
        entry_point=_sheet.entry_point,
        max_episode_steps=_sheet.horizon,
        kwargs=_sheet.kwargs,
    )
