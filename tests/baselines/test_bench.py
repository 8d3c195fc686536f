"""Parts of `make bench` that can be tried in a moment."""

import pytest

from baselines.bench.episodes import gib_of_a_run
from baselines.bench.timing import interleave, ratio


def test_a_ratio_is_the_median_of_ratios_within_rounds():
    slow, quick = iter([2.0, 30.0, 4.0]), iter([1.0, 10.0, 4.0])
    contenders = {"slow": lambda: next(slow), "quick": lambda: next(quick)}
    seconds = interleave(contenders, rounds=3)
    assert seconds == {"slow": [2.0, 30.0, 4.0], "quick": [1.0, 10.0, 4.0]}
    assert ratio(seconds, "slow", "quick") == 2.0


@pytest.mark.slow
def test_the_process_whose_memory_is_measured_runs_an_episode():
    assert 0.1 < gib_of_a_run("sac", stored=10) < 2
