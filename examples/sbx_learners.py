"""CrossQ or SimBa of SBX (JAX) at the sizes of preset `cpu`, recorded as a run.

CrossQ has batch-normalised critics without targets, SimBa a residual block in actor and critics.
"""

import argparse
import logging

from sbx import SAC, CrossQ
from stable_baselines3.common.evaluation import evaluate_policy

import explore_suite

LEARNERS = {"crossq": (CrossQ, "MlpPolicy", [128, 128]), "simba": (SAC, "SimbaPolicy", [128])}

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--learner", choices=LEARNERS, default="crossq")
parser.add_argument("--task", default="HallwayLocalOptimum")
parser.add_argument("--seed", type=int, default=0)
parser.add_argument("--episodes", type=int, help="default: what the task's score needs")
parser.add_argument("--updates", type=int, default=1000, help="gradient steps after each episode")
parser.add_argument("--results", default="runs")
options = parser.parse_args()
logging.basicConfig(format="%(message)s")
logging.getLogger("explore_suite").setLevel(logging.INFO)  # a line per episode

spec = explore_suite.lookup(options.task)
learner, policy, layers = LEARNERS[options.learner]
config = {"batch_size": 128, "learning_rate": 1e-3, "gradient_steps": options.updates}
networks = {"net_arch": layers}
env = explore_suite.record(
    spec.id, agent=f"sbx-{options.learner}", seed=options.seed, results=options.results,
    episodes=options.episodes, config=config | networks,
)  # fmt: skip
model = learner(
    policy, env, seed=options.seed, train_freq=(1, "episode"), policy_kwargs=networks, **config
)
while not env.finished:
    model.learn(spec.horizon, reset_num_timesteps=False)  # one episode, then its updates
    evaluate_policy(model, env.eval_env, n_eval_episodes=1, deterministic=True, warn=False)
env.close()
