"""The policies of the grid world, by counting their actions."""

import itertools

import numpy as np
import pytest
import torch
from scipy import stats

from baselines.agent import Bounds
from baselines.agents.ddqn import DDQN, DDQNConfig
from baselines.settings import build, resolve
from tests.helpers.generators import generator

GRID = Bounds(np.zeros(2), np.full(2, 11.0), np.zeros(1), np.full(1, 3.0))
OBS = np.array([3.0, 7.0], np.float32)
TEMPERATURES = [(True, 0.3), (False, 0.1)]  # exploring or not, and the default for it


def make(candidates):
    """A DDQN that acts by its values at once, and those at OBS, (4,)."""
    agent = DDQN(GRID, DDQNConfig(hidden=16, warmup_steps=0, candidates=candidates), seed=0)
    return agent, agent.values(agent.as_tensor(OBS)[None])[0].double().numpy()


def boltzmann(values, temperature):
    """The chance of each value in a softmax."""
    odds = np.exp(values / temperature)
    return odds / odds.sum()


@pytest.mark.slow
@pytest.mark.parametrize(("explore", "temperature"), TEMPERATURES)
def test_grid_policy_is_boltzmann_at_its_temperature(explore, temperature):
    agent, values = make(candidates=4000)  # as good as all four equally
    chances = boltzmann(values, temperature)
    draws = np.bincount([agent.act(OBS, explore=explore) for _ in range(4000)], minlength=4)
    assert abs(chances - 0.25).max() > 0.02, "a uniform policy would show nothing"
    assert stats.chisquare(draws, chances * 4000).pvalue > 1e-3


@pytest.mark.slow
@pytest.mark.parametrize(("explore", "temperature"), TEMPERATURES)
def test_a_few_candidates_stand_for_the_actions(explore, temperature):
    """Three uniform candidates, one drawn by its softmax among them: all 64 cases enumerated."""
    agent, values = make(candidates=3)
    chances = np.zeros(4)
    for drawn in itertools.product(range(4), repeat=3):
        np.add.at(chances, list(drawn), boltzmann(values[list(drawn)], temperature) / 4**3)
    draws = np.bincount([agent.act(OBS, explore=explore) for _ in range(5000)], minlength=4)
    assert abs(chances - boltzmann(values, temperature)).max() > 0.02, "candidates change nothing"
    assert stats.chisquare(draws, chances * 5000).pvalue > 1e-3


def test_a_candidate_counts_as_often_as_it_was_drawn():
    """The actions of one call share three candidates, of which some are one action twice."""
    (agent, values), kinds = make(candidates=3), set()
    for _ in range(8):
        rng = generator(agent.state_dict()["act_rng"])
        drawn = torch.randint(4, (3,), generator=rng).numpy()
        chances = np.zeros(4)
        np.add.at(chances, drawn, boltzmann(values[drawn], agent.config.train_temperature))
        actions = agent.sample_actions(OBS, 4000)[:, 0].long()
        shares = np.bincount(actions, minlength=4) / 4000
        assert shares == pytest.approx(chances, abs=0.04)  # five standard errors
        kinds.add(len(set(drawn)))
    assert 2 in kinds, "no action was drawn twice"


@pytest.mark.slow
def test_behaviour_is_the_product_of_both_policies():
    """Three candidates of the task policy, one chosen by exploration: all 64 cases enumerated."""
    settings = {
        "hidden": 16, "warmup_steps": 0, "candidates": 4000, "train_temperature": 0.1,
        "explorer.hidden": 16, "explorer.behaviour_candidates": 3, "explorer.temperature": 0.05,
        "bonus.prior_count": 1e-9,
    }  # fmt: skip
    agent = build(
        "ddqn_deep", "GridWorld", resolve("cpu", "ddqn_deep", "GridWorld", settings), seed=0
    )
    for action in range(4):
        agent.explorer.bonus.visit(OBS, action)
    at = agent.as_tensor(OBS)[None]
    task = torch.softmax(agent.values(at)[0].double() / 0.1, 0).numpy()
    novelty = agent.explorer.values(at, torch.arange(4.0)[:, None])[0].double()
    explore = torch.softmax(novelty / 0.05, 0).numpy()
    chances = np.zeros(4)
    for drawn in itertools.product(range(4), repeat=3):
        weights = explore[list(drawn)] / explore[list(drawn)].sum()
        np.add.at(chances, list(drawn), task[list(drawn)].prod() * weights)
    draws = np.bincount([agent.act(OBS, explore=True) for _ in range(5000)], minlength=4)
    assert abs(chances - task).max() > 0.05, "exploration changes nothing here"
    assert stats.chisquare(draws, chances * 5000).pvalue > 1e-3
