"""The progress of a sweep: estimates worked out by hand, and both ways to show them."""

import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import pytest

from baselines.sweep.cells import Cell, ProgressTable, Reached, cell_of, seconds_left, total_left
from baselines.training.run import RunSpec
from explore_suite.runs.format import EpisodeRow
from explore_suite.runs.store import ResultStore


def cell(agent, seed, state="waiting", reached=Reached()):  # noqa: B008
    spec = RunSpec.of(agent, "HallwayLocalOptimum", seed, "cpu", 100)
    return Cell(spec, Path("log"), state, reached)


def test_time_left_is_by_own_pace_then_that_of_its_like_then_a_rough_table():
    cells = [
        cell("sac", 0, "done", Reached(100, 5.0, 300.0)),  # 3 s per episode
        cell("sac", 1, "running", Reached(20, 1.0, 100.0)),  # 5 s
        cell("sac", 2),  # 4 s, the mean of the two
        cell("sac", 3, "failed", Reached(10, 1.0, 40.0)),  # 4 s; it leaves the mean as it is
        cell("random", 0),  # 0.2 s by the table
    ]
    left = seconds_left(cells)
    assert [left[c] for c in cells] == pytest.approx([0.0, 80 * 5.0, 100 * 4.0, 0.0, 20.0])
    assert total_left(cells, 2) == pytest.approx((400 + 400 + 20) / 2)
    assert total_left(cells, 9) == pytest.approx(400)  # no sooner than the longest


def test_progress_is_read_from_the_last_evaluation(tmp_path):
    spec = RunSpec.of("random", "GridWorld", 0, "cpu", 2)
    store = ResultStore(tmp_path)
    assert cell_of(spec, store).reached.episode == 0
    with store.open(spec.header(1)) as writer:
        writer.append(EpisodeRow("train", 1, 100, 0.5, 100, 0, 0.1, 2.0))
        assert cell_of(spec, store).reached.episode == 0
        writer.append(EpisodeRow("eval", 1, 100, 7.5, 100, 0, 0.1, 2.0))
        writer.append(EpisodeRow("train", 2, 200, 0.5, 100, 0, 0.1, 4.0))
        assert cell_of(spec, store).reached == (1, 7.5, 2.0)
        assert cell_of(spec, store).state == "waiting"
        writer.append(EpisodeRow("eval", 2, 200, 0.5, 100, 0, 0.1, 4.0))
        writer.finish()
    assert cell_of(spec, store).state == "done"


def test_a_line_is_printed_when_a_run_starts_or_ends(capsys):
    cells = [cell("sac", 0, "running", Reached(50, 1.0, 600.0)), cell("sac", 1)]
    table = ProgressTable(cells)
    table.show()
    table.show()
    said = capsys.readouterr().out
    assert said == "1 running, 0 done, 0 failed, 1 waiting; about 30.0 min left\n"
    cells[0].state = "failed"
    table.show()
    assert capsys.readouterr().out == "0 running, 0 done, 1 failed, 1 waiting\n"


@pytest.mark.slow
def test_a_terminal_gets_a_live_table(tmp_path):
    """A long-running cell is seen to advance, and the last frame has all done."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "explore_suite", "sweep", "--agents", "random", "--tasks",
         "HallwayLocalOptimum", "--episodes", "12", "--results", str(tmp_path)],
        stdout=theirs, env=os.environ | {"COLUMNS": "100", "TERM": "xterm"},
    )  # fmt: skip
    os.close(theirs)
    shown = "".join(iter(lambda: _read(ours), ""))
    os.close(ours)
    assert process.wait() == 0
    text = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", shown)
    assert "evaluation return" in text and "minutes left" in text
    frames = re.findall(r"random/HallwayLocalOptimum/0 +(\d+)/12 +(\S+) +(\S+)", text)
    assert len(frames) >= 2 and int(frames[-1][0]) > int(frames[0][0])
    assert "0 running, 1 done, 0 failed, 0 waiting" in text


def _read(descriptor):
    """What a terminal was sent; nothing once its other side is closed."""
    try:
        return os.read(descriptor, 65536).decode()
    except OSError:
        return ""
