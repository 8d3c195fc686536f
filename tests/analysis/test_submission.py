"""Building a submission from a store: what is built is sound, and what would not be is refused."""

import json
import re
import string
import unicodedata
from dataclasses import fields
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from analysis.cli.submit import main
from analysis.cli.validate import main as validate_main
from analysis.submissions.schema import FEWEST_SEEDS, GROUPS, Submission, schema_text
from analysis.submissions.unicode_checks import skeleton
from analysis.submissions.validate import validate
from explore_suite.errors import UserError
from explore_suite.runs.format import COLUMNS, Header
from explore_suite.tasks import BENCHMARK
from tests.helpers.good_submission import AGENT, PRESET, edit_header, good_files, write

ROOT = Path(__file__).parents[2]
TOLD = [
    "--agent", AGENT, "--name", "Mine & <yours>", "--author", "A. Person", "--author", "B",
    "--description", "Explores.", "--contact", "a@example.org", "--not-tuned",
]  # fmt: skip
ABOUT = json.loads(good_files()["submission.json"])
README = (ROOT / "results" / "README.md").read_text()
LOCAL = f"{PRESET}/{AGENT}/HallwayLocalOptimum-v0"


@pytest.fixture
def store(tmp_path):
    """A store with the runs of the sound hallway submission."""
    files = {path: data for path, data in good_files().items() if path.startswith("runs/")}
    write(tmp_path, files)
    return tmp_path / "runs"


@pytest.fixture
def unplayed(monkeypatch):
    """Traces are not replayed, which others test, to save time."""
    monkeypatch.setattr("analysis.cli.submit.replay_traces", lambda report: report)


def submit(store, *more):
    folder = store.parent / "mine"
    return main([str(folder), "--results", str(store), *TOLD, *more]), folder


@pytest.mark.slow
def test_what_is_built_is_sound_and_says_what_was_told(store, capsys):
    code, folder = submit(store, "--code", "https://example.org/x", "--commit", "0123abc")
    assert code == 0 and "sound: my-method, 2 tasks x 5 seeds" in capsys.readouterr().out
    report = validate(folder)
    found = report.submission
    assert report.problems == [] and len(report.runs) == len(report.traces) == 10
    assert found.name == "Mine & <yours>" and found.authors == ["A. Person", "B"]
    assert found.code.url == "https://example.org/x" and found.tuned_on_benchmark is False
    assert found.hardware == "Abacus, 2 cores" and found.tasks == GROUPS["hallway"]
    for path, data in good_files().items():
        if path.startswith("runs/"):
            assert (folder / path).read_bytes() == data


def test_files_beside_the_runs_are_left_out(store, unplayed):
    (store / LOCAL / "seed-000.states.json").write_text("{}")
    (store / LOCAL / "seed-000.lock").write_text("")
    assert submit(store)[0] == 0


def test_an_unfinished_run_is_named_and_nothing_is_written(store, capsys):
    path = store / LOCAL / "seed-003.json"
    path.write_text(path.read_text().replace('"finished": true', '"finished": false'))
    code, folder = submit(store)
    assert code == 1 and not folder.exists()
    assert f"runs/{LOCAL}/seed-003.json: is not finished" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("more", "reason"),
    [
        (["--paper", "http://example.org"], "paper: String should match pattern"),
        (["--name", "x" * 200], "name: String should have at most"),
        (["--name", "a\x1bb"], "name: Value error, holds the control character U+001B"),
        (["--name", "a\udcffb"], "name: "),
        (["--code", "https://example.org"], "code.commit: Input should be a valid string"),
    ],
)
def test_what_the_validator_refuses_is_not_written(store, capsys, more, reason):
    code, folder = submit(store, *more)
    assert code == 1 and not folder.exists()
    assert f"submission.json: {reason}" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("more", "reason"),
    [
        (["--agent", "other"], "has no run of agent 'other'"),
        (["--agent", "../other"], "cannot name an agent"),
        (["--preset", "cpu"], "has no run of agent 'my-method' with preset 'cpu'"),
        (["--groups", "hallway", "grid"], "runs are missing: ExploreSuite/GridWorld-v0 seed 0"),
        (["--seeds", "6"], "missing: ExploreSuite/HallwayLocalOptimum-v0 seed 5"),
        (["--seeds", "0"], "--seeds must be 5 to 100"),
        (["--commit", "0123abc"], "--commit needs --code"),
    ],
)
def test_wrong_flags_are_one_line(store, more, reason):
    with pytest.raises(UserError, match=reason) as caught:
        submit(store, *more)
    assert "\n" not in str(caught.value)


def test_a_seed_that_one_task_lacks_is_missed(store):
    for path in (store / LOCAL).glob("seed-002.*"):
        path.unlink()
    with pytest.raises(UserError, match="HallwayLocalOptimum-v0 seed 2; groups are only taken"):
        submit(store)


def test_nothing_is_overwritten(store):
    (store.parent / "mine").mkdir()
    with pytest.raises(UserError, match="exists; name a new folder"):
        submit(store)


def test_the_committed_schema_is_up_to_date(capsys):
    from analysis.cli.validate import main as command

    assert command(["--schema"]) == 0
    printed = capsys.readouterr().out
    assert printed == schema_text()
    committed = (ROOT / "results" / "submission.schema.json").read_text()
    assert committed == printed, "explore-suite validate --schema > results/submission.schema.json"
    assert set(json.loads(printed)["properties"]) == set(Submission.model_fields)


def test_the_schema_agrees_with_an_independent_reader():
    jsonschema = pytest.importorskip("jsonschema")
    schema = json.loads(schema_text())
    jsonschema.validate(ABOUT, schema)
    for change in ({"colour": 1}, {"seeds": ["0"]}, {"paper": "http://a.org"}, {"name": ""}):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(ABOUT | change, schema)


def test_the_readme_names_every_field_and_the_numbers_of_the_rules():
    rows = [line for line in README.splitlines() if line.startswith("| `")]
    named = [name for line in rows for name in re.findall(r"`(\w+)`", line.split("|")[1])]
    assert set(named) == set(Submission.model_fields) | set(COLUMNS)
    assert {item.name for item in fields(Header)} <= set(re.findall(r"`(\w+)`", README))
    windows = {spec.score_window for spec in BENCHMARK.values()}
    for first, last in windows:
        assert f"{first} to {last}" in README
    assert f"at least {FEWEST_SEEDS}" in README and all(f"`{name}`" in README for name in GROUPS)


TAME = string.ascii_letters + string.digits + string.punctuation + " éßø漢字أبشל한"


@given(st.text(TAME, max_size=118))
def test_authors_and_descriptions_are_of_all_languages(inner):
    text = f"a{inner}b"
    told = Submission.model_validate(ABOUT | {"authors": [text], "description": text})
    assert told.authors == [text] and told.description == text


@pytest.mark.slow
@given(st.text(max_size=130))
def test_no_name_disturbs_a_line_or_cannot_be_read(name):
    try:
        Submission.model_validate(ABOUT | {"name": name})
    except ValidationError:
        return
    assert 0 < len(name) <= 120 and any(map(str.isalnum, name))
    assert not {unicodedata.category(letter) for letter in name} & {"Cc", "Cf", "Co", "Cs", "Zl"}
    assert skeleton(name).isascii(), "so that two names can be compared letter by letter"


@pytest.mark.parametrize(
    "name",
    ["TD(lambda)", "Vi\u1ec7t", "R2-D2", "Stra\u00dfe", "\u0141ukasz", "Preference RL", "Hours"],
)
def test_latin_names_are_taken(name):
    assert Submission.model_validate(ABOUT | {"name": name}).name == name


@pytest.mark.parametrize(("preset", "source", "code"), [
    ("cpu", "explore-suite train", 0), ("paper", "explore-suite train", 0),
    ("cpu", "explore_suite.record", 1), ("my-cpu", "explore_suite.record", 0),
])  # fmt: skip
def test_our_presets_are_of_our_trainer(store, unplayed, capsys, preset, source, code):
    """Whoever trains a variant of ours with `explore-suite train` may hand it in as it is."""
    (store / PRESET).rename(store / preset)
    for path in store.rglob("*.json"):
        edit_header(path, preset=preset, source=source)
    assert submit(store, "--preset", preset)[0] == code
    told = capsys.readouterr().out
    assert ("preset cpu is that of `explore-suite train`" in told) == bool(code)


@pytest.mark.parametrize("command", [main, validate_main], ids=["submit", "validate"])
def test_help_says_where_the_rules_are(command, capsys):
    with pytest.raises(SystemExit, match="0"):
        command(["--help"])
    assert "results/README.md" in " ".join(capsys.readouterr().out.split())
