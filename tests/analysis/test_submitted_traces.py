"""Traces of a submission: needed, read without trust, and replayed, so that returns are earned."""

import io
import json
from dataclasses import replace

import numpy as np
import pytest

from analysis.cli import validate as command
from analysis.cli.submit import main as submit
from analysis.leaderboard.entries import gather
from analysis.submissions import replay as replaying
from analysis.submissions.replay import TracedRun, differences, replay_runs
from analysis.submissions.schema import files_digest
from analysis.submissions.validate import check, replay_traces, validate
from explore_suite.errors import UserError
from explore_suite.runs.format import TRACES, listed_traces
from explore_suite.runs.traces import MAX_BYTES
from tests.helpers.fuzz_submissions import sealed
from tests.helpers.good_submission import (
    AGENT,
    PRESET,
    edit_header,
    good_files,
    header_of,
    rows_of,
    run_files,
    seal,
    traces_of,
    write,
)

pytestmark = pytest.mark.slow

GRID, HALLWAY = "ExploreSuite/GridWorld-v0", "ExploreSuite/HallwayLocalOptimum-v0"
RUN = f"runs/{PRESET}/{AGENT}/GridWorld-v0/seed-000"
NAME = f"seed-000{TRACES}"
TOLD = ["--name", "Mine", "--author", "A", "--description", "Explores.", "--contact", "a@b.org",
        "--not-tuned"]  # fmt: skip


@pytest.fixture
def folder(tmp_path):
    """A sound submission of the grid world, whose traces earn what its rows say."""
    write(tmp_path / "mine", good_files("grid"))
    return tmp_path / "mine"


def put(folder, content, listed=None):
    """Another traces file, its digests recomputed as a forger would."""
    (folder / f"{RUN}{TRACES}").write_bytes(content)
    listed = listed_traces(NAME, content) if listed is None else listed
    edit_header(folder / f"{RUN}.json", traces=listed)
    seal(folder)


def untraced(folder):
    """The same submission, as it would have been before runs left traces."""
    about = json.loads((folder / "submission.json").read_text())
    for path in sorted(folder.rglob(f"*{TRACES}")):
        path.unlink()
        edit_header(path.with_name(path.name.replace(TRACES, ".json")), traces={})
        del about["files"][path.relative_to(folder).as_posix()]
    (folder / "submission.json").write_text(json.dumps(about))
    seal(folder)


# What is read of a traces file before anything is played.


@pytest.mark.parametrize(
    ("listed", "reason"),
    [
        ({}, "is not listed by its header"),
        (listed_traces("../" + NAME, b""), "is not the file that its header lists"),
        (listed_traces(NAME, b"other"), "is not the file that its header lists"),
        ({"file": NAME, "sha256": "", "more": ""}, "is not the file that its header lists"),
    ],
    ids=["none", "path traversal", "another file", "another key"],
)
def test_other_traces_than_the_header_lists_are_refused(listed, reason, folder):
    put(folder, (folder / f"{RUN}{TRACES}").read_bytes(), listed)
    assert f"{RUN}{TRACES}: {reason}" in "\n".join(validate(folder).problems)


def test_changed_traces_are_refused_by_both_hashes(folder):
    path = folder / f"{RUN}{TRACES}"
    path.write_bytes(path.read_bytes() + b".")
    lines = validate(folder).problems
    assert [line.split(": ", 1)[1].split(":")[0] for line in lines] == [
        "was changed after the submission was made",
        "is not the file that its header lists",
    ]


def test_missing_traces_are_named_once(folder):
    (folder / f"{RUN}{TRACES}").unlink()
    assert validate(folder).problems == [f"{RUN}{TRACES}: is missing"]


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"no archive", "traces are no sound npz file"),
        (bytes(MAX_BYTES + 1), f"is larger than {MAX_BYTES} bytes"),
    ],
)
def test_traces_that_are_none_are_refused_without_playing(content, reason, folder):
    put(folder, content)
    assert any(line.startswith(f"{RUN}{TRACES}: {reason}") for line in validate(folder).problems)


@pytest.mark.parametrize("traces", [None, [], {"file": 1, "sha256": ""}, {"file": ["a"]}])
def test_traces_of_another_type_are_refused(traces, folder):
    path = folder / f"{RUN}.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"traces": traces}))
    assert any(f"{RUN}.json: traces" in line for line in validate(folder).problems)


def test_a_header_that_lists_nothing_is_written_without_the_field(folder):
    path = folder / f"{RUN}.json"
    values = json.loads(path.read_text()) | {"traces": {}}
    path.write_text(json.dumps(values, indent=1, sort_keys=True) + "\n")
    assert any("not written as the store writes headers" in x for x in validate(folder).problems)


def test_actions_of_another_seed_are_refused(folder):
    """They earn just as much, for every episode of the grid world begins in the same corner."""
    copied = traces_of(header_of(GRID, 0), luck=3)  # as seed 3 has them
    put(folder, copied)
    problems = validate(folder).problems
    assert problems == [f"{RUN[:-1]}3{TRACES}: an evaluation has the actions of seed 0"]
    assert differences(header_of(GRID, 0), rows_of(GRID, 0), copied) == []


# Whether there must be any.


def test_a_new_submission_needs_traces_and_an_accepted_one_keeps_its_place(folder):
    untraced(folder)
    report = validate(folder)
    assert report.problems == [
        f"{RUN}{TRACES}: is missing: new submissions need the traces of each run "
        "(and of 4 more runs)"
    ]
    digest = files_digest(report.submission.files)
    assert validate(folder, {"0" * 64}).problems == report.problems
    assert validate(folder, {digest}).problems == []
    edit_header(folder / f"{RUN}.json", machine={})
    seal(folder)
    assert validate(folder, {digest}).problems == report.problems, "changed, so it is new"


@pytest.mark.slow
def test_submit_takes_traces_along_and_replays_them(folder, tmp_path, capsys):
    arguments = ["--results", str(folder / "runs"), "--agent", AGENT, *TOLD]
    assert submit([str(tmp_path / "made"), *arguments]) == 0
    said = capsys.readouterr().out
    assert "\nsound: my-method, 1 task " in said and "the traces of 5 of 5 runs" in said
    for path in folder.rglob(f"*{TRACES}"):
        assert (tmp_path / "made" / path.relative_to(folder)).read_bytes() == path.read_bytes()
    put(folder, altered(traces_of(header_of(GRID, 0)), actions=one_action))
    assert submit([str(tmp_path / "other"), *arguments]) == 1
    assert not (tmp_path / "other").exists()
    assert "was written, but its actions earn" in capsys.readouterr().out
    untraced(folder)
    assert submit([str(tmp_path / "other"), *arguments]) == 1
    assert "new submissions need the traces" in capsys.readouterr().out


# Replaying.


def altered(content, **changes):
    """A traces file with other arrays: name -> function of what it held."""
    with np.load(io.BytesIO(content)) as held:
        arrays = {name: changes.get(name, np.copy)(held[name]) for name in held.files}
    file = io.BytesIO()
    np.savez_compressed(file, **arrays)
    return file.getvalue()


def one_action(actions):
    """One action moved by one unit: another move, or standing still instead of walking."""
    actions = actions.copy()
    if actions.dtype == np.uint8:
        actions[0, 0] ^= 1
    else:
        actions[0, 0, 0] -= 1
    return actions


def one_more(values):
    values = values.copy()
    values[0] += 1
    return values


def last_row(**by):
    """A change of the last evaluation, which the traces hold, by so much."""

    def change(rows):
        found = rows[-1]._asdict()
        return [*rows[:-1], rows[-1]._replace(**{name: found[name] + by[name] for name in by})]

    return change


# What a forger changes, and what the replay must say. Digests are recomputed.
TAMPERED = {
    "return": (last_row(return_=1.0), None, "return {return_} was written, but its actions earn"),
    "return, by one bit": (
        lambda rows: [*rows[:-1], rows[-1]._replace(return_=np.nextafter(rows[-1].return_, 0))],
        None, "return {return_} was written, but its actions earn",
    ),
    "length": (last_row(length=-1), None, "length {length} was written, but its actions earn"),
    "success steps": (
        last_row(success_steps=1), None,
        "success_steps {success_steps} was written, but its actions earn",
    ),
    "an action": (None, {"actions": one_action}, "was written, but its actions earn"),
    "a seed": (None, {"seeds": one_more}, "its trace was reset with seed"),
    "an episode number": (None, {"episodes": one_more}, "traces are of episodes"),
}  # fmt: skip


def tampered(name, task, seed=0):
    """A run with this tampering, as TracedRun."""
    rows_change, traces_change, _ = TAMPERED[name]
    header, rows = header_of(task, seed), rows_of(task, seed)
    content = traces_of(header)
    rows = rows_change(rows) if rows_change else rows
    content = altered(content, **traces_change) if traces_change else content
    header = replace(header, traces=listed_traces(f"seed-00{seed}{TRACES}", content))
    return TracedRun(f"{task} seed {seed}: {name}", header, rows, content)


@pytest.mark.parametrize("task", [GRID, HALLWAY])
@pytest.mark.parametrize("name", TAMPERED)
def test_tampering_by_one_unit_is_found(name, task):
    sound = TracedRun("", header_of(task, 0), rows_of(task, 0), traces_of(header_of(task, 0)))
    assert differences(*sound[1:]) == []
    forged = tampered(name, task)
    reason = TAMPERED[name][2].format(**forged.rows[-1]._asdict())
    found = differences(*forged[1:])
    assert found and reason in found[0]


def test_every_forged_run_of_a_submission_is_named():
    """With digests and scores recomputed, so that the replay alone can tell."""
    files, names = good_files("grid"), ["return", "an action", "a seed", "an episode number"]
    for seed, name in enumerate(names):
        forged = tampered(name, GRID, seed)
        if name == "return":  # one that the successes pay, or the rows would be refused
            last = forged.rows[-1]._replace(return_=22.0, success_steps=22)
            forged = forged._replace(rows=[*forged.rows[:-1], last])
        files |= run_files(header_of(GRID, seed), forged.rows, forged.content)
    report = check(sealed(files))
    assert report.problems == []
    problems = replay_traces(report).problems
    assert [line.split(": ")[0] for line in problems] == [
        f"{RUN[:-1]}{seed}{TRACES}" for seed in range(len(names))
    ]
    for line, name in zip(problems, names, strict=True):
        assert TAMPERED[name][2].split("} ")[-1] in line


def test_a_sample_is_drawn_by_the_digest(monkeypatch):
    played = []
    monkeypatch.setattr(replaying, "_replay_batch", lambda runs: played.append(list(runs)) or [])
    monkeypatch.setattr(replaying, "MAX_RUNS", 3)
    runs = [TracedRun(str(number), None, [], b"") for number in range(8)]
    assert replay_runs(runs[:3], "a").replayed == 3 and played.pop() == runs[:3]
    assert [replay_runs(runs, "a").replayed for _ in range(2)] == [3, 3]
    assert played[0] == played[1] and len({run.path for run in played[0]}) == 3
    for seed in "bcdefgh":
        replay_runs(runs, seed)
    assert len({tuple(run.path for run in sample) for sample in played}) > 4
    played.clear()
    assert replay_runs(runs, "a", every=True).replayed == 8
    assert [len(batch) for batch in played] == [3, 3, 2] and sum(played, []) == runs


@pytest.mark.parametrize(
    ("limit", "value", "reason"),
    [("MEMORY", 100 * 2**20, "exit code"), ("START_SECONDS", 0.05 - 10, "not done within 0.05")],
)
def test_a_replay_is_bounded_and_fails_closed(limit, value, reason, monkeypatch):
    monkeypatch.setattr(replaying, limit, value)
    header = header_of(HALLWAY, 0)  # whose physics needs more memory than that to be imported
    run = TracedRun("a path", header, rows_of(HALLWAY, 0), traces_of(header))
    (problem,) = replay_runs([run], "").problems
    assert problem.startswith("a path: cannot be replayed: ") and reason in problem


def test_a_run_that_crashes_the_replay_is_named():
    sound = TracedRun("sound", header_of(GRID, 0), rows_of(GRID, 0), traces_of(header_of(GRID, 0)))
    bad = sound._replace(path="bad", header=replace(sound.header, task="ExploreSuite/Maze-v0"))
    crash = sound._replace(path="crash", rows=[("too", "short")])
    found = replay_runs([sound, bad, crash, sound], "").problems
    assert found[0].startswith("bad: unknown task")
    assert found[1].startswith("crash: cannot be replayed: exit code 1, TypeError")


# The command, and the badges.


def badge(results):
    """The badge of the submission on the page; None if it is refused."""
    entry = gather([results / "runs"]).entries.get(AGENT)
    return entry and entry.badge


@pytest.mark.slow
def test_what_is_accepted_is_replay_checked_until_a_file_changes(results, capsys, monkeypatch):
    folder = results / "submissions" / AGENT
    assert badge(results) == "self-reported", "the page replays nothing"
    assert command.main([str(folder), "--accept"]) == 0
    said = capsys.readouterr().out
    assert said.startswith("sound: my-method") and "the traces of 5 of 5 runs" in said
    held = json.loads((results / "accepted.json").read_text())[AGENT]
    assert held["replayed"] is True and held["files"] in said
    assert badge(results) == "replay-checked"
    edit_header(folder / f"{RUN}.json", machine={})
    seal(folder)
    assert badge(results) == "self-reported"


@pytest.mark.slow
def test_a_forged_submission_is_not_accepted(results, capsys):
    folder = results / "submissions" / AGENT
    put(folder, altered(traces_of(header_of(GRID, 0)), actions=one_action))
    assert command.main([str(folder), "--no-replay"]) == 0
    assert capsys.readouterr().out.startswith("sound, but not replayed: my-method")
    assert command.main([str(folder), "--accept"]) == 1
    said = capsys.readouterr().out
    assert (
        "sound" not in said
        and "doctor" in said
        and f" {RUN}{TRACES}: episode 299: return 23.0 was written" in said
    )
    assert not (results / "accepted.json").exists()
    with pytest.raises(UserError, match="--accept replays every run"):
        command.main([str(folder), "--accept", "--no-replay"])


def test_an_older_entry_without_traces_stays_self_reported(results, capsys):
    folder = results / "submissions" / AGENT
    untraced(folder)
    assert badge(results) is None and command.main([str(folder), "--accept"]) == 1
    digest = files_digest(validate(folder).submission.files)
    held = json.dumps({AGENT: {"files": digest, "when": "2026-01-31"}}, indent=1) + "\n"
    (results / "accepted.json").write_text(held)
    assert badge(results) == "self-reported"
    capsys.readouterr()
    assert command.main([str(folder), "--accept"]) == 0
    assert capsys.readouterr().out.startswith("sound, but not replayed: my-method")
    assert (results / "accepted.json").read_text() == held
