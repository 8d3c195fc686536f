"""Shared by all tests: no window is ever opened, and every registered task is a parameter."""

import os

os.environ.setdefault("SDL_VIDEODRIVER", "dummy")
os.environ.setdefault("OMP_NUM_THREADS", "1")

import pytest

from explore_suite import TASKS, TaskSheet

SUITE = [sheet for sheet in TASKS.values() if sheet.group in ("explore", "original")]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """A test that takes `sheet` runs on every task; one that takes `suite_sheet` on the eight."""
    for name, sheets in (("sheet", TASKS.values()), ("suite_sheet", SUITE)):
        if name in metafunc.fixturenames:
            metafunc.parametrize(name, sheets, ids=lambda sheet: sheet.name)


@pytest.fixture
def make():
    """gymnasium.make that closes what it made."""
    import gymnasium

    envs = []

    def _make(sheet: TaskSheet | str, **kwargs):
        env = gymnasium.make(sheet if isinstance(sheet, str) else sheet.id, **kwargs)
        envs.append(env)
        return env

    yield _make
    for env in envs:
        env.close()
