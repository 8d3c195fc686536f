"""SAC whose behaviour noise is correlated over the steps of an episode: pink, or held (zeta).

The action in training is tanh(mean + std * noise). SAC draws independent (white) noise at every
step, and a random walk of such steps does not get far. Here too the noise of each step is standard
normal, but the steps of an episode depend on each other. Evaluation and updates are SAC's.

- pink: Eberhard et al. (2023), "Pink Noise Is All You Need": each action dimension gets a Gaussian
  sequence whose power falls as 1/frequency, by the method of Timmer and Koenig (1995). Different
  from Eberhard et al.: the variance is exactly 1, while that of their generator, which leaves the
  zero frequency out of its normalisation, is 1.07 in 1000 steps; and every episode begins a new
  sequence, also after one that was shorter than a sequence.
- zeta: one draw is held for a random number of steps, as in FlashSAC (2026); the continuous form of
  ez-greedy (Dabney et al., 2021). All action dimensions are held together. Different from FlashSAC:
  no hold outlasts an episode.
- white: SAC itself, bit for bit.
"""

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from baselines.agent import Bounds, State, Transition
from baselines.agents.sac import SAC, SACConfig
from baselines.nn.networks import spawn_seeds
from explore_suite.errors import SettingError

_PINK = 1.0  # exponent of the power spectrum; Eberhard et al.
_LONGEST_HOLD = 16  # steps; FlashSAC
# P(steps <= k) for k = 1 .. 16, of the truncated zeta distribution with exponent 2; FlashSAC.
_HOLD_CHANCES = np.cumsum(np.arange(1.0, _LONGEST_HOLD + 1) ** -2)
_HOLD_CHANCES /= _HOLD_CHANCES[-1]


@dataclass(frozen=True)
class SACNoiseConfig(SACConfig):
    """The hyperparameters of SAC and of its behaviour noise."""

    noise: str = "white"  # white, pink or zeta; white is SAC, the control
    noise_length: int = 1000  # steps of a pink sequence; an episode's; Eberhard et al.

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.noise not in ("white", "pink", "zeta"):
            raise SettingError(f"noise must be white, pink or zeta, got {self.noise!r}")
        if self.noise_length < 2:
            raise SettingError(f"noise_length must be at least 2, got {self.noise_length}")


class SACNoise(SAC):
    """SAC with behaviour noise that is correlated over time: `.pink` or `.zeta`; white is SAC.

    Noise is drawn ahead, for many steps at a time: a whole pink sequence, or one draw for as long
    as it is held. When an episode ends, the rest is dropped.
    """

    STATE = {"noise_rng": "_noise_rng"}
    Config = SACNoiseConfig
    config: SACNoiseConfig

    def __init__(
        self, bounds: Bounds, config: SACNoiseConfig, *, seed: int, device: str = "cpu"
    ) -> None:
        super().__init__(bounds, config, seed=seed, device=device)
        *_, noise_seed = spawn_seeds(seed, 5)
        self._noise_rng = torch.Generator().manual_seed(noise_seed)
        self._ahead = torch.empty(0, len(bounds.action_low))  # (steps, A) noise not yet used

    def behaviour_action(self, obs: np.ndarray) -> Tensor:
        """The action tanh(mean + std * noise), scaled to the bounds, with the step's own noise."""
        if self.is_random or self.config.noise == "white":
            return super().behaviour_action(obs)
        mean, std = self.actor.moments(obs)
        return torch.from_numpy(self.actor.bounded(mean + std * self._next_noise()))

    def observe(self, transition: Transition) -> None:
        """Stores the step; at the end of an episode drops the noise that is left."""
        super().observe(transition)
        if transition.terminated or transition.truncated:
            self._ahead = self._ahead[:0]

    def _next_noise(self) -> np.ndarray:
        """The noise (A,) of one step."""
        if not len(self._ahead):
            draw = {"pink": self._pink, "zeta": self._held}[self.config.noise]
            self._ahead = draw(self._ahead.shape[1])
        noise, self._ahead = self._ahead[0], self._ahead[1:]
        return noise.numpy()

    def _pink(self, action_dim: int) -> Tensor:
        n = self.config.noise_length
        normals = torch.randn(2, action_dim, n // 2 + 1, generator=self._noise_rng)
        return torch.from_numpy(coloured_noise(normals.double().numpy(), n, _PINK).T).float()

    def _held(self, action_dim: int) -> Tensor:
        steps = hold_time(float(torch.rand((), generator=self._noise_rng, dtype=torch.float64)))
        return torch.randn(action_dim, generator=self._noise_rng).expand(steps, -1)

    def state_dict(self) -> State:
        """What `STATE` lists, and the noise not yet used, whose length varies."""
        return super().state_dict() | {"noise_ahead": self._ahead.clone()}

    def load_state_dict(self, state: State) -> None:
        """Inverse of `state_dict`."""
        super().load_state_dict(state)
        self._ahead = state["noise_ahead"].clone()


def coloured_noise(normals: np.ndarray, n: int, exponent: float) -> np.ndarray:
    """(2, ..., n // 2 + 1) standard normals -> (..., n) noise of power ~ frequency^-exponent.

    Timmer and Koenig (1995): independent normal real and imaginary parts at each frequency k / n,
    scaled by the root of its power, and transformed back. The zero frequency has the power of the
    lowest other one, as in Eberhard et al.'s generator. Each number is normal with variance 1.
    """
    frequencies = np.fft.rfftfreq(n)
    frequencies[0] = frequencies[1]
    power = frequencies**-exponent
    # A real signal has every frequency twice, k and n - k, but zero and, if n is even, the last.
    single = np.zeros(len(power), bool)
    single[0] = single[-1] = True
    single[-1] &= n % 2 == 0
    power *= n / (power * np.where(single, 1, 2)).sum()  # the mean of all n is the variance, 1
    real, imaginary = normals
    parts = np.where(single, real, (real + 1j * imaginary) / np.sqrt(2))  # mean square 1
    return np.fft.irfft(np.sqrt(n * power) * parts, n)


def hold_time(uniform: float) -> int:
    """Number of steps for which a draw is held, given a uniform number in [0, 1).

    P(steps = k) is proportional to k^-2 for k = 1 .. 16: the zeta distribution, truncated.
    """
    return 1 + int(np.searchsorted(_HOLD_CHANCES, uniform, side="right"))
