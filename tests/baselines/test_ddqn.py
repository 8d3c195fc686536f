"""DDQN and 2Q against plain float64 autograd."""

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from baselines.agent import Bounds, Transition
from baselines.agents.ddqn import DDQN, DDQNConfig
from baselines.agents.sac_2q import SAC2Q, SAC2QConfig
from tests.helpers.generators import generator
from tests.helpers.reference_networks import as_layers, squashed_gaussian

GRID = Bounds(np.zeros(2), np.full(2, 11.0), np.zeros(1), np.full(1, 3.0))
BOX = Bounds(-np.ones(5), np.ones(5), -np.ones(3), np.ones(3))
UPDATES, BATCH, RATE, DISCOUNT = 7, 32, 1e-3, 0.99


def assert_same(mlp, nets, atol=1e-6):
    """The MLP's networks answer as the references do."""
    obs = torch.randn(50, nets[0][0].in_features, generator=torch.Generator().manual_seed(1))
    out, _ = mlp.forward(obs)
    for index, net in enumerate(nets):
        torch.testing.assert_close(out[index].T.double(), net(obs.double()), atol=atol, rtol=1e-4)


def scaled(obs, action):
    """Grid cells and action numbers to [-1, 1], side by side."""
    return torch.cat([obs / 11 * 2 - 1, action / 3 * 2 - 1], dim=1)


def test_ddqn_updates_equal_a_float64_reimplementation():
    config = DDQNConfig(
        hidden=16, batch_size=BATCH, target_every=3, learning_rate=RATE, candidates=3
    )
    agent, rng = DDQN(GRID, config, seed=1), np.random.default_rng(0)
    for step in range(100):
        obs, next_obs = rng.integers(0, 12, (2, 2)).astype(np.float32)
        ends = step % 7 == 0
        agent.observe(Transition(obs, int(rng.integers(4)), rng.normal(), next_obs, ends, False))
    twin = DDQN(GRID, config, seed=99)
    twin.load_state_dict(agent.state_dict())
    net, target = as_layers(agent.net), as_layers(agent.target)
    adam = torch.optim.Adam(net.parameters(), lr=RATE)
    learn_rng = generator(agent.state_dict()["learn_rng"])
    for update in range(1, UPDATES + 1):
        obs, action, reward, next_obs, terminated = (x.double() for x in twin.replay.sample(BATCH))
        draws = torch.randint(4, (3,), generator=learn_rng)
        tried = [torch.full((BATCH, 1), float(a), dtype=torch.float64) for a in draws]
        values = torch.cat([net(scaled(next_obs, a)) for a in tried], dim=1)
        best = draws[values.argmax(1)][:, None].double()  # chosen by the net, valued by its target
        goal = reward + DISCOUNT * (1 - terminated) * target(scaled(next_obs, best))[:, 0]
        loss = F.mse_loss(net(scaled(obs, action))[:, 0], goal.detach())
        adam.zero_grad()
        loss.backward()
        adam.step()
        if update % 3 == 0:
            target.load_state_dict(net.state_dict())
    info = agent.learn(UPDATES)
    assert info["critic_loss"] == pytest.approx(loss.item(), rel=1e-4)
    assert_same(agent.net, [net])
    assert_same(agent.target, [target])


def smaller(critics, obs, action):
    """The minimum of two critics."""
    return torch.min(*(net(torch.cat([obs, action], 1))[:, 0] for net in critics))


def test_2q_updates_equal_a_float64_reimplementation():
    """Bonus critic, task critic, actor on the sum, one temperature with entropy in both targets."""
    config = SAC2QConfig(
        hidden=16, batch_size=BATCH, learning_rate=RATE, seed_updates=1, bonus_scale=0.7,
    )  # fmt: skip
    agent, rng = SAC2Q(BOX, config, seed=3), np.random.default_rng(0)
    for step in range(150):
        obs, next_obs = rng.normal(size=(2, 5)).astype(np.float32)
        action = rng.uniform(-1, 1, 3).astype(np.float32)
        agent.observe(Transition(obs, action, rng.normal(), next_obs, step % 9 == 0, False))
    twin, actor = SAC2Q(BOX, config, seed=99), as_layers(agent.actor.net)
    twin.load_state_dict(agent.state_dict())
    bonus, task = (
        [[as_layers(net, i) for i in (0, 1)] for net in (critic.net, critic.target)]
        for critic in (agent.bonus_critic, agent.critic)
    )
    adams = [
        torch.optim.Adam([p for net in critics for p in net.parameters()], lr=RATE)
        for critics, _ in (bonus, task)
    ]
    log_alpha = torch.tensor(np.log(0.1), requires_grad=True)
    actor_adam = torch.optim.Adam([*actor.parameters(), log_alpha], lr=RATE)
    learn_rng = generator(agent.state_dict()["learn_rng"])
    for update in range(1, UPDATES + 1):
        batch = [x.double() for x in twin.replay.sample(BATCH)]
        noise = torch.randn(3, 2 * BATCH, generator=learn_rng).double().T
        bonus_batch = [x.double() for x in twin.bonus_replay.sample(BATCH)]
        bonus_noise = torch.randn(3, BATCH, generator=learn_rng).double().T
        work = ((bonus, bonus_batch, bonus_noise), (task, batch, noise[BATCH:]))
        for ((critics, targets), data, draw), adam in zip(work, adams, strict=True):
            obs, action, reward, next_obs, terminated = data
            with torch.no_grad():
                next_action, log_prob = squashed_gaussian(actor(next_obs), draw)
                value = smaller(targets, next_obs, next_action) - log_alpha.exp() * log_prob
                goal = reward + DISCOUNT * (1 - terminated) * value
            inputs = torch.cat([obs, action], 1)
            adam.zero_grad()
            sum(F.mse_loss(net(inputs)[:, 0], goal) for net in critics).backward()
            adam.step()
        action, log_prob = squashed_gaussian(actor(batch[0]), noise[:BATCH])
        value = smaller(task[0], batch[0], action) + 0.7 * smaller(bonus[0], batch[0], action)
        loss = (log_alpha.exp().detach() * log_prob - value).mean()
        loss = loss + (log_alpha.exp() * (-log_prob + 3).detach()).mean()
        actor_adam.zero_grad()
        loss.backward()
        actor_adam.step()
        if update % 2 == 0:
            for critics, targets in (bonus, task):
                for net, slow in zip(critics, targets, strict=True):
                    for p, q in zip(net.parameters(), slow.parameters(), strict=True):
                        q.data.lerp_(p.data, 0.005)
    agent.learn(UPDATES)
    assert_same(agent.actor.net, [actor])
    for ours, (critics, targets) in ((agent.bonus_critic, bonus), (agent.critic, task)):
        assert_same(ours.net, critics)
        assert_same(ours.target, targets)
    assert float(agent.log_alpha) == pytest.approx(log_alpha.item(), abs=1e-6)
