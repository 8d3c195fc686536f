"""The paper's point in small worlds: who explores faster, and who gets past a near goal."""

import gymnasium
import numpy as np

from baselines.agent import Bounds
from baselines.ddqn_bbe import DDQNBBE
from baselines.ddqn_deep import DDQNDeep
from baselines.random_agent import RandomAgent, RandomConfig
from baselines.runner import episode_seed, evaluate, train_episode
from baselines.settings import build, resolve

SIZE, HORIZON = 12, 40
GRID = Bounds(np.zeros(2), np.full(2, SIZE - 1.0), np.zeros(1), np.full(1, 3.0))
CAP = 400  # episodes


def episodes_to_cover(agent, share=0.95, seed=0):
    """Training episodes until this share of the cells has been visited, at most CAP."""
    seen = set()
    env = gymnasium.make("ExploreSuite/GridWorld-v0", size=SIZE, max_episode_steps=HORIZON)
    for episode in range(1, CAP + 1):
        train_episode(
            agent, env, episode_seed(seed, "train", episode), lambda obs: seen.add(tuple(obs))
        )
        if len(seen) >= share * SIZE**2:
            return episode
    return CAP


def grid_agent(name, seed):
    values = {"hidden": 64, "batch_size": 64, "warmup_steps": 40}
    if name == "random":
        return RandomAgent(GRID, RandomConfig(discrete=True), seed=seed)
    if name == "ddqn_bbe":
        config = resolve("cpu", name, "GridWorld", values | {"explore_only": True})
        return DDQNBBE(GRID, config, seed=seed)
    explorer = {"explorer.hidden": 64, "explorer.batch_size": 32, "explorer.start_after": 40}
    config = resolve("cpu", name, "GridWorld", values | explorer | {"uniform_candidates": True})
    return DDQNDeep(GRID, config, seed=seed)


def test_deep_covers_a_grid_in_half_of_bbes_steps_and_bbe_in_half_of_randoms():
    needed = {
        name: np.mean([episodes_to_cover(grid_agent(name, seed), seed=seed) for seed in range(2)])
        for name in ("random", "ddqn_bbe", "ddqn_deep")
    }
    assert needed["ddqn_deep"] <= 0.5 * needed["ddqn_bbe"], needed
    assert needed["ddqn_bbe"] <= 0.5 * needed["random"], needed


def test_short_hallway_is_solved_by_deep_and_not_by_sac():
    """The near goal pays 0.1, the far one 1; same budget, same SAC."""
    returns = {name: _hallway_return(name) for name in ("sac", "sac_deep")}
    assert returns["sac"] < 40, returns
    assert returns["sac_deep"] > 80, returns


def _hallway_return(name):
    values = {"hidden": 64, "batch_size": 64, "learning_rate": 1e-3}
    if name == "sac_deep":
        values |= {"explorer.hidden": 64, "explorer.batch_size": 32}
    agent = build(
        name, "HallwayLocalOptimum", resolve("cpu", name, "HallwayLocalOptimum", values), seed=0
    )
    env = gymnasium.make(
        "ExploreSuite/HallwayLocalOptimum-v0", length=2.0, max_episode_steps=300,
        goals=((-0.6, 0.1, 0.1), (0.8, 0.2, 1.0)),
    )  # fmt: skip
    for episode in range(25):
        train_episode(agent, env, episode_seed(0, "train", episode), lambda obs: None)
    return evaluate(agent, env, 0)[0]
