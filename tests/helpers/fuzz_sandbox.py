"""A folder with a sound submission that can be spoilt, judged under watch, and mended."""

import csv
import io
import json
import os
import shutil
import statistics
import sys
import threading
from functools import lru_cache

import pytest

from analysis.submissions import validate
from analysis.submissions.schema import Submission, digest
from explore_suite.tasks import TASKS
from tests.helpers.good_submission import good_files, write

PROSE = {"name", "authors", "contact", "paper", "code", "description", "tuned_on_benchmark",
         "hardware"}  # fmt: skip
SECRET = b"only the canary says this"
FILES = good_files()
PATHS = sorted(FILES)
RUN_PATHS = [path for path in PATHS if path != "submission.json"]
# Events of the interpreter that the validator may cause; none of them writes, runs or connects.
QUIET = {"open", "os.scandir", "builtins.id"}
_events: list[tuple[str, tuple]] = []
_listening = False


def _listen(event: str, arguments: tuple) -> None:
    if _listening and threading.current_thread() is threading.main_thread():
        _events.append((event, arguments))


sys.addaudithook(_listen)


class Sandbox:
    """The folder, beside a canary that nobody may read or write."""

    def __init__(self, root):
        self.folder, self.canary = root / "mine", root / "canary"
        self.canary.write_bytes(SECRET)
        self.mend()

    def mend(self):
        """Makes the folder sound again."""
        shutil.rmtree(self.folder, ignore_errors=True)
        write(self.folder, FILES)

    def judge(self):
        """The validator's report, after a look at all that it did."""
        global _listening
        _events.clear()
        _listening = True
        try:
            report = validate.validate(self.folder)
        finally:
            _listening = False
        for event, arguments in _events:
            self._allow(event, arguments)
        assert self.canary.read_bytes() == SECRET
        told = "\n".join(report.problems)
        assert SECRET.decode() not in told and told.isascii()
        return report

    def _allow(self, event, arguments):
        """Only names within an open folder are opened, for reading, and not through links."""
        assert event in QUIET, (event, arguments)
        if event == "open" and not isinstance(arguments[0], int):
            path, _, flags = arguments
            assert str(path) == str(self.folder) or os.path.basename(path) == path != ".."  # noqa: PTH119
            assert flags & os.O_NOFOLLOW
            assert not flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC)
        elif event == "os.scandir":
            assert isinstance(arguments[0], int), "folders are listed through open descriptors"

    def try_out(self, files, seal=False):
        """Judges mutated files: refused, or nothing of substance changed."""
        files = sealed(files) if seal else files
        changed = [path for path in {*files, *FILES} if files.get(path) != FILES.get(path)]
        write(self.folder, {path: files[path] for path in changed})
        try:
            report = self.judge()
        finally:
            write(self.folder, {path: FILES[path] for path in changed})
        if report.problems:
            return
        if seal:
            for task, stated in report.submission.scores.items():
                assert abs(stated - score_of(files, task)) < 1e-6
                assert 0 <= stated <= TASKS[task].best_return
        else:
            assert substance(files) == substance(FILES)


@pytest.fixture(scope="module")
def sandbox(tmp_path_factory):
    """Checks of a run are remembered by its bytes: nearly all runs are the same every time."""
    seen, check_run = {}, validate._check_run

    def remembered(stem, files):
        key = (stem, files.get(stem + ".json"), files.get(stem + ".csv"))
        if key not in seen:
            seen[key] = check_run(stem, files)
        return seen[key]

    box = Sandbox(tmp_path_factory.mktemp("fuzz"))
    assert validate.validate(box.folder).problems == []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(validate, "_check_run", remembered)
        yield box


def substance(files):
    """What may not change: run files byte by byte, submission.json but for prose and spelling."""
    about = Submission.model_validate_json(files["submission.json"]).model_dump()
    about["scores"] = {task: round(score, 4) for task, score in about["scores"].items()}
    told = {key: value for key, value in about.items() if key not in PROSE}
    return told, {path: data for path, data in files.items() if path != "submission.json"}


def sealed(files):
    """Digests and scores brought up to date as a forger would; as they were if they cannot be."""
    about = json.loads(files["submission.json"])
    about["files"] = {path: digest(files[path]) for path in about["files"]}
    try:
        about["scores"] = {task: score_of(files, task) for task in about["tasks"]}
    except (ValueError, LookupError, TypeError, csv.Error):
        pass
    return files | {"submission.json": json.dumps(about).encode()}


def score_of(files, task):
    """A task's mean score, by the csv module and the definition."""
    paths = [path for path in sorted(files) if path.endswith(".csv")]
    mine = [path for path in paths if f"/{task.split('/')[1]}/" in path]
    return statistics.fmean(_score(files[path], *TASKS[task].score_window) for path in mine)


@lru_cache(maxsize=100)
def _score(data, first, last):
    rows = list(csv.DictReader(io.StringIO(data.decode())))
    window = [row for row in rows if first <= int(row["episode"]) <= last]
    return statistics.fmean(float(row["return"]) for row in window if row["phase"] == "eval")
