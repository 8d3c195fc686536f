"""What every bonus owes, whatever its kind; and what random network distillation is for."""

import numpy as np
import pytest
import torch

from baselines.agent import Bounds
from baselines.bonuses import BONUSES, BonusConfig, make_bonus
from baselines.bonuses.bonus import CountBonus, Sampler
from baselines.bonuses.counts import KernelConfig
from baselines.bonuses.rnd import RND, RNDConfig
from baselines.nn.replay import Batch
from baselines.training import checkpoint
from explore_suite.errors import SettingError

BOX = Bounds(np.array([-1.0, 0, 10]), np.array([3.0, 1, 30]), -np.ones(2), np.ones(2))
GRID = Bounds(np.zeros(2), np.full(2, 5.0), np.zeros(1), np.array([3.0]))
KINDS = list(BONUSES)


def world_of(kind: str) -> Bounds:
    return GRID if kind == "table" else BOX


def make(kind: str, seed: int = 0):
    """A small bonus of this kind, and the range it lives in."""
    kernel = KernelConfig(state_scale=0.2, max_rows=30)
    rnd = RNDConfig(hidden=8, features=4, learning_rate=1e-2, batch_size=8)
    return make_bonus(BonusConfig(kind, kernel=kernel, rnd=rnd), world_of(kind), seed=seed)


def rows(kind: str, n: int, seed: int = 0) -> tuple[torch.Tensor, torch.Tensor]:
    """n observations and actions within the range; whole numbers in a discrete world."""
    rng, bounds = np.random.default_rng(seed), world_of(kind)
    obs = rng.uniform(bounds.obs_low, bounds.obs_high, (n, len(bounds.obs_low)))
    action = rng.uniform(bounds.action_low, bounds.action_high, (n, len(bounds.action_low)))
    if kind == "table":
        obs, action = obs.round(), action.round()
    return torch.tensor(obs).float(), torch.tensor(action).float()


def sampler(obs: torch.Tensor, action: torch.Tensor, rng: torch.Generator) -> Sampler:
    """Uniform draws of these rows, as transitions."""

    def sample(n: int) -> Batch:
        index = torch.randint(len(obs), (n,), generator=rng)
        zeros = torch.zeros(n)
        return Batch(obs[index], action[index], zeros, obs[index], zeros)

    return sample


def history(bonus, kind: str, steps: int, seed: int = 0) -> list[float]:
    """The bonuses of visits, with the bonus learning in between from what was visited."""
    obs, action = rows(kind, steps, seed)
    found, rng = [], torch.Generator().manual_seed(seed)
    for step in range(steps):
        found.append(bonus.visit(obs[step].numpy(), action[step].numpy()))
        bonus.update(sampler(obs[: step + 1], action[: step + 1], rng))
    return found


@pytest.mark.parametrize("kind", KINDS)
def test_bonuses_and_trust_lie_between_0_and_1(kind):
    bonus = make(kind)
    obs, action = rows(kind, 20, seed=1)
    for steps in (0, 60):
        visits = history(bonus, kind, steps)
        visits += [bonus.visit(obs[0].numpy(), action[0].numpy()) for _ in range(steps // 6)]
        parts = [bonus.paired(obs, action), bonus.grid(obs, action), bonus.trust(obs, action)]
        for values in [torch.tensor(visits), *parts]:
            assert torch.isfinite(values).all() and (values >= 0).all() and (values <= 1).all()
        assert [x.dtype for x in parts] == [torch.float32] * 3
    assert min(visits) < 1, "nothing ever became familiar"


@pytest.mark.parametrize("kind", KINDS)
def test_the_unseen_is_new(kind):
    obs, action = rows(kind, 5)
    assert make(kind).paired(obs, action).tolist() == [1] * 5
    assert make(kind).visit(obs[0].numpy(), action[0].numpy()) == 1


@pytest.mark.parametrize("kind", KINDS)
def test_grid_is_the_paired_bonus_of_every_pair(kind):
    bonus = make(kind)
    history(bonus, kind, 60)
    obs, action = rows(kind, 7, seed=1)
    expected = [[bonus.paired(o[None], a[None]).item() for a in action[:4]] for o in obs]
    found = bonus.grid(obs, action[:4])
    assert found.shape == (7, 4) and bonus.trust(obs, action[:4]).shape == (7, 4)
    assert found.numpy() == pytest.approx(np.array(expected), rel=1e-4)


@pytest.mark.parametrize("kind", KINDS)
def test_a_visit_is_worth_what_paired_said_before_it(kind):
    bonus = make(kind)
    history(bonus, kind, 40)
    obs, action = rows(kind, 10, seed=2)
    for o, a in zip(obs, action, strict=True):
        before = bonus.paired(o[None], a[None]).item()
        assert bonus.visit(o.numpy(), a.numpy()) == pytest.approx(before, rel=1e-4)


@pytest.mark.parametrize("kind", KINDS)
def test_a_seed_gives_one_history_and_no_global_source_is_used(kind):
    state = torch.get_rng_state()
    first, same = (history(make(kind, seed=4), kind, 50) for _ in range(2))
    assert first == same
    assert torch.equal(state, torch.get_rng_state())


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("steps", [0, 45])
def test_a_saved_bonus_resumes_bit_for_bit(kind, steps, tmp_path):
    bonus, copy = make(kind), make(kind, seed=9)
    history(bonus, kind, steps)
    checkpoint.save(tmp_path / "bonus.safetensors", bonus.state_dict())
    copy.load_state_dict(checkpoint.load(tmp_path / "bonus.safetensors"))
    assert history(bonus, kind, 40, seed=3) == history(copy, kind, 40, seed=3)
    obs, action = rows(kind, 9, seed=5)
    assert torch.equal(bonus.grid(obs, action), copy.grid(obs, action))


@pytest.mark.parametrize("kind", KINDS)
def test_a_bonus_falls_where_one_stays(kind):
    """One place visited again and again, among others: its bonus ends far below the unseen's."""
    bonus = make(kind)
    obs, action = rows(kind, 300)
    obs[:, :], action[:, :] = obs[:1], action[:1]
    obs[::2], action[::2] = rows(kind, 150, seed=6)
    rng = torch.Generator().manual_seed(0)
    for step in range(len(obs)):
        bonus.visit(obs[step].numpy(), action[step].numpy())
        bonus.update(sampler(obs[: step + 1], action[: step + 1], rng))
    assert bonus.paired(obs[1:2], action[1:2]).item() < 0.15


def test_trust_of_a_count_by_hand():
    count = make("table")
    for _ in range(3):
        count.visit([1, 2], 0)
    trust = count.trust(torch.tensor([[1.0, 2.0]]), torch.tensor([[0.0], [1.0]]))
    assert trust[0].tolist() == pytest.approx([np.sqrt(3 / 3.001), 0.0], rel=1e-6)
    assert isinstance(count, CountBonus)


def test_rnd_by_hand():
    """Errors by plain layers, divided by the deviation of all errors at visits, capped at 1."""
    bonus = RND(BOX, RNDConfig(hidden=8, features=4), seed=3)
    obs, action = rows("rnd", 12)
    state = bonus.state_dict()
    centre, half = (BOX.obs_low + BOX.obs_high) / 2, (BOX.obs_high - BOX.obs_low) / 2

    def output(net: dict, x: np.ndarray) -> np.ndarray:
        for layer in ("0", "2", "4"):
            x = (
                x @ net[f"{layer}.weight"].double().numpy().T
                + net[f"{layer}.bias"].double().numpy()
            )
            x = np.maximum(x, 0) if layer != "4" else x
        return x

    scaled = (obs.double().numpy() - centre) / half
    errors = ((output(state["predictor"], scaled) - output(state["random"], scaled)) ** 2).mean(1)
    for number, (o, a) in enumerate(zip(obs, action, strict=True)):
        seen = errors[:number]
        expected = min(1, errors[number] / seen.std()) if number > 1 else 1.0
        assert bonus.visit(o.numpy(), a.numpy()) == pytest.approx(expected, rel=1e-4)
    expected = np.minimum(1, errors / errors.std())
    assert bonus.paired(obs, action).numpy() == pytest.approx(expected, rel=1e-4)


class OnGPU(torch.Tensor):
    """A tensor without a NumPy view."""

    def __array__(self, *_):
        raise TypeError("can't convert cuda tensor to numpy")


def test_rnd_takes_observations_of_a_gpu_as_they_are():
    bonus = RND(BOX, RNDConfig(hidden=8, features=4), seed=3)
    obs, action = rows("rnd", 12)
    for o, a in zip(obs, action, strict=True):
        bonus.visit(o.numpy(), a.numpy())
    there = obs.as_subclass(OnGPU)
    assert torch.equal(bonus.paired(there, action), bonus.paired(obs, action))
    assert torch.equal(bonus.grid(there, action), bonus.grid(obs, action))


def test_rnd_learns_by_the_gradient_of_the_mean_squared_error():
    bonus = RND(BOX, RNDConfig(hidden=8, features=4, learning_rate=1e-3, batch_size=16), seed=3)
    obs, action = rows("rnd", 16)
    zeros = torch.zeros(16)
    losses = [
        bonus.update(lambda n: Batch(obs, action, zeros, obs, zeros))["bonus_loss"]
        for _ in range(300)
    ]
    assert losses[-1] < 0.2 * losses[0]


@pytest.mark.slow
def test_rnd_draws_attention_to_a_room_never_entered():
    """Trained on the left half of a box alone, it values the right half more."""
    bonus = RND(BOX, RNDConfig(), seed=0)
    obs, action = rows("rnd", 600)
    left = obs[obs[:, 0] < 0.5]
    right = obs[obs[:, 0] > 1.5]
    rng = torch.Generator().manual_seed(0)
    for o in left[:200]:
        bonus.visit(o.numpy(), action[0].numpy())
        for _ in range(5):
            bonus.update(sampler(left, action[: len(left)], rng))
    seen, unseen = (bonus.paired(x, action[: len(x)]).mean().item() for x in (left, right))
    assert unseen > 3 * seen


@pytest.mark.parametrize(
    ("options", "message"),
    [({"kind": "curiosity"}, "unknown bonus 'curiosity'; choose from kernel, table, rnd"),
     ({"prior_count": 0.0}, "prior_count must be positive, got 0.0")],
)  # fmt: skip
def test_bad_settings_are_refused_by_name(options, message):
    with pytest.raises(SettingError, match=message):
        BonusConfig(**options)
