"""Agents with a bonus do what they did before bonuses became parts: traces kept from then."""

import json
from pathlib import Path

import numpy as np
import pytest
import torch

from baselines.agent import Transition
from baselines.settings import bounds, build, resolve
from explore_suite.tasks import lookup

pytestmark = pytest.mark.slow

KEPT = json.loads((Path(__file__).parent / "bonus_traces.json").read_text())
SAC = {"hidden": 32, "batch_size": 32, "learning_rate": 1e-3, "updates_per_step": 0.5,
       "seed_updates": 0, "warmup_steps": 20, "tau": 0.02, "bonus.kernel.max_rows": 64}  # fmt: skip
DDQN = {"hidden": 32, "batch_size": 32, "learning_rate": 1e-3, "warmup_steps": 20}
EXPLORER = {"explorer.hidden": 32, "explorer.batch_size": 16, "explorer.update_candidates": 8,
            "explorer.behaviour_candidates": 16, "explorer.updates_per_step": 2,
            "explorer.target_every": 2, "explorer.start_after": 30,
            "explorer.learning_rate": 1e-3}  # fmt: skip
FITTED = {"explorer.fit_level": True}
CASES = {
    "sac_bbe": ("BallInCupCatch", SAC),
    "sac_2q": ("BallInCupCatch", SAC),
    "sac_deep": ("BallInCupCatch", SAC | EXPLORER),
    "sac_deep walker": ("WalkerExplore", SAC | EXPLORER | FITTED),
    "ddqn_bbe": ("GridWorld", DDQN),
    "ddqn_deep": ("GridWorld", DDQN | EXPLORER),
}


@pytest.mark.parametrize("case", CASES)
def test_an_agent_repeats_its_kept_trace(case):
    """240 steps of a made-up world: the last actions, the mean bonuses, one evaluation's action.

    Not to the last digit: other processors round otherwise.
    """
    torch.set_num_threads(1)
    task, settings = CASES[case]
    spec, rng = lookup(task), np.random.default_rng(3)
    name, box = case.split()[0], bounds(spec)
    agent = build(name, task, resolve("paper", name, task, settings), seed=7)

    def draw() -> np.ndarray:
        if spec.discrete:
            return rng.integers(0, 8, 2).astype(np.float32)
        return rng.uniform(box.obs_low, box.obs_high).astype(np.float32)

    obs, actions, bonuses = draw(), [], []
    for step in range(240):
        action, next_obs = agent.act(obs, explore=True), draw()
        actions.append(np.asarray(action, float).ravel())
        reward = float(rng.uniform())
        agent.observe(Transition(obs, action, reward, next_obs, False, step % 60 == 59))
        info = agent.update()
        if "explore_bonus" in info:
            bonuses.append(info["explore_bonus"])
        obs = next_obs
    last = np.asarray(agent.act(obs, explore=False), float).ravel()
    kept = KEPT[case]
    np.testing.assert_allclose(actions[-24:], kept["actions"], atol=2e-3)
    np.testing.assert_allclose(bonuses, kept["bonuses"], rtol=1e-4)
    np.testing.assert_allclose(last, kept["last"], atol=2e-3)
