"""SAC: its schedule, its acting, its random streams, its guards, and a trivial world."""

import math

import numpy as np
import pytest
import torch

from baselines.agent import Bounds, Transition
from baselines.agents.sac import SAC, Critic, SACConfig

OBS_DIM, ACTION_DIM = 3, 2
ONE = np.ones(OBS_DIM)
BOUNDS = Bounds(-ONE, ONE, np.array([-1.0, -3.0]), np.array([1.0, 0.5]))
SMALL = SACConfig(
    hidden=16,
    learning_rate=1e-2,
    batch_size=32,
    replay_capacity=1000,
    warmup_steps=10,
    seed_updates=1,
)


def transitions(n: int, seed: int, length: int = 20) -> list[Transition]:
    """Random steps in episodes of `length`, some of which end by termination."""
    rng = np.random.default_rng(seed)
    steps = []
    for i in range(1, n + 1):
        obs, next_obs = rng.normal(size=(2, OBS_DIM)).astype(np.float32)
        action = rng.uniform(-1, 0.5, ACTION_DIM).astype(np.float32)
        over, fatal = i % length == 0, rng.uniform() < 0.5
        steps.append(Transition(obs, action, rng.normal(), next_obs, over and fatal, over))
    return steps


def trained(config: SACConfig = SMALL, n: int = 60, seed: int = 0) -> SAC:
    """An agent after a few short episodes."""
    agent = SAC(BOUNDS, config, seed=seed)
    for step in transitions(n, seed=7):
        agent.observe(step)
        agent.update()
    return agent


# --- targets, and what counts as the end


def test_targets_move_every_second_update_by_tau():
    agent = trained()
    agent.updates = 2
    before = agent.critic.target.params.clone()
    agent.learn(1)
    assert torch.equal(agent.critic.target.params, before)
    agent.learn(1)
    expected = before + SMALL.tau * (agent.critic.net.params - before)
    torch.testing.assert_close(agent.critic.target.params, expected)


def test_targets_start_as_copies():
    critic = Critic(OBS_DIM, ACTION_DIM, SMALL, seed=3, device="cpu")
    assert torch.equal(critic.net.params, critic.target.params)


def test_actor_rests_between_its_turns():
    config = SACConfig(**{**vars(SMALL), "actor_every": 2})
    agent = trained(config)
    agent.updates = 2
    before = agent.actor.net.params.clone(), agent.log_alpha.clone()
    agent.learn(1)
    assert torch.equal(agent.actor.net.params, before[0]) and agent.log_alpha == before[1]
    agent.learn(1)
    assert not torch.equal(agent.actor.net.params, before[0])


@pytest.mark.parametrize("terminated, truncated", [(True, False), (False, True), (False, False)])
def test_truncation_bootstraps_and_termination_does_not(terminated: bool, truncated: bool):
    agent = SAC(BOUNDS, SMALL, seed=0)
    obs = np.zeros(OBS_DIM, np.float32)
    agent.observe(Transition(obs, np.zeros(ACTION_DIM), 5.0, obs + 1, terminated, truncated))
    target = agent.critic.target
    target.layers(target.params)[1][-1].fill_(1000.0)  # the output biases
    batch = agent.replay.sample(4)
    y = agent.critic.td_target(
        batch, torch.zeros(4, ACTION_DIM), torch.zeros(4), agent.log_alpha.exp()
    )
    if terminated:
        assert y.tolist() == [5.0] * 4
    else:
        torch.testing.assert_close(y, torch.full((4,), 5 + 0.99 * 1000), rtol=0.01, atol=0)


def test_values_add_up_with_their_gradients():
    agent = trained()
    obs, action = torch.zeros(4, OBS_DIM), torch.full((4, ACTION_DIM), 0.1)
    one = agent.actor_value(obs, action)
    both = one + 0.5 * one
    torch.testing.assert_close(both.value, 1.5 * one.value)
    torch.testing.assert_close(both.gradient, 1.5 * one.gradient)
    assert one.value.shape == (4,) and one.gradient.shape == (4, ACTION_DIM)


# --- schedule


@pytest.mark.parametrize("ratio, length, expected", [(1.0, 20, 20), (0.25, 20, 5), (0.3, 7, 2)])
def test_all_updates_are_made_at_the_end_of_an_episode(ratio: float, length: int, expected: int):
    agent = SAC(BOUNDS, SACConfig(**{**vars(SMALL), "updates_per_step": ratio}), seed=0)
    for i, step in enumerate(transitions(2 * length, seed=1, length=length), start=1):
        agent.observe(step)
        info = agent.update()
        assert bool(info) == (i % length == 0)
        assert agent.updates == expected * (i // length)
    assert {"critic_loss", "actor_loss", "alpha", "entropy", "q_mean"} <= set(info)
    assert all(isinstance(value, float) for value in info.values())


def test_seed_phase_learns_nothing_and_acts_uniformly():
    config = SACConfig(**{**vars(SMALL), "seed_updates": 25, "warmup_steps": 0})
    agent = SAC(BOUNDS, config, seed=0)
    start = agent.actor.net.params.clone()
    for i, step in enumerate(transitions(60, seed=1), start=1):
        assert agent.is_random == (i <= 40)
        agent.observe(step)
        agent.update()
        if i < 40:
            assert torch.equal(agent.actor.net.params, start)
    assert agent.updates == 60
    made = float(agent.state_dict()["actor_adam"]["0"]["step"])
    assert made == 60 - 24  # the 25th update is the first to be made


# --- acting


def test_warm_up_is_uniform_over_the_bounds():
    agent = SAC(BOUNDS, SMALL, seed=0)
    assert agent.in_warmup
    actions = agent.sample_actions(np.zeros(OBS_DIM), 20_000).numpy()
    for i, (low, high) in enumerate(zip(BOUNDS.action_low, BOUNDS.action_high, strict=True)):
        deciles = np.quantile(actions[:, i], np.linspace(0, 1, 11))
        np.testing.assert_allclose(deciles, np.linspace(low, high, 11), atol=0.05)


def test_exploring_is_the_first_of_one_draw():
    first, second = trained(), trained()
    obs = np.full(OBS_DIM, 0.3, np.float32)
    for _ in range(3):
        action = first.act(obs, explore=True)
        np.testing.assert_array_equal(action, second.sample_actions(obs, 1)[0].numpy())


def test_not_exploring_is_the_squashed_mean_and_draws_nothing():
    agent = trained()
    obs = np.full(OBS_DIM, 0.3, np.float32)
    state = agent.state_dict()["act_rng"]
    action = agent.act(obs, explore=False)
    assert action.dtype == np.float32 and action.shape == (ACTION_DIM,)
    mean = agent.actor.net.forward(agent.as_tensor(obs)[None])[0][0, :ACTION_DIM, 0].numpy()
    low, high = BOUNDS.action_low, BOUNDS.action_high
    expected = (high + low) / 2 + (high - low) / 2 * np.tanh(mean)
    np.testing.assert_allclose(action, expected, rtol=1e-5)
    assert torch.equal(agent.state_dict()["act_rng"], state)


def test_learning_does_not_disturb_the_stream_of_actions():
    agent, idle = trained(), trained()
    agent.learn(1)
    assert torch.equal(agent.state_dict()["act_rng"], idle.state_dict()["act_rng"])


# --- reproducibility


def trace(agent: SAC, n: int, seed: int) -> list[float]:
    """Actions and losses over some further steps."""
    numbers: list[float] = []
    for step in transitions(n, seed=seed):
        numbers += agent.act(step.obs, explore=True).tolist()
        agent.observe(step)
        numbers += agent.update().values()
    return numbers + agent.actor.net.params.tolist()


def test_no_global_randomness_is_used():
    state = torch.get_rng_state()
    first = trace(SAC(BOUNDS, SMALL, seed=5), 40, seed=2)
    assert torch.equal(state, torch.get_rng_state())
    np.random.seed(1)  # noqa: NPY002
    torch.manual_seed(1)
    assert trace(SAC(BOUNDS, SMALL, seed=5), 40, seed=2) == first


# --- guards


@pytest.mark.parametrize("reward", [math.nan, math.inf])
def test_a_diverged_target_stops_the_run(reward: float):
    agent = trained()
    agent.observe(transitions(1, seed=0)[0]._replace(reward=reward, truncated=True))
    with pytest.raises(FloatingPointError, match="step 61: target is"):
        agent.learn(40)


def test_a_diverged_critic_stops_the_run():
    agent = trained()
    agent.critic.net.params[0] = math.nan
    with pytest.raises(FloatingPointError, match="step 60: critic_loss is nan"):
        agent.learn(1)


# --- learning


@pytest.mark.slow
def test_learns_to_repeat_what_it_sees():
    """One-step episodes, reward -(action - obs)^2; uniform actions would lose 0.67 on average."""
    config = SACConfig(
        hidden=32,
        learning_rate=3e-3,
        batch_size=64,
        warmup_steps=100,
        seed_updates=100,
        replay_capacity=10_000,
    )
    bounds = Bounds(-np.ones(1), np.ones(1), -np.ones(1), np.ones(1))
    agent, rng = SAC(bounds, config, seed=0), np.random.default_rng(0)
    for _ in range(1500):
        obs = rng.uniform(-1, 1, 1).astype(np.float32)
        action = agent.act(obs, explore=True)
        agent.observe(Transition(obs, action, -float((action - obs)[0] ** 2), obs, True, False))
        agent.update()
    grid = np.linspace(-0.9, 0.9, 19, dtype=np.float32)[:, None]
    loss = np.mean([(agent.act(obs, explore=False) - obs) ** 2 for obs in grid])
    assert loss < 0.02
