"""What a learner that knew GridWorld's values exactly would visit: the yardstick of claim C2.

`docs/grid_world_c2.md` explains the numbers. Coverage is computed, not sampled: if one episode
visits a state with probability p, then n episodes miss it with probability (1 - p)^n.
"""

import numpy as np
import pytest
import torch

from baselines.agents.ddqn import DDQN
from baselines.runner import Trainer
from baselines.settings import bounds, resolve
from explore_suite.envs.gridworld import GridWorld
from explore_suite.tasks import lookup

SIZE, ACTIONS, STEPS, DISCOUNT = 40, 4, 100, 0.99
STATES = SIZE * SIZE  # state number = row * SIZE + column
GOAL = STATES - 1
SKILLED, OWN = 20, 280  # episodes of the skilled policy, and after it


def transitions():
    """The state that follows each (state, action), (STATES, ACTIONS), asked of the task itself."""
    env = GridWorld()
    env.reset()
    after = np.empty((STATES, ACTIONS), int)
    for state, action in np.ndindex(after.shape):
        env.set_state(np.array(divmod(state, SIZE)))
        obs, reward, *_ = env.step(action)
        after[state, action] = int(obs[0]) * SIZE + int(obs[1])
        assert reward == (after[state, action] == GOAL)
    return after


AFTER = transitions()
REWARD = (AFTER == GOAL).astype(float)


def perfect_values():
    """Q* by value iteration, (STATES, ACTIONS); time limits bootstrap, as they do for learners."""
    values = np.zeros((STATES, ACTIONS))
    for _ in range(3000):
        values = REWARD + DISCOUNT * values.max(1)[AFTER]
    return values.round(6)  # so that equal ones are equal


Q = perfect_values()


def boltzmann(temperature, preferred=0.0):
    """The Boltzmann policy of Q* plus a preference, (STATES, ACTIONS)."""
    values = Q + preferred
    odds = np.exp((values - values.max(1, keepdims=True)) / temperature)
    return odds / odds.sum(1, keepdims=True)


def row_first():
    """The greedy policy of Q* that takes the first of equally good actions."""
    return np.eye(ACTIONS)[Q.argmax(1)]


def shown():
    """One for the action that the skilled policy means to take, (STATES, ACTIONS)."""
    row, column = np.divmod(np.arange(STATES), SIZE)
    return np.eye(ACTIONS)[np.where(column > row, 0, 1)]


def skilled():
    """The policy of the warm start: 75 % a step towards the goal, else a uniform action."""
    return 0.25 / ACTIONS + 0.75 * shown()


def visit_chances(policy):
    """The probability that an episode visits each state, (STATES,)."""
    same = np.eye(STATES, dtype=bool)
    chances = same.astype(np.float32)  # [here, state]: to visit it in the steps that are left
    for _ in range(STEPS):
        moves = [policy[:, [a]].astype(np.float32) * chances[AFTER[:, a]] for a in range(ACTIONS)]
        chances = np.where(same, np.float32(1), sum(moves))
    return chances[0].astype(float)


def expected_return(policy):
    """Of one episode from the start."""
    value = np.zeros(STATES)
    for _ in range(STEPS):
        value = (policy * (REWARD + value[AFTER])).sum(1)
    return value[0]


MISSED = (1 - visit_chances(skilled())) ** SKILLED  # by the warm start, (STATES,)


def growth(policy, *episodes):
    """The coverage that so many episodes are expected to add to that of the warm start."""
    chances = visit_chances(policy)
    return [float((MISSED * (1 - (1 - chances) ** n)).mean()) for n in episodes]


def test_values_are_those_of_an_endless_stay_at_the_goal():
    assert Q[GOAL].max() == pytest.approx(100)
    assert Q[0, :2] == pytest.approx(100 * DISCOUNT**77)  # 46.1; the 78th step is paid
    middle = Q[20 * SIZE + 20]
    assert middle[0] == middle[1], "there are many shortest ways"
    assert middle[0] - middle[2] == pytest.approx(middle[0] * (1 - DISCOUNT**2))


def test_the_warm_start_covers_a_ninth():
    assert 1 - MISSED.mean() == pytest.approx(0.113, abs=0.001)
    assert expected_return(skilled()) == pytest.approx(1.97, abs=0.01)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("policy", "return_", "added"),
    [
        (boltzmann(0.3), 19.29, [0.487, 0.558]),  # behaviour
        (boltzmann(0.1), 22.98, [0.476, 0.546]),  # evaluation
        (boltzmann(1e-3), 23, [0.476, 0.546]),  # greedy, equally good actions at random
        (row_first(), 23, [0.047, 0.047]),  # greedy, always the same way
        (boltzmann(0.3, 0.5 * shown()), 21.92, [0.057, 0.083]),  # drawn to the shown way
        (boltzmann(0.3, 0.5 * np.eye(ACTIONS)[0]), 11.60, [0.261, 0.293]),  # drawn to one side
        (np.full((STATES, ACTIONS), 1 / ACTIONS), 0, [0.134, 0.172]),
    ],
)
def test_perfect_values_go_on_covering_states_unless_ties_are_broken(policy, return_, added):
    assert expected_return(policy) == pytest.approx(return_, abs=0.01)
    assert growth(policy, 100, OWN) == pytest.approx(added, abs=0.001)


@pytest.mark.parametrize(("all_known", "low", "high"), [(True, 0.5, 0.62), (False, 0.02, 0.12)])
def test_a_table_that_knows_only_what_it_tried_stops_exploring(all_known, low, high):
    """Two sweeps per episode, as there are target copies, behaviour at temperature 0.3."""
    rng, guide = np.random.default_rng(0), skilled()
    values, tried = np.zeros_like(Q), np.full(Q.shape, all_known)
    visited, covered = np.zeros(STATES, bool), []
    for episode in range(SKILLED + OWN):
        odds = np.exp((values - values.max(1, keepdims=True)) / 0.3)
        policy = guide if episode < SKILLED else odds / odds.sum(1, keepdims=True)
        limits, state = policy.cumsum(1), 0
        for draw in rng.random(STEPS):
            action = min(int((draw > limits[state]).sum()), ACTIONS - 1)
            tried[state, action] = visited[state] = True
            state = AFTER[state, action]
        for _ in range(2):
            values = np.where(tried, REWARD + DISCOUNT * values.max(1)[AFTER], 0)
        covered.append(visited.mean())
    assert low < covered[-1] - covered[SKILLED - 1] < high


class PerfectDDQN(DDQN):
    """Acts as DDQN does, by values that need no learning."""

    def values(self, obs):
        row, column = obs.long().T
        return torch.from_numpy(Q)[row * SIZE + column].float()


@pytest.mark.slow
def test_the_agent_and_the_loop_do_what_the_calculation_says():
    """Warm start, candidates, both temperatures, coverage: as computed, in 20 + 40 episodes."""
    config = resolve("paper", "ddqn.warm", "GridWorld", {"updates_per_step": 0.0, "hidden": 8})
    agent = PerfectDDQN(bounds(lookup("GridWorld")), config, seed=0)
    trainer = Trainer(agent, "GridWorld", seed=0)
    rows = [trainer.next_episode()[:2] for _ in range(SKILLED + 40)]
    trainer.close()
    train, evaluation = zip(*rows, strict=True)
    start, end = train[SKILLED - 1].coverage, train[-1].coverage
    assert start == pytest.approx(1 - MISSED.mean(), abs=0.02)
    assert end - start == pytest.approx(*growth(boltzmann(0.3), 40), abs=0.08)
    # 19.03 is 19.29 with the noise of 32 candidates; four standard errors of 40 episodes.
    assert np.mean([row.return_ for row in train[SKILLED:]]) == pytest.approx(19.03, abs=1.6)
    assert np.mean([row.return_ for row in evaluation]) == pytest.approx(22.98, abs=0.1)
