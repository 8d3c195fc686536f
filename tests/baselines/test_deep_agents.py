"""DEEP differs from SAC and DDQN in how it behaves; and the scripted expert of the grid."""

import gymnasium
import numpy as np
import pytest
import torch

from baselines.agent import Transition
from baselines.agents.sac import SAC
from baselines.runner import train_episode
from explore_suite import Coverage
from explore_suite.tasks import lookup
from tests.helpers.small_agents import HORIZON, episodes, small, stored_rewards, task_of


@pytest.mark.slow
def test_deep_with_one_candidate_is_sac_bit_for_bit():
    overrides = {"explorer.behaviour_candidates": 1}
    deep, sac = small("sac_deep", **overrides), small("sac")
    for number in range(4):
        a, b = episodes(deep, "sac_deep", [number]), episodes(sac, "sac", [number])
        assert a[:-1] == b[:-1]  # every state of the episode
        assert {name: a[-1][name] for name in b[-1]} == b[-1]  # every loss
    assert torch.equal(deep.actor.net.params, sac.actor.net.params)


class Rewards(gymnasium.Wrapper):
    """Remembers what the environment paid."""

    def __init__(self, env):
        super().__init__(env)
        self.paid = []

    def step(self, action):
        result = super().step(action)
        self.paid.append(result[1])
        return result


@pytest.mark.parametrize("name", ["sac_deep", "ddqn_deep"])
def test_deep_task_half_sees_only_environment_rewards(name):
    agent, spec = small(name), lookup(task_of(name))
    with Rewards(gymnasium.make(spec.id, max_episode_steps=HORIZON)) as env:
        train_episode(agent, env, 0)
    assert stored_rewards(agent, name) == pytest.approx(env.paid)
    assert len(agent.replay) == HORIZON


def apart(name):
    """Nine rows of obs, action and next_obs; no place among the 18 is near another."""
    spec, share = lookup(task_of(name)), np.arange(1, 10, dtype=np.float32) / 10
    sides = (np.stack([share, np.full_like(share, side)], axis=1) for side in (0.2, 0.8))
    obs, next_obs = (spec.obs_low + (spec.obs_high - spec.obs_low) * side for side in sides)
    if spec.discrete:
        return obs.round(), np.arange(9)[:, None] % 4, next_obs.round()
    return obs, np.stack([2 * share - 1, 1 - 2 * share], axis=1), next_obs


def observe(agent, rows):
    """Shows the agent the rows as steps of one episode that goes on."""
    for obs, action, next_obs in zip(*rows, strict=True):
        agent.observe(Transition(obs, action, 0.0, next_obs, False, False))


@pytest.mark.parametrize("name", ["sac_deep", "ddqn_deep"])
def test_deep_reports_the_episodes_mean_bonus_by_the_counts_before_each_visit(name):
    agent, rows = small(name), [row[0] for row in apart(name)]
    for step in range(1, 5):
        agent.observe(Transition(*rows[:2], 0.0, rows[2], False, truncated=step == 4))
        info = agent.update()
        assert ("explore_bonus" in info) == (step == 4)
    bonuses = [1, 1, 2**-0.5, 3**-0.5]  # four visits of one place, by none to three before
    assert info["explore_bonus"] == pytest.approx(np.mean(bonuses), abs=1e-4)


@pytest.mark.parametrize("name", ["sac_deep", "ddqn_deep"])
def test_deep_counts_each_step_where_it_was_taken(name):
    agent, (obs, action, next_obs) = small(name), apart(name)
    observe(agent, (obs, action, next_obs))
    counts = [
        agent.explorer.bonus.count.paired(place, action).tolist() for place in (obs, next_obs)
    ]
    assert counts[0] == pytest.approx([1] * 9, abs=1e-3)
    assert counts[1] == pytest.approx([0] * 9, abs=1e-3)


@pytest.mark.parametrize("name", ["sac_deep", "ddqn_deep"])
def test_deep_learns_exploration_from_whole_steps(name, monkeypatch):
    """Obs, action and next_obs of a sampled row are those of one step, and every step occurs."""
    agent, rows, samples = small(name, **{"explorer.start_after": 0}), apart(name), []
    monkeypatch.setattr(agent.explorer, "adapt", lambda sample: samples.append(sample(200)) or {})
    observe(agent, rows)
    agent.update()
    obs, action, _, next_obs, _ = samples[0]
    found = {tuple(row) for row in torch.cat((obs, action, next_obs), dim=1).tolist()}
    assert found == {tuple(row) for row in np.concatenate(rows, axis=1).tolist()}


def test_deep_chooses_what_its_explorer_chooses(monkeypatch):
    agent = small("sac_deep", warmup_steps=0)
    monkeypatch.setattr(agent.explorer, "choose", lambda obs, candidates: len(candidates) - 1)
    monkeypatch.setattr(
        agent, "sample_actions", lambda obs, n: torch.arange(2.0 * n).reshape(n, 2) / 100
    )
    action = agent.act(np.zeros(2, np.float32), explore=True)
    np.testing.assert_allclose(action, [0.06, 0.07])


def test_deep_evaluates_by_its_task_policy_alone(monkeypatch):
    agent = small("sac_deep", warmup_steps=0)
    monkeypatch.setattr(agent.explorer, "choose", lambda *_: pytest.fail("explored in evaluation"))
    obs = np.array([0.3, 0.1], np.float32)
    np.testing.assert_array_equal(agent.act(obs, explore=False), SAC.act(agent, obs, explore=False))


def test_deep_does_not_explore_in_the_warm_up(monkeypatch):
    for name in ("sac_deep", "ddqn_deep"):
        agent = small(name)
        monkeypatch.setattr(agent.explorer, "choose", lambda *_: pytest.fail("explored too early"))
        agent.act(lookup(task_of(name)).obs_low, explore=True)


def test_exploration_of_the_grid_starts_after_the_scripted_expert():
    assert small("ddqn_deep", skilled_steps=2000).explorer.config.start_after == 2000
    assert small("ddqn_deep").explorer.config.start_after == 20


def test_an_exploration_value_gone_wrong_names_its_step():
    agent = small("sac_deep")
    episodes(agent, "sac_deep", range(1))
    agent.explorer.net.params.fill_(float("nan"))
    with pytest.raises(FloatingPointError, match=rf"step {HORIZON}: exploration value"):
        agent.act(np.zeros(2, np.float32), explore=True)


def test_slow_ablation_adapts_only_when_the_episode_ends(monkeypatch):
    agent = small("sac_deep", **{"explorer.adapt": "episode", "explorer.start_after": 0})
    calls = []
    monkeypatch.setattr(agent.explorer, "adapt", lambda sample: calls.append(agent.steps) or {})
    episodes(agent, "sac_deep", range(2))
    assert calls == [HORIZON] * HORIZON + [2 * HORIZON] * HORIZON


def test_fast_adaptation_updates_at_every_step_after_the_start(monkeypatch):
    agent = small("sac_deep")
    calls = []
    monkeypatch.setattr(agent.explorer, "adapt", lambda sample: calls.append(agent.steps) or {})
    episodes(agent, "sac_deep", range(1))
    assert calls == list(range(21, HORIZON + 1))


def test_the_scripted_expert_goes_to_the_corner_three_times_in_four():
    agent = small("ddqn", skilled_steps=10**9)
    moves = [agent.act(np.array([5.0, 9.0], np.float32), explore=True) for _ in range(4000)]
    assert np.mean(np.array(moves) == 0) == pytest.approx(0.75 + 0.25 / 4, abs=0.02)
    moves = [agent.act(np.array([9.0, 5.0], np.float32), explore=True) for _ in range(4000)]
    assert np.mean(np.array(moves) == 1) == pytest.approx(0.75 + 0.25 / 4, abs=0.02)


def test_the_scripted_expert_finds_the_goal_as_often_as_published():
    """39 % of episodes, mean return 1.97; 20 episodes cover about 11 % of the states."""
    agent = small("ddqn", skilled_steps=10**9)
    returns, coverage = [], Coverage("GridWorld")
    with gymnasium.make("ExploreSuite/GridWorld-v0") as env:
        for episode in range(400):
            obs, _ = env.reset(seed=episode)
            total, over = 0.0, False
            while not over:
                obs, reward, _, over, _ = env.step(agent.act(obs, explore=True))
                total += reward
                if episode < 20:
                    coverage.add(obs)
            returns.append(total)
    assert np.mean(np.array(returns) > 0) == pytest.approx(0.39, abs=0.08)
    assert np.mean(returns) == pytest.approx(1.97, abs=0.6)
    assert coverage.fraction == pytest.approx(0.11, abs=0.03)
