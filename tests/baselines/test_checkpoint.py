"""States on disk: whole, exact, without pickle."""

import numpy as np
import pytest
import torch

from baselines.training import checkpoint

STATE = {
    "net": {"params": torch.arange(5.0), "deep": {"er": torch.eye(2, dtype=torch.float64)}},
    "rng": torch.Generator().manual_seed(3).get_state(),
    "visits": np.arange(4),
    "steps": 7,
    "rate": 1 / 3,
    "name": "sac",
    "big": str(2**100),
}


def test_round_trip(tmp_path):
    checkpoint.save(tmp_path / "a", STATE)
    loaded = checkpoint.load(tmp_path / "a")
    assert torch.equal(loaded["net"]["params"], STATE["net"]["params"])
    assert loaded["net"]["deep"]["er"].dtype == torch.float64
    assert torch.equal(loaded["rng"], STATE["rng"])
    assert loaded["visits"].tolist() == [0, 1, 2, 3]
    assert (loaded["steps"], loaded["rate"], loaded["name"]) == (7, 1 / 3, "sac")
    assert int(loaded["big"]) == 2**100


def test_a_failed_save_leaves_the_old_file(tmp_path):
    checkpoint.save(tmp_path / "a", STATE)
    with pytest.raises(TypeError):
        checkpoint.save(tmp_path / "a", {"no": object()})
    assert checkpoint.load(tmp_path / "a")["steps"] == 7


def test_names_with_separators_are_refused(tmp_path):
    with pytest.raises(ValueError, match="must not contain"):
        checkpoint.save(tmp_path / "a", {"a/b": 1})
