"""What a run leaves beside its rows: states for pictures, weights to watch, films, TensorBoard."""

import json

import numpy as np
import pytest
import safetensors.torch
import torch

from baselines.training import artefacts
from baselines.training.run import RunOptions, RunSpec, train
from explore_suite.__main__ import main
from explore_suite.cli import watch
from explore_suite.runs.format import WEIGHTS
from explore_suite.runs.seeds import episode_seed
from explore_suite.runs.store import ResultStore
from explore_suite.tasks import lookup
from tests.helpers.runs import quiet, rows_of
from tests.helpers.small_agents import config


def run(tmp_path, agent, task="GridWorld", episodes=2, how=None, see=quiet):
    """A tiny finished run; its store and its key."""
    torch.set_num_threads(1)
    spec = RunSpec.of(agent, task, 0, "cpu", episodes, config(agent, task))
    store = ResultStore(tmp_path)
    assert train(spec, store, how or RunOptions(), see)
    return store, spec.key


@pytest.mark.slow
def test_states_say_where_the_run_has_been_and_what_the_agent_thinks_of_it(tmp_path):
    agents = []
    store, key = run(tmp_path, "ddqn_deep", see=lambda trainer, rows: agents.append(trainer.agent))
    states = store.states(key)
    assert states.episode == 2 and [axis.bins for axis in states.axes] == [40, 40]
    assert states.visits.shape == (40, 40) and states.visits.sum() == 2 * 101
    assert len(states.trajectory) == 101 and states.trajectory[0].tolist() == [0, 0]
    assert set(states.maps) == {
        "task_value", "bonus", "exploration_value", "optimistic_value",
    }  # fmt: skip
    bonus, optimistic = (states.maps[name] for name in ("bonus", "optimistic_value"))
    table = agents[0].explorer.bonus.state_dict()["table"].numpy()
    np.testing.assert_allclose(bonus, np.maximum(table.max(2), 1.0) ** -0.5, rtol=1e-3)
    untried = (table == 0).any(axis=2)
    assert optimistic[untried].min() > 99.9  # the best of an untried action and the tried ones
    cells = np.array([[0, 0], [3, 2]], np.float32)
    expected = agents[0].values(agents[0].as_tensor(cells)).amax(1).numpy()
    values = states.maps["task_value"][[0, 3], [0, 2]]
    np.testing.assert_allclose(values, expected, rtol=1e-3)


@pytest.mark.slow
def test_bbe_maps_its_bonus_and_sac_maps_nothing(tmp_path):
    store, key = run(tmp_path, "ddqn_bbe")
    assert set(store.states(key).maps) == {"task_value", "bonus"}
    store, key = run(tmp_path, "sac", "HallwayLocalOptimum", episodes=1)
    states = store.states(key)
    assert states.maps == {} and states.visits.sum() == 1001


def test_states_are_taken_at_the_episode_of_the_published_figure(tmp_path, monkeypatch):
    monkeypatch.setattr(artefacts, "SNAPSHOT_EPISODE", 1)
    store, key = run(tmp_path, "ddqn", episodes=3)
    assert store.states(key).episode == 1
    assert [r.header.key for r in store.runs()] == [key]  # the states file is no run


@pytest.mark.slow
def test_weights_are_plain_safetensors_and_act_as_the_run_did(tmp_path):
    store, key = run(tmp_path, "sac", "HallwayLocalOptimum", episodes=1)
    weights = store.path(key, WEIGHTS)
    assert set(safetensors.torch.load_file(weights)) == {"actor"}
    last = next(store.runs()).rows[-1]
    task = lookup("HallwayLocalOptimum")
    trained = watch.trained(store.path(key, ".csv"), task)
    start = episode_seed(0, "eval", 1)
    rewards = [reward for _, reward in watch.steps_of(task, "rgb_array", trained, start, 1000)]
    assert sum(rewards) == pytest.approx(last.return_, abs=1e-12)


def test_watching_a_run(tmp_path, capsys):
    store, key = run(tmp_path, "ddqn", episodes=1)
    csv, film = str(store.path(key, ".csv")), tmp_path / "film.png"
    assert main(["watch", "GridWorld", "--run", csv, "--out", str(film), "--steps", "5"]) == 0
    assert film.stat().st_size > 0
    assert main(["watch", "WalkerWalk", "--run", csv, "--out", str(film)]) == 2
    assert "not of WalkerWalk" in capsys.readouterr().err
    weights = store.path(key, WEIGHTS)
    weights.write_bytes(weights.read_bytes()[:-9])
    assert main(["watch", "GridWorld", "--run", csv, "--out", str(film)]) == 2
    assert "does not fit its run" in capsys.readouterr().err
    weights.unlink()
    assert main(["watch", "GridWorld", "--run", csv, "--out", str(film)]) == 2
    assert "is missing" in capsys.readouterr().err


def test_settings_of_ones_own_are_filed_apart(tmp_path, capsys):
    command = ["train", "--agent", "ddqn", "--task", "GridWorld", "--episodes", "1",
               "--results", str(tmp_path), "--config.hidden", "8"]  # fmt: skip
    assert main(command) == 2
    assert "Add --variant NAME" in capsys.readouterr().err
    assert main([*command, "--variant", "narrow"]) == 0
    assert [path.name for path in (tmp_path / "cpu").iterdir()] == ["ddqn.narrow"]
    other = [*command[:-1], "9", "--variant", "narrow", "--seed", "1"]
    assert main(other) == 2
    assert "seed 0 in" in (message := capsys.readouterr().err) and "other settings" in message
    csv = tmp_path / "cpu" / "ddqn.narrow" / "GridWorld-v0" / "seed-000.csv"
    assert main(["verify", str(csv)]) == 0 and "equal: 2 rows" in capsys.readouterr().out
    assert main([*command, "--variant", "warm"]) == 2
    assert "choose another --variant name" in capsys.readouterr().err
    assert main([*command[:-2], "--variant", "narrow"]) == 2
    assert "no --config.* flag differs from preset cpu" in capsys.readouterr().err
    assert main([*command, "--variant", "../up"]) == 2
    assert "cannot name an agent" in capsys.readouterr().err
    assert main([*command, "--config.learning-rate", "-1"]) == 2
    assert "learning_rate must be positive, got -1" in capsys.readouterr().err


@pytest.mark.slow
def test_films_of_evaluations_are_numbered_like_their_rows(tmp_path):
    films = tmp_path / ".videos" / "cpu" / "ddqn" / "GridWorld-v0" / "seed-000"
    filming = RunOptions(capture_video=True, checkpoint_seconds=0)
    store, key = run(tmp_path, "ddqn", episodes=3, how=filming)
    assert sorted(path.name for path in films.iterdir()) == [
        "eval-episode-1.mp4", "eval-episode-2.mp4",
    ]  # fmt: skip
    plain, _ = run(tmp_path / "plain", "ddqn", episodes=3)
    assert rows_of(store) == rows_of(plain)  # filming changes nothing


@pytest.mark.slow
def test_a_folder_that_tensorboard_cannot_have_is_named(tmp_path, capsys):
    (tmp_path / "file").touch()
    options = ["--agent", "random", "--task", "GridWorld", "--results", str(tmp_path / "runs")]
    assert main(["train", *options, "--tensorboard", str(tmp_path / "file")]) == 2
    assert f"cannot write to {tmp_path / 'file'}" in capsys.readouterr().err


def test_tensorboard_has_the_tags_people_know(tmp_path):
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    command = ["train", "--agent", "ddqn_bbe", "--task", "GridWorld", "--episodes", "2",
               "--results", str(tmp_path / "runs"), "--config.hidden", "8", "--variant", "tb",
               "--tensorboard", str(tmp_path / "tb")]  # fmt: skip
    assert main(command) == 0
    (events,) = (tmp_path / "tb").rglob("events.*")
    board = EventAccumulator(str(events))
    board.Reload()
    tags = set(board.Tags()["scalars"])
    assert {"rollout/ep_rew_mean", "eval/mean_reward", "charts/episodic_return",
            "time/total_timesteps", "train/critic_loss", "explore/bonus_mean",
            "explore/coverage"} <= tags  # fmt: skip
    assert [event.step for event in board.Scalars("eval/mean_reward")] == [100, 200]
    bonus = board.Scalars("explore/bonus_mean")[0].value
    assert 0 < bonus <= 1
    header = json.loads(next((tmp_path / "runs").rglob("seed-000.json")).read_text())
    assert header["agent"] == "ddqn_bbe.tb" and header["config"]["hidden"] == 8
