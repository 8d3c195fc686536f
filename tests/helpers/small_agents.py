"""Every agent with tiny networks, and short episodes for it."""

import gymnasium

from baselines.runner import train_episode
from baselines.settings import build, can_act, resolve
from explore_suite.runs.seeds import episode_seed
from explore_suite.tasks import lookup
from tests.helpers.watched_env import WatchedEnv

SMALL_DDQN = {"hidden": 16, "batch_size": 16, "updates_per_step": 0.2, "warmup_steps": 10}
SMALL_SAC = SMALL_DDQN | {"seed_updates": 0}
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
    spec = lookup(task_of(name))
    with WatchedEnv(gymnasium.make(spec.id, max_episode_steps=HORIZON)) as env:
        reports = [
            train_episode(agent, env, episode_seed(seed, "train", number)) for number in numbers
        ]
    return env.seen + reports
