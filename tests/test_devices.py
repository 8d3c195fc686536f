"""The code paths of a GPU, on a machine without one: see `pretend_cuda`."""

import gymnasium
import numpy as np
import pytest
import torch
from pretend_cuda import PretendTensor, pretend_cuda
from small_agents import HORIZON, small, task_of

from baselines import AGENTS, checkpoint
from baselines.networks import MLP
from baselines.runner import evaluate, train_episode
from baselines.settings import build
from explore_suite.tasks import lookup


@pytest.fixture
def cuda(monkeypatch):
    with pretend_cuda(monkeypatch):
        yield "cuda"


def trace(agent, name, episodes=3):
    """Observations and reports of a few short episodes, with evaluations between."""
    seen = []
    with gymnasium.make(lookup(task_of(name)).id, max_episode_steps=HORIZON) as env:
        for number in range(episodes):
            seen.append(train_episode(agent, env, number, lambda obs: seen.append(obs.tolist())))
            seen.append(evaluate(agent, env, number))
    return seen


@pytest.mark.parametrize("name", AGENTS)
def test_an_agent_on_a_gpu_does_what_it_does_on_the_cpu(name, monkeypatch):
    expected = trace(small(name), name)
    with pretend_cuda(monkeypatch):
        agent = build(name, task_of(name), small(name).config, seed=0, device="cuda")
        assert trace(agent, name) == expected


@pytest.mark.parametrize("name", AGENTS)
def test_a_checkpoint_moves_between_devices(name, monkeypatch, tmp_path):
    host = small(name)
    trace(host, name, episodes=1)
    path = tmp_path / "state.safetensors"
    with pretend_cuda(monkeypatch):
        agent = build(name, task_of(name), host.config, seed=1, device="cuda")
        agent.load_state_dict(host.state_dict())
        checkpoint.save(path, agent.state_dict())
    back = small(name, seed=2)
    back.load_state_dict(checkpoint.load(path))
    assert trace(back, name, episodes=1) == trace(host, name, episodes=1)


def test_predictions_wait_for_the_copy_to_the_host(cuda):
    net = MLP([3, 4, 2], seed=0, device=cuda)
    assert isinstance(net.params, PretendTensor)
    obs = np.ones(3, np.float32)
    before = net.predict(obs)
    net.params.mul_(2)
    np.testing.assert_array_equal(net.predict(obs), before)
    net.refresh()
    assert not np.array_equal(net.predict(obs), before)


def test_the_pretence_refuses_what_a_gpu_would(cuda):
    there, here = torch.zeros(2, device=cuda), torch.zeros(2)
    assert there.device.type == "cuda" and there.cpu().device.type == "cpu"
    for forbidden in (
        lambda: there + here,
        lambda: torch.cat([there, here]),
        lambda: torch.stack([here, there]),
        lambda: here @ there,
        lambda: there.numpy(),
        lambda: torch.randn(2, device=cuda, generator=torch.Generator()),
    ):
        with pytest.raises((RuntimeError, TypeError)):
            forbidden()
    assert (there + 1).sum().item() == 2 and isinstance(there[:1], PretendTensor)
