"""The Ray engine on a real cluster of two nodes, one of which is killed while runs are going on."""

import json
import os
import secrets
import signal
import socket
import subprocess
import sys
import tempfile
import time
from importlib.util import find_spec
from pathlib import Path

import pytest

from explore_suite.__main__ import main
from explore_suite.runs.store import ResultStore
from tests.helpers.runs import wait_for

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        find_spec("ray") is None, reason="needs Ray: pip install 'explore-suite[ray]'"
    ),
]

EPISODES = 3
CELLS = ["--agents", "sac", "--tasks", "HallwayLocalOptimum", "--episodes", str(EPISODES)]
TASK = "cpu/sac/HallwayLocalOptimum-v0"
# Two nodes of one machine share its storage; with the token gone they cannot know.
SEPARATE = """
import sys
from baselines.sweep import ray as sweep_ray
from explore_suite.__main__ import main
start = sweep_ray.RayEngine.start
def start_unshared(engine, cell):
    for token in engine.store.root.glob(".sweep-*"):
        token.unlink()
    start(engine, cell)
sweep_ray.RayEngine.start = start_unshared
sys.exit(main(sys.argv[1:]))
"""


class Cluster:
    """Nodes of this machine, at loopback addresses of their own; closed to strangers."""

    def __init__(self, folder):
        self.folder = folder  # of the nodes' temporary files; short, as it holds sockets
        self.address = f"127.0.0.2:{free_port()}"
        self.environ = os.environ | {
            "RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": secrets.token_hex(32),
            "RAY_USAGE_STATS_ENABLED": "0", "TMPDIR": str(folder),
        }  # fmt: skip
        self.nodes = []

    def start_head(self):
        quick = json.dumps({"health_check_initial_delay_ms": 0, "health_check_period_ms": 500})
        port = self.address.split(":")[1]
        self.start(
            "127.0.0.2", "--head", "--port", port, "--include-dashboard", "false",
            "--temp-dir", str(self.folder / "ray"), "--system-config", quick,
        )  # fmt: skip

    def start(self, ip, *arguments):
        """A node that runs one cell at a time; its process, once it is up."""
        log = self.folder / f"node-{time.monotonic_ns()}.log"
        with log.open("w") as file:
            process = subprocess.Popen(
                [Path(sys.executable).with_name("ray"), "start", "--node-ip-address", ip,
                 "--num-cpus", "1", "--object-store-memory", "80000000", "--block", *arguments],
                stdout=file, stderr=subprocess.STDOUT, env=self.environ,
            )  # fmt: skip
        self.nodes.append(process)
        wait_for(lambda: "Ray runtime started" in log.read_text(), process)
        return process

    def add_node(self):
        return self.start("127.0.0.3", "--address", self.address)

    def kill(self, process):
        """What a power cut does; the node's runs notice only when they miss their raylet."""
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
        for pid in [process.pid, *map(int, children)]:
            os.kill(pid, signal.SIGKILL)
        process.wait()
        self.nodes.remove(process)


@pytest.fixture(scope="module")
def cluster():
    """A cluster of one node; tests add another and kill it."""
    with tempfile.TemporaryDirectory(prefix="ray-", ignore_cleanup_errors=True) as folder:
        cluster = Cluster(Path(folder))
        try:
            cluster.start_head()
            yield cluster
        finally:
            for node in cluster.nodes:
                node.terminate()
                node.wait()


@pytest.fixture(scope="module")
def local(tmp_path_factory):
    """The store of a sweep of the same cells without Ray."""
    root = tmp_path_factory.mktemp("local")
    assert main(["sweep", *CELLS, "--seeds", "0-1", "--results", str(root)]) == 0
    return ResultStore(root)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def begin(cluster, store, *arguments, script=None):
    """The sweep in a process of its own, at work on the cluster."""
    program = ["-c", script] if script else ["-m", "explore_suite"]
    command = [
        sys.executable, *program, "sweep", *CELLS, "--results", str(store),
        "--engine", "ray", "--address", cluster.address, "--checkpoint-minutes", "0", *arguments,
    ]  # fmt: skip
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=cluster.environ)


def begun(folder, seed):
    """Whether a run below a folder has written an episode."""
    files = folder.glob(f"**/{TASK}/seed-{seed:03d}.csv")
    return any(path.is_file() and path.read_text().count("\n") >= 3 for path in files)


def rows(store):
    """All rows but their seconds, by seed."""
    return {run.header.seed: [row[:-1] for row in run.rows] for run in store.runs()}


def test_a_lost_node_and_shared_storage(cluster, local, tmp_path):
    """The lost run resumes from its checkpoint; a cell that fails by itself stops no other."""
    (tmp_path / TASK / "seed-002.csv").mkdir(parents=True)
    node = cluster.add_node()
    process = begin(cluster, tmp_path, "--seeds", "0-2")
    checkpoints = [tmp_path / ".checkpoints" / TASK / f"seed-00{seed}" for seed in (0, 1)]
    wait_for(lambda: all(list(f.glob("*.safetensors")) for f in checkpoints), process)
    before = [(tmp_path / TASK / f"seed-00{s}.csv").read_text().splitlines()[:3] for s in (0, 1)]
    cluster.kill(node)
    output, _ = process.communicate(timeout=300)
    assert process.returncode == 1
    log = tmp_path / ".logs" / TASK / "seed-002.log"
    assert f"failed: sac/HallwayLocalOptimum/2, see {log}" in output
    trace = log.read_text()
    assert "in train" in trace and "it is no regular file" in trace and "\x1b" not in trace
    (tmp_path / TASK / "seed-002.csv").rmdir()
    assert rows(ResultStore(tmp_path)) == rows(local)
    assert all(run.header.finished for run in ResultStore(tmp_path).runs())
    after = [(tmp_path / TASK / f"seed-00{s}.csv").read_text().splitlines()[:3] for s in (0, 1)]
    assert after == before, "with their seconds: these rows were not made twice"
    assert not list(tmp_path.glob(".sweep-*"))


def test_a_lost_node_and_storage_of_its_own(cluster, local, tmp_path):
    """The lost run starts again elsewhere, and nothing but finished runs reaches the store."""
    node = cluster.add_node()
    process = begin(cluster, tmp_path, "--seeds", "0-1", script=SEPARATE)
    wait_for(lambda: all(begun(cluster.folder, seed) for seed in (0, 1)), process)
    assert not list(tmp_path.rglob("*.csv"))
    cluster.kill(node)
    output, _ = process.communicate(timeout=300)
    assert process.returncode == 0, output
    assert rows(ResultStore(tmp_path)) == rows(local)
    assert all(run.header.finished for run in ResultStore(tmp_path).runs())
    names = {path.name for path in (tmp_path / TASK).iterdir()}
    assert names == {path.name for path in (local.root / TASK).iterdir()}


def test_ctrl_c_saves_what_runs_and_leaves(cluster, tmp_path):
    process = begin(cluster, tmp_path, "--seeds", "0-1")
    wait_for(lambda: begun(tmp_path, 0), process)
    process.send_signal(signal.SIGINT)
    output, _ = process.communicate(timeout=300)
    assert process.returncode == 130 and "Run the same command again to resume" in output
    (run,) = ResultStore(tmp_path).runs()
    assert not run.header.finished
    (newest, *_) = sorted((tmp_path / ".checkpoints" / TASK / "seed-000").iterdir(), reverse=True)
    assert newest.stem == f"episode-{run.rows[-1].episode:06d}"


@pytest.mark.parametrize("through", ["--address", "RAY_ADDRESS"])
def test_no_cluster_is_one_line_and_exit_code_2(through, tmp_path, capsys, monkeypatch):
    address = f"127.0.0.1:{free_port()}"
    monkeypatch.setenv("RAY_ADDRESS", address)
    named = ["--address", address] if through == "--address" else []
    assert main(["sweep", *CELLS, "--results", str(tmp_path), "--engine", "ray", *named]) == 2
    error = capsys.readouterr().err
    assert f"no Ray cluster answers at {address}" in error and error.count("\n") == 1
    assert not list(tmp_path.iterdir())
