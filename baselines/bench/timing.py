"""Interleaved timing: contenders take turns, so that the load of other programs cancels out.

Contenders run in short interleaved blocks. A ratio of two is the median over the rounds of their
ratios within a round, in processor time.
"""

import statistics
import time
from collections.abc import Callable, Mapping

# Runs one block; returns its processor seconds if it ran in another process.
Contender = Callable[[], float | None]


def interleave(contenders: Mapping[str, Contender], rounds: int) -> dict[str, list[float]]:
    """Processor seconds of each contender in each round."""
    seconds: dict[str, list[float]] = {name: [] for name in contenders}
    for _ in range(rounds):
        for name, contender in contenders.items():
            start = time.process_time()
            spent = contender()
            seconds[name].append(time.process_time() - start if spent is None else spent)
    return seconds


def ratio(seconds: dict[str, list[float]], over: str, under: str) -> float:
    """Median over the rounds of one contender's time in units of another's."""
    return statistics.median(a / b for a, b in zip(seconds[over], seconds[under], strict=True))
