"""The example of an agent with an autograd loss in CONTRIBUTING.md works as it stands."""

import re
from pathlib import Path

import pytest
import torch

from baselines.agents.sac import SAC
from baselines.settings import bounds, resolve
from explore_suite.tasks import lookup
from tests.helpers.small_agents import SMALL_SAC, episodes, task_of

pytestmark = pytest.mark.slow

TEXT = (Path(__file__).parents[2] / "CONTRIBUTING.md").read_text()


def test_an_agent_may_learn_by_backward():
    (code,) = re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL)
    names = {"SAC": SAC, "torch": torch}
    exec(code, names)
    config = resolve("cpu", "sac", task_of("sac"), SMALL_SAC)
    agent = names["CautiousSAC"](bounds(lookup(task_of("sac"))), config, seed=0)
    before = agent.penalty.weight.detach().clone()
    *_, info = episodes(agent, "sac", range(3))
    assert info["penalty_loss"] >= 0 and "critic_loss" in info
    assert not torch.equal(agent.penalty.weight, before)
