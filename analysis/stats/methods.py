"""Names of the reference methods, in the one order of all tables and legends."""

from collections.abc import Iterable

# Label in the store -> name. Variants of one experiment share the name of their method.
METHODS = {
    "random": "Uniform random",
    "sac": "SAC",
    "sac.fast": "SAC",
    "sac_bbe": "SAC+BBE",
    "sac_2q": "SAC 2Q",
    "sac_deep": "SAC+DEEP",
    "sac_deep.fast": "SAC+DEEP",
    "ddqn": "DDQN",
    "ddqn.warm": "DDQN",
    "ddqn_bbe": "DDQN+BBE",
    "ddqn_bbe.warm": "DDQN+BBE",
    "ddqn_bbe.pure": "BBE",
    "ddqn_deep.pure_slow": "DEEP, slow adaptation",
    "ddqn_deep.pure_plain": "DEEP, no optimism",
    "ddqn_deep": "DDQN+DEEP",
    "ddqn_deep.warm": "DDQN+DEEP",
    "ddqn_deep.pure": "DEEP",
}


def ordered(agents: Iterable[str]) -> list[str]:
    """Labels in the order of METHODS, then all others by name."""
    rank = {agent: index for index, agent in enumerate(METHODS)}
    return sorted(agents, key=lambda agent: (rank.get(agent, len(rank)), agent))
