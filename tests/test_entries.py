"""Who is on the leaderboard: sound submissions that share nothing with another; and badges."""

import json
from dataclasses import replace

import good_submission
import pytest
import synthetic

from analysis import bootstrap, entries, leaderboard
from analysis.submission import files_digest
from analysis.validate import Report, validate
from explore_suite.errors import UserError
from explore_suite.results import ResultStore

GRID = "ExploreSuite/GridWorld-v0"


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    """Fewer resamples: no test here looks at where an interval ends."""
    monkeypatch.setattr(bootstrap, "REPETITIONS", 100)


@pytest.fixture
def results(tmp_path):
    """A store of one run and a sound submission of the grid world beside it."""
    synthetic.write(tmp_path / "runs", [synthetic.Cell("sac", "WalkerWalk", 0)])
    submit(tmp_path, "my-method")
    return tmp_path


def submit(results, agent, **options):
    """Another sound submission."""
    files = good_submission.good_files("grid", agent, **options)
    good_submission.write(results / "submissions" / agent, files)


def refused(results):
    return leaderboard.gather(results / "runs").refused


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
    board = leaderboard.gather(results / "runs")
    assert any(said in line for line in board.refused), board.refused
    assert "my-method" not in board.entries and list(board.numbers) == ["cpu"]
    leaderboard.write_page(results / "runs", results / "page.html")
    page = (results / "page.html").read_text()
    assert "My &lt;b&gt;" not in page and said in capsys.readouterr().out


def test_a_badge_is_lost_with_any_change_of_a_run_file(results):
    folder = results / "submissions" / "my-method"
    digest = files_digest(validate(folder).submission.files)
    check = {"by": "A. M.", "what": "seed 0", "when": "2026-01-31", "files": digest}
    (results / "verified.json").write_text(json.dumps({"my-method": check}))
    assert leaderboard.gather(results / "runs").entries["my-method"].badge == "verified"
    row = good_submission.rows_of(GRID, 4)[-1]  # of a seed that nobody ran again
    rows = [*good_submission.rows_of(GRID, 4)[:-1], row._replace(return_=0.0, success_steps=0)]
    path = folder / "runs/external/my-method/GridWorld-v0/seed-004.csv"
    path.write_bytes(good_submission.csv_of(rows))
    good_submission.seal(folder)
    about = json.loads((folder / "submission.json").read_text())
    about["scores"][GRID] -= row.return_ / (5 * 20)
    (folder / "submission.json").write_text(json.dumps(about))
    board = leaderboard.gather(results / "runs")
    assert board.refused == [] and board.entries["my-method"].badge == "self-reported"


def test_a_verified_file_that_cannot_be_read_is_named(results):
    for wrong in ("{", '{"my-method": {"by": "A. M."}}'):
        (results / "verified.json").write_text(wrong)
        with pytest.raises(UserError, match="verified.json"):
            leaderboard.gather(results / "runs")


def test_labels_that_differ_by_capital_letters_are_both_refused(results):
    submit(results, "My-Meth0d", luck=10, name="Another")
    board = leaderboard.gather(results / "runs")
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
    board = leaderboard.gather(results / "runs")
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


def test_rows_of_ours_are_refused_whatever_their_seed(results):
    header = replace(good_submission.header_of(GRID, 7), agent="ddqn", preset="cpu", finished=False)
    with ResultStore(results / "runs").open(header) as writer:
        for row in good_submission.rows_of(GRID, 3):
            writer.append(row._replace(seconds=9.0))
    board = leaderboard.gather(results / "runs")
    assert board.refused == [f"my-method: on {GRID} it has the same episodes as ddqn"]
    assert list(board.entries) == ["sac", "ddqn"]


def test_numbers_that_cannot_be_computed_are_refused_and_stop_nobody(results, monkeypatch):
    """No validated row has them; if one ever did, the page would still be written."""

    def endless(folder):
        submission, runs, problems = validate(folder)
        runs = [
            run._replace(rows=[row._replace(seconds=1e308) for row in run.rows]) for run in runs
        ]
        return Report(submission, runs, problems)

    monkeypatch.setattr(entries, "validate", endless)
    (line,) = refused(results)
    assert line == "my-method: its scores, coverage or seconds cannot be computed"
    leaderboard.write_page(results / "runs", results / "page.html")
