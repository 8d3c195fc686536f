"""The validator: sound submissions pass, each unsound one is refused for its own reason."""

import errno
import json
import math
import os
import socket
import time
from pathlib import Path

import pytest

from analysis.submissions.check_manifest import mean_score
from analysis.submissions.read_folder import strict_json
from analysis.submissions.schema import GROUPS, files_digest
from analysis.submissions.validate import check, validate
from explore_suite.__main__ import main
from explore_suite.errors import UserError
from explore_suite.tasks import BENCHMARK
from tests.helpers.bad_submissions import BAD, CANARY, LOCAL, LOCAL_ID
from tests.helpers.good_submission import csv_of, edit_header, good_files, rows_of, seal, write

SECRET = "only the canary says this"


@pytest.fixture(scope="module")
def good():
    return good_files()


@pytest.fixture
def folder(tmp_path, good):
    (tmp_path / CANARY).write_text(SECRET)
    write(tmp_path / "mine", good)
    return tmp_path / "mine"


@pytest.mark.parametrize("group", GROUPS)
def test_sound_submissions_pass(group):
    report = check(good_files(group))
    assert report.problems == []
    assert len(report.runs) == 5 * len(GROUPS[group])
    assert set(report.submission.scores) == set(GROUPS[group])


def test_groups_partition_the_benchmark():
    assert sorted(task for tasks in GROUPS.values() for task in tasks) == sorted(BENCHMARK)


@pytest.mark.slow
@pytest.mark.parametrize("name", BAD)
def test_each_bad_submission_is_refused_for_its_own_reason(folder, name):
    spoil, reasons = BAD[name]
    spoil(folder)
    problems = validate(folder).problems
    assert any(reasons.split("|")[0] in line for line in problems), problems
    for line in problems:
        assert any(reason in line for reason in reasons.split("|")), line
        assert line.isascii() and line.isprintable() and SECRET not in line
    assert (folder.parent / CANARY).read_text() == SECRET


def test_all_problems_are_told_at_once(folder):
    for name in ("http", "header: short commit", "rows: length", "hidden file"):
        BAD[name][0](folder)
    adversarial = folder / "runs/external/my-method/HallwayAdversarial-v0"
    adversarial.rename(adversarial.with_name("Maze-v3"))
    told = "\n".join(validate(folder).problems)
    for reason in ("paper: String", "full commit", "line 6: length 999", "hidden", "Maze-v3",
                   "HallwayAdversarial-v0/seed-000.csv: is missing"):  # fmt: skip
        assert reason in told


def test_a_bad_header_hides_no_fault_of_its_rows_and_the_other_way_round(folder):
    BAD["rows: length"][0](folder)
    BAD["header: 5.0 for 5"][0](folder)
    (folder / LOCAL / "seed-001.csv").unlink()
    edit_header(folder / LOCAL / "seed-001.json", finished=False)
    told = "\n".join(validate(folder).problems)
    for reason in ("seed-000.json: threads: Input", "seed-000.csv: line 6: length 999",
                   "seed-001.csv: is missing", "seed-001.json: is not finished"):  # fmt: skip
        assert reason in told


def test_a_bad_header_is_still_compared_with_the_others(folder):
    for seed in range(5):
        edit_header(
            folder / LOCAL / f"seed-00{seed}.json",
            finished=False, config={"seed": seed}, source=f"my code {seed}",
        )  # fmt: skip
    told = validate(folder).problems
    for what in ("is not finished", "its config is not that", "its source is not that"):
        assert sum(what in line for line in told) == 5 - (what != "is not finished")


def test_a_bad_field_of_submission_json_hides_no_other(folder):
    for name in ("other schema", "seeds with a gap", "score too good"):
        values = json.loads((folder / "submission.json").read_text())
        BAD[name][0](folder)
        changed = json.loads((folder / "submission.json").read_text())
        assert changed != values
    told = "\n".join(validate(folder).problems)
    for reason in ("version: Input should be less", "without gaps, at least 5"):
        assert reason in told
    BAD["four seeds"][0](folder)
    told = "\n".join(validate(folder).problems)
    for reason in ("version: Input", "at least 5", "seed-004.csv: does not belong", "score 800.0"):
        assert reason in told


def test_a_fault_of_many_lines_is_one_line(folder):
    rows = [row._replace(length=999) for row in rows_of(LOCAL_ID, 0)]
    (folder / LOCAL / "seed-000.csv").write_bytes(csv_of(rows))
    seal(folder)
    (line,) = validate(folder).problems
    assert line.endswith("line 2: length 999 where episodes take 1000 (and 199 more lines)")


def test_seeds_of_a_policy_that_never_changes_may_agree(folder):
    """As those of a script do; a return that changes, be it once, is told by one seed alone."""
    rows = [row._replace(return_=5.0, success_steps=3) for row in rows_of(LOCAL_ID, 0)]
    for seed in range(5):
        (folder / LOCAL / f"seed-00{seed}.csv").write_bytes(csv_of(rows))
    seal(folder)
    about = json.loads((folder / "submission.json").read_text())
    about["scores"][LOCAL_ID] = 5.0
    (folder / "submission.json").write_text(json.dumps(about))
    assert validate(folder).problems == []
    rows[0] = rows[0]._replace(return_=6.0)
    for seed in range(5):
        (folder / LOCAL / f"seed-00{seed}.csv").write_bytes(csv_of(rows))
    seal(folder)
    problems = validate(folder).problems
    assert len(problems) == 4 and all("the same episodes as seed 0" in line for line in problems)


def test_a_symlink_to_a_folder_and_a_file_are_refused(folder):
    (folder.parent / "link").symlink_to(folder)
    for path in (folder.parent / "link", folder / "submission.json"):
        assert "is a symlink or no folder" in validate(path).problems[0]


def test_what_is_no_regular_file_is_not_opened(folder, monkeypatch):
    """A named pipe would be waited for; a socket cannot be opened at all."""
    monkeypatch.chdir(folder)
    (folder / "submission.json").unlink()
    with socket.socket(socket.AF_UNIX) as made:
        made.bind("submission.json")
        assert "submission.json: is no regular file" in validate(folder).problems


@pytest.mark.parametrize("method", ["read_bytes", "iterdir"])
def test_what_cannot_be_read_is_named(folder, monkeypatch, method):
    real = getattr(Path, method)

    def broken(self):
        if self in (folder / LOCAL, folder / LOCAL / "seed-000.csv"):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(self))
        return real(self)

    monkeypatch.setattr(Path, method, broken)
    first = validate(folder).problems[0]
    assert LOCAL in first and first.endswith("cannot be read: Permission denied")


def test_too_many_files_stop_the_search(folder, monkeypatch):
    monkeypatch.setattr("analysis.submissions.read_folder.MAX_ENTRIES", 12)
    assert any("more than 12 files" in line for line in validate(folder).problems)


@pytest.mark.parametrize(
    ("limit", "most", "suffix"),
    [("MAX_TOTAL_BYTES", 50_000, ".csv"), ("MAX_TRACES_TOTAL", 5_000, ".traces.npz")],
)
def test_too_many_bytes_are_not_kept(limit, most, suffix, folder, monkeypatch):
    monkeypatch.setattr(f"analysis.submissions.read_folder.{limit}", most)
    too_large = [line for line in validate(folder).problems if "bytes together" in line]
    assert too_large and all(f"larger than {most} bytes" in line for line in too_large)
    assert any(f"{suffix}: with it" in line for line in too_large)


def test_scores_are_the_mean_returns_of_the_windows(good):
    by_hand = []
    for seed in range(5):
        rows = [row for row in rows_of(LOCAL_ID, seed) if row.phase == "eval"]
        by_hand.append(math.fsum(row.return_ for row in rows[90:100]) / 10)
    report = check(good)
    assert report.submission.scores[LOCAL_ID] == pytest.approx(math.fsum(by_hand) / 5, rel=1e-12)
    rows = [run.rows for run in report.runs if run.header.task == LOCAL_ID]
    assert mean_score(LOCAL_ID, rows) == pytest.approx(math.fsum(by_hand) / 5, rel=1e-12)


def test_deep_json_is_found_whatever_strings_hold():
    assert strict_json(b'{"a": "[[[[[[[[[[[[[[[[[[[[[[\\"[["}') == {"a": "[" * 22 + '"[['}
    with pytest.raises(ValueError, match="nested deeper than 16"):
        strict_json(b'{"a": ' + b"[" * 16 + b"]" * 16 + b"}")
    with pytest.raises(ValueError):
        strict_json(b'"' + b'\\"' * 500_000)  # quadratic search would take hours


def test_a_doubled_key_among_many_is_found_in_one_pass():
    keys = ",".join(f'"{number:x}":0' for number in range(20_000))
    began = time.process_time()
    with pytest.raises(ValueError, match="key 4e1f occurs twice"):
        strict_json(f'{{{keys},"4e1f":1}}'.encode())
    assert time.process_time() - began < 2, "a search for each key takes several seconds"


def test_the_command(folder, capsys):
    from analysis.cli.validate import main as command

    assert command([str(folder), "--no-replay"]) == 0
    first, *rest = capsys.readouterr().out.splitlines()
    assert first.startswith("sound, but not replayed: my-method, 2 tasks x 5 seeds")
    assert files_digest(validate(folder).submission.files) in rest[-1]
    BAD["http"][0](folder)
    BAD["hidden file"][0](folder)
    assert command([str(folder)]) == 1, "what is unsound is not replayed"
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 3 and lines[-1].startswith("refused: 2 problems")


def test_no_name_begins_a_line_or_ends_one(folder, capsys):
    from analysis.cli.validate import main as command

    (folder / "::stop-commands::x").write_text("")
    strange = folder.rename(folder.with_name("a\n::error::\x1b[2Jb"))
    assert command([str(strange)]) == 1
    told = capsys.readouterr().out
    assert told.isascii() and "\x1b" not in told and "::stop-commands::x: hidden" in told
    assert not any(line.startswith("::") for line in told.splitlines())
    with pytest.raises(UserError) as caught:
        validate(strange.with_name("no\n::such"))
    assert str(caught.value).isprintable()


@pytest.mark.parametrize("arguments", [["no/such/folder"], []])
def test_wrong_input_is_one_line_and_exit_code_2(arguments, monkeypatch, capsys):
    monkeypatch.setitem(
        main.__globals__["COMMANDS"], "validate", ("analysis.cli.validate:main", "")
    )
    assert main(["validate", *arguments]) == 2
    assert capsys.readouterr().err.count("\n") == 1
