"""Shared by all tests: no window is ever opened, and every registered task is a parameter."""

import os

os.environ.setdefault("SDL_VIDEODRIVER", "dummy")
os.environ.setdefault("OMP_NUM_THREADS", "1")

import pytest

from explore_suite import TASKS, TaskSpec, lookup
from explore_suite.runs import provenance
from explore_suite.tasks import CLASSIC, CONTROL

SUITE = [lookup(name) for name in CONTROL + CLASSIC]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """A test that takes `spec` runs on every task, one with `suite_spec` on those of dm_control."""
    for name, specs in (("spec", TASKS.values()), ("suite_spec", SUITE)):
        if name in metafunc.fixturenames:
            metafunc.parametrize(name, specs, ids=lambda spec: spec.name)


@pytest.fixture(autouse=True)
def warnings_are_new():
    """What is logged once per process is logged in each test."""
    provenance.warn_once.cache_clear()


@pytest.fixture
def make():
    """gymnasium.make that closes what it made."""
    import gymnasium

    envs = []

    def _make(spec: TaskSpec | str, **kwargs):
        env = gymnasium.make(spec if isinstance(spec, str) else spec.id, **kwargs)
        envs.append(env)
        return env

    yield _make
    for env in envs:
        env.close()
