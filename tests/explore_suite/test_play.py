"""Steering by keyboard: what the arrows mean, and a whole episode without a keyboard."""

import os
import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pygame
import pytest

from explore_suite.__main__ import main
from explore_suite.cli import play as command
from explore_suite.cli.play import action_of, held_arrows, play, require_steerable
from explore_suite.errors import UserError
from explore_suite.tasks import BENCHMARK, lookup


@pytest.mark.parametrize(
    ("held", "action"),
    [
        ((), (0, 0)),
        (("right",), (1, 0)),
        (("left",), (-1, 0)),
        (("up",), (0, 1)),
        (("down", "left"), (-1, -1)),
        (("left", "right", "up"), (0, 1)),
    ],
)
def test_arrows_are_two_axes(held, action):
    found = action_of(lookup("HallwayLocalOptimum"), held)
    assert found.dtype == np.float32 and tuple(found) == action


def test_arrows_are_the_moves_of_the_grid(make):
    env, spec = make("ExploreSuite/GridWorld-v0"), lookup("GridWorld")
    env.reset()
    env.unwrapped.set_state(np.array([5, 5]))
    moves = {"up": (1, 0), "right": (0, 1), "down": (-1, 0), "left": (0, -1)}  # as it is drawn
    for arrow, move in moves.items():
        before = env.unwrapped.get_state()
        obs, *_ = env.step(action_of(spec, {arrow}))
        assert tuple(obs - before) == move
    assert action_of(spec, ()) is None


def test_which_tasks_can_be_steered():
    refused = []
    for spec in BENCHMARK.values():
        try:
            require_steerable(spec)
        except UserError as error:
            assert f"{spec.name} cannot be steered" in str(error)
            refused.append(spec.name)
    assert refused == ["WalkerWalk", "WalkerExplore", "CheetahRun", "CheetahRunSparse"]


def script(*presses, then=None):
    """A source of keys that holds each of the given arrows for so many steps, and then `then`."""
    held = [arrow for arrow, steps in presses for _ in range(steps)]
    return lambda: {held.pop(0)} if held else then


def test_the_way_to_the_grids_goal_earns_its_return(monkeypatch):
    monkeypatch.setattr(pygame.time, "Clock", lambda: SimpleNamespace(tick=lambda fps: None))
    keys = script(("up", 39), ("right", 39 + 22))
    assert play(lookup("GridWorld"), keys, seed=0) == (23.0, 100)


def test_playing_ends_when_the_keys_say_so_and_prints_the_return(monkeypatch, capsys):
    waits = iter([{"up"}, (), {"up"}, (), None])
    monkeypatch.setattr(command, "held_arrows", lambda: next(waits))
    assert main(["play", "GridWorld"]) == 0
    assert "GridWorld: return 0.0 in 2 steps" in capsys.readouterr().out


def press(key):
    """What pygame reports of a key that is pressed and held."""
    pygame.event.post(pygame.event.Event(pygame.KEYDOWN, key=key))


@pytest.fixture
def window():
    """An open window; no driver but SDL's dummy one is used in tests."""
    pygame.display.init()
    pygame.display.set_mode((10, 10))
    yield
    pygame.display.quit()


def test_keys_are_read_from_the_window(window):
    assert held_arrows() == set()
    press(pygame.K_LEFT), press(pygame.K_UP), press(pygame.K_a)
    assert held_arrows() == {"left", "up"}
    assert held_arrows() == set(), "tapped, not held"
    press(pygame.K_ESCAPE)
    assert held_arrows() is None
    pygame.event.post(pygame.event.Event(pygame.QUIT))
    assert held_arrows() is None


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["WalkerExplore"], "cannot be steered with four arrow keys: it has 6 continuous actions"),
        (["GridWorld"], "needs a screen"),
        (["GridWorl"], "did you mean GridWorld"),
        (["GridWorld", "--seed", "-1"], "--seed must be 0 or more"),
    ],
)
def test_what_cannot_be_played_is_one_line(arguments, message):
    screens = ("DISPLAY", "WAYLAND_DISPLAY", "SDL_VIDEODRIVER")
    run = subprocess.run(
        [sys.executable, "-m", "explore_suite", "play", *arguments],
        capture_output=True, text=True, check=False,
        env={name: value for name, value in os.environ.items() if name not in screens},
    )  # fmt: skip
    assert run.returncode == 2 and run.stderr.count("\n") == 1
    assert message in run.stderr


def test_a_screen_that_opens_no_window_is_one_line(monkeypatch, capsys):
    monkeypatch.setenv("SDL_VIDEODRIVER", "no-such-driver")
    assert main(["play", "GridWorld"]) == 2
    error = capsys.readouterr().err
    assert "no window opens" in error and error.count("\n") == 1
