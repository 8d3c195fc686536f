"""Reference agents, by name: a new one is one file and one line here."""

from typing import Any

from baselines.agents.bbe import DDQNBBE, SACBBE
from baselines.agents.ddqn import DDQN
from baselines.agents.deep import DDQNDeep, SACDeep
from baselines.agents.random_agent import RandomAgent
from baselines.agents.sac import SAC
from baselines.agents.sac_2q import SAC2Q

AGENTS: dict[str, Any] = {
    "sac": SAC,
    "sac_bbe": SACBBE,
    "sac_2q": SAC2Q,
    "sac_deep": SACDeep,
    "ddqn": DDQN,
    "ddqn_bbe": DDQNBBE,
    "ddqn_deep": DDQNDeep,
    "random": RandomAgent,
}
