"""The leaderboard page in a reader's hands: sorting, filters, pointing, by mouse and keyboard."""

# ruff: noqa: F811 - a fixture is imported, and is the name of an argument

import json

import pytest

from tests.helpers.page_visit import BY_TASK, CONTROL, browser, needs_chromium, page_file, visit  # noqa: F401

pytestmark = [needs_chromium, pytest.mark.slow]


def names(page, table):
    """Labels of the rows that a reader sees, in order."""
    return page.locator(f"{table} tbody tr:visible th code").all_inner_texts()


def opened_chart(page, name):
    """The chart, in the part of the page that a reader unfolds."""
    page.locator(f"details:has(#chart-{name}) > summary").click()
    chart = page.locator(f"#chart-{name}")
    chart.locator("> svg .curve").first.wait_for(state="attached")
    return chart


@pytest.mark.slow
def test_headings_sort_both_ways_with_missing_last(visit):
    page = visit()
    heading = page.locator(f"{BY_TASK} th[data-task=ReacherExplore]")
    column = f"{BY_TASK} tbody td:nth-child(5)"  # method, BallInCup twice, ReacherHard, this one
    for order, sign in (("descending", -1), ("ascending", 1)):
        heading.get_by_role("button").click()
        assert heading.get_attribute("aria-sort") == order
        values = page.locator(column).evaluate_all("cells => cells.map(cell => cell.dataset.sort)")
        assert values[-2:] == ["", ""] and values[:-2] == sorted(
            values[:-2], key=lambda v: sign * float(v)
        )
    assert set(names(page, BY_TASK)[-2:]) == {"sac_2q", "sac_bbe"}
    page.locator(f"{CONTROL} thead th").filter(has_text="Method").get_by_role("button").click()
    assert names(page, CONTROL) == ["sac", "sac_2q", "sac_bbe", "sac_deep"]
    sorts = page.locator(f"{CONTROL} thead th").evaluate_all("all => all.map(th => th.ariaSort)")
    assert sorts[0] == "ascending" and set(sorts[1:]) == {"none"}


def headings(page, table):
    """Titles of the columns, and whether each is marked as the one that ranks."""
    return page.locator(f"{table} thead th").evaluate_all(
        "all => all.map(th => [th.querySelector('button').innerText, th.className])"
    )


def test_the_column_that_ranks_is_marked_and_ranks_are_shown_where_there_are_any(visit):
    page = visit()
    assert ["Rank", ""] not in headings(page, CONTROL), "partial rows have no ranks"
    assert all(mark != "ranks" for _, mark in headings(page, CONTROL))
    scratch, pure = (f"#grid .ranking:nth-of-type({place}) .box:first-child" for place in (1, 2))
    assert headings(page, scratch)[:3] == [["Rank", ""], ["Method", ""], ["Score", "ranks"]]
    ranks = page.locator(f"{scratch} td.rank").all_inner_texts()
    assert ranks == ["1", "2", "–"]
    scores = page.locator(f"{scratch} td.score").evaluate_all("all => all.map(c => c.dataset.sort)")
    assert float(scores[0]) > float(scores[1])
    assert headings(page, pure)[:2] == [["Method", ""], ["Coverage", ""]], "alone: not ranked"


def test_the_best_on_a_task_comes_first_in_its_table(visit):
    page = visit()
    table = page.locator("#task-ReacherHard table")
    values = table.locator("tbody td:nth-child(2)").evaluate_all(
        "all => all.map(c => c.dataset.sort)"
    )
    assert len(values) == 4 and values == sorted(values, key=float, reverse=True)
    assert table.locator("th").nth(1).get_attribute("aria-sort") == "descending"
    opened_chart(page, "GridWorld-pure")
    pure = page.locator("#task-GridWorld table").nth(1).locator("thead th[aria-sort=descending]")
    assert pure.get_by_role("button").inner_text() == "Coverage"


def test_single_seeds_are_drawn_on_demand(visit):
    page = visit()
    chart = opened_chart(page, "ReacherHard-")
    button = chart.get_by_role("button", name="Single seeds")
    assert chart.locator("path.seed").count() == 0 and not chart.locator(".without").is_visible()
    button.click()
    assert button.get_attribute("aria-pressed") == "true"
    assert chart.locator("path.seed").count() == 3 + 3 + 1 + 2  # seeds of its four methods
    assert not chart.locator(".without").is_visible()
    chart.get_by_role("button", name="Coverage").click()
    assert chart.locator("path.seed").count() == 9
    assert button.get_attribute("aria-pressed") == "true", "the column does not switch it off"
    button.click()
    assert chart.locator("path.seed").count() == 0


def test_filters_choose_rows_columns_curves_and_tasks(visit):
    page = visit()
    chart = opened_chart(page, "ReacherHard-")
    page.locator("details.states > summary").click()
    page.get_by_label("Search").fill("DEEP")
    assert names(page, CONTROL) == ["sac_deep"]
    assert chart.locator("> svg .curve").count() == 1
    assert page.locator(".heat:visible").count() == 1
    page.get_by_label("Search").fill("")
    page.get_by_label("Preset").select_option("external")
    assert names(page, CONTROL) == [] and names(page, "#hallway .ranking") == ["my-method"] * 2
    assert page.locator("#shown").inner_text() == "1 of 9 rows shown"
    assert not page.locator("#control").is_visible(), "a table without rows is not shown"
    assert not chart.is_visible()
    assert page.locator("#task-GridWorld > details:visible").count() == 0
    page.get_by_label("Preset").select_option("")
    page.locator("#filters").get_by_label("Task").select_option("ReacherHard")
    assert page.locator("article.task:visible h3").all_inner_texts() == ["ReacherHard"]
    assert page.locator(f"{BY_TASK} thead th:visible").count() == 2
    assert not page.locator("#hallway").is_visible()


def test_a_search_without_a_match_says_so_and_leaves_no_empty_headings(visit):
    page = visit()
    every = page.locator("h2:visible").all_inner_texts()
    assert "Methods" in every and "What it cost" in every
    page.get_by_label("Search").fill("nobody's method")
    assert page.locator("#shown").inner_text() == "no row matches"
    assert page.locator("h2:visible").all_inner_texts() == ["Tasks", "How to read"]
    page.get_by_label("Search").fill("")
    assert page.locator("h2:visible").all_inner_texts() == every


def test_choosing_a_task_opens_what_is_folded_below_it(visit):
    page = visit()
    page.locator("#filters").get_by_label("Task").select_option("GridWorld")
    page.locator("#chart-GridWorld-pure > svg .curve").first.wait_for()
    assert page.locator(".heat canvas:visible").count() == 2
    page.locator("#filters").get_by_label("Task").select_option("")
    assert not page.locator("#chart-ReacherHard-").is_visible(), "all others stay closed"


def test_a_task_shows_all_rows_with_runs_of_it(visit):
    """The row's own score may be over other tasks."""
    page = visit()
    page.locator("#filters").get_by_label("Task").select_option("WalkerWalk")
    for table in (CONTROL, BY_TASK):
        assert set(names(page, table)) == {"sac", "sac_bbe", "sac_deep"}


@pytest.mark.parametrize("word", ["Strauß", "STRAUß", "my-METHOD"])
def test_searching_does_not_mind_capital_letters(visit, word):
    page = visit()
    page.get_by_label("Search").fill(word)
    assert page.locator("#shown").inner_text() == "1 of 9 rows shown"


def test_the_chosen_theme_is_remembered(visit):
    page = visit()
    assert page.get_by_role("button", name="Dark theme").is_visible()
    page.locator("#theme").click()
    page.reload()
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(20, 23, 26)"
    assert page.get_by_role("button", name="Light theme").is_visible(), "what a click does"


def test_pointing_at_curves_tells_episode_mean_interval_and_seeds(visit):
    page = visit()
    chart = opened_chart(page, "ReacherHard-").locator("> svg")
    chart.scroll_into_view_if_needed()
    box = chart.bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    told = page.locator("#tip").inner_text()
    data = json.loads(page.locator("#data").text_content())["charts"]["chart-ReacherHard-"]
    (line,) = [line for line in data["lines"] if line["label"] == "sac_deep"]
    assert (line["name"], line["suffix"]) == ("SAC+DEEP", " (cpu)")
    curve, episode = line["return"], int(told.split()[1])
    at = curve["episode"].index(episode)
    mean, low, high = (
        f"{value:.0f}" if value >= 100 else f"{value:.1f}"
        for value in (curve[part][at] for part in ("mean", "low", "high"))
    )
    assert (
        50 <= episode <= 60 and f"SAC+DEEP (cpu) sac_deep: {mean} [{low}, {high}], 3 seeds" in told
    )
    assert "no interval, 1 seed" in told and "no interval, 2 seeds" in told
    page.mouse.move(0, 0)
    assert not page.locator("#tip").is_visible()


@pytest.mark.slow
def test_legend_and_column_of_a_chart(visit):
    page = visit()
    chart = opened_chart(page, "ReacherHard-")
    button = chart.get_by_role("button", name="SAC+DEEP")
    button.click()
    assert button.get_attribute("aria-pressed") == "false"
    assert chart.locator("> svg .curve").count() == 3
    chart.get_by_role("button", name="Coverage").click()
    assert chart.locator("> svg text").all_text_contents()[5] == "100 %"
    pure = opened_chart(page, "GridWorld-pure")
    assert pure.locator("[aria-pressed=true]").first.inner_text() == "Coverage"


@pytest.mark.slow
def test_the_keyboard_reaches_everything(visit):
    page = visit()
    page.keyboard.press("Tab")
    assert page.locator(":focus").inner_text() == "Skip to content"
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    assert page.locator(":focus").get_attribute("id") == "preset"
    assert (
        page.locator(":focus").evaluate("element => getComputedStyle(element).outlineWidth")
        == "3px"
    )
    page.locator("#task-ReacherHard details.results > summary").focus()
    page.keyboard.press("Enter")
    page.locator("#chart-ReacherHard- > svg .curve").first.wait_for()
    page.locator("#chart-ReacherHard- > svg").focus()
    for key in ("ArrowRight", "ArrowRight", "Shift+ArrowRight"):
        page.keyboard.press(key)
    assert page.locator("#tip").inner_text().startswith("Episode 12")
    page.keyboard.press("End")
    assert page.locator("#tip").inner_text().startswith("Episode 110")
    page.keyboard.press("Escape")
    assert not page.locator("#tip").is_visible()


@pytest.mark.slow
def test_maps_show_where_each_agent_has_been(visit):
    page = visit()
    maps = page.locator("#task-GridWorld .heat")
    assert maps.count() == 2 and not maps.first.is_visible()
    page.locator("#task-GridWorld details.states > summary").click()
    canvas = maps.nth(0).locator("canvas")
    start, goal = canvas.evaluate("""canvas => {
        const [w, h] = [canvas.width, canvas.height];
        const { data } = canvas.getContext("2d").getImageData(0, 0, w, h);
        return [4 * w * (h - 1) + 3, 4 * (w - 1) + 3].map(place => data[place]);
    }""")
    assert (start, goal) == (255, 0)  # lower left was visited, upper right was not
    canvas.hover(position={"x": 3, "y": canvas.bounding_box()["height"] - 4})
    assert page.locator("#tip").inner_text().startswith("60 visits")
    canvas.focus()
    page.mouse.move(0, 0)
    for keys, told in ((["ArrowUp"], "60 visits"), (["ArrowUp", "ArrowRight"], "42 visits"),
                       (["Shift+ArrowRight"], "8 visits")):  # fmt: skip
        for key in keys:
            page.keyboard.press(key)
        assert page.locator("#tip").inner_text().startswith(told)
    page.keyboard.press("Escape")
    assert not page.locator("#tip").is_visible()
