"""How much of a task's state space has been visited, whatever agent does the visiting.

Each task is looked at through a projection of its observation to the two or three numbers that
matter, cut into bins. Coverage is the fraction of bins seen so far. Bins that no policy can reach
count too, so compare coverage between agents on one task, not between tasks.
"""

import numpy as np

from explore_suite.tasks import lookup


class Coverage:
    """Counts visits per bin; feed it observations, read `fraction`."""

    def __init__(self, task: str) -> None:
        """`task` is a name or id of the catalogue."""
        self.task = lookup(task).name
        self.project, self.axes = lookup(task).coverage_projection
        self.visits = np.zeros([axis.bins for axis in self.axes], np.int64)  # one entry per bin
        self._flat = self.visits.reshape(-1)
        self._visited = 0
        self._binning = [
            (axis.low, axis.bins / (axis.high - axis.low), axis.bins) for axis in self.axes
        ]

    def add(self, obs: np.ndarray) -> None:
        """Counts one observation."""
        index = 0
        for value, (low, per_unit, bins) in zip(
            self.project(obs.tolist()), self._binning, strict=True
        ):
            place = int((value - low) * per_unit)
            index = index * bins + (0 if place < 0 else bins - 1 if place >= bins else place)
        if not self._flat[index]:
            self._visited += 1
        self._flat[index] += 1

    @property
    def fraction(self) -> float:
        """Visited bins over all bins, from 0 to 1."""
        return self._visited / self._flat.size

    def state_dict(self) -> dict[str, np.ndarray]:
        """The visits, to go on from later."""
        return {"visits": self.visits.copy()}

    def load_state_dict(self, state: dict[str, np.ndarray]) -> None:
        """Inverse of `state_dict`."""
        self.visits[...] = state["visits"]
        self._visited = int(np.count_nonzero(self.visits))
