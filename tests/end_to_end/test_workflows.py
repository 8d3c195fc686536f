"""GitHub's workflows: small rights, pinned actions, and commands that exist."""

import re
import shutil
import subprocess
import tomllib

import pytest
import yaml

from tests.helpers.markdown_files import ROOT, run

FOLDER = ROOT / ".github" / "workflows"
# BaseLoader: `on` stays a word, and 3.11 the text that it is.
WORKFLOWS = {path.stem: yaml.load(path.read_text(), yaml.BaseLoader) for path in FOLDER.iterdir()}
JOBS = {
    f"{name}.{job}": found
    for name, flow in WORKFLOWS.items()
    for job, found in flow["jobs"].items()
}
STEPS = [step for job in JOBS.values() for step in job["steps"]]
# All that any job may do beyond reading.
RIGHTS = {
    "pages.deploy": {"pages": "write", "id-token": "write"},
    "release.publish": {"id-token": "write"},
}


def test_the_three_are_there():
    assert set(WORKFLOWS) == {"ci", "pages", "release"}


@pytest.mark.parametrize("name", WORKFLOWS)
def test_a_workflow_reads_unless_it_must_write(name):
    flow = WORKFLOWS[name]
    assert flow["permissions"] == {"contents": "read"}
    assert "group" in flow["concurrency"] and "pull_request_target" not in flow["on"]


@pytest.mark.parametrize("name", JOBS)
def test_a_job_has_its_rights_a_time_limit_and_predecessors(name):
    job, workflow = JOBS[name], name.partition(".")[0]
    assert job.get("permissions") == RIGHTS.get(name)
    assert int(job["timeout-minutes"]) <= 120
    needs = job.get("needs", [])
    assert set([needs] if isinstance(needs, str) else needs) <= set(WORKFLOWS[workflow]["jobs"])


def test_actions_are_pinned_and_keep_no_credentials():
    used = [step["uses"] for step in STEPS if "uses" in step]
    assert used and all(re.fullmatch(r"[\w-]+/[\w-]+@(v\d+|release/v\d+)", use) for use in used)
    for step in STEPS:
        if step.get("uses", "").startswith("actions/checkout@"):
            assert step["with"]["persist-credentials"] == "false"


def test_what_writes_to_pypi_runs_nothing_of_ours():
    job = JOBS["release.publish"]
    assert job["environment"]["name"] == "pypi" and set(job["needs"]) == {"build", "try"}
    assert all("run" not in step for step in job["steps"])
    assert [step["uses"].partition("@")[0] for step in job["steps"]] == [
        "actions/download-artifact", "pypa/gh-action-pypi-publish",
    ]  # fmt: skip


def test_commands_are_sound_shell_and_targets_exist(tmp_path):
    targets = re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
    commands = [step["run"] for step in STEPS if "run" in step]
    for command in commands:
        assert "${{" not in command, "a value from outside is an environment variable"
        run(["bash", "-nc", command], tmp_path)
    made = re.findall(r"\bmake (\w+)", "\n".join(commands))
    assert {"test", "docs"} <= set(made) <= set(targets)


def test_pythons_are_those_of_the_package():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    named = re.findall(r"Python :: (3\.\d+)", "\n".join(project["classifiers"]))
    for job in ("ci.test", "release.try"):
        assert JOBS[job]["strategy"]["matrix"]["python"] == named


@pytest.mark.slow
def test_the_wheels_trial_passes(tmp_path):
    """The programs that a release runs with the installed wheel, run here."""
    command, analysis = [step["run"] for step in JOBS["release.try"]["steps"] if "run" in step]
    program = re.search(r"<<'END'\n(.*?)END\n", command, re.DOTALL)[1]
    (tmp_path / "trial.py").write_text(program)
    replay = command.strip().splitlines()[-1].replace("clean/bin/", "")
    run(["bash", "-ec", f"python trial.py && {replay}"], tmp_path)
    _, *commands = analysis.replace("clean/bin/", "").splitlines()
    assert [line.split()[1] for line in commands[:-1]] == ["compare", "report", "leaderboard"]
    run(["bash", "-ec", "\n".join(commands)], tmp_path)


@pytest.mark.skipif(
    shutil.which("actionlint") is None, reason="needs actionlint; CI runs it in a job"
)
def test_actionlint_finds_nothing():
    files = sorted(map(str, FOLDER.iterdir()))
    found = subprocess.run(["actionlint", *files], capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stdout
