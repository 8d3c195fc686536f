"""Fixtures of the tests of the leaderboard page: a page of invented runs, opened in a browser."""

import json
import shutil

import pytest
from playwright.sync_api import sync_playwright

from analysis.leaderboard import build, html
from analysis.leaderboard.entries import gather
from analysis.stats import intervals
from analysis.submissions.schema import files_digest
from tests.helpers import good_submission, synthetic

CHROMIUM = shutil.which("chromium")
needs_chromium = pytest.mark.skipif(
    CHROMIUM is None, reason="needs Debian's chromium: apt-get install chromium"
)
# The smallest film: one transparent pixel.
GIF = bytes.fromhex(
    "47494638396101000100800000000000ffffff21f90401000000002c00000000010001000002024401003b"
)
HOSTILE = "<img src=x onerror=alert(1)></script><!--\" 'q' &amp;"
TASKS = ("ReacherHard", "ReacherExplore", "WalkerWalk", "WalkerExplore")
CONTROL = "#control .ranking .box:first-child"
BY_TASK = "#control .ranking .box:nth-child(2)"


@pytest.fixture(scope="module")
def page_file(tmp_path_factory):
    """A page of invented runs and of a submission with an evil name."""
    root = tmp_path_factory.mktemp("page")
    cells = [
        *synthetic.cells(("sac", "sac_deep"), TASKS, 3),
        synthetic.Cell("sac_2q", "ReacherHard", 0),
        *synthetic.cells(["sac_bbe"], ["ReacherHard"], 2),
        synthetic.Cell("sac_bbe", "WalkerWalk", 0),  # where one of its seeds has no score
        *synthetic.cells(("ddqn", "ddqn_deep", "ddqn_deep.pure"), ["GridWorld"], 3, 300),
        synthetic.Cell("ddqn_bbe", "GridWorld", 0, 1500),  # five times as long as the others
    ]
    store = synthetic.write(root / "runs", cells)
    for agent in ("ddqn", "ddqn_deep"):
        synthetic.write_states(store, synthetic.Cell(agent, "GridWorld", 1))
    told = {"name": HOSTILE, "authors": ["w" * 120, "Strauß"], "description": "x" * 2000,
            "paper": "https://a.org/paper"}  # fmt: skip
    files = good_submission.good_files("hallway", **told)
    good_submission.write(root / "submissions" / "my-method", files)
    digest = files_digest(json.loads(files["submission.json"])["files"])
    check = {"by": "y" * 120, "what": "z" * 120, "when": "2026-01-31", "files": digest}
    (root / "verified.json").write_text(json.dumps({"my-method": check}))
    (root / "films").mkdir()
    for name in (
        "sac_ReacherHard",
        "sac_deep_ReacherHard",
        "sac_ReacherExplore",
        "theirs_WalkerWalk",
    ):
        (root / "films" / f"{name}.gif").write_bytes(GIF)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(intervals, "REPETITIONS", 100)
        patch.setattr(html, "FILMS", (root / "films",))
        patch.setattr(html, "MAX_FILMS", 2 * len(GIF))  # one film too few
        build.write(gather([root / "runs"]), root / "page.html", title="A <b>title</b>")
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
