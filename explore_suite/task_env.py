"""An env of the suite under its user's wrappers: which task it is, and what can be done with it."""

import copy
from collections.abc import Callable, Iterator

import gymnasium
from gymnasium.wrappers import NormalizeObservation, OrderEnforcing, PassiveEnvChecker, TimeLimit

from explore_suite.errors import UserError
from explore_suite.tasks import TASKS, TaskSheet

_PICTURE_ONLY = {"render_mode", "width", "height", "camera"}  # arguments that change no result


def layers(env: gymnasium.Env) -> Iterator[gymnasium.Env]:
    """The env, what it wraps, and so on to the task itself."""
    while isinstance(env, gymnasium.Wrapper):
        yield env
        env = env.env
    yield env


def checked_task(env: gymnasium.Env) -> TaskSheet:
    """The task of an env; a UserError if it is not one of the suite, just as registered."""
    if not isinstance(env, gymnasium.Env):
        raise UserError(
            f"one gymnasium.Env is needed, not a {type(env).__name__}: record each environment "
            "before it goes into a vector of them"
        )
    task = env.unwrapped
    if task.spec is None or task.spec.id not in TASKS:
        found = type(task).__name__ if task.spec is None else task.spec.id
        raise UserError(f"a task of the suite, made by gymnasium.make, is needed, not {found}")
    sheet = TASKS[task.spec.id]
    given = task.spec.kwargs
    settings = {name: given[name] for name in given if name not in _PICTURE_ONLY}
    if settings != sheet.kwargs:
        raise UserError(f"{sheet.id} was made with {settings}: leave it as it is registered")
    _check_time_limit(env, sheet)
    return sheet


def around_time_limit(
    env: gymnasium.Env, wrapper: Callable[[gymnasium.Env], gymnasium.Env]
) -> gymnasium.Env:
    """The env with one more wrapper, put inside of all that its user has put around the task."""
    outside = None
    for layer in layers(env):
        if isinstance(layer, TimeLimit):
            inner = wrapper(layer)
            break
        outside = layer
    if outside is None:
        return inner
    outside.env = inner  # type: ignore[attr-defined]
    return env


def copied(env: gymnasium.Env) -> gymnasium.Env:
    """Another env of the same task with the same wrappers; a UserError if they do not allow it."""
    if any(isinstance(layer, NormalizeObservation) for layer in layers(env)):
        raise UserError(
            "NormalizeObservation learns from what it sees, and a copy would learn otherwise: "
            "record first, then wrap env and env.eval_env, and let them share the statistics"
        )
    try:
        other = copy.deepcopy(env)
    except (TypeError, copy.Error) as error:
        raise UserError(
            f"a wrapper cannot be copied for evaluation ({error}): record first, then wrap env "
            "and env.eval_env"
        ) from error
    other.unwrapped.spec = env.unwrapped.spec  # the task pickles as its arguments alone
    return other


def _check_time_limit(env: gymnasium.Env, sheet: TaskSheet) -> None:
    found = list(layers(env))
    limits = [layer for layer in found if isinstance(layer, TimeLimit)]
    steps = [layer.spec.max_episode_steps for layer in limits if layer.spec is not None]
    if steps != [sheet.horizon]:
        given = " and ".join(map(str, steps)) or "none"
        raise UserError(
            f"{sheet.id} needs its own time limit of {sheet.horizon} steps alone, got {given}"
        )
    for layer in found[found.index(limits[0]) + 1 : -1]:
        if not isinstance(layer, OrderEnforcing | PassiveEnvChecker):
            raise UserError(f"put {type(layer).__name__} around what gymnasium.make returns")
