"""Copies, by `copy` or by `pickle`: each goes on like its original and shares nothing with it."""

import copy
import pickle

import numpy as np
import pytest
import torch

from baselines import AGENTS
from baselines.agent import Transition
from baselines.nn.networks import MLP
from baselines.nn.replay import Replay
from explore_suite.tasks import lookup
from tests.helpers.small_agents import episodes, small, task_of


def pickled(thing):
    return pickle.loads(pickle.dumps(thing))


@pytest.fixture(params=[copy.deepcopy, pickled])
def copied(request):
    return request.param


def equal(first, second):
    """Whether two states hold the same, bit for bit."""
    if isinstance(first, dict):
        return first.keys() == second.keys() and all(equal(first[k], second[k]) for k in first)
    return torch.equal(first, second) if isinstance(first, torch.Tensor) else first == second


def further(agent, name):
    """What an agent does from here on, evaluation included."""
    seen = episodes(agent, name, (3, 4))
    spec = lookup(task_of(name))
    places = np.linspace(spec.obs_low, spec.obs_high, 5).round().astype(np.float32)
    return seen, [np.asarray(agent.act(obs, explore=False)).tolist() for obs in places]


@pytest.mark.parametrize("name", AGENTS)
def test_a_copied_agent_goes_on_like_the_original_and_leaves_it_alone(name, copied):
    agent = small(name)
    episodes(agent, name, (1, 2))
    before = agent.state_dict()
    twin = copied(agent)
    expected = further(twin, name)
    assert equal(agent.state_dict(), before)
    assert not equal(twin.state_dict(), before)
    assert further(agent, name) == expected
    assert equal(agent.state_dict(), twin.state_dict())


def test_a_copied_replay_stores_what_it_is_given(copied):
    replay = Replay(3, 2, 1, seed=0)
    twin = copied(replay)
    twin.add(Transition(np.ones(2), np.full(1, 2.0), 3.0, np.full(2, 4.0), True, False))
    assert twin.state_dict()["rows"].tolist() == [[1, 1, 2, 3, 4, 4, 1]]
    assert len(replay) == 0


def test_a_copied_network_has_one_set_of_weights(copied):
    """What learning moves is what a batch and a single prediction see."""
    net, obs = MLP([3, 4, 2], seed=0), np.ones(3, np.float32)
    twin, before = copied(net), net.predict(obs)
    np.testing.assert_array_equal(twin.predict(obs), before)
    out, inputs = net.forward(torch.from_numpy(obs)[None])
    upstream = torch.ones_like(out)
    assert torch.equal(twin.gradient(inputs, upstream), net.gradient(inputs, upstream))
    twin.params.mul_(2)
    moved, _ = twin.forward(torch.from_numpy(obs)[None])
    assert not torch.allclose(moved, out)
    np.testing.assert_allclose(twin.predict(obs), moved[0, :, 0].numpy(), rtol=1e-6)
    np.testing.assert_array_equal(net.predict(obs), before)
