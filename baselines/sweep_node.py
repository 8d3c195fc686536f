"""One cell on a node of a cluster, which may share the sweep's storage or not.

A node that sees the sweep's store trains right in it, and a second attempt goes on from the last
checkpoint. A node that does not trains in a folder of its own and sends the finished files.
"""

import shutil
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from baselines.checkpoint import Checkpoints
from baselines.sweep_progress import is_finished
from baselines.train import How, RunSpec, Watcher, checkpoint_folder, train
from explore_suite.errors import RunLockedError
from explore_suite.results import TRACES, ResultStore, read_header, read_rows, replace_bytes

LOCK_SECONDS = 300.0  # how long a dying attempt may hold its run's lock: NFS servers need minutes


class Order(NamedTuple):
    """What a node needs to know to run a cell."""

    spec: RunSpec
    how: How
    token: Path  # a file in the root of the sweep's store: who sees it shares the storage
    held: bytes | None  # the run's header if it was begun earlier; the run must fit it

    @property
    def store(self) -> ResultStore:
        """The sweep's store, if this node shares it."""
        return ResultStore(self.token.parent)


class Outcome(NamedTuple):
    """What a node hands back."""

    finished: bool
    files: dict[str, bytes]  # the run's files by suffix; none if they are in the sweep's store


def work(order: Order, watch: Watcher) -> Outcome:
    """Runs a cell until it is finished or asked to stop."""
    if order.token.exists():
        return Outcome(_train_patiently(order, watch), {})
    store = ResultStore(tempfile.mkdtemp(prefix="explore-suite-"))
    if order.held is not None:
        path = store.path(order.spec.key, ".json")
        path.parent.mkdir(parents=True)
        replace_bytes(path, order.held)
    finished = train(order.spec, store, order.how, watch)
    files = _files(store, order.spec) if finished else {}
    shutil.rmtree(store.root)  # unless the run failed: the state that it dumped is there
    return Outcome(finished, files)


def keep(store: ResultStore, spec: RunSpec, files: dict[str, bytes]) -> None:
    """Puts a finished run into a store; it is finished there only once all of it is there."""
    with tempfile.TemporaryDirectory(prefix="explore-suite-") as folder:
        paths = {suffix: Path(folder, f"run{suffix}") for suffix in files}
        for suffix, content in files.items():
            paths[suffix].write_bytes(content)
        header = read_header(paths[".json"])
        rows = read_rows(paths[".csv"], finished=True)
    with store.open(replace(header, finished=False)) as writer:
        for row in rows:
            writer.append(row)
        for suffix in set(files) - {".json", ".csv", TRACES}:
            replace_bytes(store.path(spec.key, suffix), files[suffix])
        writer.finish(files.get(TRACES, b""))
        Checkpoints(checkpoint_folder(store, spec.key)).clear()


def _train_patiently(order: Order, watch: Watcher) -> bool:
    """Trains in the sweep's store, once the attempt that was lost lets go of the run."""
    deadline = time.monotonic() + LOCK_SECONDS
    while True:
        if is_finished(order.store, order.spec):  # by an attempt that was lost after its end
            return True
        try:
            return train(order.spec, order.store, order.how, watch)
        except RunLockedError:
            if time.monotonic() > deadline:
                raise
        time.sleep(1.0)


def _files(store: ResultStore, spec: RunSpec) -> dict[str, bytes]:
    stem = store.path(spec.key, "")
    paths = stem.parent.glob(f"{stem.name}.*")
    return {path.name.removeprefix(stem.name): path.read_bytes() for path in paths}
