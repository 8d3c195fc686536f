"""What a header may hold, when a run begins as when it is handed in."""

import logging
from dataclasses import replace

import pytest

import explore_suite
from analysis.submissions import check_headers
from explore_suite.errors import UserError
from explore_suite.runs import header_rules, recorder
from explore_suite.runs.format import dump_header, listed_traces
from explore_suite.tasks import lookup
from tests.helpers.good_submission import header_of

TASK = "ExploreSuite/GridWorld-v0"
DEEP: dict = {}
for _ in range(5000):
    DEEP = {"a": DEEP}
REFUSED = {
    "line break": ({"config": {"note": "a\nb"}}, "control character U\\+000A"),
    "long text": ({"config": {"note": "x" * 201}}, "more than 200 characters"),
    "deep": ({"config": {"a": {"b": {"c": {"d": [1]}}}}}, "nested deeper than 4"),
    "huge": ({"config": {str(n): n for n in range(201)}}, "201 values, more than 200"),
    "large number": ({"config": {"a": {"updates": 1e9}}}, "not below 1e\\+09"),
    "our preset": ({"preset": "cpu"}, "preset cpu is that of `explore-suite train`"),
    "badge": ({"agent": "sac.Verified"}, "the word verified"),
    "badge in disguise": ({"agent": "0urs"}, "the word ours"),
    "many threads": ({"threads": 1025}, "threads must be 1 to 1024"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_run_is_refused_when_it_begins_as_when_it_is_handed_in(name, tmp_path):
    options, reason = REFUSED[name]
    with pytest.raises(UserError, match=f"cannot be submitted: .*{reason}"):
        explore_suite.record(TASK, **{"agent": "mine", "seed": 0, "results": tmp_path} | options)
    assert list(tmp_path.iterdir()) == [], "nothing was begun"
    header = replace(header_of(TASK, 0), **options)
    read, problems = check_headers.read(dump_header(header).encode())
    problems += check_headers.check(read, lookup(TASK))
    assert len(problems) == 1
    pytest.raises(UserError, header_rules.require, header).match(reason)


def test_a_config_too_deep_to_be_written_is_one_line(tmp_path):
    with pytest.raises(UserError, match="config must hold what JSON can"):
        explore_suite.record(TASK, "mine", 0, tmp_path, config=DEEP)


@pytest.mark.parametrize("depth", [300, 500, 900])
def test_a_config_that_can_just_be_written_is_too_deep_in_one_line(depth, tmp_path):
    config: dict = {}
    for _ in range(depth):
        config = {"a": config}
    with pytest.raises(UserError, match="nested deeper than 4"):
        explore_suite.record(TASK, "mine", 0, tmp_path, config=config)


@pytest.mark.parametrize("number", [10**400, -(10**400)])
def test_a_number_that_no_float_holds_is_one_line(number, tmp_path):
    with pytest.raises(UserError, match="not finite or not below 1e"):
        explore_suite.record(TASK, "mine", 0, tmp_path, config={"a": number})


@pytest.mark.parametrize("letter", ["x", "\u4e00"], ids=["ASCII", "six bytes as JSON"])
def test_a_header_too_large_to_be_handed_in_is_refused_when_the_run_begins(letter, tmp_path):
    """Each of its values is within the rules."""
    config = {f"{n:03d}" + "k" * 190: letter * 200 for n in range(200)}
    with pytest.raises(UserError, match="its header would be larger than 65536 bytes"):
        explore_suite.record(TASK, "mine", 0, tmp_path, config=config)
    assert list(tmp_path.iterdir()) == []


def test_what_a_finished_run_adds_to_its_header_has_room():
    name, header = "seed-99999.traces.npz", header_of(TASK, 0)
    done = replace(header, traces=listed_traces(name, b""), finished=True)
    begun = replace(header, finished=False)
    assert len(dump_header(done)) - len(dump_header(begun)) < header_rules._ROOM


def test_whatever_is_just_within_the_rules_is_taken(tmp_path):
    config = {
        "a": {"b": {"c": {"d": 1}}},
        "note": "x" * 200,
        "rate": -1e8,
        "on": True,
        "none": None,
    }
    config |= {f"key {n}": n for n in range(200 - 8)}
    explore_suite.record(TASK, "mine", 0, tmp_path, config=config).close()


@pytest.mark.parametrize("dirty", [True, False, None])
def test_uncommitted_code_is_reported_once_when_the_run_begins(
    dirty, tmp_path, monkeypatch, caplog
):
    code = {"commit": None if dirty is None else "0" * 40, "dirty": dirty}
    monkeypatch.setattr(recorder, "script_checkout", lambda store: code)
    with caplog.at_level(logging.WARNING):
        explore_suite.record(TASK, "mine", 0, tmp_path).close()
    assert caplog.text.count("uncommitted changes or untracked files: commit them first") == bool(
        dirty
    )


def test_a_long_run_is_told_that_it_cannot_be_submitted(tmp_path, caplog):
    explore_suite.record(TASK, "mine", 0, tmp_path, episodes=5001).close()
    assert "more than 5000 episodes cannot be submitted" in caplog.text
