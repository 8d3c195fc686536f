"""`explore-suite watch`: shows one episode of a task as a film, a picture or in a window."""

import argparse
import contextlib
import importlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
from gymnasium.envs.registration import load_env_creator

from explore_suite.cli.console import say
from explore_suite.errors import UserError
from explore_suite.installation import install_command
from explore_suite.tasks import TaskSpec, lookup

_FORMATS = (".mp4", ".gif", ".png")
_GRID_FPS = 20  # the grid world has no physical time
Policy = Callable[[gymnasium.Env, np.ndarray], np.ndarray | int]  # env, obs -> action

POLICIES: dict[str, Policy] = {
    "random": lambda env, obs: env.action_space.sample(),
    "zero": lambda env, obs: np.zeros_like(env.action_space.sample())[()],
}
# By name, because explore_suite must not import baselines.
_TRAINED = "baselines.training.artefacts:load_policy"


def main(arguments: list[str]) -> None:
    """Plays one episode, writes or shows it, and prints its return."""
    options = _parser().parse_args(arguments)
    spec = lookup(options.task)
    steps = spec.horizon if options.steps is None else options.steps
    if not 1 <= steps <= spec.horizon:
        raise UserError(f"--steps must be from 1 to {spec.horizon}, got {steps}")
    if options.seed < 0:
        raise UserError(f"--seed must be 0 or more, got {options.seed}")
    policy = trained(options.run, spec) if options.run else POLICIES[options.policy]
    if options.window:
        total = sum(reward for _, reward in steps_of(spec, "human", policy, options.seed, steps))
        say(f"{spec.name}: return {total:.1f} in {steps} steps")
        return
    out = Path(options.out or f"{spec.name}.mp4")
    if out.suffix not in _FORMATS:
        raise UserError(f"--out must end in one of {', '.join(_FORMATS)}, got {out.name!r}")
    if options.every < 1 or (options.size is not None and options.size < 16):
        raise UserError("--every must be at least 1, --size at least 16")
    total = film(spec, out, policy, options.seed, steps, every=options.every, size=options.size)
    say(f"{spec.name}: return {total:.1f} in {steps} steps, written to {out}")


def trained(run: Path, spec: TaskSpec) -> Policy:
    """The trained policy, without exploration, of a finished run of this task."""
    module, function = _TRAINED.split(":")
    try:
        load = getattr(importlib.import_module(module), function)
    except ModuleNotFoundError as error:
        raise UserError(f"needs {error.name}: {install_command('baselines')}") from error
    task, policy = load(run)
    if task != spec.id:
        raise UserError(f"{run} is a run of {task}, not of {spec.name}")
    return lambda env, obs: policy(obs)


def film(
    spec: TaskSpec, out: Path, policy: Policy, seed: int, steps: int, *,
    every: int = 1, size: int | None = None,
) -> float:  # fmt: skip
    """Plays one episode, writes it to `out` (.png: its last frame) and returns its return.

    A film keeps every `every`-th frame, at the speed of the simulation; `size` is the height of its
    frames in pixels.
    """
    try:
        import imageio.v2 as imageio
        from tqdm import tqdm
    except ImportError as error:
        raise UserError(f"needs {error.name}: {install_command('video')}") from error
    episode = steps_of(spec, "rgb_array", policy, seed, steps, **_frame(spec, size))
    total = 0.0
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        with _writer(imageio, spec, out, every) as write:
            bar = tqdm(episode, total=steps, desc=spec.name, unit="step", mininterval=1)
            for step, (draw, reward) in enumerate(bar, start=1):
                if step == steps or (out.suffix != ".png" and step % every == 0):
                    write(draw())
                total += reward
    except OSError as error:
        raise UserError(f"cannot write {out}: {error.strerror or error}") from error
    return total


def steps_of(
    spec: TaskSpec, render_mode: str, policy: Policy, seed: int, steps: int, **frame: Any
) -> Iterator[tuple[Callable[[], Any], float]]:
    """Plays one episode; yields after each step a function that renders it, and the reward.

    `frame` may hold the width and height of what is rendered.
    """
    with gymnasium.make(spec.id, render_mode=render_mode, **frame) as env:
        obs, _ = env.reset(seed=seed)
        env.action_space.seed(seed)
        for _ in range(steps):
            obs, reward, *_ = env.step(policy(env, obs))
            yield env.render, float(reward)


def _frame(spec: TaskSpec, height: int | None) -> dict[str, int]:
    """Arguments that make an environment render frames of this height, in its own proportions."""
    if height is None:
        return {}
    found = getattr(load_env_creator(spec.entry_point), "default_size", None)
    if found is None:
        raise UserError(f"frames of {spec.name} have one size only: leave --size out")
    return {"width": round(height * found[0] / found[1]), "height": height}


@contextlib.contextmanager
def _writer(imageio: Any, spec: TaskSpec, out: Path, every: int) -> Iterator[Callable[[Any], None]]:
    """A function that appends a frame to `out`; the file is complete when the context ends."""
    if out.suffix == ".png":
        yield lambda frame: imageio.imwrite(out, frame)
        return
    fps = (1 / spec.control_step if spec.control_step else _GRID_FPS) / every
    gif: dict[str, Any] = {"duration": 1000 / fps, "loop": 0}
    video: dict[str, Any] = {"fps": fps, "macro_block_size": 1}
    with imageio.get_writer(out, **(gif if out.suffix == ".gif" else video)) as writer:
        yield writer.append_data


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="explore-suite watch",
        description="Play one episode of a task and write it as a film or picture, or show it.",
    )
    parser.add_argument("task", help="a task of `explore-suite list`, e.g. WalkerExplore")
    where = parser.add_mutually_exclusive_group()
    where.add_argument("--out", help="file to write: .mp4, .gif or .png (default: TASK.mp4)")
    where.add_argument(
        "--window", action="store_true", help="show it in a window instead of writing a file"
    )
    who = parser.add_mutually_exclusive_group()
    who.add_argument(
        "--policy",
        choices=POLICIES,
        default="random",
        help="where actions come from without --run (default: random)",
    )
    who.add_argument(
        "--run", type=Path, help="use the trained policy of this finished run (its .csv or .json)"
    )
    parser.add_argument(
        "--seed", type=int, default=0, help="seed of the start and of random actions (default: 0)"
    )
    parser.add_argument(
        "--steps", type=int, help="stop after this many steps (default: the whole episode)"
    )
    parser.add_argument(
        "--every", type=int, default=1, help="keep every EVERY-th frame only, for small films"
    )
    parser.add_argument("--size", type=int, help="height of the frames in pixels")
    return parser
