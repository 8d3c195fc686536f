"""Reads and writes `results/accepted.json`: the submissions that maintainers accepted, in order.

`explore-suite validate FOLDER --accept` adds an entry once a submission is merged:

    {"my-method": {"files": "<SHA-256>", "when": "2026-01-31", "replayed": true}}

`files` is the digest of all run files, and `replayed` says whether the traces of every run were
replayed; entries without it are older than traces. An entry counts as long as the run files are
those that were accepted. If two submissions have the same label, name or rows, the one accepted
first keeps them.
"""

import json
from pathlib import Path
from typing import Annotated, TypeVar

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from analysis.submissions import check_headers
from analysis.submissions.read_folder import strict_json
from analysis.submissions.schema import Digest, Label, Submission, files_digest
from explore_suite.errors import UserError
from explore_suite.files import replace_text

Model = TypeVar("Model", bound=BaseModel)
Day = Annotated[str, Field(pattern=r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$")]


class Acceptance(BaseModel):
    """The digest of the files that a submission was accepted with, when, and whether replayed."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)
    files: Digest
    when: Day
    replayed: bool = False


def read_accepted(results: Path) -> dict[str, Acceptance]:
    """The accepted submissions by label, the oldest first; none if there is no file."""
    return read_registry(results / "accepted.json", Acceptance)


def digests(accepted: dict[str, Acceptance]) -> set[str]:
    """The digests of the run files of all accepted submissions."""
    return {held.files for held in accepted.values()}


def acceptance(accepted: dict[str, Acceptance], submission: Submission) -> Acceptance | None:
    """How a submission was accepted; None if it was not, or if a run file has changed since."""
    held = accepted.get(submission.agent)
    return held if held and held.files == files_digest(submission.files) else None


def seniority(accepted: dict[str, Acceptance], submission: Submission) -> int | None:
    """How many submissions were accepted earlier; None if this one is not accepted as it is."""
    if acceptance(accepted, submission) is None:
        return None
    return list(accepted).index(submission.agent)


def accept(results: Path, submission: Submission, when: str, *, replayed: bool) -> None:
    """Writes a submission to `accepted.json`; new and changed ones come last."""
    accepted = read_accepted(results)
    held = acceptance(accepted, submission)
    if held is None:
        accepted.pop(submission.agent, None)
        held = Acceptance(files=files_digest(submission.files), when=when)
    replayed = replayed or held.replayed
    accepted[submission.agent] = held.model_copy(update={"replayed": replayed})
    values = {label: one.model_dump(exclude_defaults=True) for label, one in accepted.items()}
    replace_text(results / "accepted.json", json.dumps(values, indent=1) + "\n")


def read_registry(path: Path, model: type[Model]) -> dict[str, Model]:
    """The entries of a JSON file that maintainers keep, by label; none if there is no file."""
    try:
        values = strict_json(path.read_bytes())
        return TypeAdapter(dict[Label, model]).validate_python(values)  # type: ignore[valid-type]
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise UserError(f"cannot read {path}: {error.strerror}") from error
    except ValidationError as error:
        raise UserError(f"{path}: {check_headers.type_problems(error)[0]}") from error
    except ValueError as error:
        raise UserError(f"{path} is not readable JSON: {error}") from error
