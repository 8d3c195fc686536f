"""Denormal numbers are flushed around our own arithmetic, and nowhere else."""

import pytest
import torch

from baselines.nn.denormals import flushed_denormals
from baselines.nn.networks import Adam

SMALLEST = torch.finfo(torch.float32).smallest_normal


def denormals_survive() -> bool:
    return bool(torch.tensor(SMALLEST) / 2 > 0)


def test_denormals_are_zero_inside_and_survive_outside():
    assert denormals_survive()
    with flushed_denormals():
        assert not denormals_survive()
        with flushed_denormals():
            assert not denormals_survive()
        assert not denormals_survive(), "the inner one has no say outside"
    assert denormals_survive()


def test_denormals_survive_again_after_an_error():
    with pytest.raises(ValueError, match="within"), flushed_denormals():
        raise ValueError("within")
    assert denormals_survive()


def test_the_moments_of_a_dead_weight_end_at_zero():
    weight = torch.ones(8)
    adam = Adam([weight], 0.1)
    adam.step([torch.full((8,), 1e-3)])
    for _ in range(1000):  # 0.9^1000 is below the smallest denormal number
        adam.step([torch.zeros(8)])
    mean = adam.state_dict()["0"]["mean"]
    assert (mean == 0).all(), f"the mean of the gradients stops at {mean[0]}"
    assert denormals_survive()
