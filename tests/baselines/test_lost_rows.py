"""What must not be taken for a whole run: lost rows, orphaned checkpoints, other settings."""

import errno
import json
import os
import shutil
import signal
from dataclasses import replace

import pytest

from baselines.settings import resolve
from baselines.training import checkpoint
from baselines.training.run import RunOptions, RunSpec, checkpoint_folder, train
from explore_suite.__main__ import main
from explore_suite.errors import UserError
from explore_suite.runs import store as stores
from explore_suite.runs.format import STATES, WEIGHTS
from explore_suite.runs.store import ResultStore

ALWAYS = RunOptions(checkpoint_seconds=0.0)
SPEC = RunSpec.of("random", "GridWorld", 0, "cpu", 6)


def quiet(trainer, rows):
    """Watches nothing."""


def interrupt(store, after, how=ALWAYS):
    """A run that is asked to stop after some episodes."""

    def stop(trainer, rows):
        if trainer.log.episode == after:
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


def test_rows_that_lost_their_header_and_their_checkpoints_stay(tmp_path):
    store = ResultStore(tmp_path)
    interrupt(store, after=3)
    path, folder = store.path(SPEC.key, ".json"), checkpoint_folder(store, SPEC.key)
    header, kept = path.read_bytes(), sorted(folder.iterdir())
    path.unlink()
    with pytest.raises(UserError, match=r"seed-000\.csv holds rows, but its header"):
        train(SPEC, store, ALWAYS, quiet)
    assert sorted(folder.iterdir()) == kept
    path.write_bytes(header)
    assert train(SPEC, store, ALWAYS, quiet) and episodes(store) == [1, 2, 3, 4, 5, 6]


def test_a_header_with_a_strange_machine_resumes(tmp_path):
    store = ResultStore(tmp_path)
    interrupt(store, after=3)
    path = store.path(SPEC.key, ".json")
    values = json.loads(path.read_text())
    path.write_text(json.dumps(values | {"machine": values["machine"] | {"capability": 5}}))
    assert train(SPEC, store, ALWAYS, quiet) and episodes(store) == [1, 2, 3, 4, 5, 6]


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


def test_a_checkpoint_of_another_seed_is_not_continued(tmp_path):
    store, other = ResultStore(tmp_path), RunSpec.of("random", "GridWorld", 1, "cpu", 6)
    interrupt(store, after=4)
    folder = checkpoint_folder(store, SPEC.key)
    with store.open(other.header(1)) as writer:
        for row in next(store.runs()).rows:
            writer.append(row)
    shutil.copytree(folder, checkpoint_folder(store, other.key))
    message = r"episode-000004\.safetensors is a checkpoint of cpu/random/ExploreSuite/.*/0; remove"
    with pytest.raises(UserError, match=message):
        train(other, store, ALWAYS, quiet)
    assert train(SPEC, store, ALWAYS, quiet), "while its own run goes on"
    assert train(other, store, replace(ALWAYS, overwrite=True), quiet)


def test_a_checkpoint_of_other_settings_is_not_continued(tmp_path):
    """What counts is the config in the run's own header."""
    store = ResultStore(tmp_path)
    interrupt(store, after=4)
    folder = checkpoint_folder(store, SPEC.key)
    held = store.header(SPEC.key)
    for header, fits in ((held, True), (replace(held, config={"discrete": "x"}), False)):
        found = checkpoint.Checkpoints(folder, checkpoint.owner(header))
        if fits:
            state, _ = found.load()
            assert state["progress"]["episode"] == 4 and set(state) == {
                "agent", "coverage", "progress", "traces",
            }  # fmt: skip
        else:
            with pytest.raises(UserError, match="this run with other settings"):
                found.load()


def test_a_checkpoint_that_does_not_say_whose_it_is_is_continued(tmp_path):
    """Checkpoints were written so before."""
    store = ResultStore(tmp_path)
    interrupt(store, after=4)
    folder = checkpoint_folder(store, SPEC.key)
    for path in folder.iterdir():
        state = checkpoint.load(path)
        del state["run"]
        checkpoint.save(path, state)
    seen = []
    assert train(SPEC, store, ALWAYS, lambda trainer, rows: seen.append(trainer.log.episode))
    assert seen == [5, 6]


def test_folders_of_others_among_the_checkpoints_stay(tmp_path):
    store = ResultStore(tmp_path)
    interrupt(store, after=2)
    mine = checkpoint_folder(store, SPEC.key) / "backup"
    mine.mkdir()
    assert train(SPEC, store, ALWAYS, quiet)
    assert list(mine.parent.iterdir()) == [mine]


def test_a_store_that_is_moved_in_mid_run_is_missed_and_goes_on_at_its_new_place(tmp_path):
    old, new = ResultStore(tmp_path / "old"), ResultStore(tmp_path / "new")

    def move(trainer, rows):
        if trainer.log.episode == 3:
            old.root.rename(new.root)
        assert trainer.log.episode <= 3, "noticed at the next checkpoint"

    with pytest.raises(UserError, match=r"seed-000\.csv was removed, moved or replaced"):
        train(SPEC, old, ALWAYS, move)
    assert not old.root.exists() and episodes(new) == [1, 2, 3]
    seen = []
    assert train(SPEC, new, ALWAYS, lambda trainer, rows: seen.append(trainer.log.episode))
    assert seen == [3, 4, 5, 6] and episodes(new) == [1, 2, 3, 4, 5, 6]


@pytest.mark.parametrize("last", [3, 6])
def test_a_store_that_is_removed_in_mid_run_is_one_line(tmp_path, last, capsys):
    root = tmp_path / "runs"

    def remove(trainer, rows):
        if trainer.log.episode == last:
            shutil.rmtree(root)
        assert trainer.log.episode <= last

    with pytest.raises(UserError, match="removed, moved or replaced|No such file or directory"):
        train(SPEC, ResultStore(root), ALWAYS, remove)
    assert not root.exists()


@pytest.mark.parametrize("number", [errno.EACCES, errno.EROFS, errno.ESTALE, errno.EIO])
@pytest.mark.parametrize("where", ["fsync", "append", "checkpoint", "mkdir"])
def test_a_store_that_cannot_be_written_in_mid_run_is_one_line(
    tmp_path, monkeypatch, number, where
):
    """Whatever the disk says, and whether the error names a file or not."""
    store = ResultStore(tmp_path)
    interrupt(store, after=2)

    def fail(*arguments, **options):
        names = [str(a) for a in arguments if str(a).startswith(str(tmp_path))]
        raise OSError(number, os.strerror(number), *names[:1])

    with monkeypatch.context() as patch:
        if where == "fsync":
            patch.setattr(stores.os, "fsync", fail)
        elif where == "append":
            patch.setattr(stores.RunWriter, "append", fail)
        elif where == "checkpoint":
            patch.setattr(checkpoint, "replace_bytes", fail)
        else:
            patch.setattr(checkpoint.Path, "mkdir", fail)
        with pytest.raises(UserError, match=f"cannot write to {tmp_path}.*{os.strerror(number)}"):
            train(SPEC, store, ALWAYS, quiet)
    assert train(SPEC, store, ALWAYS, quiet) and episodes(store) == [1, 2, 3, 4, 5, 6]


def test_an_error_in_a_file_elsewhere_is_not_blamed_on_the_store(tmp_path):
    def missing(trainer, rows):
        (tmp_path / "elsewhere").read_text()

    with pytest.raises(FileNotFoundError, match="elsewhere"):
        train(SPEC, ResultStore(tmp_path / "runs"), ALWAYS, missing)


@pytest.mark.parametrize("number", [errno.EACCES, errno.EIO])
def test_a_checkpoint_that_cannot_be_read_is_not_taken_for_damaged(tmp_path, monkeypatch, number):
    store = ResultStore(tmp_path)
    interrupt(store, after=4)
    folder = checkpoint_folder(store, SPEC.key)
    before = sorted(folder.iterdir())

    def fail(self):
        raise OSError(number, os.strerror(number), str(self))

    with monkeypatch.context() as patch:
        patch.setattr(checkpoint.Path, "read_bytes", fail)
        with pytest.raises(UserError, match="cannot read .*episode-000004"):
            checkpoint.Checkpoints(folder).load()
    assert sorted(folder.iterdir()) == before
    assert train(SPEC, store, ALWAYS, quiet)


def test_what_follows_the_rows_that_a_checkpoint_counts_does_not_matter(tmp_path):
    """A crash may leave anything there; rows that it counts must be sound."""
    store = ResultStore(tmp_path)
    interrupt(store, after=4)
    csv = store.path(SPEC.key, ".csv")
    csv.write_bytes(csv.read_bytes() + b"\xff\xfe\x00,,\n\x00\n")
    interrupt(store, after=5)
    text = csv.read_text()
    csv.write_text(text.replace("train,2,", "train,7,"))
    with pytest.raises(UserError, match="line 4 is train episode 7, out of order; train --over"):
        train(SPEC, store, ALWAYS, quiet)
    csv.write_text(text)
    assert train(SPEC, store, ALWAYS, quiet) and episodes(store) == [1, 2, 3, 4, 5, 6]


def test_overwriting_never_leaves_finished_without_rows(tmp_path, monkeypatch):
    store = ResultStore(tmp_path)
    assert train(SPEC, store, ALWAYS, quiet)
    assert store.path(SPEC.key, STATES).exists() and store.path(SPEC.key, WEIGHTS).exists()
    real, calls = stores.replace_text, []

    def once(path, text):
        if calls:
            raise KeyboardInterrupt
        calls.append(path)
        real(path, text)

    monkeypatch.setattr(stores, "replace_text", once)
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
    assert main(command) == 2  # 400 episodes
    assert "cannot be lengthened to 400" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (["--device", "bogus"], "--device bogus cannot be used here"),
        (["--threads", "0"], "--threads must be at least 1"),
        (["--threads", str(10**30)], "threads must be 1 to 1024"),
        (["--seed", str(2**63)], "both below 2^63"),
        (["--episodes", str(10**400)], "both below 2^63"),
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
