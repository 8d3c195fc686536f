"""Fixtures that several tests of the analysis share."""

import pytest

from analysis.stats import intervals
from tests.helpers import good_submission, synthetic


@pytest.fixture
def few_resamples(monkeypatch):
    """Fewer bootstrap resamples, for tests that do not look at where an interval ends."""
    monkeypatch.setattr(intervals, "REPETITIONS", 100)


@pytest.fixture
def results(tmp_path):
    """A folder of results: a store of one run, and a sound submission of the grid world."""
    synthetic.write(tmp_path / "runs", [synthetic.Cell("sac", "WalkerWalk", 0)])
    files = good_submission.good_files("grid")
    good_submission.write(tmp_path / "submissions" / "my-method", files)
    return tmp_path
