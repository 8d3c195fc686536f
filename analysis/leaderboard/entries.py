"""Collects the entries of the leaderboard: the methods of some stores, and sound submissions.

A submission is a folder of `submissions/` next to a store, named like its label. One with a problem
is left out as a whole, and its problems are printed when the page is written. If two are in
conflict, the verified one stays, else the one accepted earlier (`accepted.json`). Nothing is
replayed here: an entry is replay-checked if `accepted.json` says so, and verified if
`verified.json`, also next to the store, does. Both badges are lost when a run file changes: `files`
is the digest of all of them, as `explore-suite validate` prints it.

    {"my-method": {"by": "A. Maintainer", "what": "seed 0 of GridWorld", "when": "2026-01-31",
                   "files": "<SHA-256>"}}
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from analysis.leaderboard.accepted import (
    Acceptance,
    Day,
    acceptance,
    digests,
    read_accepted,
    read_registry,
    seniority,
)
from analysis.leaderboard.conflicts import Candidate, conflicts
from analysis.stats.methods import NAMES, UNRANKED, ordered
from analysis.stats.results import Results
from analysis.stats.tables import StoredRun, load
from analysis.submissions.schema import Digest, Submission, Text, files_digest
from analysis.submissions.unicode_checks import shown
from analysis.submissions.validate import Validation, validate
from explore_suite.errors import UserError
from explore_suite.runs.format import Run
from explore_suite.runs.store import LeftOut
from explore_suite.tasks import lookup

SELF_REPORTED, REPLAY_CHECKED, VERIFIED = "self-reported", "replay-checked", "verified"
SUBMITTED = "submitted"  # origin of runs of a submission
CURVE_LENGTH = 2  # of the curves on the page, in ends of the score window
PACKAGES = {"mujoco": "mujoco", "dm_control": "dm_control", "suite": "explore-suite"}
# What a variant of ours is: end of its label -> words. All of `pure` explore for its own sake.
_VARIANT_NAMES = {"warm": "warm start", "pure": "exploration only", "fast": "fast targets"}


class Verification(BaseModel):
    """Who ran which part of a submission again and when, and the digest of its files then."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)
    by: Text
    what: Text
    when: Day
    files: Digest


@dataclass(frozen=True)
class Entry:
    """One method: its label and name, and what its numbers rest on."""

    label: str  # of the method
    name: str
    badge: str  # reference or local; of a submission, how far it was checked
    preset: str = ""
    agent: str = ""  # the label in the headers of its runs
    submission: Submission | None = None
    verification: Verification | None = None
    accepted: str = ""  # when a maintainer accepted the submission, if one has

    @property
    def learns(self) -> bool:
        """Whether it is more than the random actions that scores are measured from."""
        return self.submission is not None or self.agent != "random"

    @property
    def is_method(self) -> bool:
        """Whether it stands for a method, and not for an ablation or a longer run of ours."""
        return self.submission is not None or setting(self.agent) != "unranked"


@dataclass(frozen=True)
class Board:
    """Everything that the leaderboard shows, and why submissions were refused."""

    runs: list[StoredRun]
    entries: dict[str, Entry]  # by label, in the order of all legends
    refused: list[str]
    last: int | None = None  # scores are of each run's last evaluations, not of the score windows
    left_out: Sequence[LeftOut] = ()  # runs of the stores that cannot be used
    hours: Mapping[tuple[str, str], float] = field(default_factory=dict)  # core-hours: label, task

    @cached_property
    def results(self) -> Results:
        """The numbers of all runs."""
        return Results(self.runs, self.left_out, self.last)

    @property
    def presets(self) -> list[str]:
        """Presets of the entries, `external` last."""
        found = {entry.preset for entry in self.entries.values()}
        return sorted(found, key=lambda preset: (preset == "external", preset))

    @cached_property
    def versions(self) -> dict[str, dict[str, str]]:
        """By label: package -> version in its runs; all versions if they differ."""
        found: dict[str, dict[str, set[str]]] = {}
        for run in self.runs:
            mine = found.setdefault(run.method, {short: set() for short in PACKAGES})
            for short, name in PACKAGES.items():
                versions = run.header.versions
                mine[short] |= {versions[name]} if name in versions else set()
        return {
            method: {short: ", ".join(sorted(versions)) for short, versions in mine.items()}
            for method, mine in found.items()
        }


def gather(
    stores: Sequence[Path | str],
    last: int | None = None,
    loaded: tuple[Sequence[StoredRun], Sequence[LeftOut]] | None = None,
) -> Board:
    """Reads the runs of the stores and the submissions beside them; a UserError without runs.

    `last` is explained in `run_scores`. `loaded` is what `load` returned for these stores, if they
    were read before.
    """
    whole, left_out = loaded or load(stores)
    if not whole and left_out:
        raise UserError(f"no run in {_joined(stores)} can be used: {left_out[0].why}")
    if not whole:
        raise UserError(f"no runs in {_joined(stores)}: explore-suite train makes one")
    runs = list(whole)
    entries = _own_entries(runs)
    refused: list[str] = []
    for folder in dict.fromkeys(Path(store).resolve().parent for store in stores):
        accepted = read_accepted(folder)
        sound, problems = _sound(folder, accepted)
        refused += problems
        candidates = [_candidate(entry, found, accepted) for entry, found in sound]
        against = conflicts(_our_candidates(runs), candidates)
        for entry, found in sound:
            refused += [f"{entry.label}: {problem}" for problem in against.get(entry.label, ())]
            if entry.label not in against:
                entries[entry.label] = entry
                runs += found
    ranked = {label: entries[label] for label in ordered(entries)}
    drawn = [drawn_part(run, last) for run in runs]
    return Board(drawn, ranked, refused, last, left_out, _core_hours(runs))


def _core_hours(runs: Iterable[StoredRun]) -> dict[tuple[str, str], float]:
    """By method and task: the core-hours of all runs, i.e. hours times threads, uncut."""
    found: dict[tuple[str, str], float] = {}
    for run in runs:
        key = run.method, lookup(run.header.task).name
        seconds = run.rows[-1].seconds if run.rows else 0.0
        found[key] = found.get(key, 0.0) + run.header.threads * seconds / 3600
    return found


def method_classes(board: Board) -> dict[str, str]:
    """By label: the CSS class that gives a method its colour."""
    return {label: f"method-{index}" for index, label in enumerate(board.entries)}


def _own_entries(runs: Iterable[StoredRun]) -> dict[str, Entry]:
    """By label: an entry for each method of the stores."""
    return {
        run.method: Entry(
            run.method, shown_name(run.method), run.origin, run.header.preset, run.header.agent
        )
        for run in runs
    }


def _joined(stores: Sequence[Path | str]) -> str:
    return " and ".join(map(str, stores))


def conflicts_of(folder: Path, report: Validation, results: Path) -> list[str]:
    """Conflicts of a sound submission with the runs and submissions of `results`, a line each."""
    if report.submission is None:
        return []
    accepted = read_accepted(results)
    store = results / "runs"
    runs = load([store])[0] if store.is_dir() else []
    checks = read_registry(results / "verified.json", Verification)
    mine = _entry(report.submission, report.runs, accepted, checks)
    # Without the submission of the same label: it is this one, or the one that this replaces.
    others, _ = _sound(results, accepted, skip=mine.label)
    own = [_submitted(folder, run) for run in report.runs]
    candidates = [_candidate(entry, found, accepted) for entry, found in [(mine, own), *others]]
    misnamed = _misnamed(folder, report.submission) if _is_beside(folder, results) else []
    return [*misnamed, *conflicts(_our_candidates(runs), candidates).get(mine.label, [])]


def shown_name(method: str) -> str:
    """The name of a method of a store: that of the reference method, its variant in words."""
    label, space, bracket = method.partition(" (")
    known = NAMES.get(label, label)
    variant = setting(label)
    if "." in label and variant in _VARIANT_NAMES:
        known = f"{known} ({_VARIANT_NAMES[variant]})"
    return f"{known}{space}{bracket}"


def setting(label: str) -> str:
    """What a label of ours was run for: `warm`, `pure`, `fast`, `unranked`; `` if just to learn."""
    if label not in NAMES:
        return ""
    if label in UNRANKED:
        return "unranked"
    variant = label.partition(".")[2]
    return "pure" if label == "random" or variant.startswith("pure") else variant


def _our_candidates(runs: Sequence[StoredRun]) -> list[Candidate]:
    """All reference methods, even without runs (their names are taken), and the stores' others."""
    labels = dict.fromkeys([*NAMES, *(run.method for run in runs)])
    return [
        Candidate(label, shown_name(label), [run for run in runs if run.method == label])
        for label in labels
    ]


def _candidate(entry: Entry, runs: list[StoredRun], accepted: dict[str, Acceptance]) -> Candidate:
    """An entry with its standing: verified before accepted, accepted earlier before later."""
    assert entry.submission is not None, "entries of submissions"
    place, verified = seniority(accepted, entry.submission), entry.verification is not None
    standing = (not verified, len(accepted) if place is None else place)
    known = verified or place is not None
    return Candidate(entry.label, entry.name, runs, standing if known else None)


def _is_beside(folder: Path, results: Path) -> bool:
    return folder.resolve().parent == (results / "submissions").resolve()


def _sound(
    folder: Path, accepted: dict[str, Acceptance], skip: str | None = None
) -> tuple[list[tuple[Entry, list[StoredRun]]], list[str]]:
    """The submissions that are sound by themselves, and the problems of the others."""
    sound, refused = [], []
    verified = read_registry(folder / "verified.json", Verification)
    for path in _members(folder / "submissions"):
        if path.name == skip:
            continue
        report = validate(path, digests(accepted))
        submission, problems = report.submission, report.problems
        runs = [_submitted(path, run) for run in report.runs]
        if submission is not None and not problems:
            problems = _misnamed(path, submission)
        if submission is None or problems:
            refused += [f"{shown(path.name)}: {problem}" for problem in problems]
        else:
            sound.append((_entry(submission, report.runs, accepted, verified), runs))
    return sound, refused


def _members(folder: Path) -> list[Path]:
    """The paths in a folder, sorted; none if there is no such folder."""
    try:
        return sorted(folder.iterdir())
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        raise UserError(f"cannot read {folder}: {error.strerror}") from error


def _submitted(folder: Path, run: Run) -> StoredRun:
    """A run of a submission."""
    return StoredRun(run.header.agent, SUBMITTED, folder / "runs", run.header, run.rows)


def drawn_part(run: StoredRun, last: int | None) -> StoredRun:
    """A finished run, cut where its curve on the page ends; any other run as it is."""
    spec, budget = lookup(run.header.task), run.header.episodes
    drawn = CURVE_LENGTH * spec.score_window[1] + spec.smoothing  # smoothing looks ahead
    if last is not None or budget <= drawn or len(run.rows) != 2 * budget:
        return run
    kept = [row for row in run.rows if row.episode <= drawn]
    return replace(run, header=replace(run.header, episodes=drawn), rows=kept)


def _misnamed(path: Path, submission: Submission) -> list[str]:
    """A line if the folder is not named like the label of its submission, else nothing."""
    right = path.name == submission.agent
    return [] if right else [f"the folder must be named like its label, {submission.agent}"]


def _entry(
    submission: Submission,
    runs: Sequence[Run],
    accepted: dict[str, Acceptance],
    verified: dict[str, Verification],
) -> Entry:
    label, name = submission.agent, submission.name
    preset = runs[0].header.preset if runs else ""
    check, held = verified.get(label), acceptance(accepted, submission)
    when = held.when if held else ""
    if check is not None and check.files == files_digest(submission.files):
        return Entry(label, name, VERIFIED, preset, label, submission, check, when)
    badge = REPLAY_CHECKED if held is not None and held.replayed else SELF_REPORTED
    return Entry(label, name, badge, preset, label, submission, accepted=when)
