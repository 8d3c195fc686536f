"""Random streams of agents, continued outside of them."""

import torch
from torch import Tensor


def generator(state: Tensor) -> torch.Generator:
    """A CPU generator that continues from a saved state, such as `state_dict()["rng"]`."""
    rng = torch.Generator()
    rng.set_state(state)
    return rng
