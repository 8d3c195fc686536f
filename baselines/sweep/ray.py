"""The sweep's second engine: tasks of a Ray cluster, one run each, on nodes that may be lost."""

import logging
import os
import re
import shutil
import socket
import tempfile
import time
import uuid
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import ray
from ray.exceptions import RayError, RayTaskError
from ray.util import get_node_ip_address
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from baselines.runner import EpisodeResult, Trainer
from baselines.sweep.cells import DONE_ELSEWHERE, LOCKED, Cell, Reached, is_finished, reached
from baselines.training.checkpoint import Checkpoints
from baselines.training.run import RunOptions, RunSpec, Watcher, checkpoint_folder, train
from explore_suite.errors import RunLockedError, UserError
from explore_suite.files import replace_bytes
from explore_suite.runs.format import TRACES, read_header, read_rows
from explore_suite.runs.store import ResultStore

_RETRIES = 8  # nodes that one run may lose
_ANSWER_SECONDS = 5.0  # a cluster that takes no connection within this time is not there
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")  # Ray paints its tracebacks
LOCK_SECONDS = 300.0  # how long a dying attempt may hold its run's lock: NFS servers need minutes


class Order(NamedTuple):
    """What a node needs to know to run a cell."""

    spec: RunSpec
    options: RunOptions
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


class RayEngine:
    """Runs cells as Ray tasks: Ray queues them, and repeats those whose node was lost."""

    def __init__(
        self, store: ResultStore, options: RunOptions, address: str, gpus_per_run: float
    ) -> None:
        """Connects to the cluster; a UserError if there is none."""
        _connect(address)
        if gpus_per_run > ray.cluster_resources().get("GPU", 0):
            logging.warning("the cluster has no %g GPU now: runs wait for one", gpus_per_run)
        self.store, self.options = store, options
        self._reports: Any = _reports()
        self._task: Any = ray.remote(
            # max_calls: a fresh process for each run, which gives its GPU memory back.
            num_cpus=1, num_gpus=gpus_per_run, max_retries=_RETRIES, max_calls=1
        )(_task)  # fmt: skip
        self._token = store.root.resolve() / f".sweep-{uuid.uuid4().hex}"
        self._token.touch()
        self._cells: dict[Any, Cell] = {}  # by the reference of their task
        self._stopping = False

    @property
    def active(self) -> list[Cell]:
        """Cells that were started and are not over, whether a node has them yet or not."""
        return list(self._cells.values())

    def start(self, cell: Cell) -> None:
        """Hands one run to the cluster; it is running once a node reports so."""
        path = self.store.path(cell.spec.key, ".json")
        held = path.read_bytes() if path.exists() else None
        order = Order(cell.spec, self.options, self._token, held)
        task = self._task.options(name=cell.name).remote(cell.name, order, self._reports)
        self._cells[task] = cell

    def poll(self) -> None:
        """Gives the cells that are over their new state."""
        if self._cells:
            tasks = list(self._cells)
            for task in ray.wait(tasks, num_returns=len(tasks), timeout=0)[0]:
                self._collect(self._cells.pop(task), task)

    def progress(self) -> None:
        """Asks how far the active cells are."""
        reports = ray.get(self._reports.all.remote())
        for cell in self.active:
            if cell.name in reports:
                cell.state, cell.reached = "running", reports[cell.name]

    def stop(self, *, at_once: bool) -> None:
        """Asks the active cells to end their episode and save themselves, or kills them."""
        self._stopping = True
        for task in self._cells:
            ray.cancel(task, force=at_once)

    def close(self) -> None:
        """Leaves the cluster."""
        self._token.unlink(missing_ok=True)
        ray.shutdown()

    def _collect(self, cell: Cell, task: Any) -> None:
        """Keeps what a task has brought; what it failed of goes to the cell's log."""
        try:
            outcome: Outcome = ray.get(task)
            if outcome.files:
                keep(self.store, cell.spec, outcome.files)
            # An unfinished run was asked to stop, here or by a node that is being shut down.
            cell.state = "done" if outcome.finished else "waiting"
        except RunLockedError:
            cell.state = LOCKED
        except (RayError, UserError, OSError) as error:
            if self._stopping and not isinstance(error, RayTaskError):
                cell.state = "waiting"
                return
            if is_finished(self.store, cell.spec):
                cell.state = DONE_ELSEWHERE
                return
            cell.state = "failed"
            told = _COLOUR.sub("", str(error))
            cell.why = (told.strip().splitlines() or [""])[-1]
            cell.log.parent.mkdir(parents=True, exist_ok=True)
            with cell.log.open("a") as log:
                log.write(told + "\n")


class Reports:
    """How far the runs are, gathered beside the sweep: nodes may share no storage with it."""

    def __init__(self) -> None:
        """Nobody has reported."""
        self._reached: dict[str, Reached] = {}

    def tell(self, name: str, where: Reached) -> None:
        """Takes the report of one cell."""
        self._reached[name] = where

    def all(self) -> dict[str, Reached]:
        """The last report of every cell that has begun."""
        return self._reached


def _task(name: str, order: Order, reports: Any) -> Outcome:
    """What runs on a node."""

    def watch(trainer: Trainer, result: EpisodeResult) -> None:
        row = result.eval
        reports.tell.remote(name, Reached(row.episode, row.return_, row.seconds))

    reports.tell.remote(name, reached(order.store, order.spec))
    return work(order, watch)


def _reports() -> Any:
    here = NodeAffinitySchedulingStrategy(ray.get_runtime_context().get_node_id(), soft=False)
    actor: Any = ray.remote(Reports)
    return actor.options(
        num_cpus=0, max_restarts=-1, max_task_retries=-1, scheduling_strategy=here
    ).remote()


def _connect(address: str) -> None:
    """Joins the cluster, after a knock: where nobody answers, Ray tries on for minutes."""
    target = os.environ.get("RAY_ADDRESS", address) if address == "auto" else address
    try:
        _knock(target)
        ray.init(address=address, log_to_driver=False, logging_level=logging.ERROR)
    except (OSError, ValueError, RuntimeError, RayError) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise UserError(
            f"no Ray cluster answers at {target} ({reason}); "
            "`ray start --head` starts one, --address names another"
        ) from error


def _knock(target: str) -> None:
    host, _, port = target.removeprefix("ray://").rpartition(":")
    if host in ("localhost", "127.0.0.1"):
        host = get_node_ip_address()  # as Ray does
    if host:
        socket.create_connection((host, int(port)), timeout=_ANSWER_SECONDS).close()


def work(order: Order, watch: Watcher) -> Outcome:
    """Runs a cell until it is finished or asked to stop."""
    if order.token.exists():
        return Outcome(_train_patiently(order, watch), {})
    store = ResultStore(tempfile.mkdtemp(prefix="explore-suite-"))
    if order.held is not None:
        path = store.path(order.spec.key, ".json")
        path.parent.mkdir(parents=True)
        replace_bytes(path, order.held)
    finished = train(order.spec, store, order.options, watch)
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
            return train(order.spec, order.store, order.options, watch)
        except RunLockedError:
            if time.monotonic() > deadline:
                raise
        time.sleep(1.0)


def _files(store: ResultStore, spec: RunSpec) -> dict[str, bytes]:
    stem = store.path(spec.key, "")
    paths = stem.parent.glob(f"{stem.name}.*")
    return {path.name.removeprefix(stem.name): path.read_bytes() for path in paths}
