"""`explore-suite report`: complete, honest about what lacks runs, quick and repeatable."""

import time

import pytest
import synthetic

from analysis import report
from analysis.figures import FIGURES
from explore_suite.errors import UserError


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


def test_256_runs_take_less_than_a_minute(big, tmp_path, capsys):
    start = time.process_time()
    run(big, tmp_path)
    assert time.process_time() - start < 60
    said = capsys.readouterr().out
    drawn = {path.stem for path in (tmp_path / "figures").glob("*.svg")}
    assert drawn == {path.stem for path in (tmp_path / "figures").glob("*.png")}
    assert drawn == {name for name in FIGURES if not name.startswith(("grid", "hallway"))}
    assert f"{len(FIGURES)}/{len(FIGURES)}" in said
    assert "grid_states: not drawn, no run of ddqn" in said


def test_a_store_of_one_run_draws_what_it_can_twice_alike(tmp_path, capsys):
    synthetic.write(tmp_path / "runs", [synthetic.Cell("sac", "WalkerWalk", 0)])
    for out in ("one", "two"):
        run(tmp_path / "runs", tmp_path / out)
    files = sorted((tmp_path / "one/figures").iterdir())
    assert {path.stem for path in files} == {"learning_curves", "after_100_episodes"}
    assert all(path.read_bytes() == (tmp_path / "two/figures" / path.name).read_bytes()
               for path in files)  # fmt: skip
    assert "sac: no run with a score on BallInCupCatch, " in capsys.readouterr().out


def test_a_figure_whose_runs_are_gone_does_not_stay(tmp_path):
    synthetic.write(tmp_path / "runs", [synthetic.Cell("sac", "WalkerWalk", 0, 3)])
    old = tmp_path / "figures/hallway.svg"
    old.parent.mkdir()
    old.write_text("of other runs")
    run(tmp_path / "runs", tmp_path)
    assert not old.exists()


def test_no_runs_is_the_users_to_mend(tmp_path):
    with pytest.raises(UserError, match="no runs of preset 'cpu'.*explore-suite train"):
        run(tmp_path / "nowhere", tmp_path)


def test_a_folder_that_cannot_be_written_is_named(tmp_path):
    synthetic.write(tmp_path / "runs", [synthetic.Cell("sac", "WalkerWalk", 0, 3)])
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(UserError, match="cannot write to .*file"):
        run(tmp_path / "runs", tmp_path / "file")


def test_a_reader_who_has_seen_enough_is_not_mistaken_for_the_folder(tmp_path, monkeypatch):
    synthetic.write(tmp_path / "runs", [synthetic.Cell("sac", "WalkerWalk", 0, 3)])

    def closed(root, out, preset):
        raise BrokenPipeError

    monkeypatch.setattr(report, "OUTPUTS", {"page": closed})
    with pytest.raises(BrokenPipeError):
        run(tmp_path / "runs", tmp_path / "out")


def test_a_new_output_is_one_line(tmp_path, monkeypatch):
    synthetic.write(tmp_path / "runs", [synthetic.Cell("sac", "WalkerWalk", 0, 3)])
    seen = []
    outputs = {"page": lambda root, out, preset: seen.append((root, out, preset))}
    monkeypatch.setattr(report, "OUTPUTS", outputs)
    run(tmp_path / "runs", tmp_path / "out")
    assert seen == [(tmp_path / "runs", tmp_path / "out", "cpu")]
