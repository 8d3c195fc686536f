"""DESCRIPTIONS: what each reference agent is, in one line. A new agent is one entry."""

from typing import NamedTuple


class Paper(NamedTuple):
    """Where a method was published."""

    title: str  # author and year, as a text cites it
    url: str


class Description(NamedTuple):
    """One line about a method."""

    words: str
    file: str  # from the root of the repository
    paper: Paper | None = None


_SAC = Paper("Haarnoja et al., 2018", "https://arxiv.org/abs/1812.05905")
_DOUBLE_DQN = Paper("van Hasselt et al., 2016", "https://arxiv.org/abs/1509.06461")
_DEEP = Paper("Whitney et al., 2021", "https://arxiv.org/abs/2101.09458")
_PINK = Paper("Eberhard et al., 2023", "https://openreview.net/forum?id=hQ9V5QN27eS")
_OAC = Paper("Ciosek et al., 2019", "https://arxiv.org/abs/1910.12807")
_MAXINFO = Paper("Sukhija et al., 2025", "https://arxiv.org/abs/2412.12098")

# By name of the agent, as in the registry of the reference agents.
DESCRIPTIONS = {
    "random": Description(
        "Uniformly random actions: their mean return is the 0 of normalised scores.",
        "baselines/agents/random_agent.py",
    ),
    "sac": Description(
        "Soft actor-critic: explores by the entropy of its policy alone.",
        "baselines/agents/sac.py", _SAC,
    ),
    "sac_bbe": Description(
        "SAC with bonus-based exploration: a bonus for rare states is added to the stored reward.",
        "baselines/agents/bbe.py", _DEEP,
    ),
    "sac_2q": Description(
        "SAC with a second critic for the bonus: one policy maximises the sum of both.",
        "baselines/agents/sac_2q.py", _DEEP,
    ),
    "sac_deep": Description(
        "SAC proposes actions, and a fast-adapting exploration Q chooses among them; "
        "the task policy never sees the bonus.",
        "baselines/agents/deep.py", _DEEP,
    ),
    "sac_noise": Description(
        "SAC whose behaviour noise is correlated over the steps of an episode.",
        "baselines/agents/sac_noise.py", _PINK,
    ),
    "sac_oac": Description(
        "Optimistic actor-critic: SAC that behaves by an upper bound of its critics.",
        "baselines/agents/sac_oac.py", _OAC,
    ),
    "sac_maxinfo": Description(
        "SAC that also seeks information about the dynamics: the disagreement of forward models.",
        "baselines/agents/sac_maxinfo.py", _MAXINFO,
    ),
    "ddqn": Description(
        "Double DQN with a Boltzmann policy, for discrete actions.",
        "baselines/agents/ddqn.py", _DOUBLE_DQN,
    ),
    "ddqn_bbe": Description(
        "Double DQN with bonus-based exploration: a bonus for rare states is added to the reward.",
        "baselines/agents/bbe.py", _DEEP,
    ),
    "ddqn_deep": Description(
        "Double DQN learns the task, and the exploration Q of DEEP chooses what to try.",
        "baselines/agents/deep.py", _DEEP,
    ),
}  # fmt: skip
# What a variant changes: end of a label -> words.
VARIANTS = {
    "warm": "The first 20 episodes are played by a scripted expert.",
    "pure": "Pure exploration: its behaviour ignores the reward.",
    "pure_slow": "Pure exploration, with slow adaptation of the exploration Q.",
    "pure_plain": "Pure exploration, without optimism.",
    "white": "White noise: the same as SAC, as a control.",
    "pink": "Pink noise: its power falls as one over the frequency.",
    "zeta": "Held noise: one draw lasts for a random number of steps, 16 at most.",
    "rnd": "The bonus is the error in predicting a random network (Burda et al., 2018).",
    "hash": "The bonus counts visits by a hash of state and action (Tang et al., 2017).",
    "fast": "Its target networks move faster, for a demonstration in short runs.",
    "long": "It trains for 300 episodes.",
    "scale_0.01": "An ablation: the bonus is multiplied by 0.01.",
    "scale_0.1": "An ablation: the bonus is multiplied by 0.1.",
    "scale_10": "An ablation: the bonus is multiplied by 10.",
    "kernel_third": "An ablation: the kernel of the counts is a third as wide.",
    "kernel_triple": "An ablation: the kernel of the counts is three times as wide.",
    "rows_512": "An ablation: the count table has 512 rows.",
    "rows_all": "An ablation: the count table has a row for every visit.",
}


def describe(agent: str) -> Description | None:
    """What an agent of ours or a variant of it is; None for agents of others."""
    name, _, variant = agent.partition(".")
    found = DESCRIPTIONS.get(name)
    if found is None or not variant:
        return found
    words = VARIANTS.get(variant, f"Variant {variant}.")
    return found._replace(words=f"{found.words} {words}")
