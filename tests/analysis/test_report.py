"""`explore-suite report`: complete, honest about what lacks runs, quick and repeatable."""

import json
import os
import shutil
import time
from pathlib import Path

import pytest

from analysis.cli import leaderboard, report
from analysis.figures import FIGURES
from analysis.stats.results import Results
from explore_suite import files
from explore_suite.errors import UserError
from explore_suite.runs.store import ResultStore
from tests.helpers import synthetic


@pytest.fixture(scope="module")
def big(tmp_path_factory):
    """256 invented runs: four agents, eight tasks, eight seeds."""
    root = tmp_path_factory.mktemp("big")
    cells = synthetic.cells(synthetic.AGENTS, synthetic.SUITE, 8)
    assert len(cells) == 256
    synthetic.write(root, cells)
    return root


def run(root, out) -> None:
    report.main(["--results", str(root), "--out", str(out), "--preset", "cpu"])


@pytest.mark.slow
def test_256_runs_take_less_than_half_a_minute(big, tmp_path, capsys):
    start = time.process_time()
    run(big, tmp_path)
    assert time.process_time() - start < 30
    said = capsys.readouterr().out
    drawn = {path.stem for path in (tmp_path / "figures").glob("*.svg")}
    assert drawn == {path.stem for path in (tmp_path / "figures").glob("*.png")}
    assert drawn == {
        name
        for name in FIGURES
        if not name.startswith(("grid", "hallway", "longer", "classic", "other", "all"))
    }
    assert f"{len(FIGURES)}/{len(FIGURES)}" in said
    assert "grid_states: not drawn, no run of ddqn" in said


@pytest.mark.slow
def test_a_store_of_one_run_draws_what_it_can_twice_alike(tmp_path, capsys):
    synthetic.write(tmp_path / "runs", [synthetic.Cell("sac", "WalkerWalk", 0)])
    for out in ("one", "two"):
        run(tmp_path / "runs", tmp_path / out)
    files = sorted((tmp_path / "one/figures").iterdir())
    assert {path.stem for path in files} == {"learning_curves", "after_100_episodes"}
    assert all(path.read_bytes() == (tmp_path / "two/figures" / path.name).read_bytes()
               for path in files)  # fmt: skip
    assert "sac: no run with a score on BallInCupCatch, " in capsys.readouterr().out


@pytest.mark.slow
def test_a_figure_whose_runs_are_gone_does_not_stay(tmp_path):
    synthetic.write(tmp_path / "runs", [synthetic.Cell("sac", "WalkerWalk", 0, 3)])
    old = tmp_path / "figures/hallway.svg"
    old.parent.mkdir()
    old.write_text("of other runs")
    run(tmp_path / "runs", tmp_path)
    assert not old.exists()


def test_a_store_that_does_not_exist_is_a_user_error(tmp_path):
    with pytest.raises(UserError, match="there is no store .*nowhere: explore-suite train"):
        run(tmp_path / "nowhere", tmp_path)


def test_a_folder_that_cannot_be_written_is_named(tmp_path):
    synthetic.write(tmp_path / "runs", [synthetic.Cell("sac", "WalkerWalk", 0, 3)])
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(UserError, match="cannot write to .*file"):
        run(tmp_path / "runs", tmp_path / "file")


@pytest.fixture
def spoilt(tmp_path):
    """A sound run; one of a task of the future, one that lost its rows, a copy; all named."""
    cells = [synthetic.Cell("sac", "WalkerWalk", seed, 3) for seed in range(3)]
    store = synthetic.write(tmp_path / "runs", cells)
    folder = tmp_path / "runs" / "cpu" / "sac"
    future = folder / "WalkerWalk-v7" / "seed-000.json"
    future.parent.mkdir()
    header = json.loads((folder / "WalkerWalk-v0" / "seed-000.json").read_text())
    future.write_text(json.dumps(header | {"task": "ExploreSuite/WalkerWalk-v7"}))
    lost = folder / "WalkerWalk-v0" / "seed-001.csv"
    lost.write_text(lost.read_text().splitlines(keepends=True)[0])
    copy = tmp_path / "runs" / "cpu" / "sac_old"
    shutil.copytree(folder / "WalkerWalk-v0", copy / "WalkerWalk-v0")
    for path in (copy / "WalkerWalk-v0").glob("seed-00[12].*"):
        path.unlink()
    return store, [future, lost, copy / "WalkerWalk-v0" / "seed-000.json"]


@pytest.mark.slow
def test_runs_that_cannot_be_used_are_left_out_and_told_once(spoilt, tmp_path, capsys):
    store, paths = spoilt
    run(store.root, tmp_path)
    said = capsys.readouterr().out
    text = (tmp_path / "REPRODUCTION.md").read_text()
    for path in paths:
        assert said.count(f"  left out: {path}") == 1
        named = path.with_suffix(".json").relative_to(store.root)
        assert f"- Left out, because it cannot be used: `{named}`." in text
    assert "- Runs: 2, all finished" in text and str(tmp_path) not in text
    leaderboard.main(["--results", str(store.root), "--out", str(tmp_path / "page.html")])
    said = capsys.readouterr().out
    assert [said.count(f"  left out: {path}") for path in paths] == [1, 1, 1]


def test_without_a_run_that_can_be_used_the_first_problem_is_told(spoilt, tmp_path):
    store, (future, *_) = spoilt
    shutil.rmtree(store.root / "cpu" / "sac" / "WalkerWalk-v0")
    with pytest.raises(UserError, match=f"no run in {store.root} can be used: {future}"):
        leaderboard.main(["--results", str(store.root), "--out", str(tmp_path / "page")])


def test_what_cannot_be_read_is_not_blamed_on_what_is_written(tmp_path, monkeypatch):
    synthetic.write(tmp_path / "runs", [synthetic.Cell("sac", "WalkerWalk", 0, 3)])
    (tmp_path / "submissions").mkdir()
    (tmp_path / "verified.json").write_text("{}")
    arguments = ["--results", str(tmp_path / "runs"), "--out", str(tmp_path / "out" / "page")]
    for name, method in (("submissions", "iterdir"), ("verified.json", "read_bytes")):
        real = getattr(Path, method)

        def fail(self, name=name, real=real):
            if self == tmp_path / name:
                raise PermissionError(13, os.strerror(13), str(self))
            return real(self)

        with monkeypatch.context() as patch:
            patch.setattr(Path, method, fail)
            with pytest.raises(UserError, match=f"cannot read {tmp_path / name}: Permission"):
                leaderboard.main(arguments)
    assert not (tmp_path / "out").exists()


def test_an_interrupted_report_leaves_the_old_figures_whole(tmp_path, monkeypatch):
    synthetic.write(tmp_path / "runs", [synthetic.Cell("sac", "WalkerWalk", 0, 3)])
    figures = tmp_path / "figures"
    results = Results.of(tmp_path / "runs")
    monkeypatch.setattr(report, "draw", lambda name, numbers: {"svg": b"old", "png": b"old"})
    report.write_figures(results, figures)
    names = sorted(path.name for path in figures.iterdir())
    monkeypatch.setattr(report, "draw", lambda name, numbers: {"svg": b"new", "png": b"new"})

    def interrupted(descriptor):
        raise KeyboardInterrupt

    monkeypatch.setattr(files.os, "fsync", interrupted)
    with pytest.raises(KeyboardInterrupt):
        report.write_figures(results, figures)
    assert sorted(path.name for path in figures.iterdir()) == names
    assert {path.read_bytes() for path in figures.iterdir()} == {b"old"}


def test_a_closed_output_pipe_is_not_reported_as_a_folder_error(tmp_path, monkeypatch):
    synthetic.write(tmp_path / "runs", [synthetic.Cell("sac", "WalkerWalk", 0, 3)])

    def closed(results, folder):
        raise BrokenPipeError

    monkeypatch.setattr(report, "write_figures", closed)
    with pytest.raises(BrokenPipeError):
        run(tmp_path / "runs", tmp_path / "out")


def test_a_report_reads_each_run_once(tmp_path, monkeypatch):
    synthetic.write(tmp_path / "runs", [synthetic.Cell("sac", "WalkerWalk", 0, 3)])
    monkeypatch.setattr(report, "write_figures", lambda results, folder: None)
    monkeypatch.setattr(report.build, "write", lambda board, page, markdown_file: None)
    read = []
    real = ResultStore.sound_runs
    monkeypatch.setattr(
        ResultStore, "sound_runs", lambda self: read.append(self.root) or real(self)
    )
    run(tmp_path / "runs", tmp_path / "out")
    assert read == [tmp_path / "runs"]
