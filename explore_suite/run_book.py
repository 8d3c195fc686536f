"""RunBook: what is written of a recorded run, and what must not happen in between."""

import contextlib
import logging
import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from explore_suite.coverage import Coverage
from explore_suite.errors import UserError
from explore_suite.protocol import Turns
from explore_suite.results import PHASES, EpisodeRow, Header, ResultStore
from explore_suite.traces import TraceKeeper

_log = logging.getLogger(__name__)


@dataclass
class Episode:
    """What is summed up while an episode is played."""

    number: int
    start: np.ndarray  # first observation
    return_: float = 0.0
    length: int = 0
    success_steps: int = 0
    actions: Sequence[np.ndarray | int] = ()  # of an evaluation, all of them


class RunBook:
    """A run's file, and all that its training and its evaluation must know of each other."""

    def __init__(self, store: ResultStore, header: Header, *, overwrite: bool) -> None:
        """Opens the run; a UserError if it may not be written."""
        self._path, held = store.path(header.key, ".json"), store.header(header.key)
        if held is not None and held.finished and not overwrite:
            raise UserError(f"{self._path} is finished; overwrite=True runs it again")
        self._files = contextlib.ExitStack()
        self._writer = self._files.enter_context(store.open(header, overwrite=overwrite))
        if held is not None:
            _log.warning("%s begins anew", self._path)
        self.seed, self.turns = header.seed, Turns(header.episodes)
        self.finished = self._closed = False
        self._coverage, self._env_steps, self._began = Coverage(header.task), 0, 0.0
        self._traces = TraceKeeper(header.task, header.seed)
        self._pair: list[Episode] = []  # a training episode, then its evaluation

    def begin(self, phase: str, episode: Episode) -> None:
        """Called before an episode's first step; a UserError if that step is out of turn."""
        self.turns.check(phase)
        if self._closed:
            raise UserError(f"{self._path} was closed before its end: record the run anew")
        if episode.number != self.turns.number(phase):
            raise UserError(
                f"reset eval_env after training episode {self.turns.trained}, not before"
            )
        if phase == "train" and not self.turns.trained:
            self._began = time.monotonic()
        self.see(phase, episode.start)

    def see(self, phase: str, obs: np.ndarray) -> None:
        """Counts a state that training has reached."""
        if phase == "train":
            self._coverage.add(obs)

    def end(self, phase: str, episode: Episode) -> None:
        """An episode is over; after an evaluation, its row and that of its training are written."""
        self.turns.played(phase)
        self._pair.append(episode)
        if phase == "train":
            self._env_steps += episode.length
            return
        self._write_pair()
        self._traces.add(episode.number, episode.actions)
        if self.turns.finished:
            self._writer.finish(self._traces.content())
            self.finished = True
            self.close()

    def close(self) -> None:
        """Lets go of the run; harmless when that has been done."""
        if not (self._closed or self.finished):
            done = f"{self.turns.evaluated} of {self.turns.episodes} episodes"
            _log.warning("%s is left unfinished after %s", self._path, done)
        self._closed = True
        self._files.close()

    def _write_pair(self) -> None:
        seconds = round(time.monotonic() - self._began, 3)
        for phase, episode in zip(PHASES, self._pair, strict=True):
            row = EpisodeRow(
                phase, episode.number, self._env_steps, episode.return_, episode.length,
                episode.success_steps, self._coverage.fraction, seconds,
            )  # fmt: skip
            self._writer.append(row)
        trained, evaluated = self._pair
        _log.info(
            "episode %d/%d train %.1f eval %.1f coverage %.1f%%", trained.number,
            self.turns.episodes, trained.return_, evaluated.return_, 100 * self._coverage.fraction,
        )  # fmt: skip
        self._pair.clear()
