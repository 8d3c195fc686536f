"""BBE and 2Q differ from SAC and DDQN in what becomes of the bonus."""

import numpy as np
import pytest
import torch

from baselines.agent import Transition
from tests.helpers.small_agents import small, stored_rewards


def visit(x, reward):
    """A step at (x, 0) with a zero action."""
    nought = np.zeros(2, np.float32)
    return Transition(np.array([x, 0.0], np.float32), nought, reward, nought, False, False)


VISITS = [visit(0.0, 0.0), visit(0.0, 1.0), visit(1.0, 0.5), visit(0.0, 0.0)]


def test_bbe_stores_reward_plus_bonus_from_before_the_visit():
    agent = small("sac_bbe", bonus_scale=0.5)
    for transition in VISITS:
        agent.observe(transition)
    stored = stored_rewards(agent, "sac_bbe")
    novelty = [1.0, 1.0, 1.0, 1 / np.sqrt(2)]  # counts before: 0, 1, 0 (far away), 2
    expected = [r + 0.5 * b for r, b in zip((0.0, 1.0, 0.5, 0.0), novelty, strict=True)]
    assert stored == pytest.approx(expected, rel=1e-5)


def test_bbe_explore_only_ignores_the_task():
    for name in ("sac_bbe", "ddqn_bbe"):
        agent = small(name, explore_only=True)
        for transition in VISITS[:2]:
            action = 0 if name == "ddqn_bbe" else transition.action
            agent.observe(transition._replace(action=action))
        assert stored_rewards(agent, name) == pytest.approx([1.0, 1.0])


def test_grid_bbe_counts_exactly():
    agent = small("ddqn_bbe")
    cell = np.array([3.0, 4.0], np.float32)
    for action in (0, 0, 0, 1, 0):
        agent.observe(Transition(cell, action, 0.0, cell, False, False))
    expected = [1, 1, 1 / np.sqrt(2), 1, 1 / np.sqrt(3)]
    assert stored_rewards(agent, "ddqn_bbe") == pytest.approx(expected)


def test_2q_keeps_rewards_and_bonuses_apart():
    agent = small("sac_2q")
    for transition in VISITS:
        agent.observe(transition)
    assert stored_rewards(agent, "sac_2q") == [0.0, 1.0, 0.5, 0.0]
    bonuses = stored_rewards(agent, "sac_2q", agent.bonus_replay)
    assert bonuses == pytest.approx([1, 1, 1, 1 / np.sqrt(2)], rel=1e-5)


def test_2q_actor_maximises_the_sum_of_both_values():
    """Value and gradient are those of the task critic plus scale times the other's."""
    agent = small("sac_2q", bonus_scale=3.0)
    rng = torch.Generator().manual_seed(0)
    obs, action = torch.randn(7, 2, generator=rng), torch.randn(7, 2, generator=rng)
    task, novelty = (critic.value(obs, action) for critic in (agent.critic, agent.bonus_critic))
    both = agent.actor_value(obs, action)
    torch.testing.assert_close(both.value, task.value + 3 * novelty.value)
    torch.testing.assert_close(both.gradient, task.gradient + 3 * novelty.gradient)


@pytest.mark.slow
def test_2q_trains_both_critics_on_their_own_rewards():
    """A bonus critic's target holds bonuses of at most one; the task's holds the task's rewards."""
    agent = small("sac_2q", seed_updates=0, updates_per_step=1.0, learning_rate=1e-2)
    obs = np.zeros(2, np.float32)
    for _ in range(1500):
        action = np.zeros(2, np.float32)
        agent.observe(Transition(obs, action, -5.0, obs, True, False))
        agent.update()
    at = torch.zeros(1, 2)
    assert float(agent.critic.value(at, at).value) == pytest.approx(-5, abs=0.7)
    assert -0.5 < float(agent.bonus_critic.value(at, at).value) < 1
