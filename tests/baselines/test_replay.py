"""The ring of transitions: what is kept, what is drawn, and that nothing is lost on the way."""

import numpy as np
import pytest
import torch

from baselines.agent import Transition
from baselines.nn.replay import FIRST_ROWS, Batch, Replay


def transition(number: int, *, terminated: bool = False, truncated: bool = False) -> Transition:
    """A transition whose every entry tells its number."""
    obs = np.array([number, number + 0.25], np.float32)
    action = np.array([-number], np.float32)
    return Transition(obs, action, 10.0 * number, obs + 0.5, terminated, truncated)


def filled(n: int, capacity: int, seed: int = 0) -> Replay:
    """A replay that has seen the transitions 0..n-1."""
    replay = Replay(capacity, 2, 1, seed=seed)
    for number in range(n):
        replay.add(transition(number))
    return replay


def numbers(batch: Batch) -> list[int]:
    """Which transitions a batch holds."""
    return [int(x) for x in batch.obs[:, 0]]


def test_fields_come_back_in_their_places():
    replay = Replay(10, 2, 1, seed=0)
    replay.add(transition(3, terminated=True))
    batch = replay.sample(2)
    assert batch.obs.tolist() == [[3, 3.25]] * 2
    assert batch.action.tolist() == [[-3]] * 2
    assert batch.reward.tolist() == [30, 30]
    assert batch.next_obs.tolist() == [[3.5, 3.75]] * 2
    assert batch.terminated.tolist() == [1, 1]
    assert all(field.dtype == torch.float32 for field in batch)


def test_truncation_is_not_termination():
    replay = Replay(10, 2, 1, seed=0)
    replay.add(transition(0, truncated=True))
    assert replay.sample(1).terminated.tolist() == [0]


def test_ring_of_three_forgets_the_oldest_and_draws_its_last_slot():
    replay = filled(3, capacity=3)
    assert len(replay) == 3
    assert set(numbers(replay.sample(200))) == {0, 1, 2}
    replay.add(transition(3))
    assert len(replay) == 3
    assert set(numbers(replay.sample(200))) == {1, 2, 3}
    replay.add(transition(4))
    replay.add(transition(5))
    assert set(numbers(replay.sample(200))) == {3, 4, 5}


def test_draws_are_uniform_with_replacement():
    replay = filled(20, capacity=20)
    counts = np.bincount(numbers(replay.sample(40_000)), minlength=20)
    chi_square = ((counts - 2000) ** 2 / 2000).sum()
    assert chi_square < 43.8  # 99.9th percentile of chi-square with 19 degrees of freedom


def test_a_large_ring_starts_small_and_grows_without_losing_anything():
    replay = Replay(1_000_000, 2, 1, seed=0)
    assert replay.state_dict()["rows"].shape[0] == 0
    assert replay.allocated == FIRST_ROWS
    n = 2 * FIRST_ROWS + 1
    for number in range(n):
        replay.add(transition(number))
    assert len(replay) == n
    assert replay.allocated == 4 * FIRST_ROWS
    assert replay.state_dict()["rows"][:, 0].tolist() == list(range(n))


def test_growth_stops_at_the_capacity():
    replay = filled(FIRST_ROWS + 7, capacity=FIRST_ROWS + 5)
    assert replay.allocated == len(replay) == FIRST_ROWS + 5
    assert replay.state_dict()["rows"][:2, 0].tolist() == [FIRST_ROWS + 5, FIRST_ROWS + 6]


def test_seeds_decide_the_draws():
    first, same, other = (filled(50, 50, seed).sample(64) for seed in (1, 1, 2))
    assert numbers(first) == numbers(same) != numbers(other)


def test_sampling_with_another_generator_leaves_the_buffers_own_one_alone():
    replay, untouched = filled(50, 50), filled(50, 50)
    other = torch.Generator().manual_seed(9)
    assert numbers(replay.sample(64, other)) != numbers(untouched.sample(64))
    assert numbers(replay.sample(64)) == numbers(filled(50, 50).sample(64))


def test_state_dict_round_trip_is_exact():
    replay = filled(FIRST_ROWS + 9, capacity=FIRST_ROWS + 5)
    replay.sample(10)
    copy = Replay(FIRST_ROWS + 5, 2, 1, seed=99)
    copy.load_state_dict(replay.state_dict())
    for each in (replay, copy):
        each.add(transition(-1))
    assert torch.equal(replay.state_dict()["rows"], copy.state_dict()["rows"])
    assert numbers(replay.sample(100)) == numbers(copy.sample(100))


def test_a_saved_state_does_not_change_afterwards():
    replay = filled(3, capacity=3)
    state = replay.state_dict()
    replay.add(transition(7))
    assert state["rows"][:, 0].tolist() == [0, 1, 2]


def test_a_state_that_does_not_fit_is_refused():
    with pytest.raises(ValueError, match="5 x 7 .* 3 x 7"):
        Replay(3, 2, 1, seed=0).load_state_dict(filled(5, 5).state_dict())
