"""SimHash counts: cells by hand, the angle law, the memory's bound, and what they say of rooms."""

import numpy as np
import pytest
import torch

from baselines.agent import Bounds
from baselines.bonuses import BonusConfig, make_bonus
from baselines.bonuses.hashes import HashConfig, HashCount
from explore_suite.errors import SettingError
from explore_suite.tasks import lookup

LINE = Bounds(np.array([0.0]), np.array([4.0]), np.array([-1.0]), np.array([1.0]))
ROOM = Bounds(-np.ones(3), np.ones(3), -np.ones(2), np.ones(2))


def by_planes(planes: list[list[float]], **settings) -> HashCount:
    """A count on the line whose planes are given: the weights of obs, action and constant."""
    count = HashCount(LINE, HashConfig(bits=len(planes), **settings), seed=0)
    count.load_state_dict(count.state_dict() | {"planes": torch.tensor(planes).double().T})
    return count


def test_cells_by_hand():
    """One plane at obs 2, the centre; one at action 0.5, as 0.1 * 0.5 = 0.05."""
    count = by_planes([[1.0, 0.0, 0.0], [0.0, 1.0, -0.05]])
    visits = [((0.5,), -1.0), ((1.9,), 0.4), ((1.9,), 0.6), ((2.1,), 0.4), ((3.9,), 0.0)]
    before = [count.visit(obs, action) for obs, action in visits]
    assert before == [0, 1, 0, 0, 1]
    obs, actions = torch.tensor([[0.0], [4.0]]), torch.tensor([[0.0], [1.0]])
    assert count.grid(obs, actions).tolist() == [[2, 1], [2, 0]]
    assert count.paired(obs, actions).tolist() == [2, 0]
    assert len(count) == 3


def test_signs_differ_in_proportion_to_the_angle():
    """P(a plane parts two keys) = their angle / pi (Charikar, 2002); 640 planes, 64 at a time."""
    keys = np.array([[0.3, -0.5, 0.2, 0.1, 0.4, 1.0], [-0.6, 0.4, 0.1, 0.5, 0.5, 1.0]])
    cosine = keys[0] @ keys[1] / np.prod(np.linalg.norm(keys, axis=1))
    parted = 0
    for seed in range(10):
        count = HashCount(ROOM, HashConfig(bits=64, action_weight=1.0), seed=seed)
        for key in keys:
            count.visit(key[:3], key[3:5])
        first, second = (int(code) % 2**64 for code in count.state_dict()["hashes"])
        parted += (first ^ second).bit_count()
    assert parted / 640 == pytest.approx(np.arccos(cosine) / np.pi, abs=0.05)


def test_beyond_its_bound_the_oldest_hash_is_forgotten():
    count = by_planes([[1.0, 0.0, -x] for x in (-0.5, 0.0, 0.5)], max_hashes=3)
    cells = [0.5, 1.5, 2.5, 3.5]
    for cell in (0, 0, 1, 2, 0, 3):
        count.visit(cells[cell], 0.0)
    assert [count.visit(cells[cell], 0.0) for cell in (1, 2, 3)] == [1, 1, 1]
    assert len(count) == 3 and count.visit(cells[0], 0.0) == 0


def test_a_visit_counts_once():
    count, rng = HashCount(ROOM, HashConfig(bits=8), seed=0), np.random.default_rng(0)
    for _ in range(300):
        count.visit(rng.uniform(-1, 1, 3), rng.uniform(-1, 1, 2))
    assert 20 < len(count) <= 256 and count.state_dict()["visits"].sum() == 300


def test_a_room_is_worth_the_inverse_root_of_its_visits():
    """Four corners of a box, visited 100, 16, 1 and 0 times, with a little noise around each."""
    bonus = make_bonus(BonusConfig(kind="hash"), ROOM, seed=0)
    corners = np.array([[-1, -1, -1], [1, -1, 1], [-1, 1, 1], [1, 1, -1]])
    rng, still = np.random.default_rng(0), np.zeros(2)
    for corner, visits in zip(corners, (100, 16, 1, 0), strict=True):
        for _ in range(visits):
            bonus.visit(corner + rng.normal(0, 1e-4, 3), still)
    found = bonus.grid(torch.tensor(corners), torch.zeros(1, 2))[:, 0]
    assert found.tolist() == pytest.approx([0.1, 0.25, 1, 1])


def test_actions_matter_less_than_observations():
    """In the walker's box: random actions at one place share more cells than random places."""
    spec, rng = lookup("WalkerExplore"), np.random.default_rng(0)
    box = Bounds(spec.obs_low, spec.obs_high, -np.ones(6), np.ones(6))
    sizes = {}
    for moving in ("action", "obs"):
        count = HashCount(box, HashConfig(), seed=0)
        for _ in range(200):
            place = rng.uniform(spec.obs_low, spec.obs_high) if moving == "obs" else spec.obs_low
            action = rng.uniform(-1, 1, 6) if moving == "action" else np.zeros(6)
            count.visit(place, action)
        sizes[moving] = len(count)
    assert sizes["action"] < 0.5 * sizes["obs"] and sizes["obs"] == 200


def test_planes_of_another_size_are_refused():
    count = HashCount(LINE, HashConfig(bits=3), seed=0)
    with pytest.raises(ValueError, match="do not fit"):
        count.load_state_dict(HashCount(ROOM, HashConfig(bits=3), seed=0).state_dict())


@pytest.mark.parametrize(
    ("options", "message"),
    [({"bits": 65}, "bits must be 1 to 64, got 65"),
     ({"max_hashes": 0}, "max_hashes must be positive, got 0"),
     ({"action_weight": -1.0}, "action_weight must be 0 or more, got -1.0")],
)  # fmt: skip
def test_bad_settings_are_refused_by_name(options, message):
    with pytest.raises(SettingError, match=message):
        HashConfig(**options)
