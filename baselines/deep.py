"""DEEP: the task policy proposes actions, a fast exploration Q chooses among them."""

import numpy as np
from torch import Tensor

from baselines.agent import State, Transition
from baselines.explorer import Explorer
from baselines.off_policy import OffPolicy


class Deep(OffPolicy):
    """Differs from its learner in how it behaves while exploring, not in how it learns the task.

    Behaviour is the product of both policies, by self-normalised importance sampling: draw from the
    task policy, choose by the exploration policy. With one candidate this is the learner alone, bit
    for bit.
    """

    explorer: Explorer

    def behaviour_action(self, obs: np.ndarray) -> Tensor:
        """The candidate of the task policy that promises most novelty, softly."""
        if self.in_warmup:
            return super().behaviour_action(obs)
        candidates = self.propose(obs, self.explorer.config.behaviour_candidates)
        return candidates[self.explorer.choose(self.as_tensor(obs), candidates)]

    def propose(self, obs: np.ndarray, n: int) -> Tensor:
        """The `n` actions (n, A) to choose among."""
        return self.sample_actions(obs, n)

    def observe(self, transition: Transition) -> None:
        """Stores the step with the environment's reward, and counts the visit."""
        super().observe(transition)
        self.explorer.observe(transition)

    def update(self) -> dict[str, float]:
        """The exploration Q at every step; with a burst also the mean bonus since the last."""
        info, burst = self.explorer.update(), super().update()
        return info | burst | self.explorer.novelty.mean() if burst else info

    def state_dict(self) -> State:
        """The learner's state and the explorer's."""
        return super().state_dict() | {"explorer": self.explorer.state_dict()}

    def load_state_dict(self, state: State) -> None:
        """Inverse of `state_dict`."""
        super().load_state_dict(state)
        self.explorer.load_state_dict(state["explorer"])
