"""Every agent with tiny networks, and short episodes for it."""

import gymnasium

from baselines import AGENTS
from baselines.runner import train_episode
from baselines.settings import build, can_act, resolve
from explore_suite.runs.seeds import episode_seed
from explore_suite.tasks import lookup
from tests.helpers.watched_env import WatchedEnv

SMALL_DDQN = {"hidden": 16, "batch_size": 16, "updates_per_step": 0.2, "warmup_steps": 10}
SMALL_SAC = SMALL_DDQN | {"seed_updates": 0}
SMALL_EXPLORER = {
    "explorer.hidden": 16, "explorer.batch_size": 8, "explorer.update_candidates": 4,
    "explorer.behaviour_candidates": 4, "explorer.updates_per_step": 2, "explorer.start_after": 20,
}  # fmt: skip
HORIZON = 60
# Every algorithm, and variants that have parts of their own.
EVERY = (*AGENTS, "sac_bbe.rnd", "sac_deep.rnd", "sac_bbe.hash", "sac_deep.hash",
         "sac_noise.pink", "sac_noise.zeta")  # fmt: skip


def task_of(name):
    """A cheap task that the agent can act in."""
    return "HallwayLocalOptimum" if can_act(name, "HallwayLocalOptimum") else "GridWorld"


def config(name, task, **overrides):
    """The agent's config with tiny networks."""
    values = {} if name == "random" else dict(SMALL_DDQN if "ddqn" in name else SMALL_SAC)
    if "deep" in name:
        values |= SMALL_EXPLORER
    return resolve("cpu", name, task, values | overrides)


def small(name, seed=0, **overrides):
    """The agent with tiny networks, for its cheap task."""
    task = task_of(name)
    return build(name, task, config(name, task, **overrides), seed=seed)


def episodes(agent, name, numbers, seed=0):
    """Actions, returns and learner's reports of some training episodes of HORIZON steps."""
    spec = lookup(task_of(name))
    with WatchedEnv(gymnasium.make(spec.id, max_episode_steps=HORIZON)) as env:
        reports = [
            train_episode(agent, env, episode_seed(seed, "train", number)) for number in numbers
        ]
    return env.seen + reports


def stored_rewards(agent, name, replay=None):
    """The rewards in the agent's replay buffer, or in another one of the same shape."""
    spec = lookup(task_of(name))
    column = spec.obs_dim + (1 if spec.discrete else spec.action_dim)
    return (replay or agent.replay).state_dict()["rows"][:, column].tolist()
