"""The leaderboard page in a real browser: offline, by mouse and keyboard, small and dark."""

import json
import shutil
from pathlib import Path

import good_submission
import pytest
import synthetic
from playwright.sync_api import sync_playwright

from analysis import bootstrap, leaderboard

CHROMIUM = shutil.which("chromium")
pytestmark = pytest.mark.skipif(
    CHROMIUM is None, reason="needs Debian's chromium: apt-get install chromium"
)
SHOTS = Path(__file__).parents[1] / "build" / "screenshots"
HOSTILE = "<img src=x onerror=alert(1)></script><!--\" 'q' &amp;"
TASKS = ("ReacherHard", "ReacherExplore", "WalkerWalk", "WalkerExplore")


@pytest.fixture(scope="module")
def page_file(tmp_path_factory):
    """A page of invented runs and of a submission with an evil name."""
    root = tmp_path_factory.mktemp("page")
    cells = [
        *synthetic.cells(("sac", "sac_deep"), TASKS, 3),
        synthetic.Cell("sac_2q", "ReacherHard", 0),
        *synthetic.cells(("ddqn", "ddqn_deep", "ddqn_deep.pure"), ["GridWorld"], 3, 300),
    ]
    store = synthetic.write(root / "runs", cells)
    for agent in ("ddqn", "ddqn_deep"):
        synthetic.write_states(store, synthetic.Cell(agent, "GridWorld", 1))
    files = good_submission.good_files("hallway")
    about = json.loads(files["submission.json"]) | {"name": HOSTILE}
    files["submission.json"] = json.dumps(about).encode()
    good_submission.write(root / "submissions" / "my-method", files)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bootstrap, "REPETITIONS", 100)
        leaderboard.write_page(root / "runs", root / "page.html", title="A <b>title</b>")
    return root / "page.html"


@pytest.fixture(scope="module")
def browser():
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def visit(browser, page_file):
    """Opens the page in a new window; at the end, nothing may have been asked for or gone wrong."""
    contexts, wrong = [], []

    def _visit(width=1280, height=900, scheme="light"):
        context = browser.new_context(
            viewport={"width": width, "height": height}, color_scheme=scheme, offline=True
        )
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(10_000)
        page.on("request", lambda request: wrong.append(request.url)
                if not request.url.startswith(("file:", "data:")) else None)  # fmt: skip
        page.on("console", lambda line: wrong.append(line.text))
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on("dialog", lambda dialog: (wrong.append("dialog"), dialog.dismiss()))
        page.goto(page_file.as_uri())
        return page

    _visit.wrong = wrong
    yield _visit
    for context in contexts:
        context.close()
    assert wrong == []


def names(page, table):
    """Labels of the rows that a reader sees, in order."""
    return page.locator(f"{table} tbody tr:visible th code").all_inner_texts()


CONTROL = "#control .ranking .box:first-child"
BY_TASK = "#control .ranking .box:nth-child(2)"


@pytest.mark.parametrize(
    ("name", "width", "scheme"),
    [("light", 1280, "light"), ("dark", 1280, "dark"), ("phone", 375, "dark")],
)
def test_it_looks_right_and_never_scrolls_sideways(visit, name, width, scheme):
    page = visit(width=width, scheme=scheme)
    assert page.evaluate("document.documentElement.scrollWidth") == width
    SHOTS.mkdir(parents=True, exist_ok=True)
    page.screenshot(path=SHOTS / f"{name}.png", full_page=True)
    paper = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert paper == ("rgb(255, 255, 255)" if scheme == "light" else "rgb(20, 23, 26)")
    drawn = page.locator(".curves > svg .curve").count()
    assert drawn == 2 * 4 + 1 + 3 + 2  # control, the partial row, grid, hallway
    page.locator("#theme").click()
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") != paper


def test_a_wide_table_scrolls_in_its_box(visit):
    box = visit(width=375).locator(BY_TASK)
    assert box.evaluate("box => box.scrollWidth > box.clientWidth")


def test_headings_sort_both_ways_with_missing_last(visit):
    page = visit()
    heading = page.locator(f"{BY_TASK} th[data-task=ReacherExplore]")
    column = f"{BY_TASK} tbody td:nth-child(5)"  # method, BallInCup twice, ReacherHard, this one
    for order, sign in (("descending", -1), ("ascending", 1)):
        heading.get_by_role("button").click()
        assert heading.get_attribute("aria-sort") == order
        values = page.locator(column).evaluate_all("cells => cells.map(cell => cell.dataset.sort)")
        assert values[-1] == "" and values[:-1] == sorted(
            values[:-1], key=lambda v: sign * float(v)
        )
    assert names(page, BY_TASK)[-1] == "sac_2q"
    page.locator(f"{CONTROL} th").nth(1).get_by_role("button").click()
    assert names(page, CONTROL) == ["sac", "sac_2q", "sac_deep"]
    assert page.locator(f"{CONTROL} thead th").first.get_attribute("aria-sort") == "none"


def test_filters_choose_rows_columns_curves_and_tasks(visit):
    page = visit()
    page.get_by_label("Search").fill("DEEP")
    assert names(page, CONTROL) == ["sac_deep"]
    assert page.locator("#chart-ReacherHard- > svg .curve").count() == 1
    assert page.locator(".heat:visible").count() == 1
    page.get_by_label("Search").fill("")
    page.get_by_label("Preset").select_option("external")
    assert names(page, CONTROL) == [] and names(page, "#hallway .ranking") == ["my-method"] * 2
    assert page.locator("#shown").inner_text() == "1 of 7 rows shown"
    page.get_by_label("Preset").select_option("")
    page.locator("#filters").get_by_label("Task").select_option("ReacherHard")
    assert page.locator("article.task:visible h3").all_inner_texts() == ["ReacherHard"]
    assert page.locator(f"{BY_TASK} thead th:visible").count() == 2
    assert not page.locator("#hallway").is_visible()


def test_pointing_at_curves_tells_episode_mean_interval_and_seeds(visit):
    page = visit()
    chart = page.locator("#chart-ReacherHard- > svg")
    chart.scroll_into_view_if_needed()
    box = chart.bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    told = page.locator("#tip").inner_text()
    data = json.loads(page.locator("#data").text_content())["charts"]["chart-ReacherHard-"]
    (line,) = [line for line in data["lines"] if line["method"] == "method-2"]
    assert line["name"] == "SAC+DEEP (cpu)"
    curve, episode = line["return"], int(told.split()[1])
    at = curve["episode"].index(episode)
    mean, low, high = (
        f"{value:.0f}" if value >= 100 else f"{value:.1f}"
        for value in (curve[part][at] for part in ("mean", "low", "high"))
    )
    assert 50 <= episode <= 60 and f"SAC+DEEP (cpu): {mean} [{low}, {high}], 3 seeds" in told
    assert "no interval, 1 seed" in told
    page.mouse.move(0, 0)
    assert not page.locator("#tip").is_visible()


def test_legend_and_column_of_a_chart(visit):
    page = visit()
    chart = page.locator("#chart-ReacherHard-")
    button = chart.get_by_role("button", name="SAC+DEEP")
    button.click()
    assert button.get_attribute("aria-pressed") == "false"
    assert chart.locator("> svg .curve").count() == 2
    chart.get_by_role("button", name="Coverage").click()
    assert chart.locator("> svg text").all_text_contents()[5] == "100 %"
    assert (
        page.locator("#chart-GridWorld-pure [aria-pressed=true]").first.inner_text() == "Coverage"
    )


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
    page.locator("#chart-ReacherHard- > svg").focus()
    for key in ("ArrowRight", "ArrowRight", "Shift+ArrowRight"):
        page.keyboard.press(key)
    assert page.locator("#tip").inner_text().startswith("Episode 12")
    page.keyboard.press("End")
    assert page.locator("#tip").inner_text().startswith("Episode 110")
    page.keyboard.press("Escape")
    assert not page.locator("#tip").is_visible()


def test_a_screen_reader_is_told_what_everything_is(visit):
    page = visit()
    unnamed = page.evaluate("""() => [
        ...[...document.querySelectorAll("table")].filter(table => !table.caption?.innerText),
        ...[...document.querySelectorAll("img")].filter(image => !image.alt),
        ...[...document.querySelectorAll("select, input")].filter(box => !box.labels.length),
        ...[...document.querySelectorAll("canvas, .curves > svg")].filter(
            drawing => !drawing.getAttribute("aria-label")),
        ...[...document.querySelectorAll("section, article")].filter(part =>
            !document.getElementById(part.getAttribute("aria-labelledby"))),
    ].map(element => element.outerHTML)""")
    assert unnamed == []
    for landmark in ("banner", "navigation", "main", "search", "contentinfo"):
        assert page.get_by_role(landmark).count() == 1
    ids = page.locator("[id]").evaluate_all("elements => elements.map(element => element.id)")
    assert len(ids) == len(set(ids))


def test_evil_names_are_text(visit):
    page = visit()
    assert page.locator("#hallway tbody th").first.inner_text().startswith(HOSTILE)
    legend = page.locator("#chart-HallwayLocalOptimum- .legend")
    assert legend.inner_text() == f"{HOSTILE} (external)"
    assert page.locator("img[src=x]").count() == 0
    assert page.locator("h1").inner_text() == "A <b>title</b>"


def test_the_policy_stops_scripts_of_others(visit):
    page = visit()
    blocked = page.evaluate("""() => new Promise(resolve => {
        document.addEventListener("securitypolicyviolation", e => resolve(e.violatedDirective));
        const script = document.createElement("script");
        script.textContent = "alert(1)";
        document.body.append(script);
    })""")
    assert blocked == "script-src-elem"
    (complaint,) = visit.wrong  # the browser's, about what we just tried
    assert "Content Security Policy" in complaint
    visit.wrong.clear()


def test_maps_show_where_each_agent_has_been(visit):
    page = visit()
    maps = page.locator("#task-GridWorld .heat")
    assert maps.count() == 2
    canvas = maps.nth(0).locator("canvas")
    start, goal = canvas.evaluate("""canvas => {
        const [w, h] = [canvas.width, canvas.height];
        const { data } = canvas.getContext("2d").getImageData(0, 0, w, h);
        return [4 * w * (h - 1) + 3, 4 * (w - 1) + 3].map(place => data[place]);
    }""")
    assert (start, goal) == (255, 0)  # lower left was visited, upper right was not
    canvas.hover(position={"x": 3, "y": canvas.bounding_box()["height"] - 4})
    assert page.locator("#tip").inner_text().startswith("60 visits")


def test_the_file_is_small(page_file):
    assert page_file.stat().st_size < 3e6
