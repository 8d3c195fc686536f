"""Contenders of `make bench`: episodes of agents with a full count table; and their memory."""

import itertools
import os
import resource
import subprocess
from typing import Any

import gymnasium
import torch

from baselines.agent import Transition
from baselines.bench.timing import Contender
from baselines.runner import evaluate, train_episode
from baselines.settings import bounds, build, resolve
from explore_suite.python_process import python_command
from explore_suite.tasks import lookup

_TASK = lookup("BallInCupExplore")


def episodes_of(agent_name: str) -> Contender:
    """Each call runs the agent's next training and evaluation episode; its count table is full."""
    agent, numbers = _filled(agent_name, steps=12_000), itertools.count()
    env = gymnasium.make(_TASK.id)

    def episode() -> None:
        seed = next(numbers)
        train_episode(agent, env, seed)
        evaluate(agent, env, seed)

    return episode


def gib_of_a_run(agent_name: str, stored: int = 100_000) -> float:
    """Peak memory (GiB) of a process that trains for one episode after `stored` stored steps.

    The system reports the maximum over all child processes so far.
    """
    code = f"from {__name__} import fill_and_run; fill_and_run({agent_name!r}, {stored})"
    subprocess.run(python_command(code), check=True, env={**os.environ, "OMP_NUM_THREADS": "1"})
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 2**20


def fill_and_run(agent_name: str, stored: int) -> None:
    """Runs one training episode after `stored` stored steps; for `gib_of_a_run`."""
    agent = _filled(agent_name, stored)
    with gymnasium.make(_TASK.id) as env:
        train_episode(agent, env, 0)


def _filled(agent_name: str, steps: int) -> Any:
    """An agent that has stored random transitions and has no updates due for them."""
    agent = build(agent_name, _TASK.id, resolve("cpu", agent_name, _TASK.id), seed=0)
    rng = torch.Generator().manual_seed(0)
    box = bounds(_TASK)
    low, high = torch.tensor(box.obs_low), torch.tensor(box.obs_high)
    obs = torch.lerp(low, high, torch.rand(steps + 1, _TASK.obs_dim, generator=rng)).numpy()
    actions = (torch.rand(steps, _TASK.action_dim, generator=rng) * 2 - 1).numpy()
    for step in range(steps):
        agent.observe(Transition(obs[step], actions[step], 0.0, obs[step + 1], False, False))
    state = agent.state_dict()
    state["counters"]["_episode_length"] = 0
    if "explorer" in state:
        state["explorer"]["due"] = 0
    agent.load_state_dict(state)
    return agent
