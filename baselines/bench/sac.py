"""Contenders for SAC's speed: its bare matrix products, and the SAC of other libraries.

All at the sizes of preset `cpu`.
"""

import contextlib
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import torch

from baselines.agent import Bounds, Transition
from baselines.agents.sac import SAC, SACConfig
from baselines.bench.timing import Contender
from baselines.settings import resolve
from explore_suite.python_process import python_command
from explore_suite.tasks import lookup

_TASK = lookup("WalkerWalk")
_CONFIG = resolve("cpu", "sac", _TASK.id)
_OBS, _ACTION, _HIDDEN, _BATCH = _TASK.obs_dim, _TASK.action_dim, _CONFIG.hidden, _CONFIG.batch_size
_UPDATES, _STEPS = 5, 20  # per timed block


def update_contenders() -> dict[str, Contender]:
    """Blocks of updates from a filled replay buffer, and of the matrix products that they need."""
    agent, rng = _agent(), np.random.default_rng(0)
    for _ in range(20_000):
        obs, next_obs = rng.normal(size=(2, _OBS))
        action, reward = rng.uniform(-1, 1, _ACTION), float(rng.uniform())
        agent.observe(Transition(obs, action, reward, next_obs, False, False))

    def updates() -> None:
        agent.learn(_UPDATES)

    products = _products()

    def product_blocks() -> None:
        for _ in range(_UPDATES):
            products()

    return {"products": product_blocks, "update": updates}


@contextlib.contextmanager
def step_contenders() -> Iterator[dict[str, Contender]]:
    """Blocks of (environment step, action, storing, one update), all on WalkerWalk."""
    import sbx
    import stable_baselines3

    with _rltools() as rltools:
        yield {
            "ours": _our_steps(),
            "sb3": _peer(stable_baselines3.SAC, device="cpu"),
            "sbx": _peer(sbx.SAC),
            "rltools": rltools,
        }


@contextlib.contextmanager
def _rltools() -> Iterator[Contender]:
    """RLtools in a process of its own, which compiles for a minute the first time."""
    script = Path(__file__).with_name("rltools.py")
    code = f"import runpy; runpy.run_path({str(script)!r}, run_name='__main__')"
    command = python_command(code, _TASK.id, str(_HIDDEN), str(_BATCH))
    environment = {**os.environ, "MKL_NUM_THREADS": "1"}
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True, env=environment) as process:
        asked, answered = process.stdin, process.stdout
        if asked is None or answered is None:  # both are pipes
            raise RuntimeError("no pipes to RLtools")
        while (line := answered.readline()) != "ready\n":
            if not line:
                raise RuntimeError("RLtools did not start; its message is above")

        def steps(n: int = _STEPS) -> float:
            asked.write(f"{n}\n")
            asked.flush()
            for line in answered:
                with contextlib.suppress(ValueError):  # between answers it reports its progress
                    return float(line)
            raise RuntimeError("RLtools stopped; its message is above")

        steps(400)
        yield steps
        asked.close()


def _agent() -> SAC:
    one = np.ones
    config = SACConfig(
        hidden=_HIDDEN, batch_size=_BATCH, learning_rate=3e-4, seed_updates=1, warmup_steps=100,
        target_every=1,  # the peers' value
    )  # fmt: skip
    return SAC(Bounds(-one(_OBS), one(_OBS), -one(_ACTION), one(_ACTION)), config, seed=0)


def _our_steps() -> Contender:
    env, agent = gymnasium.make(_TASK.id), _agent()
    state = {"obs": env.reset(seed=0)[0]}

    def steps(n: int = _STEPS) -> None:
        for _ in range(n):
            obs = state["obs"]
            action = agent.act(obs, explore=True)
            next_obs, reward, terminated, truncated, _ = env.step(action)
            agent.observe(Transition(obs, action, float(reward), next_obs, terminated, truncated))
            agent.learn(1)  # at every step, as the peers do
            state["obs"] = env.reset()[0] if truncated else next_obs

    steps(400)
    return steps


def _peer(algorithm: Any, **options: Any) -> Contender:
    model = algorithm(
        "MlpPolicy", gymnasium.make(_TASK.id), learning_rate=3e-4, batch_size=_BATCH,
        buffer_size=100_000, learning_starts=100, train_freq=1, gradient_steps=1, seed=0,
        tau=0.005, gamma=0.99, policy_kwargs={"net_arch": [_HIDDEN, _HIDDEN]}, **options,
    )  # fmt: skip
    model.learn(400)

    def steps() -> None:
        model.learn(_STEPS, reset_num_timesteps=False)

    return steps


def _products() -> Contender:
    """The matrix products of one update in the fastest layout known, outputs preallocated.

    No bias, no ReLU, no loss. Products that no update needs are left out: gradients with respect to
    observations, and those of the critic that is not the minimum.
    """
    new, out, bmm, mm = torch.randn, torch.empty, torch.bmm, torch.mm
    half = _BATCH // 2
    both = new(1, 2 * _BATCH, _OBS)  # obs and next_obs go through the actor together
    pair = new(_BATCH, _OBS + _ACTION).expand(2, _BATCH, _OBS + _ACTION)
    actor = [new(1, _OBS, _HIDDEN), new(1, _HIDDEN, _HIDDEN), new(1, 2 * _ACTION, _HIDDEN)]
    nets = [
        [new(2, _OBS + _ACTION, _HIDDEN), new(2, _HIDDEN, _HIDDEN), new(2, 1, _HIDDEN)]
        for _ in ("critics", "targets")
    ]
    x1, x2, x3 = (
        out(1, 2 * _BATCH, _HIDDEN),
        out(1, 2 * _BATCH, _HIDDEN),
        out(1, 2 * _ACTION, 2 * _BATCH),
    )
    h1, h2, h3 = out(2, _BATCH, _HIDDEN), out(2, _BATCH, _HIDDEN), out(2, 1, _BATCH)
    upstream2, upstream1, action_gradients = (
        out(2, _BATCH, _HIDDEN),
        out(2, _BATCH, _HIDDEN),
        out(2, _ACTION, half),
    )
    gradients = [torch.empty_like(weight) for weight in nets[0]]
    actor_gradients = [torch.empty_like(weight) for weight in actor]
    actor_upstream2, actor_upstream1 = out(1, _BATCH, _HIDDEN), out(1, _BATCH, _HIDDEN)

    def forward(net: list[torch.Tensor]) -> None:
        bmm(pair, net[0], out=h1)
        bmm(h1, net[1], out=h2)
        bmm(net[2], h2.mT, out=h3)

    def critic_gradient() -> None:
        bmm(h3, h2, out=gradients[2])
        torch.mul(h3.mT, nets[0][2], out=upstream2)
        bmm(h1.mT, upstream2, out=gradients[1])
        bmm(upstream2, nets[0][1].mT, out=upstream1)
        bmm(pair.mT, upstream1, out=gradients[0])

    def action_gradient() -> None:
        for k in range(2):
            torch.mul(h3[k, :, :half].T, nets[0][2][k], out=upstream2[k, :half])
            mm(upstream2[k, :half], nets[0][1][k].T, out=upstream1[k, :half])
            mm(nets[0][0][k, -_ACTION:], upstream1[k, :half].T, out=action_gradients[k])

    def actor_gradient() -> None:
        top = x3[:, :, :_BATCH]
        bmm(top, x2[:, :_BATCH], out=actor_gradients[2])
        bmm(top.mT, actor[2], out=actor_upstream2)
        bmm(x1[:, :_BATCH].mT, actor_upstream2, out=actor_gradients[1])
        bmm(actor_upstream2, actor[1].mT, out=actor_upstream1)
        bmm(both[:, :_BATCH].mT, actor_upstream1, out=actor_gradients[0])

    def products() -> None:
        bmm(both, actor[0], out=x1)
        bmm(x1, actor[1], out=x2)
        bmm(actor[2], x2.mT, out=x3)
        forward(nets[1])
        forward(nets[0])
        critic_gradient()
        forward(nets[0])
        action_gradient()
        actor_gradient()

    return products
