"""Traces: what a run leaves of its last evaluations earns its rows, and nothing else does."""

import errno
import io
import json
import os
import random
import shutil
import signal
import warnings
import zipfile
from dataclasses import replace

import numpy as np
import pytest
from gymnasium.wrappers import RescaleAction

from baselines.settings import resolve
from baselines.training.run import RunOptions, RunSpec, checkpoint_folder, train
from explore_suite import record
from explore_suite.__main__ import main
from explore_suite.errors import UserError
from explore_suite.runs import recorder
from explore_suite.runs import store as stores
from explore_suite.runs.format import TRACES, dump_header, listed_traces, read_header
from explore_suite.runs.seeds import episode_seed
from explore_suite.runs.store import ResultStore
from explore_suite.runs.traces import MAX_BYTES, TraceKeeper, replay_run, traced_episodes
from explore_suite.tasks import TASKS, lookup

pytestmark = pytest.mark.slow

SMALL = {"hidden": 8, "batch_size": 8, "warmup_steps": 10, "updates_per_step": 0.01}
KINDS = {"BallInCupCatch": "sac", "HallwayShort": "sac", "GridWorld": "ddqn"}  # task -> agent
ALWAYS = RunOptions(checkpoint_seconds=0.0)
GRID = RunSpec.of("random", "GridWorld", 0, "cpu", 5)


def quiet(trainer, rows):
    """Watches nothing."""


@pytest.mark.parametrize(
    ("task", "evaluated", "kept"),
    [
        ("WalkerWalk", 1, (1,)),
        ("WalkerWalk", 50, (49, 50)),
        ("WalkerWalk", 91, (90, 91)),
        ("WalkerWalk", 110, (109, 110)),
        ("WalkerWalk", 111, (109, 110, 111)),
        ("WalkerWalk", 500, (109, 110, 499, 500)),
        ("HallwayAdversarial", 100, (59, 60, 99, 100)),
        ("GridWorld", 300, (299, 300)),
    ],
)
def test_the_last_two_evaluations_of_the_score_window_and_of_the_run_are_kept(
    task, evaluated, kept
):
    assert traced_episodes(lookup(task), evaluated) == kept


def test_what_is_kept_was_kept_an_episode_before(spec):
    """Or it would be gone when it is needed."""
    for episode in range(1, 400):
        later, now = traced_episodes(spec, episode + 1), traced_episodes(spec, episode)
        assert set(later) <= {*now, episode + 1}


@pytest.fixture(scope="module", params=KINDS)
def trained(request, tmp_path_factory):
    """The CSV of a finished run of three episodes, not to be changed."""
    task, agent = request.param, KINDS[request.param]
    spec = RunSpec.of(agent, task, 0, "cpu", 3, resolve("cpu", agent, task, SMALL))
    store = ResultStore(tmp_path_factory.mktemp(task))
    assert train(spec, store, RunOptions(), quiet)
    return store.path(spec.key, ".csv")


@pytest.fixture
def run(trained, tmp_path):
    """The CSV of a copy of it."""
    shutil.copytree(trained.parent, tmp_path / "run")
    return tmp_path / "run" / trained.name


def arrays(run):
    """What the traces file holds."""
    with np.load(run.with_suffix(TRACES), allow_pickle=False) as file:
        return dict(file)


def put(run, content):
    """Another traces file, listed by the header as a forger would."""
    path = run.with_suffix(TRACES)
    path.write_bytes(content)
    header = read_header(run.with_suffix(".json"))
    header = replace(header, traces=listed_traces(path.name, content))
    run.with_suffix(".json").write_text(dump_header(header))


def saved(**values):
    """The bytes of an npz file."""
    file = io.BytesIO()
    np.savez_compressed(file, **values)
    return file.getvalue()


def replayed(run, capsys):
    """Exit code and the only line of the command."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        code = main(["replay", str(run)])
    output = capsys.readouterr()
    assert output.err == ""
    (line,) = output.out.splitlines()
    return code, line


@pytest.mark.slow
def test_a_run_earns_its_rows(trained, capsys):
    header = read_header(trained.with_suffix(".json"))
    assert replay_run(trained) == replay_run(trained.with_suffix(".json")) == []
    assert replayed(trained, capsys) == (
        0,
        f"equal: {trained}: the actions stored of its last evaluations earn what their rows say",
    )
    found, spec = arrays(trained), lookup(header.task)
    assert found["episodes"].tolist() == [2, 3]
    assert found["seeds"].tolist() == [episode_seed(0, "eval", number) for number in (2, 3)]
    dims = () if spec.discrete else (spec.action_dim,)
    assert found["actions"].shape == (2, spec.horizon, *dims)
    assert found["actions"].dtype == (np.uint8 if spec.discrete else np.float32)


def test_several_runs_have_a_line_each(trained, tmp_path, capsys):
    assert main(["replay", str(trained), str(tmp_path / "none.csv"), str(trained)]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(":")[0] for line in lines] == ["equal", "not replayed", "equal"]
    assert "none.json is not a readable header" in lines[1]


@pytest.mark.parametrize(("column", "name"), [(3, "return"), (4, "length"), (5, "success_steps")])
def test_a_row_that_was_not_earned_is_named(run, column, name, capsys):
    lines = run.read_text().splitlines(keepends=True)
    cells = lines[-1].split(",")
    was = cells[column]
    new = cells[column] = str(float(was) + 1.0 if column == 3 else int(was) + 1)
    run.write_text("".join([*lines[:-1], ",".join(cells)]))
    told = f"episode 3: {name} {new} was written, but its actions earn {was}"
    assert replayed(run, capsys) == (1, f"differs: {run}: {told}")


def test_the_smallest_change_of_an_action_is_noticed(run, capsys):
    """By the hash; and sealed again, by what it earns, where rewards are shaped."""
    found = arrays(run)
    if found["actions"].dtype == np.uint8:
        found["actions"][1, 5] ^= 1
    else:
        found["actions"][1, 5, 0] = np.nextafter(found["actions"][1, 5, 0], np.float32(0))
    run.with_suffix(TRACES).write_bytes(saved(**found))
    code, line = replayed(run, capsys)
    assert code == 1 and "its SHA-256 or name differs" in line
    if "Hallway" in read_header(run.with_suffix(".json")).task:
        put(run, saved(**found))
        code, line = replayed(run, capsys)
        assert code == 1 and "episode 3: return" in line and "its actions earn" in line


def test_another_start_is_a_difference(run, capsys):
    found = arrays(run)
    due = int(found["seeds"][0])
    found["seeds"][0] += 1
    put(run, saved(**found))
    assert replayed(run, capsys) == (
        1,
        f"differs: {run}: episode 2: its trace was reset with seed {due + 1} instead of {due}",
    )


def test_traces_of_other_episodes_are_a_difference(run, capsys):
    found = arrays(run)
    found["episodes"] -= 1
    put(run, saved(**found))
    code, line = replayed(run, capsys)
    assert code == 1 and "traces are of episodes [1, 2] instead of [2, 3]" in line


def test_rows_left_out_are_a_difference(run, capsys):
    run.write_text("".join(run.read_text().splitlines(keepends=True)[:-2]))
    code, line = replayed(run, capsys)
    assert code == 1 and "the rows are not those of 3 episodes" in line


def _zipped(**members):
    """An archive with members of any content."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(f"{name}.npy", content)
    return file.getvalue()


def _npy(array, **options):
    file = io.BytesIO()
    np.lib.format.write_array(file, array, **options)
    return file.getvalue()


def _with(name, change):
    def spoil(found):
        return saved(**found | {name: change(found[name])})

    return spoil


def _first(value):
    def change(actions):
        actions = actions.copy()
        actions.reshape(-1)[7] = value
        return actions

    return change


def _lying(found):
    """An archive whose directory says that the actions are few."""
    content = bytearray(saved(**found))
    place = content.rfind(b"PK\x01\x02")
    content[place + 24 : place + 28] = (200).to_bytes(4, "little")
    return bytes(content)


def _encrypted(found):
    content = bytearray(saved(**found))
    for mark, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        content[content.find(mark) + offset] |= 1
    return bytes(content)


def _bomb(found):
    """A hundred megabytes of zeros in a hundred kilobytes."""
    actions = _npy(found["actions"]) + bytes(100 * 2**20)
    parts = {name: _npy(found[name]) for name in ("episodes", "seeds")}
    return _zipped(actions=actions, **parts)


UNSOUND = {
    "empty": (lambda found: b"", "no sound npz file"),
    "no archive": (lambda found: b"x" * 500, "no sound npz file"),
    "cut off": (lambda found: saved(**found)[:-40], "no sound npz file"),
    "lying": (_lying, "no sound npz file|not an array|not the size"),
    "encrypted": (_encrypted, "no sound npz file"),
    "too large": (lambda found: saved(**found) + bytes(MAX_BYTES), "is larger than 150000 bytes"),
    "bomb": (_bomb, "has not the size that its shape says"),
    "no array": (lambda found: _zipped(episodes=b"", seeds=b"", actions=b""), "not an array"),
    "array missing": (lambda found: saved(seeds=found["seeds"]), "must hold the arrays"),
    "one more": (lambda found: saved(**found, more=np.zeros(1)), "must hold the arrays"),
    "objects": (
        lambda found: _zipped(
            actions=_npy(np.array([{}], dtype=object)),
            **{name: _npy(found[name]) for name in ("episodes", "seeds")},
        ),
        "of type '|O'",
    ),
    "giant": (
        lambda found: _zipped(
            actions=_npy(found["actions"]).replace(b"(2, 1", b"(9, 1", 1),
            **{name: _npy(found[name]) for name in ("episodes", "seeds")},
        ),
        "and shape (9, 1",
    ),
    "columns first": (_with("actions", lambda a: np.asfortranarray(a)), "not an array"),
    "steps missing": (_with("actions", lambda a: a[:, 1:]), "must be of type"),
    "episode missing": (_with("actions", lambda a: a[1:]), "must be of type"),
    "doubles": (_with("actions", lambda a: a.astype(np.float64)), "not of type '<f8'"),
    "seeds as text": (_with("seeds", lambda s: s.astype("U9")), "seeds.npy in the traces must be"),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("name", UNSOUND)
def test_an_unsound_file_is_one_clear_line(name, run, capsys):
    make, reasons = UNSOUND[name]
    put(run, make(arrays(run)))
    code, line = replayed(run, capsys)
    assert code == 1 and line.startswith(f"not replayed: {run}: ")
    assert any(reason in line for reason in reasons.split("|")), line


@pytest.mark.slow
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 1.5, 4, 255])
def test_actions_that_are_none_are_refused(value, run, capsys):
    found = arrays(run)
    discrete = found["actions"].dtype == np.uint8
    if discrete != isinstance(value, int):
        pytest.skip("of the other kind of actions")
    put(run, _with("actions", _first(value))(found))
    code, line = replayed(run, capsys)
    assert code == 1 and f"action {value} at step " in line
    assert ("is not within 0 to 3" if discrete else "is not within -1 to 1") in line


@pytest.mark.parametrize(
    ("traces", "reason"),
    [
        ({}, "has no traces"),
        ({"file": "../seed-000.traces.npz", "sha256": ...}, "SHA-256 or name differs"),
        ({"sha256": ...}, "SHA-256 or name differs"),
    ],
)
def test_a_header_that_does_not_list_the_file_is_named(traces, reason, run, capsys):
    header = read_header(run.with_suffix(".json"))
    traces = {
        name: header.traces[name] if value is ... else value for name, value in traces.items()
    }
    run.with_suffix(".json").write_text(dump_header(replace(header, traces=traces)))
    code, line = replayed(run, capsys)
    assert code == 1 and reason in line


def test_a_strange_seed_or_csv_is_one_line(run, capsys):
    header = read_header(run.with_suffix(".json"))
    run.with_suffix(".json").write_text(dump_header(replace(header, seed=-1)))
    code, line = replayed(run, capsys)
    assert code == 1 and "seed is out of range" in line
    run.unlink()
    run.mkdir()
    code, line = replayed(run, capsys)
    assert code == 1 and "not replayed" in line


def test_a_missing_file_and_an_unfinished_run_are_named(run, capsys):
    run.with_suffix(TRACES).unlink()
    code, line = replayed(run, capsys)
    assert code == 1 and "traces.npz is missing" in line
    header = read_header(run.with_suffix(".json"))
    run.with_suffix(".json").write_text(dump_header(replace(header, finished=False)))
    code, line = replayed(run, capsys)
    assert code == 1 and "is not finished" in line


@pytest.mark.slow
def test_no_mutation_of_the_file_gives_a_traceback(tmp_path, capsys):
    store = ResultStore(tmp_path)
    assert train(GRID, store, RunOptions(), quiet)
    run = store.path(GRID.key, ".csv")
    content, draw = run.with_suffix(TRACES).read_bytes(), random.Random(0)
    for _ in range(500):
        data = bytearray(content)
        for _ in range(draw.choice([1, 1, 2, 5])):
            place = draw.randrange(len(data))
            if draw.random() < 0.8:
                data[place] = draw.choice([0, 1, 255, data[place] ^ 1 << draw.randrange(8)])
            else:
                del data[place : place + draw.choice([1, 4, 100])]
                if not data:
                    break
        put(run, bytes(data))
        replayed(run, capsys)


def test_files_are_small_and_the_same_for_the_same_actions():
    """Uniform actions, which compress worst, of a run that ends after the window."""
    for task, limit in (("BallInCupCatch", 60_000), ("WalkerWalk", MAX_BYTES)):
        spec, contents = lookup(task), []
        for _ in range(2):
            keeper, rng = TraceKeeper(task, 7), np.random.default_rng(0)
            for episode in range(1, 201):
                keeper.add(episode, rng.uniform(-1, 1, (spec.horizon, spec.action_dim)))
            contents.append(keeper.content())
        assert contents[0] == contents[1] and len(contents[0]) <= limit
        with zipfile.ZipFile(io.BytesIO(contents[0])) as archive:
            assert {member.date_time for member in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}


def test_a_long_run_is_small_and_replays(tmp_path, monkeypatch):
    """With a window of episodes 2 and 3, traces are of 2, 3, 4 and 5."""
    spec = lookup("GridWorld")
    monkeypatch.setitem(TASKS, spec.id, replace(spec, score_window=(2, 3)))
    store = ResultStore(tmp_path)
    assert train(GRID, store, RunOptions(), quiet)
    run = store.path(GRID.key, ".csv")
    assert arrays(run)["episodes"].tolist() == [2, 3, 4, 5] and replay_run(run) == []


@pytest.mark.parametrize("after", [1, 2, 3, 4, 5])
def test_a_resumed_run_leaves_the_same_file(after, tmp_path, monkeypatch):
    spec = lookup("GridWorld")
    monkeypatch.setitem(TASKS, spec.id, replace(spec, score_window=(2, 3)))
    whole, broken = ResultStore(tmp_path / "whole"), ResultStore(tmp_path / "broken")
    assert train(GRID, whole, RunOptions(), quiet)

    def stop(trainer, rows):
        if trainer.log.episode == after:
            os.kill(os.getpid(), signal.SIGINT)

    finished = train(GRID, broken, ALWAYS, stop)
    assert finished == (after == 5)
    if not finished:
        assert not broken.path(GRID.key, TRACES).exists()
        assert train(GRID, broken, ALWAYS, quiet)
    files = [store.path(GRID.key, TRACES).read_bytes() for store in (whole, broken)]
    assert files[0] == files[1]
    assert broken.header(GRID.key).traces == listed_traces("seed-000.traces.npz", files[1])


@pytest.mark.slow
def test_a_resumed_learner_leaves_the_same_file(tmp_path):
    spec = RunSpec.of(
        "sac", "HallwayShort", 0, "cpu", 3, resolve("cpu", "sac", "HallwayShort", SMALL)
    )
    whole, broken = ResultStore(tmp_path / "whole"), ResultStore(tmp_path / "broken")
    assert train(spec, whole, RunOptions(), quiet)

    def stop(trainer, rows):
        if trainer.log.episode == 2:
            os.kill(os.getpid(), signal.SIGINT)

    assert not train(spec, broken, ALWAYS, stop)
    assert train(spec, broken, ALWAYS, quiet)
    assert whole.path(spec.key, TRACES).read_bytes() == broken.path(spec.key, TRACES).read_bytes()


def test_a_checkpoint_of_before_there_were_traces_goes_on(tmp_path, monkeypatch):
    store = ResultStore(tmp_path)

    def stop(trainer, rows):
        if trainer.log.episode == 2:
            os.kill(os.getpid(), signal.SIGINT)

    monkeypatch.setattr(TraceKeeper, "state_dict", lambda self: {})
    assert not train(GRID, store, ALWAYS, stop)
    assert train(GRID, store, ALWAYS, quiet)
    assert replay_run(store.path(GRID.key, ".csv")) == []


def test_a_run_is_not_finished_without_its_traces(tmp_path, monkeypatch):
    store, real = ResultStore(tmp_path), stores.replace_bytes

    def full(path, content):
        if path.name.endswith(TRACES):
            raise OSError(errno.ENOSPC, "No space left on device")
        real(path, content)

    monkeypatch.setattr(stores, "replace_bytes", full)
    with pytest.raises(UserError, match="No space left"):
        train(GRID, store, ALWAYS, quiet)
    assert not store.header(GRID.key).finished
    assert checkpoint_folder(store, GRID.key).exists()
    monkeypatch.setattr(stores, "replace_bytes", real)
    assert train(GRID, store, ALWAYS, quiet)
    assert replay_run(store.path(GRID.key, ".csv")) == []


def test_a_run_begun_from_scratch_drops_the_traces_of_the_one_before(tmp_path):
    store = ResultStore(tmp_path)
    assert train(GRID, store, ALWAYS, quiet)
    assert store.path(GRID.key, TRACES).exists()
    with store.open(store.header(GRID.key), overwrite=True):
        assert not store.path(GRID.key, TRACES).exists()
        assert store.header(GRID.key).traces == {}


def test_a_header_of_before_there_were_traces_keeps_its_bytes(tmp_path):
    store = ResultStore(tmp_path)
    header = replace(GRID.header(1), finished=True)
    path = tmp_path / "seed-000.json"
    path.write_text(dump_header(header))
    assert "traces" not in json.loads(path.read_text())
    assert read_header(path) == header and dump_header(read_header(path)) == path.read_text()
    values = json.loads(path.read_text())
    path.write_text(json.dumps({name: values[name] for name in values if name != "threads"}))
    assert read_header(path) == header, "an absent field has its default"
    assert store.header(GRID.key) is None


WRAPPED = {  # wrappers and the kind of actions handed to them
    "plain": (lambda env: env, np.float32, 1.0),
    "double": (lambda env: env, np.float64, 1.0),
    "beyond the box": (lambda env: env, np.float64, 3.0),
    "rescaled": (lambda env: RescaleAction(env, np.float32(-3), np.float32(3)), np.float32, 3.0),
    "rescaled double": (lambda env: RescaleAction(env, -0.1, 0.1), np.float64, 0.1),
}


@pytest.mark.slow
@pytest.mark.parametrize("place", ["inside", "outside"])
@pytest.mark.parametrize("wrapped", WRAPPED)
def test_a_recorded_run_replays_whatever_wraps_it(wrapped, place, tmp_path, monkeypatch):
    monkeypatch.setattr(recorder, "provenance", lambda task, code: {"fingerprint": "0"})
    wrap, kind, scale = WRAPPED[wrapped]
    inside = wrap if place == "inside" else None
    env = record("WalkerWalk", "mine", 3, tmp_path, episodes=2, wrap=inside)
    pair = [env, env.eval_env] if place == "inside" else [wrap(env), wrap(env.eval_env)]
    rng = np.random.default_rng(0)
    while not env.finished:
        for each in pair:
            each.reset(seed=5), each.reset()
            over = False
            while not over:
                over = each.step(rng.uniform(-scale, scale, 6).astype(kind))[3]
    env.close()
    (run,) = tmp_path.rglob("*.csv")
    assert replay_run(run) == []
    assert arrays(run)["seeds"].tolist() == [episode_seed(3, "eval", n) for n in (1, 2)]


@pytest.mark.parametrize("form", [int, np.int64, lambda move: np.array([move])])
def test_a_recorded_run_of_the_grid_replays(form, tmp_path, monkeypatch):
    monkeypatch.setattr(recorder, "provenance", lambda task, code: {"fingerprint": "0"})
    env = record("GridWorld", "mine", 0, tmp_path, episodes=1)
    for each in (env, env.eval_env):
        each.reset()
        for step in range(100):
            each.step(form(0 if step < 39 else 1))
    (run,) = tmp_path.rglob("*.csv")
    assert replay_run(run) == [] and arrays(run)["actions"].sum() == 61


@pytest.mark.parametrize("action", [np.nan, np.inf, 1e300])
def test_what_is_no_action_is_still_refused(action, tmp_path, monkeypatch):
    monkeypatch.setattr(recorder, "provenance", lambda task, code: {"fingerprint": "0"})
    env = record("HallwayShort", "mine", 0, tmp_path, episodes=1)
    env.reset()
    for _ in range(1000):
        env.step(np.zeros(2))
    env.eval_env.reset()
    if np.isfinite(action):
        env.eval_env.step(np.full(2, action))
    else:
        with pytest.raises(ValueError, match="action must be finite"):
            env.eval_env.step(np.full(2, action))
    for wrong in (np.zeros(3), np.array([True, False]), "up"):
        with pytest.raises(ValueError, match="action must"):
            env.eval_env.step(wrong)
    env.close()
