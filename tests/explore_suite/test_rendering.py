"""Pictures: real ones, of the right size and speed, with and without a window."""

import os
import subprocess
import sys

import gymnasium
import imageio.v3 as imageio
import numpy as np
import pygame
import pytest

from explore_suite.errors import RenderingUnavailableError
from explore_suite.tasks import lookup


@pytest.mark.slow
def test_frames_show_something_that_moves(spec, make):
    env = make(spec, render_mode="rgb_array")
    env.reset(seed=0)
    env.action_space.seed(1)
    first = env.render()
    for _ in range(20):
        env.step(env.action_space.sample())
    second = env.render()
    assert first.dtype == np.uint8 and first.ndim == 3 and first.shape[2] == 3
    assert first.std() > 3
    assert (first != second).any()


@pytest.mark.slow
def test_size_and_camera_are_arguments(make):
    env = make(
        "ExploreSuite/WalkerWalk-v0", render_mode="rgb_array", width=700, height=500, camera="side"
    )
    env.reset(seed=0)
    assert env.render().shape == (500, 700, 3)
    bad = make("ExploreSuite/WalkerWalk-v0", render_mode="rgb_array", camera="moon")
    bad.reset(seed=0)
    with pytest.raises(ValueError, match="unknown camera 'moon'; this model has"):
        bad.render()


def test_unknown_render_mode_is_refused(spec):
    env_class = type(gymnasium.make(spec.id).unwrapped)
    with pytest.raises(ValueError, match="render_mode must be one of"):
        env_class(render_mode="ascii")


@pytest.mark.slow
def test_human_mode_draws_at_every_step(spec, make):
    env = make(spec, render_mode="human")
    env.reset(seed=0)
    env.step(env.action_space.sample())
    assert pygame.display.get_surface().get_width() > 100
    env.close()
    assert not pygame.display.get_init()


def test_human_mode_without_a_screen_says_so(monkeypatch, make):
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "SDL_VIDEODRIVER"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(RenderingUnavailableError, match="needs a screen"):
        make("ExploreSuite/GridWorld-v0", render_mode="human").reset()


@pytest.mark.slow
def test_record_video_has_the_control_rate(tmp_path):
    spec = lookup("WalkerExplore")
    env = gymnasium.make(
        spec.id, render_mode="rgb_array", width=64, height=64, max_episode_steps=12
    )
    env = gymnasium.wrappers.RecordVideo(env, str(tmp_path / "films"), disable_logger=True)
    env.reset(seed=0)
    while not env.step(env.action_space.sample())[3]:
        pass
    env.close()
    (film,) = (tmp_path / "films").glob("*.mp4")
    assert imageio.immeta(film)["fps"] == pytest.approx(40)


def test_grid_picture_has_start_lower_left_and_goal_upper_right(make):
    env = make("ExploreSuite/GridWorld-v0", size=4, render_mode="rgb_array")
    env.reset(seed=0)
    env.step(1)
    cells = env.render()[6::12, 6::12]
    assert cells.shape == (4, 4, 3)
    colours = {tuple(int(c) for c in cells[place]) for place in ((3, 0), (0, 3), (3, 1), (1, 1))}
    assert len(colours) == 4, "start, goal, agent and floor differ"
    assert tuple(cells[3, 1]) == (215, 95, 45), "the agent moved one column to the right"


@pytest.mark.slow
def test_a_failed_back_end_does_not_spoil_the_next():
    """EGL is made to fail; OSMesa is then really tried, and its own answer is reported."""
    environment = {**os.environ, "MUJOCO_EGL_DEVICE_ID": "99"}
    for name in ("MUJOCO_GL", "PYOPENGL_PLATFORM"):
        environment.pop(name, None)
    code = "import sys; from explore_suite.envs.rendering import open_context; open_context(8, 8)"
    run = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, env=environment
    )
    if run.returncode:
        assert "egl: " in run.stderr and "PYOPENGL_PLATFORM environment" not in run.stderr


def test_no_back_end_is_one_clear_error(monkeypatch):
    from explore_suite.envs import rendering

    def fail(name, *size):
        raise ImportError(f"no {name} here")

    monkeypatch.setattr(rendering, "try_back_end", fail)
    monkeypatch.delenv("MUJOCO_GL", raising=False)
    with pytest.raises(RenderingUnavailableError, match="egl: ImportError: no egl here") as caught:
        rendering.open_context(8, 8)
    assert "osmesa: ImportError" in str(caught.value) and "apt-get install libegl1" in str(
        caught.value
    )


@pytest.mark.slow
def test_an_environment_left_open_exits_quietly():
    code = (
        "import gymnasium, explore_suite\n"
        "env = gymnasium.make('ExploreSuite/ReacherHard-v0', render_mode='rgb_array')\n"
        "env.reset(seed=0); env.render()"
    )
    environment = {key: value for key, value in os.environ.items() if key != "MUJOCO_GL"}
    run = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment
    )
    assert run.stderr == ""
