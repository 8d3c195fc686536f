"""Who is on the leaderboard: sound submissions that share nothing with another; and badges."""

import json
from dataclasses import replace

import numpy as np
import pytest

from analysis.cli import leaderboard
from analysis.cli import validate as validation
from analysis.leaderboard import build
from analysis.leaderboard.conflicts import Candidate, conflicts
from analysis.leaderboard.entries import gather
from analysis.submissions.schema import files_digest
from analysis.submissions.validate import validate
from explore_suite.errors import UserError
from explore_suite.runs.format import Run, listed_traces
from explore_suite.runs.store import ResultStore
from tests.helpers import good_submission, synthetic

GRID = "ExploreSuite/GridWorld-v0"
pytestmark = pytest.mark.usefixtures("few_resamples")


@pytest.fixture(autouse=True)
def unplayed(monkeypatch):
    """Traces are not replayed, which test_submitted_traces tests, to save time."""
    monkeypatch.setattr(validation, "replay_traces", lambda report, every: report)


def submit(results, agent, **options):
    """Another sound submission."""
    files = good_submission.good_files("grid", agent, **options)
    good_submission.write(results / "submissions" / agent, files)


def refused(results):
    return gather([results / "runs"]).refused


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lambda folder: folder.rename(folder.with_name("other")), "other: the folder must be"),
        (lambda folder: (folder / "x.txt").write_text(""), "x.txt: unexpected file"),
        (lambda folder: (folder / "submission.json").unlink(), "submission.json: is missing"),
        (lambda folder: synthetic.write(
            folder.parents[1] / "runs", [synthetic.Cell("My-Method", "WalkerWalk", 0, 3)]
        ), "my-method: the label my-method is taken"),
    ],
)  # fmt: skip
def test_what_is_unsound_is_told_and_not_shown(results, spoil, said, capsys):
    spoil(results / "submissions" / "my-method")
    board = gather([results / "runs"])
    assert any(said in line for line in board.refused), board.refused
    assert "my-method" not in board.entries and board.presets == ["cpu"]
    build.write(gather([results / "runs"]), results / "page.html")
    page = (results / "page.html").read_text()
    assert "My &lt;b&gt;" not in page and said in capsys.readouterr().out


def test_a_badge_is_lost_with_any_change_of_a_run_file(results):
    folder = results / "submissions" / "my-method"
    digest = files_digest(validate(folder).submission.files)
    check = {"by": "A. M.", "what": "seed 0", "when": "2026-01-31", "files": digest}
    (results / "verified.json").write_text(json.dumps({"my-method": check}))
    assert gather([results / "runs"]).entries["my-method"].badge == "verified"
    row = good_submission.rows_of(GRID, 4)[-1]  # of a seed that nobody ran again
    rows = [*good_submission.rows_of(GRID, 4)[:-1], row._replace(return_=0.0, success_steps=0)]
    path = folder / "runs/external/my-method/GridWorld-v0/seed-004.csv"
    path.write_bytes(good_submission.csv_of(rows))
    good_submission.seal(folder)
    about = json.loads((folder / "submission.json").read_text())
    about["scores"][GRID] -= row.return_ / (5 * 20)
    (folder / "submission.json").write_text(json.dumps(about))
    board = gather([results / "runs"])
    assert board.refused == [] and board.entries["my-method"].badge == "self-reported"


def test_a_verified_file_that_cannot_be_read_is_named(results):
    for wrong in ("{", '{"my-method": {"by": "A. M."}}'):
        (results / "verified.json").write_text(wrong)
        with pytest.raises(UserError, match="verified.json"):
            gather([results / "runs"])


def test_labels_that_differ_by_capital_letters_are_both_refused(results):
    submit(results, "My-Meth0d", luck=10, name="Another")
    board = gather([results / "runs"])
    assert list(board.entries) == ["sac"]
    assert board.refused == [
        "My-Meth0d: the label My-Meth0d is taken by my-method; choose another",
        "my-method: the label my-method is taken by My-Meth0d; choose another",
    ]


@pytest.mark.parametrize(
    "name",
    ["my <B>method</b>", "My  <b>Method</b>", "My-<b>Method</b>", "My <b>M\u00e9thod</b>",
     "rny <b>Meth0d</b>", "My-method", "My_Meth0d"],
    ids=["capitals", "spaces", "signs", "accent", "homoglyphs", "its label", "nearly its label"],
)  # fmt: skip
def test_names_that_look_alike_are_both_refused(results, name):
    submit(results, "other", luck=10, name=name)
    board = gather([results / "runs"])
    assert list(board.entries) == ["sac"]
    assert board.refused == [
        "my-method: its name looks like that of other; choose another",
        "other: its name looks like that of my-method; choose another",
    ]


@pytest.mark.parametrize(
    "name", ["SAC+DEEP", "sac+deep", "S\u00c1C DEEP", "DEEP (exp1oration 0nly)", "sac_deep"]
)
def test_our_names_are_ours_even_without_a_run(results, name):
    submit(results, "other", luck=10, name=name)
    (line,) = refused(results)
    assert line.startswith("other: its name looks like that of ") and "deep" in line


def test_rows_of_another_submission_are_refused_with_it(results):
    submit(results, "other", name="Other")
    assert refused(results) == [
        f"my-method: on {GRID} it has the same episodes as other",
        f"other: on {GRID} it has the same episodes as my-method",
    ]


def accepted(results, agent):
    """Notes a submission as a maintainer does."""
    return validation.main([str(results / "submissions" / agent), "--accept"])


def test_actions_of_another_submission_are_refused_whatever_the_rows_say(results):
    submit(results, "other", luck=10, name="Other")
    assert refused(results) == []
    submissions, run = results / "submissions", "GridWorld-v0/seed-003"
    copy = submissions / f"other/runs/external/other/{run}.traces.npz"
    with np.load(submissions / f"my-method/runs/external/my-method/{run}.traces.npz") as held:
        np.savez(copy, **held)  # other bytes, the same actions
    listed = listed_traces(copy.name, copy.read_bytes())
    good_submission.edit_header(copy.with_name("seed-003.json"), traces=listed)
    good_submission.seal(submissions / "other")
    assert refused(results) == [
        f"my-method: on {GRID} an evaluation has the same actions as one of other",
        f"other: on {GRID} an evaluation has the same actions as one of my-method",
    ]


def test_a_copy_does_not_take_its_original_off_the_page(results):
    """Whoever was accepted first stays; a copy, a twin of its name or of its label goes."""
    assert accepted(results, "my-method") == 0
    submit(results, "a-copy", name="A copy")  # sorted before its original
    submit(results, "a-twin", luck=10, name="My <b>Meth0d</b>")
    submit(results, "My_Method", luck=20, name="Another")
    board = gather([results / "runs"])
    assert list(board.entries) == ["sac", "my-method"]
    assert board.refused == [
        "My_Method: the label My_Method is taken by my-method; choose another",
        f"a-copy: on {GRID} it has the same episodes as my-method",
        "a-twin: its name looks like that of my-method; choose another",
    ]


def test_the_older_accepted_one_stays_and_the_verified_before_it(results):
    registry = {}
    for agent in ("other", "my-method"):  # in this order
        if agent == "other":
            submit(results, agent, name="Other")
        digest = files_digest(validate(results / "submissions" / agent).submission.files)
        registry[agent] = {"files": digest, "when": "2026-01-31"}
    (results / "accepted.json").write_text(json.dumps(registry))
    assert list(gather([results / "runs"]).entries) == ["sac", "other"]
    check = {"by": "A. M.", "what": "seed 0", **registry["my-method"]}
    (results / "verified.json").write_text(json.dumps({"my-method": check}))
    assert list(gather([results / "runs"]).entries) == ["sac", "my-method"]
    registry["my-method"]["files"] = "0" * 64  # changed since: neither accepted nor verified
    check["files"] = "0" * 64
    (results / "verified.json").write_text(json.dumps({"my-method": check}))
    (results / "accepted.json").write_text(json.dumps(registry))
    assert list(gather([results / "runs"]).entries) == ["sac", "other"]


def test_a_refused_submission_refuses_no_other():
    names = {"b": "One", "b2": "b", "c": "Three", "d": "Three"}
    candidates = [Candidate("a", "One", [], (True, 0))]
    candidates += [Candidate(label, name, []) for label, name in names.items()]
    found = conflicts([], candidates)
    assert set(found) == {"b", "c", "d"}


@pytest.mark.slow
def test_validating_compares_with_the_others(results, capsys, tmp_path):
    folder = results / "submissions" / "other"
    submit(results, "other", name="Other")
    assert accepted(results, "my-method") == 1, "two without standing: told to both"
    assert validation.main([str(folder)]) == 1
    assert f" on {GRID} it has the same episodes as my-method" in capsys.readouterr().out
    folder.rename(tmp_path / "elsewhere")
    assert validation.main([str(tmp_path / "elsewhere"), "--results", str(results)]) == 1
    assert accepted(results, "my-method") == 0
    first = (results / "accepted.json").read_text()
    assert accepted(results, "my-method") == 0
    assert (results / "accepted.json").read_text() == first and "my-method" in first
    (tmp_path / "elsewhere").rename(folder.with_name("misnamed"))
    assert validation.main([str(folder.with_name("misnamed"))]) == 1
    assert "the folder must be named like its label, other" in capsys.readouterr().out
    assert "other" not in (results / "accepted.json").read_text()


def test_a_submission_like_one_of_ours_is_told_when_validated(results, capsys):
    submit(results, "other", luck=10, name="SAC DEEP")
    assert validation.main([str(results / "submissions" / "other")]) == 1
    assert "its name looks like that of sac_deep" in capsys.readouterr().out


def test_the_command_fails_if_anything_was_refused_and_still_writes_the_page(results):
    command = ["--results", str(results / "runs"), "--out", str(results / "page.html")]
    assert leaderboard.main(command) == 0
    (results / "page.html").unlink()
    submit(results, "other", name="Other")
    assert leaderboard.main(command) == 1
    assert "sac" in (results / "page.html").read_text()


def test_rows_of_ours_are_refused_whatever_their_seed(results):
    header = replace(good_submission.header_of(GRID, 7), agent="ddqn", preset="cpu", finished=False)
    rows = [row._replace(seconds=9.0) for row in good_submission.rows_of(GRID, 3)]
    synthetic.put(ResultStore(results / "runs"), Run(header, rows))
    board = gather([results / "runs"])
    assert board.refused == [f"my-method: on {GRID} it has the same episodes as ddqn"]
    assert list(board.entries) == ["sac", "ddqn"]
