"""A page of many methods, and one submission of very long runs: drawn in part, computed in part."""

# ruff: noqa: F811 - a fixture is imported, and is the name of an argument

import json

import pytest

from analysis.leaderboard import build, charts, entries
from analysis.leaderboard.entries import gather
from analysis.leaderboard.rows import rows
from analysis.stats import intervals
from analysis.stats.results import Results
from explore_suite.runs.store import ResultStore
from tests.helpers import good_submission, synthetic
from tests.helpers.page_visit import browser, needs_chromium, visit  # noqa: F401

pytestmark = pytest.mark.slow

METHODS = 14
TASK = "ReacherHard"


@pytest.fixture(scope="module")
def page_file(tmp_path_factory):
    """Fourteen methods on a task, each better than the one before, the last of many seeds."""
    root = tmp_path_factory.mktemp("many")
    store = ResultStore(root / "runs")
    for number in range(METHODS):
        for seed in range(11 if number == METHODS - 1 else 3):
            run = synthetic.invent(synthetic.Cell(f"method-{number:02d}", TASK, seed))
            earned = [row._replace(return_=50.0 * number + seed) for row in run.rows]
            synthetic.put(store, run._replace(rows=earned))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(intervals, "REPETITIONS", 50)
        build.write(gather([root / "runs"]), root / "page.html")
    return root / "page.html"


def opened_chart(page):
    page.locator("details.results > summary").click()
    chart = page.locator(f"#chart-{TASK}-")
    chart.locator("> svg .curve").first.wait_for(state="attached")
    return chart


@pytest.mark.slow
@needs_chromium
def test_a_chart_begins_with_the_best_ten_lines(visit):
    chart = opened_chart(visit())
    curves = chart.locator("> svg path.curve")
    assert curves.count() == 10
    assert chart.locator(".count").inner_text().startswith("10 of 14 methods drawn")
    on = chart.locator(".legend button[aria-pressed=true] code").all_inner_texts()
    assert on == [f"method-{number:02d}" for number in range(4, METHODS)]
    chart.get_by_role("button", name="method-00").click()
    assert curves.count() == 11
    assert chart.locator(".count").inner_text().startswith("11 of 14 methods drawn")
    chart.get_by_role("button", name="method-13").click()
    assert curves.count() == 10


@needs_chromium
def test_single_seeds_are_those_of_the_best_methods_with_few_of_them(visit):
    page = visit()
    chart = opened_chart(page)
    chart.get_by_role("button", name="Single seeds").click()
    assert chart.locator("path.seed").count() == 9 * 3
    assert chart.locator(".without").inner_text().startswith("No single seeds of method-13: ")
    chart.get_by_role("button", name="method-00").click()
    assert "of method-00, method-13: " in chart.locator(".without").inner_text()
    data = json.loads(page.locator("#data").text_content())["charts"][f"chart-{TASK}-"]
    runs = {line["label"]: line["runs"] for line in data["lines"]}
    assert [label for label, found in runs.items() if found] == [
        f"method-{number:02d}" for number in range(4, METHODS - 1)
    ]
    values = runs["method-12"]["return"]["values"]
    assert values == [[600 + seed] * 55 for seed in range(3)], "rounded, every second episode"
    assert runs["method-12"]["return"]["episode"][-1] == 110


@needs_chromium
def test_what_is_searched_for_is_drawn_however_bad_it_is(visit):
    page = visit()
    chart = opened_chart(page)
    page.get_by_label("Search").fill("method-02")
    assert chart.locator("> svg path.curve").count() == 1
    assert not chart.locator(".count").is_visible()
    page.get_by_label("Search").fill("")
    assert chart.locator("> svg path.curve").count() == 10


@pytest.mark.slow
@pytest.mark.usefixtures("few_resamples")
def test_no_more_of_a_submission_is_computed_than_is_drawn(tmp_path):
    """The results and the curves are the same, as far as they are shown."""
    synthetic.write(tmp_path / "runs", [synthetic.Cell("sac", "WalkerWalk", 0)])
    files = good_submission.good_files("hallway", episodes=1000)
    good_submission.write(tmp_path / "submissions" / "my-method", files)
    board = gather([tmp_path / "runs"])
    assert board.refused == []
    mine = [run for run in board.runs if run.header.agent == "my-method"]
    assert len(mine) == 10
    assert max(len(run.rows) for run in mine) <= 2 * (2 * 100 + 20)
    (line,) = [line for chart in charts.charts(board, rows(board)).values()
               for line in chart["lines"]
               if (line["label"], chart["best"]) == ("my-method", 832.9)]  # fmt: skip
    whole = entries.validate(tmp_path / "submissions" / "my-method").runs
    curve = Results(synthetic.stored(whole)).curve("my-method", "HallwayLocalOptimum")
    assert line["return"]["episode"] == list(range(1, 201))
    assert line["return"]["mean"] == [round(value, 2) for value in curve["mean"][:200]]
    scores = json.loads(files["submission.json"])["scores"]
    row = next(row for row in rows(board) if row.entry.label == "my-method")
    shown = row.by_task["HallwayLocalOptimum"].score.value
    assert shown == pytest.approx(scores["ExploreSuite/HallwayLocalOptimum-v0"])


@pytest.mark.usefixtures("few_resamples")
def test_a_section_named_like_its_task_is_named_once(tmp_path, caplog):
    cells = [synthetic.Cell("sac", task, 0) for task in ("HallwayShort", "WalkerWalk")]
    synthetic.write(tmp_path / "runs", cells)
    board = gather([tmp_path / "runs"])
    with caplog.at_level("INFO", "analysis.leaderboard.charts"):
        charts.charts(board, rows(board))
    assert [line.strip() for line in caplog.messages] == [
        "curves of WalkerWalk (Control suite)",
        "curves of HallwayShort",
    ]


def test_a_run_that_lacks_rows_is_not_cut():
    """Cutting it would hide what is missing."""
    whole = synthetic.invent(synthetic.Cell("sac", "WalkerWalk", 0, 400))
    (run,) = synthetic.stored([whole._replace(rows=whole.rows[:-2])])
    lacking = entries.drawn_part(run, None)
    assert len(lacking.rows) == len(whole.rows) - 2 and lacking.header.episodes == 400
