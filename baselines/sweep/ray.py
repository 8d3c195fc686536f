"""The sweep's second engine: each run is a task of a Ray cluster, on nodes that may be lost.

Beside the sweep, RayEngine hands one NodeJob per cell to Ray, which queues them and repeats those
whose node was lost. On a node, `work` trains in the sweep's own store where the node shares its
storage, so that a repeated run resumes from its checkpoint. Elsewhere it trains from scratch in a
temporary store, and returns the files of the finished run in a NodeResult.
"""

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
from baselines.sweep.engine import Engine
from baselines.training.checkpoint import Checkpoints
from baselines.training.run import RunOptions, RunSpec, Watcher, checkpoint_folder, train
from explore_suite import import_tasks
from explore_suite.errors import RunLockedError, UserError
from explore_suite.files import replace_bytes
from explore_suite.runs.format import TRACES, read_header, read_rows
from explore_suite.runs.store import ResultStore

_RETRIES = 8  # nodes that one run may lose
_ANSWER_SECONDS = 5.0  # a cluster that takes no connection within this time is not there
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")  # Ray paints its tracebacks
LOCK_SECONDS = 300.0  # how long a dying attempt may hold its run's lock: NFS servers need minutes


class NodeJob(NamedTuple):
    """What a node needs to know to run a cell."""

    spec: RunSpec
    options: RunOptions
    token: Path  # a file in the root of the sweep's store: a node that sees it shares the storage
    held: bytes | None  # the run's header, if the store has one; the run must fit it
    imports: str = ""  # modules that register tasks; each node must be able to import them

    @property
    def store(self) -> ResultStore:
        """The sweep's store, for nodes that share its storage."""
        return ResultStore(self.token.parent)


class NodeResult(NamedTuple):
    """What a node returns."""

    finished: bool
    files: dict[str, bytes]  # by path below the store's root; none if the store is shared


class RayEngine(Engine):
    """Runs cells as Ray tasks: Ray queues them, and repeats those whose node was lost."""

    def __init__(
        self, store: ResultStore, options: RunOptions, address: str, gpus_per_run: float
    ) -> None:
        """Connects to the cluster; a UserError if there is none."""
        _connect(address)
        if gpus_per_run > ray.cluster_resources().get("GPU", 0):
            logging.warning("the cluster has no %g GPU now: runs wait for one", gpus_per_run)
        super().__init__(store, options)
        self._reports: Any = _start_reports()
        self._task: Any = ray.remote(
            # max_calls: a fresh process for each run, which gives its GPU memory back.
            num_cpus=1, num_gpus=gpus_per_run, max_retries=_RETRIES, max_calls=1
        )(run_cell)  # fmt: skip
        self._token = store.root.resolve() / f".sweep-{uuid.uuid4().hex}"
        self._token.touch()

    def start(self, cell: Cell) -> None:
        """Hands one run to the cluster; its state is running once a node reports progress."""
        path = self.store.path(cell.spec.key, ".json")
        held = path.read_bytes() if path.exists() else None
        job = NodeJob(
            cell.spec, self.options, self._token, held, os.environ.get("EXPLORE_SUITE_IMPORT", "")
        )
        task = self._task.options(name=cell.name).remote(cell.name, job, self._reports)
        self.jobs[cell] = task

    def poll(self) -> None:
        """Sets the state of the cells whose task has ended."""
        if self.jobs:
            tasks = list(self.jobs.values())
            ended = set(ray.wait(tasks, num_returns=len(tasks), timeout=0)[0])
            for cell in [cell for cell, task in self.jobs.items() if task in ended]:
                self._collect(cell, self.jobs.pop(cell))

    def progress(self) -> None:
        """Asks how far the active cells are."""
        reports = ray.get(self._reports.all.remote())
        for cell in self.active:
            if cell.name in reports:
                cell.state, cell.reached = "running", reports[cell.name]

    def end(self, job: Any, *, at_once: bool) -> None:
        """Cancels one task, which ends its episode and saves a checkpoint, or kills it."""
        ray.cancel(job, force=at_once)

    def close(self) -> None:
        """Leaves the cluster."""
        self._token.unlink(missing_ok=True)
        ray.shutdown()

    def _collect(self, cell: Cell, task: Any) -> None:
        """Stores what a task has returned; the traceback of a failed one goes to the cell's log."""
        try:
            result: NodeResult = ray.get(task)
            if result.files:
                keep(self.store, cell.spec, result.files)
            # An unfinished run was asked to stop, here or by a node that is being shut down.
            cell.state = "done" if result.finished else "waiting"
        except RunLockedError:
            cell.state = LOCKED
        except (RayError, UserError, OSError) as error:
            if self.stopping and not isinstance(error, RayTaskError):
                cell.state = "waiting"
            elif is_finished(self.store, cell.spec):
                cell.state = DONE_ELSEWHERE
            else:
                _fail(cell, _COLOUR.sub("", str(error)))


def _fail(cell: Cell, report: str) -> None:
    cell.state = "failed"
    cell.why = (report.strip().splitlines() or [""])[-1]
    cell.log.parent.mkdir(parents=True, exist_ok=True)
    with cell.log.open("a") as log:
        log.write(report + "\n")


def keep(store: ResultStore, spec: RunSpec, files: dict[str, bytes]) -> None:
    """Puts the files of a finished run into a store; its header says finished last of all."""
    with tempfile.TemporaryDirectory(prefix="explore-suite-") as folder:
        sent = ResultStore(folder)
        for name, content in files.items():
            path = sent.root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        header = read_header(sent.path(spec.key, ".json"))
        rows = read_rows(sent.path(spec.key, ".csv"), finished=True)
    stem = str(spec.key.path)
    checkpoints = Checkpoints(checkpoint_folder(store, spec.key))
    with store.open(replace(header, finished=False)) as writer:
        for row in rows:
            writer.append(row)
        for name in files.keys() - {f"{stem}.json", f"{stem}.csv", f"{stem}{TRACES}"}:
            path = store.root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            replace_bytes(path, files[name])
        writer.finish(files.get(f"{stem}{TRACES}", b""))
        kept = [name for name in files if (store.root / name).parent == checkpoints.folder]
        checkpoints.clear(but_newest=len(kept))


class Reports:
    """How far the runs are: an actor beside the sweep, as nodes may share no storage with it."""

    def __init__(self) -> None:
        """Nothing is reported yet."""
        self._reached: dict[str, Reached] = {}

    def report(self, name: str, where: Reached) -> None:
        """Takes the report of one cell."""
        self._reached[name] = where

    def all(self) -> dict[str, Reached]:
        """The last report of every cell that has begun."""
        return self._reached


def _start_reports() -> Any:
    here = NodeAffinitySchedulingStrategy(ray.get_runtime_context().get_node_id(), soft=False)
    actor: Any = ray.remote(Reports)
    return actor.options(
        num_cpus=0, max_restarts=-1, max_task_retries=-1, scheduling_strategy=here
    ).remote()


def _connect(address: str) -> None:
    """Joins the cluster after a test connection: where nobody answers, Ray retries for minutes."""
    target = os.environ.get("RAY_ADDRESS", address) if address == "auto" else address
    try:
        _test_connection(target)
        ray.init(address=address, log_to_driver=False, logging_level=logging.ERROR)
    except (OSError, ValueError, RuntimeError, RayError) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise UserError(
            f"no Ray cluster answers at {target} ({reason}); "
            "`ray start --head` starts one, --address names another"
        ) from error


def _test_connection(target: str) -> None:
    host, _, port = target.removeprefix("ray://").rpartition(":")
    if host in ("localhost", "127.0.0.1"):
        host = get_node_ip_address()  # as Ray does
    if host:
        socket.create_connection((host, int(port)), timeout=_ANSWER_SECONDS).close()


# What follows runs on the nodes.


def run_cell(name: str, job: NodeJob, reports: Any) -> NodeResult:
    """The Ray task of one cell."""
    import_tasks(job.imports)

    def watch(trainer: Trainer, result: EpisodeResult) -> None:
        row = result.eval
        reports.report.remote(name, Reached(row.episode, row.return_, row.seconds))

    reports.report.remote(name, reached(job.store, job.spec))
    return work(job, watch)


def work(job: NodeJob, watch: Watcher) -> NodeResult:
    """Runs a cell until it is finished or asked to stop."""
    if job.token.exists():
        return NodeResult(_train_in_shared_store(job, watch), {})
    store = ResultStore(tempfile.mkdtemp(prefix="explore-suite-"))
    if job.held is not None:
        path = store.path(job.spec.key, ".json")
        path.parent.mkdir(parents=True)
        replace_bytes(path, job.held)
        if read_header(path).finished:
            shutil.rmtree(store.root)
            raise UserError(
                "a finished run can be lengthened only by nodes that share the sweep's storage, "
                "where its checkpoint is"
            )
    finished = train(job.spec, store, job.options, watch)
    files = _files(store, job.spec) if finished else {}
    shutil.rmtree(store.root)  # unless the run failed: the state that it dumped is there
    return NodeResult(finished, files)


def _train_in_shared_store(job: NodeJob, watch: Watcher) -> bool:
    """Trains in the sweep's store, once an earlier attempt on a lost node releases the run."""
    deadline = time.monotonic() + LOCK_SECONDS
    while True:
        if is_finished(job.store, job.spec):  # by an attempt that was lost after its end
            return True
        try:
            return train(job.spec, job.store, job.options, watch)
        except RunLockedError:
            if time.monotonic() > deadline:
                raise
        time.sleep(1.0)


def _files(store: ResultStore, spec: RunSpec) -> dict[str, bytes]:
    """The files of a run, and its checkpoint if that was kept, by path below the store's root."""
    stem = store.path(spec.key, "")
    kept = Checkpoints(checkpoint_folder(store, spec.key)).files()
    paths = [*stem.parent.glob(f"{stem.name}.*"), *kept]
    return {str(path.relative_to(store.root)): path.read_bytes() for path in paths}
