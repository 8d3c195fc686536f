"""The paper's point in small worlds: who explores faster, and who gets past a near goal."""

import gymnasium
import numpy as np
import pytest

from baselines.agent import Bounds
from baselines.agents.bbe import DDQNBBE
from baselines.agents.deep import DDQNDeep
from baselines.agents.random_agent import RandomAgent, RandomConfig
from baselines.runner import evaluate, train_episode
from baselines.settings import build, resolve
from explore_suite.runs.seeds import episode_seed
from tests.helpers.watched_env import WatchedEnv

pytestmark = pytest.mark.slow

SIZE, HORIZON, SHARE = 12, 30, 0.95  # the far corner is 22 steps away
GRID = Bounds(np.zeros(2), np.full(2, SIZE - 1.0), np.zeros(1), np.full(1, 3.0))
SMALL_NET = {"hidden": 32, "batch_size": 64, "warmup_steps": HORIZON, "learning_rate": 1e-3}
SMALL_EXPLORER = {
    "explorer.hidden": 64,
    "explorer.batch_size": 64,
    "explorer.updates_per_step": 4,
    "explorer.target_every": 4,
    "explorer.start_after": HORIZON,
}


def steps_to_cover(agent, most_episodes, seed):
    """Training steps until SHARE of the cells has been visited, or until there are no more."""
    env = gymnasium.make("ExploreSuite/GridWorld-v0", size=SIZE, max_episode_steps=HORIZON)
    env = WatchedEnv(env)
    for episode in range(most_episodes):
        train_episode(agent, env, episode_seed(seed, "train", episode))
        if len(set(map(tuple, env.seen))) >= SHARE * SIZE**2:
            break
    return (episode + 1) * HORIZON


def test_deep_covers_a_grid_in_half_of_bbes_steps_and_bbe_in_half_of_randoms():
    steps = {"random": 0, "bbe": 0, "deep": 0}
    for seed in range(2):
        random = RandomAgent(GRID, RandomConfig(discrete=True), seed=seed)
        steps["random"] += steps_to_cover(random, 2000, seed)
        values = SMALL_NET | {"explore_only": True}
        bbe = DDQNBBE(GRID, resolve("cpu", "ddqn_bbe", "GridWorld", values), seed=seed)
        steps["bbe"] += steps_to_cover(bbe, 500, seed)
        values = SMALL_NET | SMALL_EXPLORER | {"uniform_candidates": True}
        deep = DDQNDeep(GRID, resolve("cpu", "ddqn_deep", "GridWorld", values), seed=seed)
        steps["deep"] += steps_to_cover(deep, 500, seed)
    assert steps["deep"] <= 0.5 * steps["bbe"], steps
    assert steps["bbe"] <= 0.5 * steps["random"], steps


def test_short_hallway_is_solved_by_deep_and_not_by_sac():
    """Near goal 0.1 per step, far goal 1: in the same budget only DEEP gets past the near one."""
    returns = {
        name: [hallway_return(name, seed) for seed in range(3)] for name in ("sac", "sac_deep")
    }
    assert max(returns["sac"]) < 15, returns  # 9.4 is all that the near goal pays
    assert np.mean(returns["sac_deep"]) > 30 and np.median(returns["sac_deep"]) > 40, returns


def hallway_return(name, seed, episodes=25):
    """Mean of the last five evaluations of a training in a corridor of one metre."""
    values = {
        "hidden": 64, "batch_size": 64, "learning_rate": 1e-3,
        "updates_per_step": 2.0, "tau": 0.02, "target_every": 1, "seed_updates": 0,
    }  # fmt: skip
    if name == "sac_deep":
        values |= {"explorer.hidden": 64, "explorer.batch_size": 32}
        # Where the level of values is fitted, an agent begins to travel after some 2,500 steps:
        # soon enough in episodes of 1,000, too late in this test, which has no more.
        values |= {"explorer.fit_level": False, "explorer.learning_rate": 1e-3}
    task, goals = "HallwayLocalOptimum", ((-0.2, 0.05, 0.1), (0.35, 0.1, 1.0))
    agent = build(name, task, resolve("cpu", name, task, values), seed=seed)
    env = gymnasium.make(f"ExploreSuite/{task}-v0", length=1.0, goals=goals, max_episode_steps=100)
    returns = []
    for episode in range(episodes):
        train_episode(agent, env, episode_seed(seed, "train", episode))
        returns.append(evaluate(agent, env, 0))
    return float(np.mean(returns[-5:]))
