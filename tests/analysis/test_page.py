"""The leaderboard page in a real browser: offline, small and dark, and what it shows."""

# ruff: noqa: F811 - a fixture is imported, and is the name of an argument

import json
from pathlib import Path

import pytest

from tests.helpers.page_visit import BY_TASK, HOSTILE, browser, needs_chromium, page_file, visit  # noqa: F401

pytestmark = [needs_chromium, pytest.mark.slow]
SHOTS = Path(__file__).parents[2] / "build" / "screenshots"


@pytest.mark.slow
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
    assert page.locator(".task > details[open]").count() == 0
    unfold(page)
    assert page.evaluate("document.documentElement.scrollWidth") == width
    drawn = page.locator(".curves > svg .curve").count()
    assert drawn == 2 * 4 + 1 + 2 + 4 + 2  # control, its partial rows, grid, hallway
    wide = page.locator("#hallway .words").evaluate_all("cells => cells.map(c => c.scrollWidth)")
    assert max(wide) < 300, "long words are broken"
    page.locator("#theme").click()
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") != paper


def unfold(page):
    """Opens what is folded below the tasks; their curves are drawn then."""
    page.locator(".task > details").evaluate_all("all => all.forEach(part => part.open = true)")
    page.wait_for_function("""() => [...document.querySelectorAll(".curves > svg")].every(
        drawing => drawing.querySelector(".curve"))""")


def test_a_wide_table_scrolls_in_its_box(visit):
    box = visit(width=375).locator(BY_TASK)
    assert box.evaluate("box => box.scrollWidth > box.clientWidth")


def test_a_row_keeps_its_line_below_the_name_that_stays(visit):
    """A collapsed border would scroll away from below a cell that stays."""
    table = visit(width=375).locator(f"{BY_TASK} table")
    assert table.evaluate("table => getComputedStyle(table).borderCollapse") == "separate"
    assert table.evaluate("table => getComputedStyle(table).borderSpacing") in ("0px", "0px 0px")
    name = table.locator("tbody th").first
    assert name.evaluate("cell => getComputedStyle(cell).borderBottomWidth") == "1px"


def test_a_heading_is_not_said_twice(visit):
    page = visit()
    caption = page.locator("#control caption").first.inner_text()
    assert caption.startswith("Four tasks of dm_control"), "below the heading Control suite"
    assert page.locator("#grid caption").first.inner_text().startswith("Grid world, from scratch. ")


def test_tasks_are_quick_to_skim(visit):
    page = visit()
    tasks = page.locator("article.task")
    assert tasks.count() == 7
    assert page.locator("#tasks").evaluate("part => part.offsetHeight") < 450 * tasks.count()
    task = page.locator("#task-GridWorld")
    assert task.locator("> details:not(.films) > summary").all_inner_texts() == [
        "Curves and numbers: Grid world, from scratch",
        "Curves and numbers: Grid world, exploration only",
        "Visited states",
    ]
    assert task.locator("img").first.is_visible() and not task.locator("table").first.is_visible()


def test_an_address_opens_the_curves_that_it_names(visit):
    page = visit()
    page.goto(f"{page.url}#chart-ReacherHard-")
    page.locator("#chart-ReacherHard- > svg .curve").first.wait_for()
    assert not page.locator("#chart-WalkerWalk-").is_visible()


def test_the_first_iqm_is_spelled_out(visit):
    text = visit().locator("body").inner_text()
    assert text.index("interquartile mean (IQM)") + len("interquartile mean (") == text.index("IQM")


@pytest.mark.parametrize("width", [390, 1280])
def test_a_table_that_scrolls_sideways_says_so_and_no_other_does(visit, width):
    page = visit(width=width)
    unfold(page)
    boxes = page.locator(".box").evaluate_all("""boxes => boxes.map(box => [
        box.scrollWidth > box.clientWidth + 1, box.querySelector(".hint").checkVisibility(),
        box.classList.contains("more")])""")
    assert all(wide == hinted == shaded for wide, hinted, shaded in boxes)
    assert (width == 390) in {wide for wide, _, _ in boxes}, "the test sees both kinds"
    box = page.locator(BY_TASK)
    if width == 390:
        box.evaluate("box => box.scrollLeft = box.scrollWidth")
        page.wait_for_function("box => !box.classList.contains('more')", arg=box.element_handle())


def test_it_opens_with_the_question_the_findings_and_the_picture(visit):
    page = visit()
    asked, found, ranked = page.locator("#story > p").all_inner_texts()
    assert asked.startswith("The suite asks whether a method finds rewards")
    assert found.startswith("On ReacherExplore and WalkerExplore, where a method must explore")
    assert ranked.startswith("Ranked first: ")
    panels = page.locator("#story .panels svg")
    assert panels.count() == 2 and panels.first.locator(".point").count() == 2
    assert page.locator(".markers li code").all_inner_texts() == ["sac", "sac_deep"]
    caption = page.locator("#story figcaption").inner_text()
    assert "nor of FingerTurnHard and FingerExplore yet." in caption
    marker = panels.first.locator(".point path").last
    marker.hover()
    assert page.locator("#tip").inner_text().startswith("SAC+DEEP\n\nReacherHard ")
    page.get_by_label("Search").fill("deep")
    assert panels.first.locator(".point:visible").count() == 1
    assert page.locator(".markers li:visible code").all_inner_texts() == ["sac_deep"]
    cards = page.locator("#methods li:visible b").all_inner_texts()
    assert cards == ["SAC+DEEP", "DDQN+DEEP", "DEEP (exploration only)"]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_markers_can_be_told_from_the_paper(visit, scheme):
    page = visit(scheme=scheme)
    colours = page.locator(".markers path").evaluate_all("""all => all.map(path =>
        [getComputedStyle(path).fill, getComputedStyle(document.body).backgroundColor])""")
    for ink, paper in colours:
        assert contrast(page, ink, paper) > 3


def contrast(page, ink, paper):
    """The contrast of two colours, as WCAG 2 defines it."""
    first, second = (luminance(page, colour) for colour in (ink, paper))
    return (max(first, second) + 0.05) / (min(first, second) + 0.05)


def luminance(page, colour):
    channels = page.evaluate(
        """colour => {
        const pen = document.createElement("canvas").getContext("2d");
        pen.fillStyle = colour;
        pen.fillRect(0, 0, 1, 1);
        return [...pen.getImageData(0, 0, 1, 1).data].slice(0, 3).map(part => part / 255);
    }""",
        colour,
    )
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4
              for part in channels]  # fmt: skip
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_badges_differ_are_explained_and_can_be_read(visit, scheme):
    page = visit(scheme=scheme)
    legend = page.locator(".badges .badge")
    looks = legend.evaluate_all("""all => all.map(badge => {
        const style = getComputedStyle(badge);
        return [badge.innerText, style.color, style.backgroundColor, style.border];
    })""")
    names = [name for name, *_ in looks]
    assert names == ["reference", "local", "self-reported", "replay-checked", "verified"]
    assert len({tuple(look) for _, *look in looks}) == len(names)
    paper = page.evaluate("getComputedStyle(document.body).backgroundColor")
    for name, ink, ground, _ in looks:
        assert contrast(page, ink, paper if ground.endswith(", 0)") else ground) > 4.5, name
    badge = page.locator("#hallway .badge").first
    assert badge.get_attribute("title").startswith("a maintainer ran part of it again")


def test_rows_say_on_what_they_were_made(visit):
    page = visit()
    cell = page.locator("#hallway td.made").first
    assert cell.locator("> small").inner_text().strip() == "2 machines; commit 0123abc"
    assert not cell.locator("dl").is_visible()
    cell.locator("summary").click()
    words = dict(
        zip(cell.locator("dt").all_inner_texts(), cell.locator("dd").all_inner_texts(), strict=True)
    )
    assert words["Seeds"] == "0, 1, 2, 3, 4"
    assert words["Machines"] == "Abacus, 2 cores, Linux; a laptop"
    assert words["Date"] == "verified 2026-01-31"
    control = page.locator("#control td.made").first.locator("> small").inner_text()
    assert control.strip() == "no hardware recorded; commit 0000000"


def test_core_hours_add_up(visit):
    page = visit()
    rows = page.locator("#cost tbody tr").evaluate_all("""rows => rows.map(row =>
        [...row.cells].slice(1).map(cell => Number(cell.dataset.sort)))""")
    for total, *tasks in rows:
        assert total == pytest.approx(sum(tasks)) and total > 0
    foot = page.locator("#cost tfoot td").first.inner_text()
    assert float(foot) == pytest.approx(sum(total for total, *_ in rows), rel=0.05)


def test_films_lie_closed_beside_their_task(visit):
    page = visit()
    films = page.locator("#task-ReacherHard details.films")
    assert not films.locator("img").first.is_visible()
    films.locator("summary").click()
    images = films.locator("img")
    assert images.evaluate_all("all => all.map(image => image.alt)") == [
        "SAC acts on ReacherHard", "SAC+DEEP acts on ReacherHard",
    ]  # fmt: skip
    assert images.first.get_attribute("src").startswith("data:image/gif;base64,")
    page.wait_for_function("image => image.naturalWidth === 1", arg=images.first.element_handle())
    page.locator("#task-ReacherExplore details.films summary").click()
    told = page.locator("#task-ReacherExplore details.films").inner_text()
    assert "too large for this page; the film is docs/films/sac_ReacherExplore.gif" in told
    assert page.locator("details.films").count() == 2, "none of agents that are not on the page"


def test_one_long_run_does_not_squeeze_the_others(visit):
    page = visit()
    chart = page.locator("#chart-GridWorld-")
    data = json.loads(page.locator("#data").text_content())["charts"]["chart-GridWorld-"]
    ends = {line["label"]: line["return"]["episode"][-1] for line in data["lines"]}
    assert ends == {"ddqn": 300, "ddqn_bbe": 600, "ddqn_deep": 300}
    unfold(page)
    assert ticks(chart)[-1] == "600"
    right = "svg => svg.getBoundingClientRect().right"
    last = chart.locator("> svg text").filter(has_text="600")
    assert last.evaluate(right) <= chart.locator("> svg").evaluate(right), "no tick is cut off"
    chart.get_by_role("button", name="DDQN+BBE").click()
    assert ticks(chart)[-1] == "300", "what is switched off takes no room"
    told = page.locator(".curves figcaption", has_text="Longer curves are cut")
    assert told.count() == 1, "said only where a curve was cut"
    assert "cut at episode 600." in chart.locator("figcaption").inner_text()


def ticks(chart):
    """Labels of the axis of episodes, the last texts but its title."""
    return chart.locator("> svg text").all_text_contents()[:-1]


def test_a_screen_reader_is_told_what_everything_is(visit):
    page = visit()
    unfold(page)
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
    unfold(page)
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


def test_a_submission_is_shown_with_its_label_paper_and_commit(visit):
    card = visit().locator("#methods li").filter(has_text="my-method")
    name, words, source = card.locator("> p").all_inner_texts()
    assert " ".join(name.split()) == f"{HOSTILE} my-method verified"
    assert words == "x" * 159 + "…", "one line, the rest on demand"
    assert source.startswith(f"By {'w' * 120}, Strauß. Settings not chosen on these tasks.")
    assert source.endswith("Paper. Code at 0123abc.")
    card.locator("summary").click()
    assert "x" * 2000 in card.inner_text()


def test_a_reference_method_is_shown_with_its_paper_and_file(visit):
    card = visit().locator("#methods li:has(code:text-is('sac_bbe'))")
    assert "bonus-based exploration" in card.inner_text()
    assert card.locator("a").get_attribute("href") == "https://arxiv.org/abs/2101.09458"
    assert card.locator("p.source code").inner_text() == "baselines/agents/bbe.py"


def test_the_file_is_small(page_file):
    assert page_file.stat().st_size < 3e6
