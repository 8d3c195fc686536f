"""Numbers next to zero: a CPU computes with denormal ones up to forty times slower.

They arise where something only decays: the moments that Adam keeps for the weights of a dead unit
shrink for ever, and in float32 they stop at a denormal number instead of zero. None is large enough
to change a weight.
"""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

import torch

_DENORMAL = sys.float_info.min / 2


@contextmanager
def flushed_denormals() -> Iterator[None]:
    """Within it this thread takes denormal numbers for zero.

    Only around arithmetic of our own: a simulator is to compute as it does anywhere else.
    """
    already = _DENORMAL * 1.0 == 0
    torch.set_flush_denormal(True)
    try:
        yield
    finally:
        torch.set_flush_denormal(already)
