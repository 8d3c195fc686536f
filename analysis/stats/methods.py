"""Display names of the reference methods, in the order of all tables and legends."""

from collections.abc import Iterable

# Label in the store -> display name. Variants that never share a figure may share a name.
METHODS = {
    "random": "Uniform random",
    "sac": "SAC",
    "sac.fast": "SAC",
    "sac_bbe": "SAC+BBE",
    "sac_2q": "SAC 2Q",
    "sac_deep": "SAC+DEEP",
    "sac_deep.fast": "SAC+DEEP",
    "sac_bbe.rnd": "SAC+BBE, RND",
    "sac_deep.rnd": "SAC+DEEP, RND",
    "sac_bbe.hash": "SAC+BBE, SimHash",
    "sac_deep.hash": "SAC+DEEP, SimHash",
    "sac_noise": "SAC, white noise",
    "sac_noise.white": "SAC, white noise",
    "sac_noise.pink": "SAC, pink noise",
    "sac_noise.zeta": "SAC, held noise",
    "sac_oac": "OAC",
    "sac_maxinfo": "MaxInfoSAC",
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


def ordered(methods: Iterable[str]) -> list[str]:
    """Labels in the order of METHODS, then all others alphabetically."""
    rank = {method: index for index, method in enumerate(METHODS)}
    return sorted(methods, key=lambda method: (rank.get(method, len(rank)), method))
