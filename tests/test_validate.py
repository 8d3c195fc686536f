"""The validator: sound submissions pass, each unsound one is refused for its own reason."""

import gymnasium
import numpy as np
import pytest
from bad_submissions import ADVERSARIAL, BAD, CANARY, LOCAL, LOCAL_ID
from good_submission import csv_of, good_files, rows_of, seal, write

from analysis.row_checks import check_rows, least_budget, score
from analysis.submission import GROUPS
from analysis.untrusted import strict_json
from analysis.validate import check, mean_score, validate
from explore_suite import TASKS, Coverage
from explore_suite.__main__ import main
from explore_suite.measure import solution
from explore_suite.results import EpisodeRow

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


def test_groups_partition_the_tasks():
    assert sorted(task for tasks in GROUPS.values() for task in tasks) == sorted(TASKS)


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


def test_there_are_many_bad_ones():
    assert len(BAD) >= 100
    assert len({reasons for _, reasons in BAD.values()}) >= 75


def test_all_problems_are_told_at_once(folder):
    names = ("http", "header: dirty", "rows: length", "hidden file", "run missing")
    for name in names:
        BAD[name][0](folder) if name != "run missing" else (folder / ADVERSARIAL).rename(
            folder / "runs/external/my-method/Maze-v3"
        )
    told = "\n".join(validate(folder).problems)
    for reason in ("paper: String", "uncommitted", "line 6: length 999", "hidden", "Maze-v3"):
        assert reason in told


def test_a_fault_of_many_lines_is_one_line(folder):
    rows = [row._replace(length=999) for row in rows_of(LOCAL_ID, 0)]
    (folder / LOCAL / "seed-000.csv").write_bytes(csv_of(rows))
    seal(folder)
    (line,) = validate(folder).problems
    assert line.endswith("line 2: length 999 where episodes take 1000 (and 199 more lines)")


def test_a_linked_folder_and_a_file_are_refused(folder):
    (folder.parent / "link").symlink_to(folder)
    for path in (folder.parent / "link", folder / "submission.json"):
        assert "is a link or no folder" in validate(path).problems[0]


def test_too_many_files_stop_the_search(folder, monkeypatch):
    monkeypatch.setattr("analysis.untrusted.MAX_ENTRIES", 12)
    assert any("more than 12 files" in line for line in validate(folder).problems)


def test_too_many_bytes_are_not_kept(folder, monkeypatch):
    monkeypatch.setattr("analysis.untrusted.MAX_TOTAL_BYTES", 50_000)
    assert any("larger than 50000 bytes together" in line for line in validate(folder).problems)


def test_unreadable_files_are_named(folder, monkeypatch):
    """Root reads everything, so the system's refusal is played."""
    import os

    real = os.open

    def refuse(path, *arguments, **options):
        if path == "seed-002.csv":
            raise PermissionError(13, "Permission denied")
        return real(path, *arguments, **options)

    monkeypatch.setattr(os, "open", refuse)
    assert f"{LOCAL}/seed-002.csv: cannot be read: Permission denied" in validate(folder).problems


def test_scores_are_those_of_hand_and_of_the_tables(good):
    pytest.importorskip("pandas")
    from analysis.scores import episode_table, run_scores

    report = check(good)
    by_hand = []
    for seed in range(5):
        rows = [row for row in rows_of(LOCAL_ID, seed) if row.phase == "eval"]
        by_hand.append(sum(row.return_ for row in rows[90:100]) / 10)
    assert mean_score(report.runs, LOCAL_ID) == pytest.approx(sum(by_hand) / 5, rel=1e-12)
    table = run_scores(episode_table(report.runs))
    mean = table[table.task == "HallwayLocalOptimum"].score.mean()
    assert mean == pytest.approx(report.submission.scores[LOCAL_ID], rel=1e-12)


def test_budgets_and_windows():
    budgets = {sheet.name: least_budget(sheet) for sheet in TASKS.values()}
    assert budgets.pop("GridWorld") == 300 and budgets.pop("HallwayAdversarial") == 60
    assert set(budgets.values()) == {100}
    sheet = TASKS["ExploreSuite/WalkerWalk-v0"]
    rows = [EpisodeRow("eval", n, 0, float(n), 0, 0, 0, 0) for n in range(1, 121)]
    assert score(sheet, rows[:100]) == 95.5 and score(sheet, rows) == 100.5


def test_what_a_known_solution_earns_passes(sheet):
    """The rules of returns and coverage hold of real episodes that succeed, and bind."""
    seed, actions = solution(sheet)
    coverage, total, successes = Coverage(sheet.id), 0.0, 0
    with gymnasium.make(sheet.id) as env:
        coverage.add(env.reset(seed=seed)[0])
        for step in range(sheet.horizon):
            still = 0 if sheet.discrete else np.zeros(sheet.action_dim)
            obs, reward, _, _, info = env.step(actions[step] if step < len(actions) else still)
            coverage.add(obs)
            total, successes = total + float(reward), successes + bool(info["success"])
    rows = [
        EpisodeRow(phase, 1, sheet.horizon, total, sheet.horizon, successes, coverage.fraction, 1.0)
        for phase in ("train", "eval")
    ]
    assert successes > 0
    assert check_rows(csv_of(rows), sheet, 1) == (rows, [])
    forged = [row._replace(success_steps=int(total / 0.74) + 1) for row in rows]
    assert check_rows(csv_of(forged), sheet, 1)[1]


@pytest.mark.parametrize("task", ["GridWorld", "ReacherExplore", "BallInCupCatch", "FingerExplore"])
def test_where_only_success_pays_the_return_is_their_number(task):
    sheet = TASKS[f"ExploreSuite/{task}-v0"]
    rows = rows_of(sheet.id, 0)
    rows[0] = rows[0]._replace(return_=rows[0].return_ + 1)
    (line,) = check_rows(csv_of(rows), sheet, least_budget(sheet))[1]
    assert "success_steps, which alone pay" in line


def test_no_grid_return_above_23():
    sheet = TASKS["ExploreSuite/GridWorld-v0"]
    rows = rows_of(sheet.id, 0)
    rows[0] = rows[0]._replace(return_=24.0, success_steps=24)
    (line,) = check_rows(csv_of(rows), sheet, least_budget(sheet))[1]
    assert "return 24.0 lies outside 0 to 23.0" in line


def test_deep_json_is_found_whatever_strings_hold():
    assert strict_json(b'{"a": "[[[[[[[[[[[[[[[[[[[[[[\\"[["}') == {"a": "[" * 22 + '"[['}
    with pytest.raises(ValueError, match="nested deeper than 16"):
        strict_json(b'{"a": ' + b"[" * 16 + b"]" * 16 + b"}")
    with pytest.raises(ValueError):
        strict_json(b'"' + b'\\"' * 500_000)  # quadratic search would take hours


def test_the_command(folder, capsys):
    from analysis.validate_command import main as command

    assert command([str(folder)]) == 0
    assert "sound: my-method, 2 tasks x 5 seeds" in capsys.readouterr().out
    BAD["http"][0](folder)
    BAD["hidden file"][0](folder)
    assert command([str(folder)]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 3 and lines[-1].startswith("refused: 2 problems")


@pytest.mark.parametrize("arguments", [["no/such/folder"], []])
def test_wrong_input_is_one_line_and_exit_code_2(arguments, monkeypatch, capsys):
    monkeypatch.setitem(
        main.__globals__["COMMANDS"], "validate", ("analysis.validate_command:main", "")
    )
    assert main(["validate", *arguments]) == 2
    assert capsys.readouterr().err.count("\n") == 1
