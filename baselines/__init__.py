"""Reference agents, by name: a new one is one file and one line here."""

from typing import Any

from baselines.bbe import DDQNBBE, SACBBE
from baselines.ddqn import DDQN
from baselines.deep import DDQNDeep, SACDeep
from baselines.random_agent import RandomAgent
from baselines.sac import SAC
from baselines.sac_2q import SAC2Q

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
