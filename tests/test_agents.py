"""What every agent owes, and the one thing in which each variant differs from its base."""

from dataclasses import replace

import gymnasium
import numpy as np
import pytest
import torch

from baselines import AGENTS, checkpoint
from baselines.agent import Transition
from baselines.counts import bonus
from baselines.runner import evaluate, run, train_episode
from baselines.sac import SAC
from baselines.settings import build, can_act, resolve
from explore_suite import Coverage
from explore_suite.protocol import episode_seed
from explore_suite.tasks import lookup

SMALL_SAC = {"hidden": 16, "batch_size": 16, "updates_per_step": 0.2, "warmup_steps": 10}
SMALL_DDQN = {"hidden": 16, "batch_size": 16, "updates_per_step": 0.2, "warmup_steps": 10}
SMALL_EXPLORER = {
    "explorer.hidden": 16, "explorer.batch_size": 8, "explorer.update_candidates": 4,
    "explorer.behaviour_candidates": 4, "explorer.start_after": 20,
}  # fmt: skip
HORIZON = 60


def task_of(name):
    """A cheap task that the agent can act in."""
    return "HallwayLocalOptimum" if can_act(name, "HallwayLocalOptimum") else "GridWorld"


def small(name, seed=0, **overrides):
    """The agent with tiny networks, for its cheap task."""
    values = {} if name == "random" else dict(SMALL_DDQN if "ddqn" in name else SMALL_SAC)
    if "deep" in name:
        values |= SMALL_EXPLORER
    config = resolve("cpu", name, task_of(name), values | overrides)
    return build(name, task_of(name), config, seed=seed)


def episodes(agent, name, numbers, seed=0):
    """Actions, returns and learner's reports of some training episodes of HORIZON steps."""
    trace = []

    def watch(obs):
        trace.append(obs.tolist())

    sheet = lookup(task_of(name))
    with gymnasium.make(sheet.id, max_episode_steps=HORIZON) as env:
        for number in numbers:
            trace.append(train_episode(agent, env, episode_seed(seed, "train", number), watch))
    return trace


@pytest.fixture(params=AGENTS)
def name(request):
    return request.param


def test_one_seed_gives_one_trace_and_two_seeds_differ(name):
    first, second, other = (episodes(small(name, seed), name, range(4)) for seed in (0, 0, 1))
    assert first == second
    assert first != other


def test_state_on_disk_continues_identically_in_mid_training(name, tmp_path):
    whole, half = small(name), small(name)
    episodes(whole, name, range(3))
    episodes(half, name, range(3))
    checkpoint.save(tmp_path / "state.safetensors", half.state_dict())
    resumed = small(name, seed=99)
    resumed.load_state_dict(checkpoint.load(tmp_path / "state.safetensors"))
    assert episodes(whole, name, range(3, 6)) == episodes(resumed, name, range(3, 6))


def test_state_in_mid_episode_continues_identically(name):
    """Also between two steps of an episode, where updates are owed but not yet due."""
    whole = small(name)
    episodes(whole, name, range(2))
    obs, sheet = lookup(task_of(name)).obs_low, lookup(task_of(name))
    transition = Transition(obs, whole.act(obs, explore=True), 0.5, obs, False, False)
    whole.observe(transition)
    whole.update()
    resumed = small(name, seed=99)
    resumed.load_state_dict(whole.state_dict())
    for agent in (whole, resumed):
        agent.observe(transition._replace(truncated=True))
    assert whole.update() == resumed.update()
    assert episodes(whole, name, range(2, 4)) == episodes(resumed, name, range(2, 4)), sheet


def test_state_is_a_copy(name):
    agent = small(name)
    episodes(agent, name, range(2))
    before = agent.state_dict()
    kept = _numbers(before)
    episodes(agent, name, range(2, 4))
    assert _numbers(before) == kept


def _numbers(state):
    """Every value of a nested state, as plain Python."""
    return {
        key: _numbers(value) if isinstance(value, dict)
        else value.tolist() if isinstance(value, torch.Tensor) else value
        for key, value in state.items()
    }  # fmt: skip


def test_evaluation_leaves_training_alone(name):
    """The same training, with and without evaluations in between, on an agent that has learnt."""
    plain, evaluated = small(name), small(name)
    with gymnasium.make(lookup(task_of(name)).id, max_episode_steps=10) as env:
        for number in range(4):
            assert episodes(plain, name, [number]) == episodes(evaluated, name, [number])
            evaluate(evaluated, env, number)


def test_actions_are_legal(name):
    agent = small(name)
    with gymnasium.make(lookup(task_of(name)).id) as env:
        obs, _ = env.reset(seed=0)
        for explore in (True, False):
            assert env.action_space.contains(agent.act(obs, explore=explore))


def test_a_run_yields_two_rows_per_episode(name):
    sheet = lookup(task_of(name))
    rows = [row for row, _ in run(small(name), sheet.name, seed=0, episodes=2)]
    assert [(row.phase, row.episode) for row in rows] == [
        ("train", 1), ("eval", 1), ("train", 2), ("eval", 2),
    ]  # fmt: skip
    assert [row.env_steps for row in rows] == [sheet.horizon] * 2 + [2 * sheet.horizon] * 2
    assert all(row.length == sheet.horizon for row in rows)
    assert rows[0].coverage > 0 and rows[2].coverage >= rows[0].coverage
    assert rows[0].seconds <= rows[2].seconds


def test_all_agents_meet_the_same_starts_and_phases_differ():
    seeds = {
        episode_seed(s, phase, e) for s in (0, 1) for phase in ("train", "eval") for e in (1, 2)
    }
    assert len(seeds) == 8
    assert episode_seed(3, "eval", 7) == episode_seed(3, "eval", 7)


def test_divergence_stops_the_run_with_a_dump(tmp_path):
    agent = small("sac", seed_updates=0)
    agent.critic.net.params.fill_(float("nan"))
    dump = tmp_path / "deep" / "dump.safetensors"
    with pytest.raises(
        FloatingPointError, match=r"episode 1: step 1000: .* is nan .*dump\.safetensors"
    ):
        list(run(agent, "HallwayLocalOptimum", seed=0, episodes=3, dump=dump))
    assert torch.isnan(checkpoint.load(dump)["critic"]["params"]).any()


def test_non_finite_action_stops_the_run():
    agent = small("sac", seed_updates=0)
    episodes(agent, "sac", range(1))
    agent.actor.net.params.fill_(float("nan"))
    with pytest.raises(FloatingPointError, match="action"):
        agent.act(np.zeros(2, np.float32), explore=True)


# --- the differences ------------------------------------------------------------------------------


def visit(x, reward):
    """A step at (x, 0) with a zero action."""
    nought = np.zeros(2, np.float32)
    return Transition(np.array([x, 0.0], np.float32), nought, reward, nought, False, False)


VISITS = [visit(0.0, 0.0), visit(0.0, 1.0), visit(1.0, 0.5), visit(0.0, 0.0)]


def test_bbe_stores_reward_plus_bonus_from_before_the_visit():
    agent = small("sac_bbe", bonus_scale=0.5)
    for transition in VISITS:
        agent.observe(transition)
    stored = agent.replay._rows[:4, 4].tolist()  # obs, action, then reward
    novelty = [1.0, 1.0, 1.0, 1 / np.sqrt(2)]  # counts before: 0, 1, 0 (far away), 2
    expected = [r + 0.5 * b for r, b in zip((0.0, 1.0, 0.5, 0.0), novelty, strict=True)]
    assert stored == pytest.approx(expected, rel=1e-5)


def test_bbe_explore_only_ignores_the_task():
    for name in ("sac_bbe", "ddqn_bbe"):
        agent = small(name, explore_only=True)
        for transition in VISITS[:2]:
            action = 0 if name == "ddqn_bbe" else transition.action
            agent.observe(transition._replace(action=action))
        column = 4 if name == "sac_bbe" else 3
        assert agent.replay._rows[:2, column].tolist() == pytest.approx([1.0, 1.0])


def test_grid_bbe_counts_exactly():
    agent = small("ddqn_bbe")
    cell = np.array([3.0, 4.0], np.float32)
    for action in (0, 0, 0, 1, 0):
        agent.observe(Transition(cell, action, 0.0, cell, False, False))
    assert agent.replay._rows[:5, 3].tolist() == pytest.approx(
        [1, 1, 1 / np.sqrt(2), 1, 1 / np.sqrt(3)]
    )


def test_2q_keeps_rewards_and_bonuses_apart():
    agent = small("sac_2q")
    for transition in VISITS:
        agent.observe(transition)
    assert agent.replay._rows[:4, 4].tolist() == [0.0, 1.0, 0.5, 0.0]
    assert agent.bonus_replay._rows[:4, 4].tolist() == pytest.approx(
        [1, 1, 1, 1 / np.sqrt(2)], rel=1e-5
    )


def test_2q_actor_climbs_the_sum_of_both_values():
    """Value and slope in the action are those of the task critic plus scale times the other's."""
    agent = small("sac_2q", bonus_scale=3.0)
    rng = torch.Generator().manual_seed(0)
    obs, action = torch.randn(7, 2, generator=rng), torch.randn(7, 2, generator=rng)
    task, novelty = (critic.value(obs, action) for critic in (agent.critic, agent.bonus_critic))
    both = agent.actor_value(obs, action)
    torch.testing.assert_close(both.value, task.value + 3 * novelty.value)
    torch.testing.assert_close(both.slope, task.slope + 3 * novelty.slope)


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


def test_deep_with_one_candidate_is_sac_bit_for_bit():
    overrides = {"explorer.behaviour_candidates": 1}
    deep, sac = small("sac_deep", **overrides), small("sac")
    for number in range(4):
        a, b = episodes(deep, "sac_deep", [number]), episodes(sac, "sac", [number])
        assert a[:-1] == b[:-1]  # every state of the episode
        assert a[-1][:3] == b[-1][:3]
        shared = {key: a[-1][3][key] for key in b[-1][3]}
        assert shared == b[-1][3]  # every loss
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
    agent, sheet = small(name), lookup(task_of(name))
    with Rewards(gymnasium.make(sheet.id, max_episode_steps=HORIZON)) as env:
        train_episode(agent, env, 0, lambda obs: None)
    column = sheet.obs_dim + (1 if sheet.discrete else sheet.action_dim)
    assert agent.replay._rows[:HORIZON, column].tolist() == pytest.approx(env.paid)
    assert len(agent.replay) == HORIZON


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


def test_the_task_policy_is_uniform_until_after_the_seed_phase():
    agent = small("sac", warmup_steps=0, seed_updates=5)
    random_at = []
    for agent.updates in range(8):
        random_at.append(agent.is_random)
    assert random_at == [True] * 6 + [False] * 2


def test_exploration_of_the_grid_starts_after_the_skilled_policy():
    assert small("ddqn_deep", skilled_steps=2000).explorer.config.start_after == 2000
    assert small("ddqn_deep").explorer.config.start_after == 20


def test_an_exploration_value_gone_wrong_names_its_step():
    agent = small("sac_deep")
    episodes(agent, "sac_deep", range(1))
    agent.explorer._net.params.fill_(float("nan"))
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


def test_skilled_warm_start_goes_to_the_corner_three_times_in_four():
    agent = small("ddqn", skilled_steps=10**9)
    moves = [agent.act(np.array([5.0, 9.0], np.float32), explore=True) for _ in range(4000)]
    assert np.mean(np.array(moves) == 0) == pytest.approx(0.75 + 0.25 / 4, abs=0.02)
    moves = [agent.act(np.array([9.0, 5.0], np.float32), explore=True) for _ in range(4000)]
    assert np.mean(np.array(moves) == 1) == pytest.approx(0.75 + 0.25 / 4, abs=0.02)


def test_skilled_policy_finds_the_goal_as_often_as_published():
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


def test_bonus_of_one_is_the_largest():
    assert bonus(torch.tensor([0.0, 0.3, 1.0, 4.0])).tolist() == pytest.approx([1, 1, 1, 0.5])


def test_config_is_frozen(name):
    config = small(name).config
    with pytest.raises(AttributeError):
        config.__setattr__(next(iter(config.__dataclass_fields__)), 1)
    assert replace(config) == config
