"""The trained policy of a finished run: its weights on disk, as plain safetensors."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
from safetensors import SafetensorError
from safetensors.torch import load as load_bytes
from safetensors.torch import save as save_bytes

from baselines.agent import Action, Agent
from baselines.settings import build, config_of
from explore_suite.errors import UserError
from explore_suite.results import WEIGHTS, read_header, replace_bytes


def save(path: Path, agent: Agent) -> None:
    """Writes what the agent needs to act without exploring."""
    weights = {name: tensor.cpu().contiguous() for name, tensor in agent.policy_dict().items()}
    replace_bytes(path, save_bytes(weights))


def load(run: Path) -> tuple[str, Callable[[np.ndarray], Action]]:
    """The task of a run, given by its .csv or .json file, and its task policy: obs -> action."""
    path = run.with_suffix(".json")
    header = read_header(path)
    weights = path.with_suffix(WEIGHTS)
    if not header.finished:
        raise UserError(f"{path} is not finished: weights are left at the end")
    if not weights.exists():
        raise UserError(f"{weights} is missing: weights are left by runs that finish here")
    agent = build(header.agent, header.task, config_of(header), seed=header.seed)
    try:
        agent.load_policy_dict(load_bytes(weights.read_bytes()))
    except (SafetensorError, KeyError, RuntimeError) as error:
        raise UserError(f"{weights} does not fit its run: {error}") from error
    return header.task, lambda obs: agent.act(obs, explore=False)
