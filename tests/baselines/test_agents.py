"""What every agent owes, whatever its algorithm."""

from dataclasses import replace

import gymnasium
import numpy as np
import pytest
import torch

from baselines.agent import Transition
from baselines.runner import Trainer, evaluate, run
from baselines.settings import build
from baselines.training import checkpoint
from explore_suite.tasks import lookup
from tests.helpers.small_agents import EVERY, config, episodes, small, task_of
from tests.helpers.watched_env import WatchedEnv


@pytest.fixture(params=EVERY)
def name(request):
    return request.param


@pytest.mark.slow
def test_one_seed_gives_one_trace_and_two_seeds_differ(name):
    first, second, other = (episodes(small(name, seed), name, range(3)) for seed in (0, 0, 1))
    assert first == second
    assert first != other


@pytest.mark.slow
def test_state_on_disk_continues_identically_in_mid_training(name, tmp_path):
    whole, half = small(name), small(name)
    episodes(whole, name, range(2))
    episodes(half, name, range(2))
    checkpoint.save(tmp_path / "state.safetensors", half.state_dict())
    resumed = small(name, seed=99)
    resumed.load_state_dict(checkpoint.load(tmp_path / "state.safetensors"))
    assert episodes(whole, name, range(2, 4)) == episodes(resumed, name, range(2, 4))


@pytest.mark.slow
def test_state_in_mid_episode_continues_identically(name):
    """Also between two steps of an episode, where updates are owed but not yet due."""
    whole = small(name)
    episodes(whole, name, range(2))
    obs, spec = lookup(task_of(name)).obs_low, lookup(task_of(name))
    transition = Transition(obs, whole.act(obs, explore=True), 0.5, obs, False, False)
    whole.observe(transition)
    whole.update()
    resumed = small(name, seed=99)
    resumed.load_state_dict(whole.state_dict())
    for agent in (whole, resumed):
        agent.observe(transition._replace(truncated=True))
    assert whole.update() == resumed.update()
    assert episodes(whole, name, range(2, 4)) == episodes(resumed, name, range(2, 4)), spec


@pytest.mark.slow
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


@pytest.mark.slow
def test_evaluation_leaves_training_alone(name):
    """The same training, with and without evaluations in between, on an agent that has learnt."""
    plain, evaluated = small(name), small(name)
    with gymnasium.make(lookup(task_of(name)).id, max_episode_steps=10) as env:
        for number in range(3):
            assert episodes(plain, name, [number]) == episodes(evaluated, name, [number])
            evaluate(evaluated, env, number)


def test_actions_are_legal(name):
    agent = small(name)
    with gymnasium.make(lookup(task_of(name)).id) as env:
        obs, _ = env.reset(seed=0)
        for explore in (True, False):
            assert env.action_space.contains(agent.act(obs, explore=explore))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["sac", "ddqn_deep", "random"])  # the protocol makes the rows
def test_a_run_yields_two_rows_per_episode(name):
    spec = lookup(task_of(name))
    results = list(run(small(name), spec.name, seed=0, episodes=2))
    rows = [row for result in results for row in (result.train, result.eval)]
    assert [(row.phase, row.episode) for row in rows] == [
        ("train", 1), ("eval", 1), ("train", 2), ("eval", 2),
    ]  # fmt: skip
    assert [row.env_steps for row in rows] == [spec.horizon] * 2 + [2 * spec.horizon] * 2
    assert all(row.length == spec.horizon for row in rows)
    assert rows[0].coverage > 0 and rows[2].coverage >= rows[0].coverage
    assert rows[0].seconds <= rows[2].seconds


def starts(name, seed):
    """How two episodes begin in BallInCupCatch: in training, then in evaluation."""
    task = "BallInCupCatch"
    agent = build(name, task, config(name, task), seed=seed)
    trainer = Trainer(agent, task, seed=seed)
    trainer.env, trainer.eval_env = WatchedEnv(trainer.env), WatchedEnv(trainer.eval_env)
    for _ in range(2):
        trainer.next_episode()
    trainer.close()
    return [tuple(start) for start in trainer.env.starts + trainer.eval_env.starts]


@pytest.mark.slow
def test_agents_meet_the_same_starts_and_phases_differ():
    first = starts("random", seed=0)
    assert starts("sac", seed=0) == first
    assert len({*first, *starts("random", seed=1)}) == 8  # by phase, episode and seed


def test_divergence_stops_the_run(tmp_path):
    agent = small("sac", seed_updates=0)
    agent.critic.net.params.fill_(float("nan"))
    with pytest.raises(FloatingPointError, match=r"episode 1: step 1000: .* is nan"):
        list(run(agent, "HallwayLocalOptimum", seed=0, episodes=3))


def test_non_finite_action_stops_the_run():
    agent = small("sac", seed_updates=0)
    episodes(agent, "sac", range(1))
    agent.actor.net.params.fill_(float("nan"))
    for explore in (True, False):
        with pytest.raises(FloatingPointError, match="step 60: action is .*nan"):
            agent.act(np.zeros(2, np.float32), explore=explore)


def test_config_is_frozen(name):
    frozen = small(name).config
    with pytest.raises(AttributeError):
        frozen.__setattr__(next(iter(frozen.__dataclass_fields__)), 1)
    assert replace(frozen) == frozen
