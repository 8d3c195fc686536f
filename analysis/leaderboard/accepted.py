"""Which submissions maintainers have accepted, in order: `results/accepted.json`.

Whoever was accepted first keeps a label, a name or rows that another claims, too. An entry counts
as long as its run files are those that were accepted: `files` is the digest of all of them. It is
written by `explore-suite validate FOLDER --accept`, once a submission is merged:

    {"my-method": {"files": "<SHA-256>", "when": "2026-01-31"}}
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
    """The digest of all files that a submission had when it was accepted, and when that was."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)
    files: Digest
    when: Day


def read_accepted(results: Path) -> dict[str, Acceptance]:
    """By label, the oldest first."""
    return read_registry(results / "accepted.json", Acceptance)


def seniority(accepted: dict[str, Acceptance], submission: Submission) -> int | None:
    """How many were accepted before this one; None if it is not accepted as it is."""
    held = accepted.get(submission.agent)
    if held is None or held.files != files_digest(submission.files):
        return None
    return list(accepted).index(submission.agent)


def accept(results: Path, submission: Submission, when: str) -> None:
    """Adds a submission to the end of the registry; one whose files changed begins anew."""
    accepted = read_accepted(results)
    if seniority(accepted, submission) is not None:
        return
    accepted.pop(submission.agent, None)
    accepted[submission.agent] = Acceptance(files=files_digest(submission.files), when=when)
    values = {label: held.model_dump() for label, held in accepted.items()}
    replace_text(results / "accepted.json", json.dumps(values, indent=1) + "\n")


def read_registry(path: Path, model: type[Model]) -> dict[str, Model]:
    """What maintainers wrote down by label; nothing if there is no such file."""
    try:
        values = strict_json(path.read_bytes())
        return TypeAdapter(dict[Label, model]).validate_python(values)  # type: ignore[valid-type]
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise UserError(f"cannot read {path}: {error.strerror}") from error
    except ValidationError as error:
        raise UserError(f"{path}: {check_headers.complaints(error)[0]}") from error
    except ValueError as error:
        raise UserError(f"{path} is not readable JSON: {error}") from error
