"""The exploration Q: optimism, choice, learning, exactness, and what is refused."""

import math

import numpy as np
import pytest
import torch
from scipy import stats

from baselines.agents.explorer import Explorer, ExplorerConfig, optimistic
from baselines.bonuses.bonus import CountBonus
from baselines.bonuses.counts import TableCount
from baselines.nn.replay import Replay
from tests.helpers.explorers import (
    GRID,
    SMALL,
    FixedCount,
    exploring,
    make,
    rows,
    stream,
)


@pytest.mark.parametrize(
    ("visits", "share_of_q"), [(0, 0), (1e-3, math.sqrt(0.5)), (1e-3 / 3, 0.5), (1e6, 1)]
)
def test_optimism_by_hand(visits, share_of_q):
    explorer = exploring(FixedCount(visits))
    plain = make(ExplorerConfig(hidden=16, optimism=False))
    obs, action, _ = rows(5)
    expected = share_of_q * plain.values(obs, action) + (1 - share_of_q) * 100
    torch.testing.assert_close(explorer.values(obs, action), expected, rtol=1e-4, atol=1e-4)


def test_optimistic_mixes_values_and_ceiling():
    values, trust = torch.tensor([[3.0, 3, 3]]), torch.tensor([[0, 0.25, 1]])
    assert optimistic(values, trust, torch.tensor(7.0)).tolist() == [[7, 6, 3]]


def test_without_optimism_no_grid_of_counts_is_asked_for():
    explorer = make(ExplorerConfig(hidden=16, batch_size=8, optimism=False))
    explorer.bonus.trust = None  # type: ignore[assignment,method-assign]
    explorer.adapt(stream())


@pytest.mark.slow
def test_choices_follow_the_softmax_of_optimistic_values():
    explorer = make(ExplorerConfig(hidden=16, temperature=2.0), prior_count=0.5)
    obs, candidates, _ = rows(6, seed=8)
    logits = explorer.values(obs[:1], candidates)[0].double().numpy() / 2.0
    chances = np.exp(logits - logits.max()) / np.exp(logits - logits.max()).sum()
    picks = np.bincount([explorer.choose(obs[0], candidates) for _ in range(3000)], minlength=6)
    assert (chances * 3000 > 5).sum() > 2  # else the test could not tell much
    rare = chances * 3000 <= 5
    observed = [*picks[~rare], picks[rare].sum()]
    expected = [*(3000 * chances[~rare]), 3000 * chances[rare].sum()]
    keep = [i for i, x in enumerate(expected) if x > 0]
    assert stats.chisquare([observed[i] for i in keep], [expected[i] for i in keep]).pvalue > 0.01


def test_an_untried_action_of_the_grid_world_is_chosen():
    count = TableCount(GRID)
    for action in (0, 1, 3):
        count.visit([2, 2], action)
    bonus = CountBonus(count, 1e-3)
    explorer = Explorer(GRID, bonus, Replay(9, 2, 1, seed=0), SMALL, discrete=True, seed=0)
    actions = torch.arange(4.0)[:, None]
    assert {explorer.choose(torch.full((2,), 2.0), actions) for _ in range(50)} == {2}


@pytest.mark.slow
def test_it_learns_the_value_of_a_constant_bonus():
    """With N = 4 everywhere the bonus is a half for ever, and at discount 0.5 worth one."""
    config = ExplorerConfig(hidden=32, discount=0.5, learning_rate=1e-3, update_temperature=10.0)
    explorer = exploring(FixedCount(4.0), config)
    sample = stream()
    for _ in range(600):
        info = explorer.adapt(sample)
    obs, action, _ = rows(20, seed=2)
    assert info["explore_loss"] < 1e-2
    assert explorer.values(obs, action).mean().item() == pytest.approx(1, abs=0.1)


def test_a_restored_explorer_copies_its_target_when_the_original_does():
    """After three updates of four; agents restore all else (test_agents.py)."""
    config = ExplorerConfig(hidden=16, batch_size=8, updates_per_step=1, target_every=4)
    explorer, restored, sample = make(config), make(config, seed=9), stream(1)
    for _ in range(3):
        explorer.adapt(sample)
    restored.load_state_dict(explorer.state_dict())
    for seed in range(6):
        assert explorer.adapt(stream(seed)) == restored.adapt(stream(seed))


@pytest.mark.parametrize(("spoil", "name"), [("count", "explore_bonus"), ("net", "explore_target")])
def test_a_number_gone_wrong_is_named(spoil, name):
    count = FixedCount(math.nan if spoil == "count" else 1.0)
    explorer = exploring(count)
    if spoil == "net":
        explorer.net.params.fill_(math.inf)
    with pytest.raises(FloatingPointError, match=name):
        explorer.adapt(stream())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"discount": 1.0}, "discount.*1.0"),
        ({"adapt": "never"}, "adapt.*'never'"),
        ({"temperature": 0.0}, "temperature.*0.0"),
        ({"updates_per_step": 0}, "updates_per_step.*0"),
    ],
)
def test_bad_settings_are_refused_by_name(options, message):
    with pytest.raises(ValueError, match=message):
        ExplorerConfig(**options)
