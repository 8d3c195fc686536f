"""The documentation site: it builds, links lead somewhere, and nothing is loaded from elsewhere."""

# ruff: noqa: F811 - a fixture is imported, and is the name of an argument

import functools
import http.server
import os
import re
import subprocess
import sys
import threading
import tomllib
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
import yaml

from analysis.figures import FIGURES
from baselines import AGENTS
from explore_suite.tasks import TASKS
from tests.helpers.markdown_files import ROOT, anchors, links
from tests.helpers.page_visit import browser, needs_chromium  # noqa: F401

pytestmark = pytest.mark.slow

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
URLS = PROJECT["urls"]
TEXTS = sorted(
    path.relative_to(ROOT).as_posix()
    for pattern in ("*.md", "docs/**/*.md", "results/*.md")
    for path in ROOT.glob(pattern)
)
GENERATED = {f"docs/tasks/{spec.name}.md" for spec in TASKS.values()}
GENERATED |= {"docs/leaderboard_page.html"}
LOADING = {"img": "src", "script": "src", "iframe": "src", "source": "src", "link": "href"}
WINDOWS = {"light": (1280, "light"), "dark": (1280, "dark"), "phone": (375, "light")}
SHOWN = ("index.html", "tutorial.html", "tasks/WalkerExplore.html", "agents.html",
         "api/explore_suite.html", "leaderboard.html", "architecture.html")  # fmt: skip
SHOTS = ROOT / "build" / "screenshots"


class Page(HTMLParser):
    """The ids of a page, where its links lead and what it loads."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.ids, self.links, self.loads = set(), [], []
        self.feed(path.read_text())

    def handle_starttag(self, tag, attrs):
        found = dict(attrs)
        self.ids |= {found[name] for name in ("id", "name") if found.get(name)}
        self.links += [found["href"]] if tag == "a" and "href" in found else []
        loads = found.get(LOADING.get(tag, ""))
        if loads and found.get("rel") not in ("canonical", "prev", "next"):
            self.loads.append(loads)


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The built site, by the command of `make docs`."""
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--quiet", "--strict", "--site-dir", folder]
    result = subprocess.run(
        command, cwd=ROOT, env=os.environ | {"NO_MKDOCS_2_WARNING": "1"},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert result.returncode == 0, result.stdout + result.stderr
    return folder


@pytest.fixture(scope="module")
def pages(site):
    return {path.relative_to(site).as_posix(): Page(path) for path in site.rglob("*.html")}


def test_make_docs_builds_strictly():
    makefile = (ROOT / "Makefile").read_text()
    assert re.search(r"^docs: setup\n.* \$\(BIN\)/mkdocs build --quiet --strict$", makefile, re.M)
    assert "/site/" in (ROOT / ".gitignore").read_text().splitlines()


def test_every_link_inside_the_site_leads_somewhere(site, pages):
    base = urlsplit(URLS["Documentation"]).path
    broken = []
    for name, page in pages.items():
        for target in [*page.links, *page.loads]:
            parts = urlsplit(target)
            if parts.scheme or parts.netloc:
                continue
            path = unquote(parts.path)
            folder = site if path.startswith(base) else (site / name).parent
            found = (folder / path.removeprefix(base)).resolve() if path else site / name
            found = found / "index.html" if found.is_dir() else found
            other = pages.get(found.relative_to(site).as_posix())
            anchor = unquote(parts.fragment)
            if not found.is_file() or (anchor and other and anchor not in other.ids):
                broken.append(f"{name}: {target}")
    assert broken == []


def test_nothing_is_loaded_from_elsewhere(site, pages):
    away = [(name, url) for name, page in pages.items() for url in page.loads
            if urlsplit(url).netloc]  # fmt: skip
    assert away == []
    for path in site.rglob("*.css"):
        assert not re.search(r"(?:url\(|@import)\s*['\"]?(?:https?:)?//", path.read_text()), path


def test_a_task_has_its_page(site, spec):
    text = (site / "tasks" / f"{spec.name}.html").read_text()
    assert all(f"<code>{name}</code>" in text for name in spec.obs_names)
    for word in (spec.id, f"{spec.random_return:.1f}", "{} to {}".format(*spec.score_window)):
        assert word in text
    assert f"{spec.name}.png" in text
    for field in ("Observation", "Action", "Reward", "Success", "Start", "End", "Versions"):
        assert re.search(rf"<strong>{field}[^<]*</strong>: \S", text), field
    assert all(axis.name in text for axis in spec.coverage_projection.axes)


def test_a_task_with_runs_has_curves(site, spec):
    text = (site / "tasks" / f"{spec.name}.html").read_text()
    drawn = re.findall(r'<img alt="Learning curves on \w+" src="\.\./(figures/\w+\.svg)"', text)
    assert len(drawn) == text.count("leaderboard_page.html#chart-")
    assert bool(drawn) != ("No runs yet." in text)
    assert all((site / path).read_text().startswith("<?xml") for path in drawn)


def test_titles_are_of_figures_that_there_are():
    source = (ROOT / "docs" / "fragments.py").read_text()
    names = re.findall(r'^    "(\w+)": "', source[source.index("_FIGURE_TITLES") :], re.M)
    assert names and set(names) <= set(FIGURES)


def test_agents_figures_and_costs_are_there(site):
    agents, figures, protocol = (
        (site / f"{name}.html").read_text() for name in ("agents", "figures", "protocol")
    )
    for agent, kind in AGENTS.items():
        assert f"<summary>{agent}</summary>" in agents, agent
        assert f"baselines/agents/{kind.__module__.rpartition('.')[2]}.py" in agents
    assert "units per hidden layer of actor and critics; pytorch_sac" in agents, (
        "what is said beside a setting"
    )
    for name, function in FIGURES.items():
        drawn = (ROOT / "results" / "figures" / f"{name}.svg").exists()
        assert (f'src="figures/{name}.svg"' if drawn else f"<code>{name}</code>") in figures
        assert not drawn or f"{function.__module__}.{function.__name__}" in figures
    assert '<h2 id="scores-after-100-episodes">' in figures, "titles are words, not file names"
    assert re.search(r"<td><code>random</code></td>\s*<td>[\d.]+ min</td>", protocol)


@pytest.mark.parametrize("name", TEXTS)
def test_links_of_the_repository_lead_somewhere(name):
    broken = []
    for target in links(ROOT / name):
        path, _, anchor = target.partition("#")
        if urlsplit(target).scheme:
            continue
        found = Path(os.path.normpath((ROOT / name).parent / path)) if path else ROOT / name
        if found.relative_to(ROOT).as_posix() in GENERATED:
            continue
        if not found.exists() or (anchor and anchor not in anchors(found)):
            broken.append(target)
    assert broken == []


def test_addresses_agree():
    config = yaml.load((ROOT / "mkdocs.yml").read_text(), yaml.BaseLoader)
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert config["repo_url"] == citation["repository-code"] == URLS["Repository"]
    assert config["site_url"] == citation["url"] == URLS["Documentation"]
    readme = (ROOT / "README.md").read_text()
    assert URLS["Documentation"] in readme and f"{{{URLS['Repository']}}}" in readme
    assert citation["version"] == PROJECT["version"] and citation["title"] in readme
    for author in citation["references"][0]["authors"]:
        assert f"{author['family-names']}, {author['given-names']}" in readme


@pytest.fixture(scope="module")
def address(site):
    """The site, served on this machine."""

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(
        ("127.0.0.1", 0), functools.partial(Quiet, directory=site)
    )
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()


@pytest.fixture
def window(browser, address):
    """Opens a window; at the end nobody else was asked for anything and nothing went wrong."""
    contexts, wrong = [], []

    def _window(width=1280, scheme="light"):
        size = {"width": width, "height": 900}
        context = browser.new_context(viewport=size, color_scheme=scheme)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(20_000)
        page.on("request", lambda request: wrong.append(request.url)
                if not request.url.startswith((address, "data:", "blob:")) else None)  # fmt: skip
        page.on("console", lambda line: wrong.append(line.text))
        page.on("pageerror", lambda error: wrong.append(str(error)))
        return page

    yield _window
    for context in contexts:
        context.close()
    assert wrong == []


@needs_chromium
@pytest.mark.parametrize("name", WINDOWS)
def test_it_looks_right_and_never_scrolls_sideways(window, address, name):
    width, scheme = WINDOWS[name]
    page = window(width, scheme)
    SHOTS.mkdir(parents=True, exist_ok=True)
    for path in SHOWN:
        page.goto(f"{address}/{path}")
        assert page.evaluate("document.documentElement.scrollWidth") == width, path
        assert page.locator("h1").first.is_visible() and page.locator("h1").inner_text(), path
        dead = "images => images.filter(i => i.complete && !i.naturalWidth).map(i => i.src)"
        assert page.locator("img").evaluate_all(dead) == [], path
        page.screenshot(path=SHOTS / f"site-{name}-{path.replace('/', '-')}.png")
    paper = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert paper == ("rgb(20, 23, 26)" if scheme == "dark" else "rgb(255, 255, 255)")


@needs_chromium
@pytest.mark.parametrize("name", WINDOWS)
def test_figures_can_be_read(window, address, name):
    """As wide as the column, or wider than a phone: then in a box that scrolls."""
    width, scheme = WINDOWS[name]
    page = window(width, scheme)
    for path in ("index.html", "tasks/BallInCupExplore.html", "figures.html"):
        page.goto(f"{address}/{path}")
        assert page.evaluate("document.documentElement.scrollWidth") == width, path
        figure = page.locator("article img[src*='figures/']").first
        shown, box, inside = figure.evaluate("""image => [
            image.getBoundingClientRect().width, image.parentElement.clientWidth,
            image.parentElement.scrollWidth]""")
        if name == "phone":
            assert shown > 700 and inside > box, path
        else:
            assert shown == pytest.approx(box, abs=1) and inside == box, path


@needs_chromium
def test_a_phone_gets_the_leaderboard_as_a_page_of_its_own(window, address):
    page = window(width=375)
    page.goto(f"{address}/leaderboard.html")
    assert not page.locator("iframe.leaderboard").is_visible()
    assert not any("leaderboard_page" in frame.url for frame in page.frames), "nor is it loaded"
    page.get_by_role("link", name="Open it on a page of its own").click()
    assert page.locator("h1").inner_text() == "explore_suite leaderboard"


@needs_chromium
def test_search_and_the_leaderboard_work(window, address):
    page = window()
    page.goto(f"{address}/leaderboard.html")
    board = page.frame_locator("iframe.leaderboard")
    assert board.locator("h1").inner_text() == "explore_suite leaderboard"
    page.locator(".md-search__input").click()
    page.locator(".md-search__input").press_sequentially("coverage")
    page.locator(".md-search-result__item").first.wait_for()
