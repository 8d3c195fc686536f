"""`explore-suite play`: steer a task with the arrow keys and see how hard it is."""

import argparse
from collections.abc import Callable, Collection
from typing import Any

import gymnasium
import numpy as np

from explore_suite.cli.console import say
from explore_suite.errors import UserError
from explore_suite.tasks import TaskSpec, lookup

ARROWS = ("up", "right", "down", "left")  # in the order of the grid's four moves
Keys = Callable[[], Collection[str] | None]  # the arrows held down now; None to stop playing


def main(arguments: list[str]) -> None:
    """Plays one episode in a window and prints its return."""
    options = _parser().parse_args(arguments)
    spec = lookup(options.task)
    require_steerable(spec)
    if options.seed < 0:
        raise UserError(f"--seed must be 0 or more, got {options.seed}")
    total, steps = play(spec, held_arrows, options.seed)
    say(f"{spec.name}: return {total:.1f} in {steps} steps")


def require_steerable(spec: TaskSpec) -> None:
    """Raises UserError unless four arrow keys can express the task's actions."""
    if spec.action_dim not in ((4,) if spec.discrete else (1, 2)):
        raise UserError(
            f"{spec.name} cannot be steered with four arrow keys: it has {spec.action_dim} "
            f"{'discrete' if spec.discrete else 'continuous'} actions (see explore-suite watch)"
        )


def action_of(spec: TaskSpec, held: Collection[str]) -> np.ndarray | int | None:
    """The action that the held arrows stand for; None where a discrete task has nothing to do.

    Left and right are -1 and 1 of the first action, down and up of the second; opposite arrows
    cancel. Discrete actions are the arrows in the order of ARROWS.
    """
    if spec.discrete:
        return next((action for action, arrow in enumerate(ARROWS) if arrow in held), None)
    axes = [("right" in held) - ("left" in held), ("up" in held) - ("down" in held)]
    return np.array(axes[: spec.action_dim], dtype=np.float32)


def play(spec: TaskSpec, keys: Keys, seed: int) -> tuple[float, int]:
    """Return and steps of one episode in a window, until it is over or `keys` says stop."""
    total, steps, over = 0.0, 0, False
    with gymnasium.make(spec.id, render_mode="human") as env:
        env.reset(seed=seed)  # opens the window
        say(f"{spec.name}: {spec.summary}. Steer with the arrow keys; ESC ends.")
        while not over and (held := keys()) is not None:
            action = action_of(spec, held)
            if action is None:
                env.unwrapped.show()  # type: ignore[attr-defined]  # waits for the next frame
                continue
            _, reward, terminated, truncated, _ = env.step(action)
            total, steps, over = total + float(reward), steps + 1, terminated or truncated
    return total, steps


def held_arrows() -> Collection[str] | None:
    """Arrows held in the window, or tapped since the last call; None after ESC or its closing."""
    import pygame  # needed by the window already

    codes: dict[Any, str] = {getattr(pygame, f"K_{arrow.upper()}"): arrow for arrow in ARROWS}
    found = set()
    for event in pygame.event.get():
        if event.type == pygame.QUIT:
            return None
        if event.type == pygame.KEYDOWN:
            if event.key == pygame.K_ESCAPE:
                return None
            found |= {codes[event.key]} if event.key in codes else set()
    pressed = pygame.key.get_pressed()
    return found | {arrow for code, arrow in codes.items() if pressed[code]}


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="explore-suite play",
        description="Steer one episode of a task in a window. Left and right are the first "
        "action, down and up the second; in the grid world the arrows are the four moves. ESC or "
        "closing the window ends the episode; its return is printed.",
    )
    parser.add_argument("task", help="a task with at most two actions, or GridWorld")
    parser.add_argument("--seed", type=int, default=0, help="seed of the start (default: 0)")
    return parser
