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
# The same for ablations and longer runs: shown, but neither ranked nor compared with methods.
UNRANKED = {
    "sac.long": "SAC, 300 episodes",
    "sac_deep.long": "SAC+DEEP, 300 episodes",
    "sac_bbe.scale_0.01": "SAC+BBE, bonus x 0.01",
    "sac_bbe.scale_0.1": "SAC+BBE, bonus x 0.1",
    "sac_bbe.scale_10": "SAC+BBE, bonus x 10",
    "sac_deep.kernel_third": "SAC+DEEP, kernel / 3",
    "sac_deep.kernel_triple": "SAC+DEEP, kernel x 3",
    "sac_deep.rows_512": "SAC+DEEP, 512 rows",
    "sac_deep.rows_all": "SAC+DEEP, a row per visit",
}
NAMES = METHODS | UNRANKED


def ordered(methods: Iterable[str]) -> list[str]:
    """Labels in the order of NAMES, then all others alphabetically."""
    rank = {method: index for index, method in enumerate(NAMES)}
    return sorted(methods, key=lambda method: (rank.get(method, len(rank)), method))
