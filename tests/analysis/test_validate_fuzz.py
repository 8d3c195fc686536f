"""Damaged and forged submissions: none crashes the validator, leaves the folder or gets through.

A few of each kind, always the same ones; `make fuzz` tries others for minutes.
"""

import random

import pytest

from tests.helpers.fuzz_submissions import KINDS, attempt

pytestmark = pytest.mark.slow

EXAMPLES = 12  # of each kind


@pytest.mark.parametrize("kind", KINDS)
def test_no_damage_and_no_forgery_gets_through(kind):
    outcomes = [attempt(kind, random.Random(f"{kind} {number}")) for number in range(EXAMPLES)]
    assert "refused" in outcomes
