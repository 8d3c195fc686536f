"""MaxInfoRL: the gain by hand, what critics, actor and weight make of it, and where it leads."""

import math

import numpy as np
import pytest
import torch

from baselines.agent import Bounds, Transition
from baselines.agents.sac import SAC, SACConfig
from baselines.agents.sac_maxinfo import ForwardModel, Moments, SACMaxInfo, SACMaxInfoConfig
from baselines.nn.networks import MLP
from baselines.nn.replay import Batch
from tests.helpers.generators import generator
from tests.helpers.small_agents import episodes, small

BOUNDS = Bounds(np.array([-2.0, 0]), np.array([2.0, 1]), np.array([-1.0, -3]), np.array([1.0, 3]))
LINE = Bounds(-np.ones(1), np.ones(1), -np.ones(1), np.ones(1))


def model(**settings) -> ForwardModel:
    config = SACMaxInfoConfig(hidden=16, learning_rate=1e-2, **settings)
    return ForwardModel(BOUNDS, config, seed=0, device="cpu")


def output_biases(net: MLP) -> torch.Tensor:
    """(members, out, 1), a view."""
    return net.layers(net.params)[1][-1]


def rows(n: int, seed: int = 0) -> Batch:
    """Random transitions of a world whose observations change by a multiple of the action."""
    rng = torch.Generator().manual_seed(seed)
    obs, action = torch.rand(n, 2, generator=rng), 2 * torch.rand(n, 2, generator=rng) - 1
    reward = action[:, 0].square()
    return Batch(obs, action, reward, obs + 0.1 * action, torch.zeros(n))


def test_the_gain_by_hand():
    """Three heads say 0, 3 and 6 of the first of three numbers, and agree on the others.

    Their variance is 6; with sigma = 0.5 the gain is log(1 + 6 / 0.25) / 3, wherever one is.
    """
    ensemble = model(heads=3, model_noise=0.5)
    ensemble.net.params.zero_()
    output_biases(ensemble.net)[0, :, 0] = torch.tensor([0.0, 1, 2, 3, 1, 2, 6, 1, 2])
    gain = ensemble.gain(torch.randn(4, 2), torch.randn(4, 2))
    assert gain.tolist() == pytest.approx([math.log(25) / 3] * 4)


def test_the_gains_gradient_agrees_with_autograd():
    ensemble = model(model_noise=0.1)
    obs, action = rows(9).obs, rows(9).action.clone().requires_grad_()
    gain = ensemble.gain(obs, action)
    (expected,) = torch.autograd.grad(gain.sum(), action)
    found = ensemble.gain_value(obs, action.detach())
    torch.testing.assert_close(found.value, gain.detach())
    torch.testing.assert_close(found.gradient, expected)


def test_the_model_learns_steps_and_its_heads_come_to_agree_there():
    ensemble, batch = model(), rows(64)
    before = ensemble.gain(batch.obs, batch.action).mean()
    losses = [float(ensemble.update(batch)["model_loss"]) for _ in range(500)]
    assert losses[0] > 0.9 and losses[-1] < 0.02  # normalised: knowing nothing costs 1
    assert ensemble.gain(batch.obs, batch.action).mean() < before - 3


def test_the_outcome_of_a_step_is_the_change_and_the_reward():
    """In units of the box: its halves are 2 and 0.5."""
    ensemble, batch = model(), rows(64)
    ensemble.update(batch)
    change = (batch.next_obs - batch.obs).mean(0) / torch.tensor([2, 0.5])
    expected = torch.cat((change, batch.reward.mean(0, keepdim=True)))
    torch.testing.assert_close(ensemble.state_dict()["steps"]["mean"], expected)


def test_moments_are_those_of_all_rows():
    moments, data = Moments(2, "cpu"), torch.randn(100, 2, generator=torch.Generator())
    for part in data.split([10, 60, 30]):
        moments.add(part)
    torch.testing.assert_close(moments.mean, data.mean(0))
    torch.testing.assert_close(moments.std, data.std(0, correction=0))


def trained(**settings) -> SACMaxInfo:
    """An agent after a few short episodes, its weight and moments set to known numbers."""
    agent = small("sac_maxinfo", **settings)
    episodes(agent, "sac_maxinfo", range(3))
    agent.log_weight.fill_(math.log(3.0))
    agent.gains.mean, agent.gains.std = torch.tensor([2.0]), torch.tensor([0.5])
    return agent


def test_critics_are_given_the_gain_of_the_next_step(monkeypatch):
    agent, given = trained(), []
    for part in (agent.critic, agent.model):
        update = part.update
        monkeypatch.setattr(
            part, "update", lambda b, *rest, update=update: given.append(b) or update(b, *rest)
        )
    batch = agent.replay.sample(16)._replace(terminated=torch.arange(16) % 2.0)
    action = torch.zeros(16, 2)
    gain = (agent.model.gain(batch.next_obs, action) - 2) / 0.5
    agent.update_critics(batch, action, torch.zeros(16), agent.log_alpha.exp())
    expected = batch.reward + 0.99 * (1 - batch.terminated) * 3 * gain
    torch.testing.assert_close(given[0].reward, expected)
    assert given[1] is batch, "the model learns the reward itself"


def test_the_actor_climbs_value_and_gain():
    agent, batch = trained(), rows(8)
    task, gain = agent.critic.value(batch.obs, batch.action), agent.model.gain_value(*batch[:2])
    both = agent.actor_value(*batch[:2])
    torch.testing.assert_close(both.value, task.value + 3 * (gain.value - 2) / 0.5)
    torch.testing.assert_close(both.gradient, task.gradient + 3 * gain.gradient / 0.5)


@pytest.mark.parametrize("curious", ["policy", "reference"])
def test_the_weight_falls_if_the_policy_gains_more_than_the_reference(curious):
    """On a model that has seen the left alone, of two policies one of which goes right."""
    agent = small("sac_maxinfo", learning_rate=1e-2)
    for seed in range(200):
        batch = rows(64, seed)
        agent.model.update(batch._replace(action=-batch.action.abs()))
    for name, actor in {"policy": agent.actor, "reference": agent.reference}.items():
        output_biases(actor.net)[0, :2, 0] = 2.0 if name == curious else -2.0
    obs = rows(64).obs
    draw = agent.actor.draw(obs, torch.Generator().manual_seed(0))
    info = agent.update_actor(obs, draw, agent.log_alpha.exp())
    assert (info["gain"] > info["reference_gain"]) == (curious == "policy")
    step = -1e-2 if curious == "policy" else 1e-2  # Adam's first is as long as its rate
    assert float(agent.log_weight) == pytest.approx(step, rel=1e-3)


def test_gains_are_measured_by_those_of_policy_and_reference():
    """The running mean and deviation of both, and the weight's numbers in these units."""
    agent, obs = small("sac_maxinfo"), rows(64).obs
    torch.testing.assert_close(agent.reference.net.params, agent.actor.net.params)
    output_biases(agent.actor.net)[0, :2, 0] = 2.0  # so that the two gains differ by much
    rng = generator(agent.state_dict()["reference_rng"])
    draw = agent.actor.draw(obs, torch.Generator().manual_seed(0))
    actions = torch.cat((draw.action, agent.reference.draw(obs, rng).action))
    gains = agent.model.gain(torch.cat((obs, obs)), actions)
    info = agent.update_actor(obs, draw, agent.log_alpha.exp())
    torch.testing.assert_close(agent.gains.mean, gains.mean(0, keepdim=True))
    torch.testing.assert_close(agent.gains.std, gains.std(0, correction=0, keepdim=True))
    own = (gains[:64].mean() - gains.mean()) / gains.std(correction=0)
    assert float(info["gain"]) == pytest.approx(float(own), rel=1e-3)
    assert float(info["reference_gain"]) == pytest.approx(-float(own), rel=1e-3)


def test_the_reference_follows_as_the_targets_do():
    agent = trained()
    before = agent.reference.net.params.clone()
    agent.sync_targets()
    expected = before + agent.config.tau * (agent.actor.net.params - before)
    torch.testing.assert_close(agent.reference.net.params, expected)


def preferred(agent, side: float) -> float:
    """The policy's action after learning from steps to one side alone, none of which paid."""
    rng, obs = np.random.default_rng(0), np.zeros(1, np.float32)
    for _ in range(600):
        action = (side * rng.uniform(0, 1, 1)).astype(np.float32)
        agent.observe(Transition(obs, action, 0.0, np.sin(3 * action), True, False))
        agent.update()
    return float(agent.act(obs, explore=False)[0])


@pytest.mark.slow
@pytest.mark.parametrize("side", [-1.0, 1.0])
def test_it_turns_to_the_side_that_it_has_not_seen(side):
    values = {"hidden": 32, "batch_size": 64, "learning_rate": 3e-3, "warmup_steps": 0,
              "seed_updates": 0}  # fmt: skip
    curious = SACMaxInfo(LINE, SACMaxInfoConfig(**values), seed=0)
    assert -side * preferred(curious, side) > 0.4
    assert -side * preferred(SAC(LINE, SACConfig(**values), seed=0), side) < 0.2
