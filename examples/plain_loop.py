"""A loop written by hand on a continuous task, recorded as a run: hill climbing, linear policy."""

import argparse
import logging

import gymnasium
import numpy as np

from explore_suite import record


def play(env: gymnasium.Env, weights: np.ndarray) -> float:
    """The return of one episode of a linear policy."""
    (obs, _), total, over = env.reset(), 0.0, False  # record sees to the seed
    while not over:
        obs, reward, _, over, _ = env.step(np.tanh(weights @ np.append(obs, 1.0)))
        total += float(reward)
    return total


parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--task", default="HallwayLocalOptimum")
parser.add_argument("--seed", type=int, default=0)
parser.add_argument("--episodes", type=int, help="default: what the task's score needs")
parser.add_argument("--results", default="runs")
options = parser.parse_args()
logging.basicConfig(format="%(message)s")
logging.getLogger("explore_suite").setLevel(logging.INFO)  # a line per episode

task, seed = options.task, options.seed
env = record(task, "hill-climbing", seed, options.results, episodes=options.episodes)
shape = (env.action_space.shape[0], env.observation_space.shape[0] + 1)
rng, best, best_return = np.random.default_rng(seed), np.zeros(shape), -np.inf
while not env.finished:
    tried = best + rng.normal(size=shape)
    if (found := play(env, tried)) >= best_return:
        best, best_return = tried, found
    play(env.eval_env, best)
env.close()
