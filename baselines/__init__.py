"""Reference agents by name. To add one, write a file in `agents` and add a line here.

The rooms, each of which may import those before it: `nn` (networks, replay), `bonuses`, `agents`,
`training` (one resumable run), `sweep` (many), `cli` (commands), `bench` (speed). Beside them are
`agent.py` (the protocol), `runner.py` (the training loop) and `settings.py` (the presets).

Eq., Algorithm, section and Appendix numbers in this package are those of the paper: Whitney et al.,
Decoupled Exploration and Exploitation Policies for Sample-Efficient Reinforcement Learning, 2021.
"""

from typing import Any

from baselines.agents.bbe import DDQNBBE, SACBBE
from baselines.agents.ddqn import DDQN
from baselines.agents.deep import DDQNDeep, SACDeep
from baselines.agents.random_agent import RandomAgent
from baselines.agents.sac import SAC
from baselines.agents.sac_2q import SAC2Q
from baselines.agents.sac_maxinfo import SACMaxInfo
from baselines.agents.sac_noise import SACNoise
from baselines.agents.sac_oac import SACOAC

AGENTS: dict[str, Any] = {
    "sac": SAC,
    "sac_bbe": SACBBE,
    "sac_2q": SAC2Q,
    "sac_deep": SACDeep,
    "sac_noise": SACNoise,
    "sac_oac": SACOAC,
    "sac_maxinfo": SACMaxInfo,
    "ddqn": DDQN,
    "ddqn_bbe": DDQNBBE,
    "ddqn_deep": DDQNDeep,
    "random": RandomAgent,
}
