"""The code paths of a GPU, on a machine without one: see `pretend_cuda`."""

import gymnasium
import numpy as np
import pytest
import torch

from baselines.nn.networks import MLP, Adam
from baselines.runner import evaluate, train_episode
from baselines.settings import build
from baselines.training import checkpoint
from explore_suite.tasks import lookup
from tests.helpers.pretend_cuda import PretendTensor, pretend_cuda
from tests.helpers.small_agents import EVERY, HORIZON, small, task_of
from tests.helpers.watched_env import WatchedEnv

LEARNERS = [name for name in EVERY if name != "random"]  # which draws from NumPy alone


@pytest.fixture
def cuda(monkeypatch):
    with pretend_cuda(monkeypatch):
        yield "cuda"


def on_gpu(name, seed=0):
    """The small agent on the pretended device."""
    return build(name, task_of(name), small(name).config, seed=seed, device="cuda")


def trace(agent, name, episodes=2, steps=HORIZON):
    """Observations and reports of a few short episodes, with evaluations between."""
    reports = []
    with WatchedEnv(gymnasium.make(lookup(task_of(name)).id, max_episode_steps=steps)) as env:
        for number in range(episodes):
            reports.append(train_episode(agent, env, number))
            reports.append(evaluate(agent, env, number))
    return env.seen + reports


@pytest.mark.slow
@pytest.mark.parametrize("name", EVERY)
def test_an_agent_on_a_gpu_does_what_it_does_on_the_cpu(name, monkeypatch):
    expected = trace(small(name), name)
    with pretend_cuda(monkeypatch):
        assert trace(on_gpu(name), name) == expected


@pytest.mark.slow
@pytest.mark.parametrize("name", EVERY)
def test_a_checkpoint_of_a_gpu_goes_on_there(name, cuda, tmp_path):
    agent, path = on_gpu(name), tmp_path / "state.safetensors"
    trace(agent, name, episodes=1, steps=25)
    checkpoint.save(path, agent.state_dict())
    back = on_gpu(name, seed=2)
    back.load_state_dict(checkpoint.load(path))
    assert trace(back, name, 1, steps=15) == trace(agent, name, 1, steps=15)


@pytest.mark.parametrize("name", LEARNERS)
def test_a_checkpoint_stays_on_its_device(name, monkeypatch, tmp_path):
    path = tmp_path / "state.safetensors"
    with pretend_cuda(monkeypatch):
        checkpoint.save(path, on_gpu(name).state_dict())
        with pytest.raises(RuntimeError, match="RNG state is wrong size"):
            on_gpu(name).load_state_dict(small(name).state_dict())
    with pytest.raises(RuntimeError, match="RNG state size to be 16"):
        small(name).load_state_dict(checkpoint.load(path))


def test_predictions_follow_every_change_of_the_parameters(cuda):
    net = MLP([3, 4, 2], seed=0, device=cuda)
    assert isinstance(net.params, PretendTensor)
    obs = np.ones(3, np.float32)
    before = net.predict(obs)
    net.params.mul_(2)
    np.testing.assert_allclose(net.predict(obs), forward(net, obs), rtol=1e-6)
    assert not np.array_equal(net.predict(obs), before)
    Adam([net.params], 0.1).step([torch.ones_like(net.params)])
    np.testing.assert_allclose(net.predict(obs), forward(net, obs), rtol=1e-6)


def forward(net, obs):
    """The outputs (out,) of one observation, computed on the network's device."""
    return net.forward(torch.as_tensor(obs, device=net.params.device)[None])[0][0, :, 0].cpu()


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
