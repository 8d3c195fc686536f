"""The runs in results/: as sound as a stranger's must be, and of the presets' present settings."""

import functools
import importlib
import re
import subprocess
from pathlib import Path

import pytest

from analysis import figures
from analysis.claims.report import write_reproduction
from analysis.leaderboard import build
from analysis.leaderboard.accepted import digests, read_accepted
from analysis.leaderboard.entries import gather
from analysis.stats import stores
from analysis.stats.results import NotEnoughRuns, Results
from analysis.submissions import check_headers, check_rows
from analysis.submissions.validate import validate
from baselines.settings import as_json, budget, resolve, settings_of
from explore_suite import load_results
from explore_suite.tasks import lookup

ROOT = Path(__file__).parents[2]


def git(*words: str) -> list[str]:
    listed = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=True)
    return listed.stdout.split()


def committed_files(folder: str) -> list[str]:
    """What git knows of a folder, as paths from the root; other runs may be under way."""
    if not (ROOT / ".git").exists():  # an unpacked archive holds committed files alone
        found = (ROOT / folder).rglob("*")
        return sorted(str(path.relative_to(ROOT)) for path in found if path.is_file())
    return git("ls-files", folder)


@functools.cache
def history() -> set[str] | None:
    """The commits that led to this one; None in an unpacked archive or a shallow clone."""
    if not (ROOT / ".git").exists() or git("rev-parse", "--is-shallow-repository") == ["true"]:
        return None
    return set(git("rev-list", "HEAD"))


HEADERS = [
    path
    for path in committed_files("results/runs")
    if path.endswith(".json") and not path.endswith(".states.json")
]

SUBMISSIONS = sorted({path.split("/")[2] for path in committed_files("results/submissions")})


@pytest.mark.parametrize("path", HEADERS)
def test_a_committed_run_is_sound_and_of_todays_settings(path):
    header, problems = check_headers.read((ROOT / path).read_bytes())
    assert problems == []
    spec = lookup(header.task)
    assert list(check_headers.check(header, spec)) == []
    assert path == f"results/runs/{header.key.path}.json"
    rows = (ROOT / path).with_suffix(".csv").read_bytes()
    assert check_rows.check_rows(rows, spec, header.episodes)[1] == []
    today = resolve(header.preset, header.agent, header.task)
    assert settings_of(header) == as_json(today), "settings that were added later have defaults"
    assert header.episodes == budget(header.preset, header.agent, header.task), "as long as all"
    assert header.code["dirty"] is False
    assert history() is None or header.code["commit"] in history()
    assert header.traces and (ROOT / path).with_name(header.traces["file"]).exists()


@pytest.mark.parametrize("name", SUBMISSIONS)
def test_a_committed_submission_is_sound(name):
    accepted = digests(read_accepted(ROOT / "results"))
    report = validate(ROOT / "results" / "submissions" / name, accepted)
    assert report.problems == [] and report.submission.agent == name


@pytest.mark.slow
def test_the_committed_report_is_that_of_the_committed_runs(tmp_path, monkeypatch):
    for path in committed_files("results"):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_bytes((ROOT / path).read_bytes())
    store = tmp_path / "results" / "runs"
    monkeypatch.syspath_prepend(str(ROOT / "docs"))
    monkeypatch.setattr(stores, "_PUBLISHED", (store,))
    results, new = Results.of(store), tmp_path / "new"
    board = gather([store])
    build.write(board, new / "leaderboard.html", new / "leaderboard.md")
    write_reproduction(results.reference("cpu"), new, "cpu")
    for name in ("leaderboard.md", "REPRODUCTION.md"):
        made, held = (tmp_path / folder / name for folder in ("new", "results"))
        assert made.read_bytes() == held.read_bytes(), f"{name}: run make report"
    for path, fill_in in importlib.import_module("result_tables").PAGES.items():
        page = path.read_text()
        assert fill_in(page, board.results.scores) == page, f"{path.name}: run make report"
    methods = (ROOT / "docs" / "methods.md").read_text()
    sac = re.search(r"^\| `sac` \|.* \| ([\d.]+) \| \d+ \|$", methods, re.MULTILINE)
    assert sac and sac[1] == "1.0", "SAC's time is the unit"
    assert committed_files("results/figures") == [
        f"results/figures/{name}.{suffix}"
        for name in sorted(figures.FIGURES)
        if drawable(name, results)
        for suffix in ("png", "svg")
    ]


@pytest.mark.parametrize("task", ["ReacherExplore", "WalkerWalk"])
def test_the_readme_holds_the_means_of_the_returns(task):
    row = next(
        line for line in (ROOT / "README.md").read_text().splitlines() if f"| {task} |" in line
    )
    episodes = load_results(ROOT / "results" / "runs")
    window = episodes[
        (episodes.task == task) & (episodes.phase == "eval") & (episodes.episode > 90)
    ]
    means = window.groupby("method")["return"].mean()
    agents = ("random", "sac", "sac_bbe", "sac_2q", "sac_deep")
    cells = [cell.split()[0] for cell in row.split("|")[2:-2]]
    assert cells == [f"{means[agent]:.0f}" for agent in agents]


def drawable(name: str, results: Results) -> bool:
    try:
        figures.FIGURES[name](results)
    except NotEnoughRuns:
        return False
    return True
