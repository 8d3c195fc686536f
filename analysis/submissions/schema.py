"""The format of a submission: the fields of submission.json, groups of tasks, and file paths."""

import hashlib
import json
from collections.abc import Callable
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from analysis.submissions.unicode_checks import not_latin, reserved, unreadable
from explore_suite.runs.format import LABEL, RunKey
from explore_suite.tasks import BENCHMARK, CLASSIC, CONTROL, GRID, HALLWAYS

FEWEST_SEEDS, MOST_SEEDS = 5, 100  # of a submission, on every task
# Tasks that are submitted together: a method is shown where exploring pays and where it does not.
GROUPS: dict[str, list[str]] = {
    "control": [spec.id for spec in BENCHMARK.values() if spec.name in CONTROL],
    "hallway": [spec.id for spec in BENCHMARK.values() if spec.name in HALLWAYS],
    "grid": [spec.id for spec in BENCHMARK.values() if spec.name in GRID],
    "classic": [spec.id for spec in BENCHMARK.values() if spec.name in CLASSIC],
}
_HTTPS = r"^https://[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)+(/[A-Za-z0-9._~:/?#@!$&()*+,;=%-]*)?$"


def _without(fault: Callable[[str], str | None]) -> AfterValidator:
    """Refuses a text for the reason that `fault` gives, if it gives one."""

    def check(text: str) -> str:
        if reason := fault(text):
            raise ValueError(reason)
        return text

    return AfterValidator(check)


Text = Annotated[str, Field(min_length=1, max_length=120), _without(unreadable)]
Author = Annotated[Text, _without(reserved)]
Name = Annotated[Text, _without(not_latin), _without(reserved)]
LongText = Annotated[str, Field(min_length=1, max_length=2000), _without(unreadable)]
Label = Annotated[str, Field(pattern=f"^{LABEL.pattern}$"), _without(reserved)]
Url = Annotated[str, Field(pattern=_HTTPS, max_length=300)]
Digest = Annotated[str, Field(pattern="^[0-9a-f]{64}$")]
Number = Annotated[float, Field(allow_inf_nan=False)]


class Code(BaseModel):
    """Where the method's code is."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)
    url: Url = Field(description="https address of the repository")
    commit: str = Field(pattern="^[0-9a-f]{7,40}$", description="the commit that made the runs")


class Submission(BaseModel):
    """submission.json: who made what, and the scores and digests that the validator recomputes."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)
    version: int = Field(ge=1, le=1, description="of this schema")
    name: Name = Field(description="of the method, as the leaderboard shows it")
    agent: Label = Field(description="label of the method in every header and path")
    preset: Label = Field(description="preset of every run, `external` for runs of other code")
    authors: list[Author] = Field(min_length=1, max_length=50)
    contact: Text | None = Field(description="mail address or other way to reach an author")
    paper: Url | None = Field(description="https address of the paper")
    code: Code | None = Field(description="the method's code")
    description: LongText = Field(description="what the method does and what is special")
    tuned_on_benchmark: bool = Field(description="whether settings were chosen on these tasks")
    hardware: Text = Field(description="what the runs ran on")
    suite_version: str = Field(pattern=r"^[0-9]{1,4}\.[0-9]{1,4}\.[0-9]{1,4}$")
    tasks: list[Text] = Field(min_length=1, max_length=len(BENCHMARK), description="full ids")
    seeds: list[int] = Field(min_length=1, max_length=MOST_SEEDS, description="0, 1, ... in order")
    scores: dict[str, Number] = Field(description="task id -> mean score over the seeds")
    files: dict[str, Digest] = Field(description="path of each run file -> SHA-256 of its bytes")


def schema_text() -> str:
    """The JSON Schema of submission.json, as results/submission.schema.json holds it."""
    return json.dumps(Submission.model_json_schema(), indent=1) + "\n"


def run_path(preset: str, agent: str, task: str, seed: int, suffix: str) -> str:
    """Path of a run file in a submission."""
    return f"runs/{RunKey(preset, agent, task, seed).path.as_posix()}{suffix}"


def digest(data: bytes) -> str:
    """SHA-256 of a file, in hex."""
    return hashlib.sha256(data).hexdigest()


def files_digest(files: dict[str, str]) -> str:
    """The digest of a submission: SHA-256 of the digests of all its run files."""
    return digest(json.dumps(files, sort_keys=True, separators=(",", ":")).encode())
