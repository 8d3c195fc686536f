"""The leaderboard's rows, against numbers made by hand; its Markdown and command."""

import http.client
import threading
import urllib.error
import urllib.request
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from markdown_it import MarkdownIt
from scipy import stats

from analysis.cli import leaderboard
from analysis.leaderboard import build, charts
from analysis.leaderboard.entries import gather
from analysis.leaderboard.markdown import markdown, plain
from analysis.leaderboard.rows import ranked, rows, sections
from explore_suite.errors import UserError
from explore_suite.tasks import CLASSIC_EXPLORE, CLASSIC_ORIGINAL, TASKS, lookup
from tests.helpers import synthetic

HOSTILE = "<img src=x onerror=alert(1)> | `a` **b** [c](http://d.example) @e"
TRIO = ("ddqn", "ddqn_deep.warm", "ddqn_deep.pure")
pytestmark = pytest.mark.usefixtures("few_resamples")


def rows_of(tmp_path, cells):
    synthetic.write(tmp_path / "runs", cells)
    return rows(gather([tmp_path / "runs"]))


def by_hand(agent, task, seed):
    """Normalised score and final coverage of an invented run, from its rows alone."""
    spec, run = lookup(task), synthetic.invent(synthetic.Cell(agent, task, seed))
    window = [row for row in run.rows if 91 <= row.episode <= 110]
    score = np.mean([row.return_ for row in window if row.phase == "eval"])
    (last,) = [row.coverage for row in window if row.phase == "train" and row.episode == 110]
    return (score - spec.random_return) / (spec.best_return - spec.random_return), last


def test_numbers_are_those_made_by_hand(tmp_path):
    first, _ = found = rows_of(tmp_path, synthetic.cells(("sac", "sac_2q"), synthetic.SUITE, 3))
    assert [row.rank for row in found] == [1, 2] and found[0].suite.value > found[1].suite.value
    made = {
        task: [by_hand(first.entry.label, task, seed) for seed in range(3)]
        for task in synthetic.SUITE
    }
    scores = np.array([[score for score, _ in runs] for runs in made.values()])
    assert first.suite.value == pytest.approx(stats.trim_mean(scores.ravel(), 0.25))
    assert first.suite.low < first.suite.value < first.suite.high and first.suite.seeds == 3
    means = dict(zip(made, scores.mean(axis=1), strict=True))
    groups = {
        group: [mean for task, mean in means.items() if lookup(task).group == group]
        for group in ("original", "explore")
    }
    gap = np.mean(groups["original"]) - np.mean(groups["explore"])
    assert first.gap.value == pytest.approx(gap) and first.pairs == 4
    coverage = np.mean([last for runs in made.values() for _, last in runs])
    assert first.coverage.value == pytest.approx(coverage)
    assert first.minutes.value == pytest.approx(100 * 2.5 / 60)  # 2.5 s an episode
    spec = lookup("WalkerWalk")
    mean = means["WalkerWalk"] * (spec.best_return - spec.random_return) + spec.random_return
    assert first.by_task["WalkerWalk"].score.value == pytest.approx(mean)
    assert first.versions == {"mujoco": "0.0.0", "dm_control": "", "suite": ""}


def test_ablations_and_longer_runs_are_shown_but_change_no_ranking(tmp_path):
    ablations = ("sac_bbe.scale_10", "sac_bbe.scale_0.1")
    methods = synthetic.cells(("sac", "sac_bbe"), synthetic.SUITE, 3)
    alone = rows_of(tmp_path / "alone", methods)
    found = rows_of(
        tmp_path / "all",
        [*methods, *synthetic.cells(ablations, synthetic.SUITE, 3),
         *synthetic.cells(("sac.long",), ("FingerExplore",), 3, 300)],
    )  # fmt: skip
    ranks = {row.entry.label: row.rank for row in found if row.section.setting == ""}
    assert ranks == {row.entry.label: row.rank for row in alone}
    aside = {row.entry.label: row for row in found if row.section.setting == "unranked"}
    assert aside.keys() == {*ablations, "sac.long"}
    assert all(row.rank is None for row in aside.values())
    assert aside["sac_bbe.scale_10"].rankable and aside["sac.long"].part == "FingerExplore"
    assert aside["sac.long"].entry.name == "SAC, 300 episodes"


def test_an_ablation_where_there_is_no_section_for_it_is_a_row_like_others(tmp_path):
    (row,) = rows_of(tmp_path, synthetic.cells(("sac_deep.rows_512",), synthetic.HALLWAYS, 3))
    assert row.section.group == "hallway"


@pytest.mark.slow
def test_classic_is_ranked_by_itself_and_has_a_gap(tmp_path):
    tasks = [*synthetic.SUITE, *synthetic.CLASSIC]
    found = rows_of(tmp_path, synthetic.cells(("sac", "sac_2q"), tasks, 3))
    assert [(row.section.title, row.rank, row.covers) for row in found] == [
        ("Control suite", 1, "8 of 8"), ("Control suite", 2, "8 of 8"),
        ("Classic", 1, "6 of 6"), ("Classic", 2, "6 of 6"),
    ]  # fmt: skip
    first = found[2]
    made = {
        task: np.mean([by_hand(first.entry.label, task, seed)[0] for seed in range(3)])
        for task in synthetic.CLASSIC
    }
    gap = sum(made[task] for task in CLASSIC_ORIGINAL) - sum(made[t] for t in CLASSIC_EXPLORE)
    assert first.gap.value == pytest.approx(gap / 3) and first.pairs == 3
    alone = rows_of(tmp_path / "alone", synthetic.cells(("sac", "sac_2q"), synthetic.SUITE, 3))
    assert [(row.suite, row.gap, row.rank) for row in found[:2]] == [
        (row.suite, row.gap, row.rank) for row in alone
    ]


@pytest.mark.slow
def test_partial_rows_stand_below_and_have_no_rank(tmp_path):
    pair = ("ReacherHard", "ReacherExplore")
    found = rows_of(tmp_path, [
        *synthetic.cells(["sac"], synthetic.SUITE, 3),
        *synthetic.cells(["sac_bbe"], synthetic.SUITE, 2),  # whole, but without an interval
        *synthetic.cells(["sac_2q"], pair, 4),
        *synthetic.cells(["sac_deep"], synthetic.SUITE, 3),
        synthetic.Cell("sac_deep", "WalkerWalk", 3),  # one seed more on one task
    ])  # fmt: skip
    told = {row.entry.label: (row.rank is not None, row.covers, row.suite.seeds) for row in found}
    assert told == {
        "sac": (True, "8 of 8", 3), "sac_deep": (True, "8 of 8", 3),
        "sac_bbe": (False, "8 of 8", 2), "sac_2q": (False, "2 of 8", 4),
    }  # fmt: skip
    assert [row.entry.label for row in found][2:] == ["sac_bbe", "sac_2q"]
    partial = found[-1]
    runs = [by_hand("sac_2q", task, seed)[0] for task in pair for seed in range(4)]
    assert partial.suite.value == pytest.approx(stats.trim_mean(runs, 0.25))
    assert partial.gap.value == pytest.approx(np.mean(runs[:4]) - np.mean(runs[4:]))
    assert partial.pairs == 1 and partial.part == "ReacherHard, ReacherExplore"
    assert any("no run with a score on" in n and "WalkerWalk" in n for n in partial.notes)
    deep = next(row for row in found if row.entry.label == "sac_deep")
    assert "ReacherHard: 3 of 4 seeds" in deep.notes and deep.by_task["WalkerWalk"].runs == 4


def test_few_seeds_everywhere_give_the_tasks_that_all_of_them_have(tmp_path):
    cells = [synthetic.Cell("sac", task, 0) for task in synthetic.SUITE]
    cells += [synthetic.Cell("sac", task, 1) for task in synthetic.SUITE[:3]]
    (row,) = rows_of(tmp_path, cells)
    assert row.tasks == tuple(task for task in row.section.tasks if task in synthetic.SUITE[:3])
    assert (row.covers, row.suite.seeds, row.rank) == ("3 of 8", 2, None)
    assert row.part == "BallInCupCatch, BallInCupExplore, ReacherHard"


def test_runs_without_a_score_are_shown_as_missing(tmp_path):
    (row,) = rows_of(tmp_path, synthetic.cells(["sac"], ["WalkerWalk"], 2, episodes=5))
    assert (row.rank, row.covers, row.suite.seeds) == (None, "0 of 8", 0)
    assert np.isnan(row.suite.value) and row.by_task["WalkerWalk"].runs == 2
    assert "| missing | 0 of 8 | 0 |" in markdown([row])


def test_variants_of_the_grid_world_are_compared_with_their_like(tmp_path):
    labels = (*TRIO, "ddqn_deep.pure_plain", "random")
    found = rows_of(tmp_path, synthetic.cells(labels, ["GridWorld"], 3, episodes=300))
    told = {row.entry.name: row.section.setting for row in found}
    assert told == {
        "DDQN": "", "DDQN+DEEP (warm start)": "warm", "DEEP (exploration only)": "pure",
        "DEEP, no optimism (exploration only)": "pure", "Uniform random": "pure",
    }  # fmt: skip
    pure = [row for row in found if row.section.setting == "pure"]
    assert [row.rank for row in pure] == [1, 2, 3]
    coverage = [row.coverage.value for row in pure]
    assert coverage == sorted(coverage, reverse=True)


def test_rows_without_a_rank_are_sorted_by_tasks_and_by_what_would_rank_them(tmp_path):
    pair = ("ReacherHard", "ReacherExplore")
    cells = synthetic.cells(("sac", "sac_2q", "sac_deep"), pair, 2)
    found = rows_of(tmp_path, [*cells, *synthetic.cells(["sac_bbe"], synthetic.SUITE, 1)])
    assert found[0].entry.label == "sac_bbe" and {row.rank for row in found} == {None}
    values = [row.suite.value for row in found[1:]]
    assert values == sorted(values, reverse=True)


def test_rows_that_look_equal_share_a_rank_and_the_next_one_counts_them(tmp_path):
    (row,) = rows_of(tmp_path, synthetic.cells(TRIO[:1], ["GridWorld"], 3, episodes=300))
    members = [
        replace(row, suite=row.suite._replace(value=value)) for value in (0.49, 0.501, 0.52, 0.502)
    ]
    found = ranked(members)
    told = [(row.rank, row.suite.value) for row in found]
    assert told == [(1, 0.52), (2, 0.502), (2, 0.501), (4, 0.49)]


def test_a_sound_submission_is_shown_as_self_reported(results):
    board = gather([results / "runs"])
    assert board.refused == [] and board.presets == ["cpu", "external"]
    (row,) = [row for row in rows(board) if row.preset == "external"]
    assert (row.entry.badge, row.entry.name) == ("self-reported", "My <b>Method</b>")
    assert row.rankable and row.rank is None  # alone, it would be the first of one
    assert row.versions == {"mujoco": "3.17.0", "dm_control": "1.0.50", "suite": "0.1.0"}
    stated = row.entry.submission.scores["ExploreSuite/GridWorld-v0"]
    assert row.by_task["GridWorld"].score.value == pytest.approx(stated)
    assert row.begun == ("GridWorld",)


def test_names_in_markdown_are_text():
    reader = MarkdownIt("commonmark", {"html": True}).enable("table")
    made = reader.render(f"| a | b |\n| --- | --- |\n| {plain(HOSTILE)} | end |\n")
    shown = HOSTILE.replace("<", "&lt;").replace(">", "&gt;")
    assert f"<td>{shown}</td>\n<td>end</td>" in made


def test_versions_in_markdown_are_text(tmp_path):
    """Those of our own store too, which nobody has validated."""
    (row,) = rows_of(tmp_path, [synthetic.Cell("sac", "WalkerWalk", 0)])
    versions = {"mujoco": "3 | 4", "dm_control": "<img src=x>", "suite": "0.1.0"}
    text = markdown([replace(row, versions=versions)])
    assert "| 3 &#124; 4 | &#60;img src&#61;x&#62; | 0.1.0 |" in text


def test_the_report_writes_both_and_twice_alike(results):
    for out in ("one", "two"):
        folder = results / out
        build.write(
            gather([results / "runs"]), folder / "leaderboard.html", folder / "leaderboard.md"
        )
    for name in ("leaderboard.md", "leaderboard.html"):
        assert (results / "one" / name).read_bytes() == (results / "two" / name).read_bytes()
    text = (results / "one/leaderboard.md").read_text()
    assert "Generated by `explore-suite report`" in text and "<b>" not in text
    assert "| – | My &#60;b&#62;Method&#60;/b&#62; | `my-method` | external | " in text
    assert "- SAC, `sac`, cpu: no run with a score on BallInCupCatch, BallInCupExplore" in text
    by_task = text[text.index("from scratch: mean score by task") :]
    assert "| My &#60;b&#62;Method&#60;/b&#62; | `my-method` | external | " in by_task


def test_the_command_writes_where_it_is_told(results, capsys, monkeypatch):
    out = results / "new" / "page.html"
    leaderboard.main(["--results", str(results / "runs"), "--out", str(out)])
    assert out.read_text().startswith("<!DOCTYPE html>") and str(out) in capsys.readouterr().out
    monkeypatch.chdir(results / "new")
    leaderboard.main(["--results", str(results / "runs")])
    assert Path("leaderboard.html").read_bytes() == out.read_bytes(), "in the working directory"
    with pytest.raises(UserError, match="--port must be"):
        leaderboard.main(["--port", "70000"])
    with pytest.raises(UserError, match="there is no store"):
        leaderboard.main(["--results", str(results / "nowhere")])
    with pytest.raises(UserError, match="cannot write to"):
        leaderboard.main(["--results", str(results / "runs"), "--out", "/proc/no/a.html"])


def test_a_look_at_short_runs_says_so(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    synthetic.write(tmp_path / "runs", synthetic.cells(["sac"], ["HallwayLocalOptimum"], 2, 5))
    command = ["--results", str(tmp_path / "runs"), "--title", "A short look"]
    leaderboard.main([*command, "--last", "2"])
    page, told = (tmp_path / "leaderboard.html").read_text(), capsys.readouterr().out
    earned = [synthetic.invent(synthetic.Cell("sac", "HallwayLocalOptimum", seed, 5)).rows[-3::2]
              for seed in range(2)]  # fmt: skip
    mean = np.mean([row.return_ for rows in earned for row in rows])
    assert [row.phase for row in earned[0]] == ["eval", "eval"]
    assert f"SAC     cpu     {mean:.0f} no interval" in told and "  sac\n" in told
    assert "<title>A short look</title>" in page
    assert "of the last 2 evaluations of each run" in page and '"window":null' in page
    leaderboard.main(command)
    page, told = (tmp_path / "leaderboard.html").read_text(), capsys.readouterr().out
    assert "missing" in told and "of the last" not in page and '"window":[91,100]' in page
    with pytest.raises(UserError, match="--last must be 1 or more"):
        leaderboard.main([*command, "--last", "0"])


def test_a_closed_output_pipe_is_not_reported_as_a_file_error(results, monkeypatch):
    def closed(*arguments, **options):
        raise BrokenPipeError

    monkeypatch.setattr(build, "write", closed)
    with pytest.raises(BrokenPipeError):
        leaderboard.main(["--results", str(results / "runs")])


def status(port, *hosts):
    """The status of an answer to a request with these Host headers."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    connection.putrequest("GET", "/", skip_host=True)
    for host in hosts:
        connection.putheader("Host", host)
    connection.endheaders()
    try:
        return connection.getresponse().status
    finally:
        connection.close()


def test_the_server_knows_one_page_and_only_this_machine():
    server = leaderboard.make_server(b"<p>the page</p>", 0)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        host, port = server.server_address
        assert host == "127.0.0.1"
        answer = urllib.request.urlopen(f"http://{host}:{port}/")
        assert answer.read() == b"<p>the page</p>" and "utf-8" in answer.headers["Content-Type"]
        for path in ("/runs/", "/../pyproject.toml", "/leaderboard.md"):
            with pytest.raises(urllib.error.HTTPError, match="404"):
                urllib.request.urlopen(f"http://{host}:{port}{path}")
        for name in ("localhost", f"localhost:{port}", f"127.0.0.1:{port}", f"[::1]:{port}"):
            assert status(port, name) == 200
        for name in ("evil.example", f"evil.example:{port}", "127.0.0.1.evil.example", "", "::1"):
            assert status(port, name) == 421, name
        assert status(port, "localhost", "evil.example") == status(port) == 421
        with pytest.raises(UserError, match=f"port {port}.*--port"):
            leaderboard.serve(b"", port)
    finally:
        server.shutdown()
        server.server_close()


def test_a_task_outside_the_benchmark_has_a_table_of_its_own(tmp_path):
    short, whole = "HallwayShort", synthetic.HALLWAYS
    found = rows_of(tmp_path, synthetic.cells(["sac"], [*whole, short], 3))
    assert [(row.section.tasks, row.complete) for row in found] == [(whole, True), ((short,), True)]


def test_a_damaged_states_file_is_left_out_for_the_next_seeds(tmp_path, caplog):
    cells = [synthetic.Cell("sac", "GridWorld", seed) for seed in (0, 1)]
    store = synthetic.write(tmp_path / "runs", cells)
    damaged = store.path(synthetic.header(cells[0]).key, ".states.json")
    damaged.write_text('{"visits": "many"}')
    synthetic.write_states(store, cells[1])
    board = gather([tmp_path / "runs"])
    (panel,) = charts.heat_maps(board)["GridWorld"]
    assert panel["seed"] == 1
    assert f"left out: {damaged} is not a states file" in caplog.text
    build.write(board, tmp_path / "page.html")


def test_every_task_is_in_one_group_of_sections():
    groups = {}
    for section in sections():
        groups.setdefault(section.group, set()).update(section.tasks)
    assert sorted(task for tasks in groups.values() for task in tasks) == sorted(
        spec.name for spec in TASKS.values()
    )
