"""One update of SAC against an independent version: plain layers, autograd, float64."""

import copy
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor
from torch.distributions import Normal

from baselines.agent import Bounds, Transition
from baselines.agents.sac import SAC, SACConfig
from baselines.nn.networks import MLP
from baselines.nn.replay import Batch

OBS_DIM, ACTION_DIM = 3, 2
ONE = np.ones(OBS_DIM)
BOUNDS = Bounds(-ONE, ONE, np.array([-1.0, -3.0]), np.array([1.0, 0.5]))
CONFIG = SACConfig(hidden=16, learning_rate=1e-2, batch_size=32, seed_updates=1)


def trained(seed: int) -> SAC:
    """An agent after three episodes of random steps, the second of which terminates."""
    agent, rng = SAC(BOUNDS, CONFIG, seed=seed), np.random.default_rng(seed)
    for i in range(60):
        obs, next_obs = rng.normal(size=(2, OBS_DIM)).astype(np.float32)
        action = rng.uniform(-1, 0.5, ACTION_DIM).astype(np.float32)
        agent.observe(Transition(obs, action, rng.normal(), next_obs, i == 39, i % 20 == 19))
        agent.update()
    return agent


def mlp64(net: MLP, params: Tensor, x: Tensor) -> Tensor:
    """(B, in) -> (copies, out, B), in the precision of its arguments."""
    weights, biases = net.layers(params)
    h = x.expand(net.members, *x.shape)
    for weight, bias in zip(weights[:-1], biases[:-1], strict=True):
        h = torch.relu(h @ weight + bias)
    return weights[-1] @ h.mT + biases[-1]


def policy64(agent: SAC, params: Tensor, obs: Tensor, noise: Tensor) -> tuple[Tensor, Tensor]:
    """Actions (B, A) and their log-densities (B,), by the textbook's change of variables."""
    mean, raw = mlp64(agent.actor.net, params, obs)[0].T.chunk(2, 1)
    log_std = -5 + 0.5 * 7 * (raw.tanh() + 1)
    tanh = (mean + log_std.exp() * noise).tanh()
    low, high = torch.from_numpy(BOUNDS.action_low), torch.from_numpy(BOUNDS.action_high)
    half = (high - low) / 2
    log_prob = Normal(0.0, 1.0).log_prob(noise) - log_std - (half * (1 - tanh**2)).log()
    return (high + low) / 2 + half * tanh, log_prob.sum(1)


def adam64(state: dict[str, Tensor], params: Tensor, gradient: Tensor, rate: float) -> Tensor:
    """The parameters after one step of Adam from a saved state."""
    t = float(state["step"]) + 1
    mean = 0.9 * state["mean"].double() + 0.1 * gradient
    square = 0.999 * state["square"].double() + 0.001 * gradient**2
    return params - rate * (mean / (1 - 0.9**t)) / ((square / (1 - 0.999**t)).sqrt() + 1e-8)


def update64(agent: SAC) -> dict[str, Any]:
    """What one update should do, from the agent's state and its own random streams."""
    twin, config = copy.deepcopy(agent), agent.config
    batch = Batch(*(field.double() for field in twin.replay.sample(config.batch_size)))
    n = config.batch_size
    noise = torch.randn(ACTION_DIM, 2 * n, generator=twin._learn_rng).double().T
    critic, target = agent.critic.net.params.double(), agent.critic.target.params.double()
    actor = agent.actor.net.params.double().requires_grad_()
    log_alpha = agent.log_alpha.double().requires_grad_()
    alpha, state = log_alpha.exp(), agent.state_dict()

    next_action, next_log_prob = policy64(agent, actor.detach(), batch.next_obs, noise[n:])
    next_input = torch.cat((batch.next_obs, next_action), 1)
    next_q = mlp64(agent.critic.net, target, next_input)[:, 0].min(0).values
    soft = next_q - alpha.detach() * next_log_prob
    y = batch.reward + config.discount * (1 - batch.terminated) * soft

    critic.requires_grad_()
    q = mlp64(agent.critic.net, critic, torch.cat((batch.obs, batch.action), 1))[:, 0]
    critic_loss = ((q[0] - y) ** 2).mean() + ((q[1] - y) ** 2).mean()
    (gradient,) = torch.autograd.grad(critic_loss, critic)
    rate = config.learning_rate
    new_critic = adam64(state["critic"]["adam"]["0"], critic.detach(), gradient, rate)

    action, log_prob = policy64(agent, actor, batch.obs, noise[:n])
    q_pi = mlp64(agent.critic.net, new_critic, torch.cat((batch.obs, action), 1))[:, 0]
    actor_loss = (alpha.detach() * log_prob - q_pi.min(0).values).mean()
    alpha_loss = (alpha * (-log_prob.detach() + ACTION_DIM)).mean()
    (actor_gradient,) = torch.autograd.grad(actor_loss, actor)
    (alpha_gradient,) = torch.autograd.grad(alpha_loss, log_alpha)
    return {
        "target": y.mean(),
        "critic_loss": critic_loss.detach(),
        "actor_loss": actor_loss.detach(),
        "entropy": -log_prob.mean().detach(),
        "critic": new_critic,
        "actor": adam64(state["actor_adam"]["0"], actor.detach(), actor_gradient, rate),
        "log_alpha": adam64(state["actor_adam"]["1"], log_alpha.detach(), alpha_gradient, rate),
        "slow": target + config.tau * (new_critic - target),
    }


@pytest.mark.parametrize("seed", [0, 1])
def test_one_update_agrees_with_float64_autograd(seed: int):
    agent = trained(seed)
    agent.updates = 2  # a multiple of target_every: this update moves the targets too
    expected = update64(agent)
    info = agent._learn()
    for name in ("target", "critic_loss", "actor_loss", "entropy"):
        assert float(info[name]) == pytest.approx(float(expected[name]), rel=1e-4, abs=1e-5)
    found = {
        "critic": agent.critic.net.params,
        "actor": agent.actor.net.params,
        "log_alpha": agent.log_alpha,
        "slow": agent.critic.target.params,
    }
    for name, value in found.items():
        torch.testing.assert_close(value.double(), expected[name], rtol=1e-4, atol=2e-5)
