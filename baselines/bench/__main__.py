"""`make bench`: speed relative to other libraries and to limits, all measured in the same run.

Everything is measured on one thread of one core (see timing.py). Each value has a bar to reach.
"""

import json
import os
import statistics
import sys
from functools import partial
from pathlib import Path
from typing import Any

import gymnasium
import torch

from baselines.bench.episodes import episodes_of, gib_of_a_run
from baselines.bench.runs import runner_vs_agent, two_workers_vs_one
from baselines.bench.sac import step_contenders, update_contenders
from baselines.bench.timing import Contender, interleave, ratio
from baselines.bonuses.counts import KernelConfig, KernelCount
from baselines.settings import bounds
from explore_suite.cli.console import say, table
from explore_suite.files import replace_text
from explore_suite.tasks import lookup

_ONE_THREAD = {
    "OMP_NUM_THREADS": "1",
    "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1",
}
_SAC_AGENTS = {"sac": 4.5, "sac_bbe": 5.5, "sac_2q": 8.0, "sac_deep": 9.0}  # minutes allowed
# Processor time that an episode of each further method may take, in units of SAC's.
_COSTS = {"sac_noise.pink": 1.1, "sac_noise.zeta": 1.1, "sac_oac": 1.2, "sac_maxinfo": 2.5,
          "sac_bbe.hash": 1.2, "sac_deep.hash": 2.5,
          "sac_bbe.rnd": 1.7, "sac_deep.rnd": 2.7}  # fmt: skip
_UPSTREAM = {
    "BallInCupCatch": ("ball_in_cup", "catch"),
    "ReacherHard": ("reacher", "hard"),
    "FingerTurnHard": ("finger", "turn_hard"),
    "WalkerWalk": ("walker", "walk"),
}


def counts_vs_keops(task: str) -> float:
    """KeOps' time over ours, for a 128 x 64 grid of counts over a table of 32768 rows."""
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
    for contender in backends.values():  # KeOps compiles, ours allocates its memory
        contender()
    return ratio(interleave(backends, rounds=3), "keops", "product")


def _ask(count: KernelCount, obs: torch.Tensor, actions: torch.Tensor) -> None:
    count.grid(obs, actions)


def seconds_per_episode(agent_name: str, episodes: int = 3) -> list[float]:
    """Processor seconds of training and evaluation episodes with a full count table."""
    contender = {agent_name: episodes_of(agent_name)}
    return interleave(contender, rounds=episodes + 1)[agent_name][1:]  # the first allocates memory


def costs() -> dict[str, float]:
    """Processor time of an episode in units of SAC's; the methods take turns."""
    contenders = {name: episodes_of(name) for name in ("sac", *_COSTS)}
    interleave(contenders, rounds=1)  # the first round allocates memory
    seconds = interleave(contenders, rounds=3)
    return {name: ratio(seconds, name, "sac") for name in _COSTS}


def env_vs_peers() -> tuple[float, float]:
    """Time of our step over dm_control's, and Shimmy's over ours; the worst of four tasks each."""
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


class BenchTable:
    """The measured values; bench.json is rewritten after each."""

    def __init__(self, path: Path) -> None:
        """`path` is that of bench.json."""
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
        """Prints the whole table."""
        cells = [
            (r["name"], f"{r['value']:.3f}", str(r["bar"]), "ok" if r["ok"] else "MISSED")
            for r in self.rows
        ]
        table("bench, one core", ("row", "value", "bar", ""), cells)


def main() -> int:
    """Measures everything; 1 if a bar is missed."""
    torch.set_num_threads(1)
    os.environ.update(_ONE_THREAD)
    # JAX starts threads despite all settings; on one core they wait for each other.
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    bench = BenchTable(Path("bench.json"))
    over_raw, under_shimmy = env_vs_peers()
    bench.add("env_vs_dm_control", over_raw, 1.15, at_least=False)
    bench.add("env_vs_shimmy", under_shimmy, 1.0, at_least=True)
    bench.add("counts_vs_keops_8d", counts_vs_keops("BallInCupExplore"), 250, at_least=True)
    bench.add("counts_vs_keops_30d", counts_vs_keops("WalkerExplore"), 250, at_least=True)
    seconds = interleave(update_contenders(), rounds=60)
    bench.add("sac_vs_gemm", ratio(seconds, "update", "products"), 1.6, at_least=False)
    per_episode = {name: seconds_per_episode(name) for name in _SAC_AGENTS}
    for name, allowed in _SAC_AGENTS.items():
        minutes = 110 * statistics.median(per_episode[name]) / 60
        bench.add(f"minutes_{name}", minutes, allowed, at_least=False)
    for name, cost in costs().items():
        bench.add(f"{name}_vs_sac", cost, _COSTS[name], at_least=False)
    deep, sac = (statistics.median(per_episode[name]) for name in ("sac_deep", "sac"))
    bench.add("deep_vs_sac", deep / sac, 2.0, at_least=False)
    bench.add("gib_sac_deep", gib_of_a_run("sac_deep"), 0.6, at_least=False)
    bench.add("runner_vs_agent", runner_vs_agent(), 1.03, at_least=False)
    bench.add("two_workers_vs_one", two_workers_vs_one(), 1.85, at_least=True)
    # Last, because JAX's threads, once started, use processor time until the process ends.
    with step_contenders() as contenders:
        seconds = interleave(contenders, rounds=30)
    for peer, bar in (("sb3", 2.2), ("sbx", 1.3), ("rltools", 1.0)):
        bench.add(f"sac_vs_{peer}", ratio(seconds, peer, "ours"), bar, at_least=True)
    bench.show()
    return int(not all(row["ok"] for row in bench.rows))


if __name__ == "__main__":
    sys.exit(main())
