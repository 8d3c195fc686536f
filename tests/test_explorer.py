"""The exploration Q: its parts by hand and by independent loops, its schedule, its exactness."""

import math
from collections.abc import Callable

import numpy as np
import pytest
import torch
from scipy import stats
from torch import Tensor

from baselines.agent import Bounds
from baselines.counts import CountConfig, KernelCount, TableCount, bonus
from baselines.explorer import Explorer, ExplorerConfig, bellman_targets, optimistic
from baselines.q_network import QNetwork, uniform_box, uniform_discrete
from baselines.replay import Replay

BOX = Bounds(
    np.array([-2.0, 0, 5]), np.array([2.0, 1, 9]), np.array([-1.0, -3]), np.array([1.0, 3])
)
GRID = Bounds(np.zeros(2), np.full(2, 5.0), np.zeros(1), np.array([3.0]))
SMALL = ExplorerConfig(hidden=16, batch_size=8, update_candidates=12)


def rows(n: int, seed: int = 0, bounds: Bounds = BOX) -> tuple[Tensor, Tensor, Tensor]:
    """n random rows of obs, action and next_obs within the bounds; whole numbers on the grid."""
    rng = np.random.default_rng(seed)

    def draw(low: np.ndarray, high: np.ndarray) -> Tensor:
        values = rng.uniform(low, high, (n, len(low)))
        return torch.tensor(values.round() if bounds is GRID else values).float()

    obs, next_obs = (draw(bounds.obs_low, bounds.obs_high) for _ in range(2))
    return obs, draw(bounds.action_low, bounds.action_high), next_obs


def stream(seed: int = 0, bounds: Bounds = BOX) -> Callable[[int], tuple[Tensor, Tensor, Tensor]]:
    """A replay to sample from, whose draws depend on the number of calls alone."""
    data, rng = rows(50, seed, bounds), torch.Generator().manual_seed(seed)

    def sample(n: int) -> tuple[Tensor, Tensor, Tensor]:
        index = torch.randint(50, (n,), generator=rng)
        obs, action, next_obs = (x[index] for x in data)
        return obs, action, next_obs

    return sample


def make(config: ExplorerConfig = SMALL, visits: int = 40, seed: int = 0) -> Explorer:
    count = KernelCount(BOX, CountConfig(state_scale=0.2, tolerance=0.9, max_rows=100), seed=0)
    for obs, action in zip(*rows(visits)[:2], strict=True):
        count.visit(obs, action)
    return Explorer(BOX, count, Replay(9, 3, 2, seed=0), config, discrete=False, seed=seed)


def make_discrete(config: ExplorerConfig = SMALL, seed: int = 0) -> Explorer:
    count = TableCount(GRID)
    for obs, action in zip(*rows(30, 1, GRID)[:2], strict=True):
        count.visit(obs, action)
    return Explorer(GRID, count, Replay(9, 2, 1, seed=0), config, discrete=True, seed=seed)


# --- optimism -------------------------------------------------------------------------------------


class FixedCount:
    """A count that answers every question with one number."""

    def __init__(self, number: float) -> None:
        self.number = number

    def visit(self, obs, action) -> float:
        return self.number

    def paired(self, obs, action) -> Tensor:
        return torch.full((len(obs),), self.number)

    def grid(self, obs, actions) -> Tensor:
        return torch.full((len(obs), len(actions)), self.number)

    def state_dict(self) -> dict:
        return {}

    def load_state_dict(self, state: dict) -> None:
        pass


@pytest.mark.parametrize(
    ("visits", "share_of_q"), [(0, 0), (1e-3, math.sqrt(0.5)), (1e-3 / 3, 0.5), (1e6, 1)]
)
def test_optimism_by_hand(visits, share_of_q):
    explorer = Explorer(
        BOX, FixedCount(visits), Replay(9, 3, 2, seed=0), SMALL, discrete=False, seed=0
    )
    plain = make(ExplorerConfig(hidden=16, optimism=False))
    obs, action, _ = rows(5)
    expected = share_of_q * plain.values(obs, action) + (1 - share_of_q) * 100
    torch.testing.assert_close(explorer.values(obs, action), expected, rtol=1e-4, atol=1e-4)


def test_optimistic_mixes_values_and_ceiling():
    values, trust = torch.tensor([[3.0, 3, 3]]), torch.tensor([[0, 0.25, 1]])
    assert optimistic(values, trust, 7.0).tolist() == [[7, 6, 3]]


def test_without_optimism_no_grid_of_counts_is_asked_for():
    explorer = make(ExplorerConfig(hidden=16, batch_size=8, optimism=False))
    explorer.count.grid = None  # type: ignore[assignment,method-assign]
    explorer.adapt(stream())


# --- targets --------------------------------------------------------------------------------------


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
    fit = explorer._fit

    def spy(inputs: Tensor, targets: Tensor) -> Tensor:
        seen.append(targets)
        return fit(inputs, targets)

    monkeypatch.setattr(explorer, "_fit", spy)
    return seen


def test_an_update_fits_the_targets_of_the_definition(monkeypatch):
    """Three updates of one step, with the target two updates old, recomputed from their parts."""
    config = ExplorerConfig(
        hidden=16, batch_size=4, update_candidates=5, updates_per_step=3, target_every=2
    )
    explorer, twin = make(config), make(config)
    seen = spy_on_targets(explorer, monkeypatch)
    nets = []  # what each update will have found
    original = explorer._next_values

    def spy(*args: Tensor) -> tuple[Tensor, Tensor]:
        nets.append((explorer._net.params.clone(), explorer._target.params.clone()))
        return original(*args)

    monkeypatch.setattr(explorer, "_next_values", spy)
    explorer.adapt(stream(3))
    obs, action, next_obs = stream(3)(12)
    low, high = (torch.tensor(end).float() for end in (BOX.action_low, BOX.action_high))
    for update, (online, target) in enumerate(nets):
        candidates = uniform_box(5, low, high, twin._rng)[0]
        batch = slice(4 * update, 4 * update + 4)
        values = []
        for params in (online, target):
            twin._net.params.copy_(params)
            values.append(twin.values(next_obs[batch], candidates).tolist())
        bonuses = bonus(explorer.count.paired(obs[batch], action[batch])).tolist()
        expected = [
            loop_target(b, o, t, [0.0] * 5, 0.99, 0.1)
            for b, o, t in zip(bonuses, *values, strict=True)
        ]
        assert seen[update].tolist() == pytest.approx(expected, rel=1e-4)
    assert torch.equal(nets[0][0], nets[0][1])  # fresh copy
    assert torch.equal(nets[1][1], nets[0][0])  # one update old
    assert not torch.equal(nets[1][0], nets[1][1])
    assert torch.equal(nets[2][0], nets[2][1])  # copied again


@pytest.mark.parametrize("fit_level", [False, True])
def test_a_fitted_level_takes_the_mean_error_from_every_value_at_once(fit_level):
    """With weights that hardly move: values before and after differ by the batch's mean error."""
    explorer = make(ExplorerConfig(hidden=16, fit_level=fit_level, learning_rate=1e-12))
    rng = np.random.default_rng(4)
    inputs = torch.tensor(rng.uniform(-1, 1, (6, 5)), dtype=torch.float32)
    targets = torch.tensor(rng.uniform(20, 60, 6), dtype=torch.float32)
    before = explorer._net.forward(inputs)[0][0, 0].double()
    loss = float(explorer._fit(inputs, targets))
    after = explorer._net.forward(inputs)[0][0, 0].double()
    error = before - targets.double()
    shift = float(error.mean()) if fit_level else 0.0
    assert (before - after).tolist() == pytest.approx([shift] * 6, abs=1e-4)
    assert loss == pytest.approx(float((error - shift).square().mean()), rel=1e-5)


def test_the_bonus_is_the_one_of_now(monkeypatch):
    """The same net, sample and candidates twice: targets differ by what the visits between took."""
    explorer = make(ExplorerConfig(hidden=16, batch_size=8, updates_per_step=1, optimism=False))
    seen, state, bonuses = spy_on_targets(explorer, monkeypatch), explorer.state_dict(), []
    obs, action, _ = stream()(8)
    for _ in range(2):
        explorer.load_state_dict(state | {"count": explorer.count.state_dict()})
        explorer.adapt(stream())
        bonuses.append(bonus(explorer.count.paired(obs, action)))
        for visit in zip(obs, action, strict=True):
            for _ in range(20):
                explorer.count.visit(*visit)
    unclipped = (seen[0] > 0) & (seen[1] > 0)
    assert unclipped.sum() > 2
    taken = (bonuses[0] - bonuses[1])[unclipped]
    assert (taken > 0.2).all()
    torch.testing.assert_close((seen[0] - seen[1])[unclipped], taken, rtol=1e-4, atol=1e-5)


# --- candidates -----------------------------------------------------------------------------------


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
    obs, action, next_obs = stream(3, GRID)(6)
    draws = torch.randint(4, (7,), generator=twin._rng)
    assert len(set(draws.bincount(minlength=4).tolist())) > 1, "all equally often shows nothing"
    values = twin.values(next_obs, draws[:, None].float()).tolist()  # fresh target: the same net
    bonuses = bonus(explorer.count.paired(obs, action)).tolist()
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
    grid = explorer.count.grid

    def spy(obs: Tensor, actions: Tensor) -> Tensor:
        seen.append(actions)
        return grid(obs, actions)

    monkeypatch.setattr(explorer.count, "grid", spy)
    explorer.adapt(stream())
    assert [x.shape for x in seen] == [(12, 2)] * 2  # one question per update
    assert not torch.equal(*seen)


# --- behaviour ------------------------------------------------------------------------------------


def test_choices_follow_the_softmax_of_optimistic_values():
    explorer = make(ExplorerConfig(hidden=16, temperature=2.0, prior_count=0.5))
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
    explorer = Explorer(GRID, count, Replay(9, 2, 1, seed=0), SMALL, discrete=True, seed=0)
    actions = torch.arange(4.0)[:, None]
    assert {explorer.choose(torch.full((2,), 2.0), actions) for _ in range(50)} == {2}


# --- the network ----------------------------------------------------------------------------------


@pytest.mark.parametrize("layers", [1, 2, 3])
@pytest.mark.parametrize(("n_obs", "n_actions"), [(7, 5), (300, 11), (3, 2000)])
def test_grid_of_values_is_the_network_on_every_pair(layers, n_obs, n_actions):
    net, rng = QNetwork([5, *[16] * layers, 1], seed=0), torch.Generator().manual_seed(1)
    obs, actions = (torch.rand(n, d, generator=rng) for n, d in ((n_obs, 3), (n_actions, 2)))
    net.params.add_(0.1 * torch.randn(net.params.shape, generator=rng))  # biases too
    pairs = obs.repeat_interleave(n_actions, dim=0), actions.repeat(n_obs, 1)
    expected = net.forward(torch.cat(pairs, dim=1))[0].view(n_obs, n_actions)
    torch.testing.assert_close(net.grid(obs, actions), expected, rtol=1e-4, atol=1e-5)


def test_biases_take_the_network_off_its_cone():
    x = torch.rand(50, 4, generator=torch.Generator().manual_seed(0)) - 0.5
    cone, spread = (QNetwork([4, 32, 32, 1], seed=3, bias_spread=b) for b in (0.0, 1.0))
    values = [net.forward(scale * x)[0] for net in (cone, spread) for scale in (1, 2)]
    torch.testing.assert_close(values[1], 2 * values[0])
    assert not torch.allclose(values[3], 2 * values[2], rtol=0.1)
    for cone_weight, spread_weight in zip(cone._weights, spread._weights, strict=True):
        assert torch.equal(cone_weight, spread_weight)
    hidden = torch.cat([bias.flatten() for bias in spread._biases[:-1]])
    assert hidden.abs().max() <= 1 and hidden.std() == pytest.approx(3**-0.5, rel=0.2)
    assert spread._biases[-1] == 0


def test_weights_are_lecun_normal_and_biases_zero():
    net = QNetwork([10, 400, 400, 1], seed=0)
    for weight, fan_in in zip(net._weights, (10, 400, 400), strict=True):
        assert float(weight.std()) == pytest.approx(fan_in**-0.5, rel=0.1)
        assert float(weight.abs().max()) <= 2.3 * fan_in**-0.5
    assert all((bias == 0).all() for bias in net._biases)


def test_inputs_are_scaled_to_one():
    explorer = make()
    low, high = torch.tensor(BOX.obs_low).float(), torch.tensor(BOX.obs_high).float()
    assert explorer._obs_scale(torch.stack([low, high])).tolist() == [[-1] * 3, [1] * 3]
    assert explorer._action_scale(torch.tensor([[1.0, -3]])).tolist() == [[1, -1]]


def test_it_learns_the_value_of_a_constant_bonus():
    """With N = 4 everywhere the bonus is a half for ever, and at discount 0.5 worth one."""
    config = ExplorerConfig(hidden=32, discount=0.5, learning_rate=1e-3, update_temperature=10.0)
    explorer = Explorer(
        BOX, FixedCount(4.0), Replay(9, 3, 2, seed=0), config, discrete=False, seed=0
    )
    sample = stream()
    for _ in range(600):
        info = explorer.adapt(sample)
    obs, action, _ = rows(20, seed=2)
    assert info["explore_loss"] < 1e-2
    assert explorer.values(obs, action).mean().item() == pytest.approx(1, abs=0.1)


# --- exactness, and what is refused ---------------------------------------------------------------


@pytest.mark.parametrize("build", [make, make_discrete])
def test_a_seed_gives_one_history(build):
    bounds = GRID if build is make_discrete else BOX
    first, second, other = build(seed=3), build(seed=3), build(seed=4)
    samples = [stream(1, bounds) for _ in range(3)]
    obs, candidates, _ = rows(9, 5, bounds)
    histories = [
        [(e.adapt(s), e.choose(obs[0], candidates)) for _ in range(10)]
        for e, s in zip((first, second, other), samples, strict=True)
    ]
    assert histories[0] == histories[1] != histories[2]


@pytest.mark.parametrize("build", [make, make_discrete])
@pytest.mark.parametrize("steps", [0, 3])
def test_a_restored_explorer_goes_on_bit_for_bit(build, steps):
    bounds = GRID if build is make_discrete else BOX
    config = ExplorerConfig(hidden=16, batch_size=8, updates_per_step=1, target_every=4)
    explorer, copy, sample = build(config), build(config, seed=9), stream(1, bounds)
    for _ in range(steps):
        explorer.adapt(sample)
    copy.load_state_dict(explorer.state_dict())
    obs, candidates, _ = rows(9, 5, bounds)
    for seed in range(6):
        assert explorer.adapt(stream(seed, bounds)) == copy.adapt(stream(seed, bounds))
        assert explorer.choose(obs[0], candidates) == copy.choose(obs[0], candidates)
    assert torch.equal(explorer.values(obs, candidates), copy.values(obs, candidates))


def test_a_state_is_a_copy():
    explorer = make()
    state = explorer.state_dict()
    before = state["net"].clone()
    explorer.adapt(stream())
    assert torch.equal(state["net"], before)
    assert not torch.equal(explorer.state_dict()["net"], before)


@pytest.mark.parametrize(("spoil", "name"), [("count", "explore_bonus"), ("net", "explore_target")])
def test_a_number_gone_wrong_is_named(spoil, name):
    count = FixedCount(math.nan if spoil == "count" else 1.0)
    explorer = Explorer(BOX, count, Replay(9, 3, 2, seed=0), SMALL, discrete=False, seed=0)
    if spoil == "net":
        explorer._net.params.fill_(math.inf)
    with pytest.raises(FloatingPointError, match=name):
        explorer.adapt(stream())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"discount": 1.0}, "discount.*1.0"),
        ({"adapt": "never"}, "adapt.*'never'"),
        ({"temperature": 0.0}, "temperature.*0.0"),
        ({"prior_count": 0.0}, "prior_count.*0.0"),
        ({"updates_per_step": 0}, "updates_per_step.*0"),
    ],
)
def test_bad_settings_are_refused_by_name(options, message):
    with pytest.raises(ValueError, match=message):
        ExplorerConfig(**options)
