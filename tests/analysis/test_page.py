"""The leaderboard page in a real browser: offline, small and dark, and what it shows."""

# ruff: noqa: F811 - a fixture is imported, and is the name of an argument

import json
from pathlib import Path

import pytest

from tests.helpers.page_visit import BY_TASK, HOSTILE, browser, needs_chromium, page_file, visit  # noqa: F401

pytestmark = needs_chromium
SHOTS = Path(__file__).parents[2] / "build" / "screenshots"


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
    assert drawn == 2 * 4 + 1 + 2 + 4 + 2  # control, its partial rows, grid, hallway
    wide = page.locator("#hallway .words").evaluate_all("cells => cells.map(c => c.scrollWidth)")
    assert max(wide) < 300, "long words are broken"
    page.locator("#theme").click()
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") != paper


def test_a_wide_table_scrolls_in_its_box(visit):
    box = visit(width=375).locator(BY_TASK)
    assert box.evaluate("box => box.scrollWidth > box.clientWidth")


def test_one_long_run_does_not_squeeze_the_others(visit):
    page = visit()
    chart = page.locator("#chart-GridWorld-")
    data = json.loads(page.locator("#data").text_content())["charts"]["chart-GridWorld-"]
    ends = {line["label"]: line["return"]["episode"][-1] for line in data["lines"]}
    assert ends == {"ddqn": 300, "ddqn_bbe": 600, "ddqn_deep": 300}
    assert ticks(chart)[-1] == "600"
    right = "svg => svg.getBoundingClientRect().right"
    last = chart.locator("> svg text").filter(has_text="600")
    assert last.evaluate(right) <= chart.locator("> svg").evaluate(right), "no tick is cut off"
    chart.get_by_role("button", name="DDQN+BBE").click()
    assert ticks(chart)[-1] == "300", "what is switched off takes no room"


def ticks(chart):
    """Labels of the axis of episodes, the last texts but its title."""
    return chart.locator("> svg text").all_text_contents()[:-1]


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
    assert legend.inner_text() == f"{HOSTILE} (external) my-method"
    assert page.locator("img[src=x]").count() == 0
    assert page.locator("bdi").filter(has_text=HOSTILE).count() >= 5
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


def test_a_submission_is_told_with_its_label_paper_and_commit(visit):
    told = visit().locator("#about li").inner_text()
    assert told.startswith(f"{HOSTILE} my-method by {'w' * 120}, Strauß. xxx")
    assert told.endswith("Settings not chosen on these tasks. Paper. Code at 0123abc.")


def test_the_file_is_small(page_file):
    assert page_file.stat().st_size < 3e6
