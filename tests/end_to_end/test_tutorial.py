"""The tutorial's blocks run as written, in order, in an empty folder; those of the FAQ alone."""

import json

import pytest

from tests.helpers.markdown_files import ROOT, blocks, run_bash, run_python

pytestmark = pytest.mark.slow

TUTORIAL = blocks(ROOT / "docs" / "tutorial.md", "bash", "python")
QUESTIONS = blocks(ROOT / "docs" / "faq.md", "python")
SET_UP = "make setup\nsource .venv/bin/activate\n"  # is done where tests run


def test_the_tutorial_makes_a_sound_submission(tmp_path):
    first, *rest = TUTORIAL
    assert first.code == SET_UP
    told = ""
    for block in rest:
        if block.title:  # to be saved, and run by a later block
            (tmp_path / block.title).write_text(block.code)
        elif block.language == "bash":
            told += run_bash(block.code, tmp_path)
        else:
            told += run_python(block.code, tmp_path)
    assert "sound: wanderer, 1 task x 5 seeds" in told and "the traces of 5 of 5 runs" in told
    assert "GridWorld  23.0 [23.0, 23.0]  0.0 [0.0, 0.0]" in told, "the comparison"
    manifest = json.loads((tmp_path / "wanderer" / "submission.json").read_text())
    assert manifest["scores"] == {"ExploreSuite/GridWorld-v0": 23.0}
    page = (tmp_path / "report" / "leaderboard.html").read_text()
    assert "wanderer" in page and "Uniform random" in page


@pytest.mark.parametrize("block", QUESTIONS, ids=lambda block: block.code.split()[1])
def test_an_answer_runs_alone(block, tmp_path):
    (tmp_path / "answer.py").write_text(block.code)  # a file: spawned workers import it
    run_bash("python answer.py", tmp_path)


def test_workers_that_import_late_are_answered():
    codes = [block.code for block in QUESTIONS if "explore_suite:ExploreSuite/" in block.code]
    assert len(codes) == 2 and all("import explore_suite" not in code for code in codes)
