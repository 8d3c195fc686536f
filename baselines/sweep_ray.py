"""The sweep's second engine: tasks of a Ray cluster, one run each, on nodes that may be lost."""

import logging
import os
import re
import socket
import uuid
from typing import Any

import ray
from ray.exceptions import RayError, RayTaskError
from ray.util import get_node_ip_address
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from baselines.runner import Rows, Trainer
from baselines.sweep_node import Order, Outcome, keep, work
from baselines.sweep_progress import DONE_ELSEWHERE, LOCKED, Cell, Reached, is_finished, reached
from baselines.train import How
from explore_suite.errors import RunLockedError, UserError
from explore_suite.results import ResultStore

_RETRIES = 8  # nodes that one run may lose
_ANSWER_SECONDS = 5.0  # a cluster that takes no connection within this time is not there
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")  # Ray paints its tracebacks


class RayEngine:
    """Runs cells as Ray tasks: Ray queues them, and repeats those whose node was lost."""

    def __init__(self, store: ResultStore, how: How, address: str, gpus_per_run: float) -> None:
        """Connects to the cluster; a UserError if there is none."""
        _connect(address)
        if gpus_per_run > ray.cluster_resources().get("GPU", 0):
            logging.warning("the cluster has no %g GPU now: runs wait for one", gpus_per_run)
        self.store, self.how = store, how
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
        order = Order(cell.spec, self.how, self._token, held)
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

    def watch(trainer: Trainer, rows: Rows) -> None:
        reports.tell.remote(name, Reached(trainer.episode, rows[-1][0].return_, trainer.seconds))

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
