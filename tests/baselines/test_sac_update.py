"""One update of SAC against an independent version: plain layers, autograd, float64."""

from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from baselines.agent import Bounds, Transition
from baselines.agents.sac import SAC, SACConfig
from baselines.nn.replay import Batch
from tests.helpers.generators import generator
from tests.helpers.reference_networks import adam_step, outputs, squashed_gaussian

OBS_DIM, ACTION_DIM = 3, 2
ONE = np.ones(OBS_DIM)
BOUNDS = Bounds(-ONE, ONE, np.array([-1.0, -3.0]), np.array([1.0, 0.5]))
LIMITS = torch.from_numpy(BOUNDS.action_low), torch.from_numpy(BOUNDS.action_high)
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


def policy(agent: SAC, params: Tensor, obs: Tensor, noise: Tensor) -> tuple[Tensor, Tensor]:
    """Actions (B, A) and their log-densities (B,) of the actor with other parameters."""
    return squashed_gaussian(outputs(agent.actor.net, params, obs)[0].T, noise, *LIMITS)


def stepped(saved: dict[str, Tensor], params: Tensor, gradient: Tensor) -> Tensor:
    """The parameters after one step of Adam from a saved state."""
    moments = saved["mean"].double(), saved["square"].double()
    t, rate = float(saved["step"]) + 1, CONFIG.learning_rate
    return adam_step(params, gradient, *moments, t, rate)[0]


def update64(agent: SAC) -> dict[str, Any]:
    """What one update should do, from the agent's state and its own random streams."""
    twin, config = SAC(BOUNDS, CONFIG, seed=99), agent.config
    twin.load_state_dict(agent.state_dict())
    batch = Batch(*(field.double() for field in twin.replay.sample(config.batch_size)))
    n = config.batch_size
    learn_rng = generator(agent.state_dict()["learn_rng"])
    noise = torch.randn(ACTION_DIM, 2 * n, generator=learn_rng).double().T
    critic, target = agent.critic.net.params.double(), agent.critic.target.params.double()
    actor = agent.actor.net.params.double().requires_grad_()
    log_alpha = agent.log_alpha.double().requires_grad_()
    alpha, state = log_alpha.exp(), agent.state_dict()

    next_action, next_log_prob = policy(agent, actor.detach(), batch.next_obs, noise[n:])
    next_input = torch.cat((batch.next_obs, next_action), 1)
    next_q = outputs(agent.critic.net, target, next_input)[:, 0].min(0).values
    soft = next_q - alpha.detach() * next_log_prob
    y = batch.reward + config.discount * (1 - batch.terminated) * soft

    critic.requires_grad_()
    q = outputs(agent.critic.net, critic, torch.cat((batch.obs, batch.action), 1))[:, 0]
    critic_loss = ((q[0] - y) ** 2).mean() + ((q[1] - y) ** 2).mean()
    (gradient,) = torch.autograd.grad(critic_loss, critic)
    new_critic = stepped(state["critic"]["adam"]["0"], critic.detach(), gradient)

    action, log_prob = policy(agent, actor, batch.obs, noise[:n])
    q_pi = outputs(agent.critic.net, new_critic, torch.cat((batch.obs, action), 1))[:, 0]
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
        "actor": stepped(state["actor_adam"]["0"], actor.detach(), actor_gradient),
        "log_alpha": stepped(state["actor_adam"]["1"], log_alpha.detach(), alpha_gradient),
        "slow": target + config.tau * (new_critic - target),
    }


@pytest.mark.parametrize("seed", [0, 1])
def test_one_update_agrees_with_float64_autograd(seed: int):
    agent = trained(seed)
    agent.updates = 1  # the next is the second, a multiple of target_every: targets move too
    expected = update64(agent)
    info = agent.learn(1)
    for name in ("target", "critic_loss", "actor_loss", "entropy"):
        assert info[name] == pytest.approx(float(expected[name]), rel=1e-4, abs=1e-5)
    found = {
        "critic": agent.critic.net.params,
        "actor": agent.actor.net.params,
        "log_alpha": agent.log_alpha,
        "slow": agent.critic.target.params,
    }
    for name, value in found.items():
        torch.testing.assert_close(value.double(), expected[name], rtol=1e-4, atol=2e-5)
