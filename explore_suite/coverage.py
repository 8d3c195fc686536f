"""Coverage: the fraction of a task's state space that an agent has visited.

Each task projects its observation to the two or three numbers that matter (projections.py), cut
into bins. Coverage is the fraction of bins visited so far. Bins that no policy can reach count too,
so compare coverage between agents on one task, not between tasks.
"""

import numpy as np

from explore_suite.tasks import lookup


class Coverage:
    """Counts visits per bin: `add` observations, read `fraction`."""

    def __init__(self, task: str) -> None:
        """`task` is a name or id of a registered task."""
        self.task = lookup(task).name
        self.project, self.axes = lookup(task).coverage_projection
        self.visits = np.zeros([axis.bins for axis in self.axes], np.int64)  # one entry per bin
        self._flat = self.visits.reshape(-1).data  # a memoryview: quicker for single numbers
        self._visited = 0
        self._binning = [
            (axis.low, axis.bins / (axis.high - axis.low), axis.bins) for axis in self.axes
        ]

    def add(self, obs: np.ndarray) -> None:
        """Counts one observation in its bin; values beyond an axis count in its outer bins."""
        index = 0
        for value, (low, per_unit, bins) in zip(
            self.project(obs.tolist()), self._binning, strict=True
        ):
            bin_ = int((value - low) * per_unit)  # plain Python: quicker than NumPy on few numbers
            index = index * bins + (0 if bin_ < 0 else bins - 1 if bin_ >= bins else bin_)
        visits = self._flat[index]
        if not visits:
            self._visited += 1
        self._flat[index] = visits + 1

    @property
    def fraction(self) -> float:
        """Visited bins over all bins, from 0 to 1."""
        return self._visited / self.visits.size

    def state_dict(self) -> dict[str, np.ndarray]:
        """The visits per bin, for a checkpoint."""
        return {"visits": self.visits.copy()}

    def load_state_dict(self, state: dict[str, np.ndarray]) -> None:
        """Inverse of `state_dict`."""
        self.visits[...] = state["visits"]
        self._visited = int(np.count_nonzero(self.visits))
