"""What must not be taken for a whole run: lost rows, orphaned checkpoints, other settings."""

import os
import signal
from dataclasses import replace

import pytest

from baselines import checkpoint
from baselines.settings import resolve
from baselines.train import How, RunSpec, checkpoint_folder, train
from explore_suite import results
from explore_suite.__main__ import main
from explore_suite.errors import UserError
from explore_suite.results import STATES, WEIGHTS, ResultStore

ALWAYS = How(checkpoint_seconds=0.0)
SPEC = RunSpec.of("random", "GridWorld", 0, "cpu", 6)


def quiet(trainer, rows):
    """Watches nothing."""


def interrupt(store, after, how=ALWAYS):
    """A run that is asked to stop after some episodes."""

    def stop(trainer, rows):
        if trainer.episode == after:
            os.kill(os.getpid(), signal.SIGINT)

    assert not train(SPEC, store, how, stop)


def episodes(store):
    """Episode numbers of the run's training rows."""
    (run,) = store.runs()
    return [row.episode for row in run.rows if row.phase == "train"]


def test_rows_that_the_checkpoint_counts_but_the_file_lost_are_missed(tmp_path):
    store = ResultStore(tmp_path)
    interrupt(store, after=4)
    csv = store.path(SPEC.key, ".csv")
    csv.write_text("".join(csv.read_text().splitlines(keepends=True)[:3]))
    with pytest.raises(UserError, match="2 of the 8 rows.*--overwrite"):
        train(SPEC, store, ALWAYS, quiet)
    assert train(SPEC, store, replace(ALWAYS, overwrite=True), quiet)
    assert episodes(store) == [1, 2, 3, 4, 5, 6]


def test_checkpoints_of_a_removed_run_are_not_used(tmp_path):
    store = ResultStore(tmp_path)
    interrupt(store, after=3)
    for suffix in (".json", ".csv"):
        store.path(SPEC.key, suffix).unlink()
    assert train(SPEC, store, ALWAYS, quiet)
    assert episodes(store) == [1, 2, 3, 4, 5, 6]


def test_a_restarted_run_keeps_its_new_checkpoints(tmp_path):
    store = ResultStore(tmp_path)
    interrupt(store, after=5)
    folder = checkpoint_folder(store, SPEC.key)
    for path in folder.iterdir():
        path.write_bytes(b"damaged")
    interrupt(store, after=2, how=replace(ALWAYS, restart=True))
    state, problems = checkpoint.Checkpoints(folder).load()
    assert problems == [] and state["progress"]["episode"] == 2
    assert train(SPEC, store, ALWAYS, quiet) and episodes(store) == [1, 2, 3, 4, 5, 6]


def test_damaged_checkpoints_make_room_for_new_ones(tmp_path):
    store = ResultStore(tmp_path)
    interrupt(store, after=5)
    folder = checkpoint_folder(store, SPEC.key)
    older, newest = sorted(folder.iterdir())
    newest.write_bytes(b"damaged")
    state, problems = checkpoint.Checkpoints(folder).load()
    assert state["progress"]["episode"] == 4 and len(problems) == 1
    assert list(folder.iterdir()) == [older]


def test_overwriting_never_leaves_finished_without_rows(tmp_path, monkeypatch):
    store = ResultStore(tmp_path)
    assert train(SPEC, store, ALWAYS, quiet)
    assert store.path(SPEC.key, STATES).exists() and store.path(SPEC.key, WEIGHTS).exists()
    real, calls = results.replace_text, []

    def once(path, text):
        if calls:
            raise KeyboardInterrupt
        calls.append(path)
        real(path, text)

    monkeypatch.setattr(results, "replace_text", once)
    with pytest.raises(KeyboardInterrupt):
        train(SPEC, store, replace(ALWAYS, overwrite=True), quiet)
    assert not store.header(SPEC.key).finished
    assert not store.path(SPEC.key, STATES).exists() and not store.path(SPEC.key, WEIGHTS).exists()


def test_verify_misses_rows_of_a_finished_run(tmp_path, capsys):
    store = ResultStore(tmp_path)
    assert train(SPEC, store, ALWAYS, quiet)
    csv = store.path(SPEC.key, ".csv")
    csv.write_text("".join(csv.read_text().splitlines(keepends=True)[:-2]))
    assert main(["verify", str(csv)]) == 2
    assert "10 of 12 rows are there" in capsys.readouterr().err
    csv.write_bytes(b"\xff\xfe")
    assert main(["verify", str(csv)]) == 2 and "is not text" in capsys.readouterr().err


def test_a_sweep_does_not_take_another_budget_for_done(tmp_path, capsys):
    assert train(SPEC, ResultStore(tmp_path), ALWAYS, quiet)
    command = ["sweep", "--agents", "random", "--tasks", "GridWorld", "--results", str(tmp_path)]
    assert main([*command, "--episodes", "6"]) == 0
    assert main(command) == 2
    assert "finished with another budget" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (["--device", "bogus"], "--device bogus cannot be used here"),
        (["--threads", "0"], "--threads must be at least 1"),
        (["--checkpoint-minutes", "nan"], "--checkpoint-minutes 0 or more"),
    ],
)
def test_wrong_ways_to_run_are_refused(flags, message, tmp_path, capsys):
    command = ["train", "--agent", "random", "--task", "GridWorld", "--results", str(tmp_path)]
    assert main([*command, *flags]) == 2
    assert message in capsys.readouterr().err and not list(tmp_path.iterdir())


def test_seeds_of_one_name_share_their_settings(tmp_path):
    store = ResultStore(tmp_path)
    values = {"hidden": 8, "batch_size": 8}
    for seed, hidden in ((0, 8), (1, 9)):
        config = resolve("cpu", "ddqn", "GridWorld", values | {"hidden": hidden})
        spec = RunSpec.of("ddqn.mine", "GridWorld", seed, "cpu", 1, config)
        if seed == 0:
            assert train(spec, store, ALWAYS, quiet)
    with pytest.raises(UserError, match="seed 0 .*other settings under the same name"):
        train(spec, store, ALWAYS, quiet)
