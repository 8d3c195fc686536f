"""`make bench`: how fast things are, as ratios against peers and limits measured in the same run.

Contenders run in short interleaved blocks on one thread of one core, and a ratio is the median over
the rounds of ratios within a round, in processor time: other programs on the machine cancel out.
"""

import json
import os
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import gymnasium
import torch

from baselines.agent import Transition
from baselines.bench import runs as bench_runs
from baselines.bench import sac as bench_sac
from baselines.bonuses.counts import KernelConfig, KernelCount
from baselines.runner import evaluate, train_episode
from baselines.settings import bounds, build, resolve
from explore_suite.cli.console import say, table
from explore_suite.files import replace_text
from explore_suite.python_process import python_command
from explore_suite.tasks import lookup

Contender = Callable[[], float | None]  # does its block; its processor seconds, if not ours
_ONE_THREAD = {
    "OMP_NUM_THREADS": "1",
    "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1",
}
_TASK = "BallInCupExplore"
_SAC_AGENTS = {"sac": 4.5, "sac_bbe": 5.5, "sac_2q": 8.0, "sac_deep": 9.0}  # minutes allowed
_UPSTREAM = {
    "BallInCupCatch": ("ball_in_cup", "catch"),
    "ReacherHard": ("reacher", "hard"),
    "FingerTurnHard": ("finger", "turn_hard"),
    "WalkerWalk": ("walker", "walk"),
}


def interleave(contenders: Mapping[str, Contender], rounds: int) -> dict[str, list[float]]:
    """Processor seconds of each contender in each round."""
    seconds: dict[str, list[float]] = {name: [] for name in contenders}
    for _ in range(rounds):
        for name, contender in contenders.items():
            start = time.process_time()
            spent = contender()
            seconds[name].append(time.process_time() - start if spent is None else spent)
    return seconds


def ratio(seconds: dict[str, list[float]], over: str, under: str) -> float:
    """Median over the rounds of one contender's time in units of another's."""
    return statistics.median(a / b for a, b in zip(seconds[over], seconds[under], strict=True))


def counts_vs_keops(task: str) -> float:
    """Counts of a 128 x 64 grid against 32768 rows: KeOps' time over ours."""
    spec, rng = lookup(task), torch.Generator().manual_seed(0)
    box = bounds(spec)
    low, high = torch.tensor(box.obs_low), torch.tensor(box.obs_high)
    obs = torch.lerp(low, high, torch.rand(32768 + 128, spec.obs_dim, generator=rng))
    actions = torch.rand(32768 + 64, spec.action_dim, generator=rng) * 2 - 1
    backends: dict[str, Contender] = {}
    for backend in ("product", "keops"):
        config = KernelConfig(state_scale=spec.count_scale or 1, tolerance=0.999, backend=backend)
        count = KernelCount(box, config, seed=0)
        for row in range(32768):
            count.visit(obs[row], actions[row])
        backends[backend] = partial(_ask, count, obs[32768:], actions[32768:])
    for contender in backends.values():  # KeOps compiles, ours takes its memory
        contender()
    return ratio(interleave(backends, rounds=3), "keops", "product")


def _ask(count: KernelCount, obs: torch.Tensor, actions: torch.Tensor) -> None:
    count.grid(obs, actions)


def seconds_per_episode(agent_name: str, episodes: int = 3) -> list[float]:
    """Processor seconds of training and evaluation episodes with a full count table."""
    spec = lookup(_TASK)
    agent = build(agent_name, _TASK, resolve("cpu", agent_name, _TASK), seed=0)
    _fill(agent, spec.obs_dim, spec.action_dim, steps=12_000)
    seconds = []
    with gymnasium.make(spec.id) as env:
        for episode in range(episodes + 1):
            start = time.process_time()
            train_episode(agent, env, episode)
            evaluate(agent, env, episode)
            seconds.append(time.process_time() - start)
    return seconds[1:]  # the first one still allocates


def _fill(agent: Any, obs_dim: int, action_dim: int, steps: int) -> None:
    """Random transitions, as many as fill the counts, without learning from them."""
    rng = torch.Generator().manual_seed(0)
    box = bounds(lookup(_TASK))
    low, high = torch.tensor(box.obs_low), torch.tensor(box.obs_high)
    obs = torch.lerp(low, high, torch.rand(steps + 1, obs_dim, generator=rng)).numpy()
    actions = (torch.rand(steps, action_dim, generator=rng) * 2 - 1).numpy()
    for step in range(steps):
        agent.observe(Transition(obs[step], actions[step], 0.0, obs[step + 1], False, False))
    agent._episode_length = 0
    if hasattr(agent, "explorer"):
        agent.explorer._due = 0


def gib_of_a_run(agent_name: str) -> float:
    """Peak memory of a process that has stored 100 episodes and runs one more."""
    code = f"from baselines import bench; bench.fill_and_run({agent_name!r})"
    subprocess.run(python_command(code), check=True, env={**os.environ, **_ONE_THREAD})
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 2**20


def fill_and_run(agent_name: str) -> None:
    """One episode after 100,000 stored steps; for `gib_of_a_run`."""
    spec = lookup(_TASK)
    agent = build(agent_name, _TASK, resolve("cpu", agent_name, _TASK), seed=0)
    _fill(agent, spec.obs_dim, spec.action_dim, steps=100_000)
    with gymnasium.make(spec.id) as env:
        train_episode(agent, env, 0)


def env_vs_peers() -> tuple[float, float]:
    """Worst of the four originals: our step over dm_control's; Shimmy's over ours."""
    import shimmy

    gymnasium.register_envs(shimmy)
    from dm_control import suite

    over_raw, under_shimmy = [], []
    for name, (domain, task) in _UPSTREAM.items():
        ours = gymnasium.make(lookup(name).id)
        raw = suite.load(domain, task, task_kwargs={"random": 0})
        peer = gymnasium.wrappers.FlattenObservation(
            gymnasium.make(f"dm_control/{domain}-{task}-v0")
        )
        actions = [ours.action_space.sample() for _ in range(100)]
        contenders = {
            "ours": _stepper(ours, actions),
            "raw": _stepper(raw, actions),
            "shimmy": _stepper(peer, actions),
        }
        seconds = interleave(contenders, rounds=60)
        over_raw.append(ratio(seconds, "ours", "raw"))
        under_shimmy.append(ratio(seconds, "shimmy", "ours"))
    return max(over_raw), min(under_shimmy)


def _stepper(env: Any, actions: list[Any]) -> Contender:
    """A hundred steps from a fresh start."""

    def steps() -> None:
        env.reset()
        for action in actions:
            env.step(action)

    return steps


class Report:
    """Rows of the table, written to bench.json as they come."""

    def __init__(self, path: Path) -> None:
        """Starts empty."""
        self.path = path
        self.rows: list[dict[str, Any]] = []

    def add(self, name: str, value: float, bar: float, *, at_least: bool) -> None:
        """Adds a measured value and the bar it must reach, or stay below."""
        ok = value >= bar if at_least else value <= bar
        self.rows.append({"name": name, "value": round(value, 3), "bar": bar, "ok": ok})
        replace_text(self.path, json.dumps({"rows": self.rows}, indent=1) + "\n")
        sense, verdict = "at least" if at_least else "at most", "ok" if ok else "MISSED"
        say(f"{name} {value:.3f} ({sense} {bar}): {verdict}")

    def show(self) -> None:
        """The whole table."""
        cells = [
            (r["name"], f"{r['value']:.3f}", str(r["bar"]), "ok" if r["ok"] else "MISSED")
            for r in self.rows
        ]
        table("bench, one core", ("row", "value", "bar", ""), cells)


def main() -> int:
    """Measures everything; 1 if a bar is missed."""
    torch.set_num_threads(1)
    os.environ.update(_ONE_THREAD)
    # JAX starts threads whatever it is told; one core makes them wait for each other.
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    report = Report(Path("bench.json"))
    over_raw, under_shimmy = env_vs_peers()
    report.add("env_vs_dm_control", over_raw, 1.15, at_least=False)
    report.add("env_vs_shimmy", under_shimmy, 1.0, at_least=True)
    report.add("counts_vs_keops_8d", counts_vs_keops("BallInCupExplore"), 250, at_least=True)
    report.add("counts_vs_keops_30d", counts_vs_keops("WalkerExplore"), 250, at_least=True)
    seconds = interleave(bench_sac.update_contenders(), rounds=60)
    report.add("sac_vs_gemm", ratio(seconds, "update", "products"), 1.6, at_least=False)
    per_episode = {name: seconds_per_episode(name) for name in _SAC_AGENTS}
    for name, allowed in _SAC_AGENTS.items():
        minutes = 110 * statistics.median(per_episode[name]) / 60
        report.add(f"minutes_{name}", minutes, allowed, at_least=False)
    deep, sac = (statistics.median(per_episode[name]) for name in ("sac_deep", "sac"))
    report.add("deep_vs_sac", deep / sac, 2.0, at_least=False)
    report.add("gib_sac_deep", gib_of_a_run("sac_deep"), 0.6, at_least=False)
    report.add("runner_vs_agent", bench_runs.runner_vs_agent(), 1.03, at_least=False)
    report.add("two_workers_vs_one", bench_runs.two_workers_vs_one(), 1.85, at_least=True)
    # Last, because JAX's threads go on costing processor time once they have been started.
    with bench_sac.step_contenders() as contenders:
        seconds = interleave(contenders, rounds=30)
    for peer, bar in (("sb3", 2.2), ("sbx", 1.3), ("rltools", 1.0)):
        report.add(f"sac_vs_{peer}", ratio(seconds, peer, "ours"), bar, at_least=True)
    report.show()
    return int(not all(row["ok"] for row in report.rows))


if __name__ == "__main__":
    sys.exit(main())
