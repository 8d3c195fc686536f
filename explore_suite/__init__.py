"""explore_suite: a benchmark of exploration in continuous control.

Importing the package registers every task with Gymnasium; MuJoCo is loaded by the first `make`.

    import gymnasium, explore_suite
    env = gymnasium.make("ExploreSuite/WalkerExplore-v0")
"""

import gymnasium

from explore_suite.coverage import Coverage
from explore_suite.tasks import TASKS, TaskSheet, UnknownTaskError, lookup

__all__ = ["TASKS", "Coverage", "TaskSheet", "UnknownTaskError", "lookup"]
__version__ = "0.1.0"

for _sheet in TASKS.values():
    gymnasium.register(
        _sheet.id,
        entry_point=_sheet.entry_point,
        max_episode_steps=_sheet.horizon,
        kwargs=_sheet.kwargs,
    )
