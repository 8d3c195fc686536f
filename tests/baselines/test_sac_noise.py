"""Coloured behaviour noise: its spectrum, its hold times, how far it carries, and white is SAC."""

import numpy as np
import pytest
import torch

from baselines.agent import Transition
from baselines.agents.sac_noise import coloured_noise, hold_time
from explore_suite.errors import SettingError
from tests.helpers.generators import generator
from tests.helpers.small_agents import episodes, small

OBS = np.zeros(2, np.float32)  # where a fresh actor has mean 0 and standard deviation exp(-1.5)
STD = np.exp(-1.5)


@pytest.mark.parametrize("n", [64, 65])
@pytest.mark.parametrize("exponent", [0.0, 1.0, 2.0])
def test_noise_has_unit_variance_and_the_power_of_its_colour(n, exponent):
    """The covariance is known exactly: noise is linear in the normals it is made of."""
    half = n // 2 + 1
    basis = np.eye(2 * half).reshape(2 * half, 2, half).transpose(1, 0, 2)
    response = coloured_noise(basis, n, exponent)  # (normals, n)
    covariance = response.T @ response
    np.testing.assert_allclose(np.diag(covariance), 1)
    for shift in range(n):  # stationary: a covariance depends on the distance alone
        np.testing.assert_allclose(np.roll(covariance[0], shift), covariance[shift], atol=1e-12)
    power = np.fft.rfft(covariance[0]).real
    expected = np.arange(1, half, dtype=float) ** -exponent
    np.testing.assert_allclose(power[1:] / power[1], expected)
    assert power[0] == pytest.approx(power[1])


def test_the_spectrum_of_drawn_pink_noise_falls_with_slope_minus_one():
    normals = np.random.default_rng(0).standard_normal((2, 400, 501))
    noise = coloured_noise(normals, 1000, 1.0)
    assert noise.shape == (400, 1000)
    assert np.mean(noise**2) == pytest.approx(1, abs=0.03)
    power = np.mean(np.abs(np.fft.rfft(noise)) ** 2, axis=0)[1:]
    slope, _ = np.polyfit(np.log(np.arange(1, 501)), np.log(power), 1)
    assert slope == pytest.approx(-1, abs=0.01)


def test_hold_times_follow_the_zeta_distribution_truncated_at_16():
    """As in FlashSAC: 16 steps do not take the probability of all that are longer."""
    times = np.array([hold_time(u) for u in (np.arange(200_000) + 0.5) / 200_000])
    total = sum(k**-2.0 for k in range(1, 17))
    for k in range(1, 17):
        assert np.mean(times == k) == pytest.approx(k**-2 / total, abs=2e-5)
    assert times.max() == hold_time(np.nextafter(1.0, 0.0)) == 16 and hold_time(0.0) == 1


def test_white_noise_is_sac_bit_for_bit():
    white, sac = small("sac_noise"), small("sac")
    assert episodes(white, "sac_noise", range(4)) == episodes(sac, "sac", range(4))
    assert torch.equal(white.actor.net.params, sac.actor.net.params)


def learner(name, **settings):
    """A fresh agent that is past the seed phase, so that its actor acts."""
    agent = small(name, warmup_steps=0, **settings)
    agent.updates = 1
    return agent


def noise_of(agent, steps, last=False):
    """The noise (steps, A) in the actions of some steps; the last of them may end the episode."""
    found = []
    for step in range(steps):
        action = agent.act(OBS, explore=True)
        over = last and step == steps - 1
        agent.observe(Transition(OBS, action, 0.0, OBS, False, over))
        found.append(np.arctanh(action.astype(float)) / STD)
    state = agent.state_dict()
    state["counters"]["_due"] = 0  # no learning
    agent.load_state_dict(state)
    return np.array(found)


def test_an_episode_uses_one_sequence_and_the_next_one_another():
    agent = learner("sac_noise.pink", noise_length=20)
    rng = generator(agent.state_dict()["noise_rng"])
    normals = torch.randn(2, 2, 11, generator=rng).double().numpy()
    first = coloured_noise(normals, 20, 1.0).T
    np.testing.assert_allclose(noise_of(agent, 12, last=True), first[:12], atol=1e-4)
    normals = torch.randn(2, 2, 11, generator=rng).double().numpy()
    second = coloured_noise(normals, 20, 1.0).T
    np.testing.assert_allclose(noise_of(agent, 20), second, atol=1e-4)
    beyond = noise_of(agent, 5)  # the sequence is used up: a third one
    assert not np.allclose(beyond, second[:5], atol=1e-2)


def test_zeta_noise_is_held_and_then_drawn_again():
    noise = noise_of(learner("sac_noise.zeta"), 400)
    changes = np.flatnonzero(np.any(np.diff(noise, axis=0) != 0, axis=1))
    held = np.diff(changes)
    assert held.min() == 1 and 8 < held.max() <= 16
    assert np.mean(held == 1) == pytest.approx(0.631, abs=0.1)  # 1 / (1 + 1/4 + ... + 1/256)
    both = np.all(np.diff(noise, axis=0)[changes] != 0, axis=1)
    assert both.all()  # all dimensions together


@pytest.mark.parametrize("name", ["sac_noise.pink", "sac_noise.zeta"])
def test_a_copy_made_in_mid_episode_has_the_same_noise_ahead(name):
    agent, resumed = learner(name), learner(name, seed=9)
    noise_of(agent, 7)
    resumed.load_state_dict(agent.state_dict())
    np.testing.assert_array_equal(noise_of(agent, 40), noise_of(resumed, 40))


@pytest.mark.slow
def test_correlated_noise_carries_farther():
    """A walk whose steps are the actions: root mean square distance after 100 steps.

    White noise goes sqrt(100) STD. A hold of h steps makes that sqrt(E[h^2] / E[h]) = 2.2 times as
    far, a little less as the last hold is cut off; pink noise adds up over the whole episode.
    """
    distance = {}
    for kind in ("sac_noise", "sac_noise.zeta", "sac_noise.pink"):
        agent = learner(kind)
        ends = [noise_of(agent, 100, last=True).sum(0) for _ in range(100)]
        distance[kind] = np.sqrt(np.mean(np.square(ends)))
    white = distance["sac_noise"]
    assert white == pytest.approx(10, rel=0.15)
    assert distance["sac_noise.zeta"] / white == pytest.approx(2.15, abs=0.3)
    assert distance["sac_noise.pink"] / white > 5


@pytest.mark.parametrize(
    ("options", "message"),
    [({"noise": "brown"}, "noise must be white, pink or zeta, got 'brown'"),
     ({"noise_length": 1}, "noise_length must be at least 2, got 1")],
)  # fmt: skip
def test_bad_settings_are_refused_by_name(options, message):
    with pytest.raises(SettingError, match=message):
        small("sac_noise", **options)
