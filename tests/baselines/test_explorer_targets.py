"""What the exploration Q learns: its targets and the candidates in them, by hand and by loops."""

import math

import numpy as np
import pytest
import torch
from scipy import stats
from torch import Tensor

from baselines.agents.explorer import Explorer, ExplorerConfig, bellman_targets
from baselines.nn.q_network import uniform_box, uniform_discrete
from tests.helpers.explorers import BOX, GRID, make, make_discrete, rows, stream
from tests.helpers.generators import generator


def loop_target(bonus_, online, target, log_weight, discount, temperature) -> float:
    """One target by Python's floats: bonus plus the discounted mean under the softmax policy."""
    logits = [v / temperature + w for v, w in zip(online, log_weight, strict=True)]
    odds = [math.exp(x - max(logits)) for x in logits]
    mean = math.fsum(o * t for o, t in zip(odds, target, strict=True)) / math.fsum(odds)
    return min(max(bonus_ + discount * mean, 0.0), 1 / (1 - discount))


def test_targets_agree_with_a_loop():
    rng = np.random.default_rng(1)
    online, target = rng.normal(1, 0.3, (2, 20, 6))
    bonuses, log_weight = rng.uniform(0, 1, 20), np.log(rng.integers(1, 5, 6))
    config = ExplorerConfig(update_temperature=0.2, discount=0.9)
    parts = [torch.tensor(x) for x in (bonuses, online, target, log_weight)]
    got = bellman_targets(parts[0], parts[1], parts[2], parts[3], config)
    expected = [
        loop_target(b, o, t, log_weight, 0.9, 0.2)
        for b, o, t in zip(bonuses, online, target, strict=True)
    ]
    assert got.tolist() == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize(("value", "clipped"), [(-50.0, 0.0), (500.0, 100.0), (10.0, 10.9)])
def test_targets_are_clipped_to_what_is_possible(value, clipped):
    values = torch.full((1, 3), value)
    got = bellman_targets(torch.ones(1), values, values, torch.zeros(3), ExplorerConfig())
    assert float(got) == pytest.approx(clipped)


def spy_on_targets(explorer: Explorer, monkeypatch) -> list[Tensor]:
    """The targets that the explorer's network is fitted to, update by update."""
    seen: list[Tensor] = []
    fit = explorer.fit

    def spy(inputs: Tensor, targets: Tensor) -> Tensor:
        seen.append(targets)
        return fit(inputs, targets)

    monkeypatch.setattr(explorer, "fit", spy)
    return seen


def test_an_update_fits_the_targets_of_the_definition(monkeypatch):
    """Three updates of one step, with the target two updates old, recomputed from their parts."""
    config = ExplorerConfig(
        hidden=16, batch_size=4, update_candidates=5, updates_per_step=3, target_every=2
    )
    explorer, twin = make(config), make(config)
    seen = spy_on_targets(explorer, monkeypatch)
    nets = []  # online and target network when the targets of each update were computed
    fit = explorer.fit

    def spy(inputs: Tensor, targets: Tensor) -> Tensor:
        nets.append((explorer.net.params.clone(), explorer.target.params.clone()))
        return fit(inputs, targets)

    monkeypatch.setattr(explorer, "fit", spy)
    explorer.adapt(stream(3))
    obs, action, _, next_obs, _ = stream(3)(12)
    rng = generator(twin.state_dict()["rng"])
    low, high = (torch.tensor(end).float() for end in (BOX.action_low, BOX.action_high))
    for update, (online, target) in enumerate(nets):
        candidates = uniform_box(5, low, high, rng)[0]
        batch = slice(4 * update, 4 * update + 4)
        values = []
        for params in (online, target):
            twin.net.params.copy_(params)
            values.append(twin.values(next_obs[batch], candidates).tolist())
        bonuses = explorer.bonus.paired(obs[batch], action[batch]).tolist()
        expected = [
            loop_target(b, o, t, [0.0] * 5, 0.99, 0.1)
            for b, o, t in zip(bonuses, *values, strict=True)
        ]
        assert seen[update].tolist() == pytest.approx(expected, rel=1e-4)
    assert torch.equal(nets[0][0], nets[0][1])  # fresh copy
    assert torch.equal(nets[1][1], nets[0][0])  # one update old
    assert not torch.equal(nets[1][0], nets[1][1])
    assert torch.equal(nets[2][0], nets[2][1])  # copied again


def test_the_bonus_is_the_one_of_now(monkeypatch):
    """The same net, sample and candidates twice: targets differ by what the visits between took."""
    explorer = make(ExplorerConfig(hidden=16, batch_size=8, updates_per_step=1, optimism=False))
    seen, state, bonuses = spy_on_targets(explorer, monkeypatch), explorer.state_dict(), []
    obs, action, *_ = stream()(8)
    for _ in range(2):
        explorer.load_state_dict(state | {"bonus": explorer.bonus.state_dict()})
        explorer.adapt(stream())
        bonuses.append(explorer.bonus.paired(obs, action))
        for visit in zip(obs, action, strict=True):
            for _ in range(20):
                explorer.bonus.visit(*visit)
    unclipped = (seen[0] > 0) & (seen[1] > 0)
    assert unclipped.sum() > 2
    taken = (bonuses[0] - bonuses[1])[unclipped]
    assert (taken > 0.2).all()
    torch.testing.assert_close((seen[0] - seen[1])[unclipped], taken, rtol=1e-4, atol=1e-5)


def test_grouped_draws_have_the_targets_of_the_draws_themselves():
    low, high, n = torch.zeros(1), torch.tensor([3.0]), 11
    rng, values = torch.Generator().manual_seed(5), rows(6)[0][:, [0, 1, 2, 0]]
    draws = torch.randint(4, (n,), generator=torch.Generator().manual_seed(5))
    actions, log_weight = uniform_discrete(n, low, high, rng)
    assert actions.tolist() == [[0], [1], [2], [3]]
    config, bonuses = ExplorerConfig(update_temperature=1.0), torch.full((6,), 30.0)
    grouped = bellman_targets(bonuses, values, 2 * values, log_weight, config)
    each = values[:, draws]
    expected = bellman_targets(bonuses, each, 2 * each, torch.zeros(n), config)
    torch.testing.assert_close(grouped, expected)


def test_an_action_never_drawn_has_no_weight():
    log_weight = torch.tensor([0.0, -math.inf])
    values = torch.tensor([[1.0, 90.0]])
    got = bellman_targets(torch.zeros(1), values, values, log_weight, ExplorerConfig())
    assert float(got) == pytest.approx(0.99)


def test_candidates_fill_the_action_box():
    low, high = torch.tensor([-1.0, -3]), torch.tensor([1.0, 3])
    actions, log_weight = uniform_box(4000, low, high, torch.Generator().manual_seed(0))
    assert log_weight.tolist() == [0] * 4000
    for column, edge in zip(actions.T, high, strict=True):
        assert stats.kstest(column.numpy(), stats.uniform(-edge, 2 * edge).cdf).pvalue > 0.01


def test_discrete_targets_count_every_draw(monkeypatch):
    """Targets of the grid equal those of the candidates drawn, one by one, repeats and all."""
    config = ExplorerConfig(hidden=16, batch_size=6, update_candidates=7, updates_per_step=1)
    explorer, twin = make_discrete(config), make_discrete(config)
    seen = spy_on_targets(explorer, monkeypatch)
    explorer.adapt(stream(3, GRID))
    obs, action, _, next_obs, _ = stream(3, GRID)(6)
    draws = torch.randint(4, (7,), generator=generator(twin.state_dict()["rng"]))
    assert len(set(draws.bincount(minlength=4).tolist())) > 1, "all equally often shows nothing"
    values = twin.values(next_obs, draws[:, None].float()).tolist()  # fresh target: the same net
    bonuses = explorer.bonus.paired(obs, action).tolist()
    expected = [
        loop_target(b, v, v, [0.0] * 7, 0.99, 0.1) for b, v in zip(bonuses, values, strict=True)
    ]
    assert seen[0].tolist() == pytest.approx(expected, rel=1e-4)


def test_update_temperature_follows_the_behaviours_unless_set():
    online, target = torch.tensor([[0.0, 1.0]]), torch.tensor([[0.0, 10.0]])
    for config, temperature in (
        (ExplorerConfig(temperature=2.0), 2.0),
        (ExplorerConfig(temperature=2.0, update_temperature=0.5), 0.5),
    ):
        found = bellman_targets(torch.zeros(1), online, target, torch.zeros(2), config)
        share = 1 / (1 + math.exp(-1 / temperature))
        assert found.item() == pytest.approx(0.99 * 10 * share, rel=1e-5)


def test_candidates_are_fresh_at_every_update(monkeypatch):
    explorer = make()
    seen: list[Tensor] = []
    trust = explorer.bonus.trust

    def spy(obs: Tensor, actions: Tensor) -> Tensor:
        seen.append(actions)
        return trust(obs, actions)

    monkeypatch.setattr(explorer.bonus, "trust", spy)
    explorer.adapt(stream())
    assert [x.shape for x in seen] == [(12, 2)] * 2  # one question per update
    assert not torch.equal(*seen)
