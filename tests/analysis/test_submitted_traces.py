"""Traces in a submission: taken where the header lists that very file, refused otherwise."""

import json

import pytest

from analysis.cli.submit import main as submit
from analysis.submissions.validate import validate
from explore_suite.runs.format import TRACES, listed_traces
from explore_suite.runs.traces import MAX_BYTES
from tests.helpers.good_submission import AGENT, PRESET, edit_header, good_files, seal, write

RUN = f"runs/{PRESET}/{AGENT}/HallwayLocalOptimum-v0/seed-000"
NAME = f"seed-000{TRACES}"
CONTENT = b"whatever: it is not yet played here"


@pytest.fixture
def folder(tmp_path):
    """A sound submission, one run of which has traces."""
    write(tmp_path / "mine", good_files())
    add(tmp_path / "mine", CONTENT)
    return tmp_path / "mine"


def add(folder, content, listed=None):
    """Puts a traces file beside a run, lists it in its header and in submission.json."""
    (folder / f"{RUN}{TRACES}").write_bytes(content)
    listed = listed_traces(NAME, content) if listed is None else listed
    edit_header(folder / f"{RUN}.json", traces=listed)
    about = folder / "submission.json"
    values = json.loads(about.read_text())
    values["files"][f"{RUN}{TRACES}"] = ""
    about.write_text(json.dumps(values))
    seal(folder)


def test_listed_traces_are_sound(folder):
    assert validate(folder).problems == []


@pytest.mark.parametrize(
    ("listed", "reason"),
    [
        ({}, "is not listed by its header"),
        (listed_traces("../" + NAME, CONTENT), "is not the file that its header lists"),
        (listed_traces(NAME, b"other"), "is not the file that its header lists"),
        (listed_traces(NAME, CONTENT) | {"more": ""}, "is not the file that its header lists"),
    ],
)
def test_other_traces_than_the_header_lists_are_refused(listed, reason, folder):
    add(folder, CONTENT, listed)
    assert f"{RUN}{TRACES}: {reason}" in "\n".join(validate(folder).problems)


def test_changed_traces_are_refused_by_both_hashes(folder):
    (folder / f"{RUN}{TRACES}").write_bytes(CONTENT + b".")
    lines = validate(folder).problems
    assert [line.split(": ", 1)[1].split(":")[0] for line in lines] == [
        "was changed after the submission was made",
        "is not the file that its header lists",
    ]


def test_missing_traces_are_named_once(folder):
    (folder / f"{RUN}{TRACES}").unlink()
    assert validate(folder).problems == [f"{RUN}{TRACES}: is missing"]


def test_large_traces_are_not_read(folder):
    add(folder, bytes(MAX_BYTES))
    assert validate(folder).problems == []
    add(folder, bytes(MAX_BYTES + 1))
    assert f"{RUN}{TRACES}: is larger than {MAX_BYTES} bytes" in validate(folder).problems


@pytest.mark.parametrize("traces", [None, [], {"file": 1, "sha256": ""}, {"file": ["a"]}])
def test_traces_of_another_type_are_refused(traces, folder):
    path = folder / f"{RUN}.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"traces": traces}))
    assert any(f"{RUN}.json: traces" in line for line in validate(folder).problems)


def test_a_header_that_lists_nothing_is_written_without_the_field(folder):
    path = folder / f"{RUN[:-1]}1.json"
    values = json.loads(path.read_text()) | {"traces": {}}
    path.write_text(json.dumps(values, indent=1, sort_keys=True) + "\n")
    assert any("not written as the store writes headers" in x for x in validate(folder).problems)


def test_submit_takes_traces_along(folder, tmp_path):
    told = ["--name", "Mine", "--author", "A", "--description", "Explores.", "--contact", "a@b.org"]
    made = tmp_path / "made"
    arguments = [str(made), "--results", str(folder / "runs"), "--agent", AGENT, *told]
    assert submit([*arguments, "--not-tuned"]) == 0
    assert (made / f"{RUN}{TRACES}").read_bytes() == CONTENT
    assert validate(made).problems == []
