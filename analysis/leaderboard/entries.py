"""Who is on the leaderboard: the runs of our store and the sound submissions beside it.

A submission is a folder of `submissions/` next to the store, named like its label. One with a
problem is left out as a whole, and its problems are reported to whoever writes the page. Of two in
conflict the verified one stays, else the one accepted earlier (`accepted.json`). Nothing is
replayed here: an entry is replay-checked if `accepted.json` says so, and verified if
`verified.json`, next to the store too, does. Both badges are lost with any change of a run file,
for `files` is the digest of all of them that `explore-suite validate` prints:

    {"my-method": {"by": "A. Maintainer", "what": "seed 0 of GridWorld", "when": "2026-01-31",
                   "files": "<SHA-256>"}}
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np
from pydantic import BaseModel, ConfigDict

from analysis.figures.style import STYLES, ordered
from analysis.leaderboard.accepted import (
    Acceptance,
    Day,
    acceptance,
    digests,
    read_accepted,
    read_registry,
    seniority,
)
from analysis.leaderboard.conflicts import Claim, conflicts
from analysis.stats.results import Results
from analysis.stats.tables import episode_table, run_scores
from analysis.submissions.schema import Digest, Submission, Text, files_digest
from analysis.submissions.unicode_checks import shown
from analysis.submissions.validate import Report, validate
from explore_suite.errors import UserError
from explore_suite.runs.format import Run
from explore_suite.runs.store import LeftOut, ResultStore
from explore_suite.tasks import lookup

REFERENCE, VERIFIED = "reference", "verified"
SELF_REPORTED, REPLAY_CHECKED = "self-reported", "replay-checked"
LENGTHS = 2  # curves are drawn up to so many times the end of the score window
PACKAGES = {"mujoco": "mujoco", "dm_control": "dm_control", "suite": "explore-suite"}
# What a variant of ours is: end of its label -> words. All of `pure` explore for its own sake.
_VARIANTS = {"warm": "warm start", "pure": "exploration only", "fast": "fast targets"}


class Verification(BaseModel):
    """Who ran which part of a submission again, when, and the digest of all files it had then."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)
    by: Text
    what: Text
    when: Day
    files: Digest


@dataclass(frozen=True)
class Entry:
    """One method: how it is called and what its numbers rest on."""

    label: str
    name: str
    badge: str
    submission: Submission | None = None
    verification: Verification | None = None


@dataclass(frozen=True)
class Board:
    """Everything the leaderboard shows, and what was refused."""

    root: Path
    runs: list[Run]
    entries: dict[str, Entry]  # by label, in the order of all legends
    refused: list[str]
    last: int | None = None  # scores are of each run's last evaluations, not of the score windows
    left_out: Sequence[LeftOut] = ()  # runs of the store that cannot be used

    @cached_property
    def results(self) -> dict[str, Results]:
        """By preset, ours before those of others."""
        table = episode_table(self.runs)
        presets = sorted(table.preset.unique(), key=lambda preset: (preset == "external", preset))
        return {preset: Results(self.root, preset, table, self.last) for preset in presets}

    @cached_property
    def versions(self) -> dict[tuple[str, str], dict[str, str]]:
        """By preset and label: package -> version of its runs, all of them if they differ."""
        found: dict[tuple[str, str], dict[str, set[str]]] = {}
        for header, _ in self.runs:
            mine = found.setdefault(
                (header.preset, header.agent), {short: set() for short in PACKAGES}
            )
            for short, name in PACKAGES.items():
                mine[short] |= {header.versions[name]} if name in header.versions else set()
        return {
            key: {short: ", ".join(sorted(versions)) for short, versions in mine.items()}
            for key, mine in found.items()
        }


def gather(root: Path | str, last: int | None = None) -> Board:
    """The store's runs and the submissions beside it; a UserError without a run of the store."""
    root = Path(root)
    found, left_out = ResultStore(root).sound_runs()
    if not found and left_out:
        raise UserError(f"no run in {root} can be used: {left_out[0].why}")
    runs = [_drawn_part(run, last) for run in found]
    if not runs:
        raise UserError(f"no runs in {root}: explore-suite train makes one")
    entries = {label: Entry(label, reference_name(label), REFERENCE) for label in _labels(runs)}
    accepted = read_accepted(root.parent)
    sound, refused = _sound(root.parent, last, accepted)
    claims = [_claim(entry, found, accepted) for entry, found in sound]
    against = conflicts(_our_claims(entries, runs), claims)
    for entry, found in sound:
        refused += [f"{entry.label}: {problem}" for problem in against.get(entry.label, ())]
        if entry.label not in against:
            entries[entry.label] = entry
            runs += found
    ranked = {label: entries[label] for label in ordered(entries)}
    return Board(root, runs, ranked, refused, last, left_out)


def conflicts_of(folder: Path, report: Report, results: Path) -> list[str]:
    """Why a sound submission cannot stand beside the runs and the submissions of `results`."""
    if report.submission is None:
        return []
    accepted, (runs, _) = read_accepted(results), ResultStore(results / "runs").sound_runs()
    checks = read_registry(results / "verified.json", Verification)
    mine = _entry(report.submission, accepted, checks)
    others, _ = _sound(results, None, accepted, skip=mine.label)  # which it is to replace, or is
    claims = [_claim(entry, found, accepted) for entry, found in [(mine, report.runs), *others]]
    unfit = _unfit(folder, report.submission, report.runs) if _is_beside(folder, results) else []
    return [*unfit, *conflicts(_our_claims(_labels(runs), runs), claims).get(mine.label, [])]


def reference_name(label: str) -> str:
    """How a label of ours is shown, its variant in words."""
    known = STYLES[label].label if label in STYLES else label
    return f"{known} ({_VARIANTS[setting(label)]})" if "." in label and label in STYLES else known


def setting(label: str) -> str:
    """What a label of ours was run for: `warm`, `pure`, `fast`, or `` where it just learns."""
    if label not in STYLES:
        return ""
    variant = label.partition(".")[2]
    return "pure" if label == "random" or variant.startswith("pure") else variant


def _labels(runs: Iterable[Run]) -> list[str]:
    return ordered({run.header.agent for run in runs})


def _our_claims(entries: Iterable[str], runs: Sequence[Run]) -> list[Claim]:
    """Our labels and names, those without a run in the store included."""
    return [
        Claim(label, reference_name(label), [run for run in runs if run.header.agent == label])
        for label in dict.fromkeys([*STYLES, *entries])
    ]


def _claim(entry: Entry, runs: list[Run], accepted: dict[str, Acceptance]) -> Claim:
    """What an entry wants for itself: the verified before the accepted, the older before others."""
    assert entry.submission is not None, "only submissions claim"
    place, verified = seniority(accepted, entry.submission), entry.verification is not None
    standing = (not verified, len(accepted) if place is None else place)
    return Claim(entry.label, entry.name, runs, standing if verified or place is not None else None)


def _is_beside(folder: Path, results: Path) -> bool:
    return folder.resolve().parent == (results / "submissions").resolve()


def _sound(
    folder: Path, last: int | None, accepted: dict[str, Acceptance], skip: str | None = None
) -> tuple[list[tuple[Entry, list[Run]]], list[str]]:
    """The submissions that are sound by themselves, and the problems of the others."""
    sound, refused = [], []
    verified = read_registry(folder / "verified.json", Verification)
    for path in _members(folder / "submissions"):
        if path.name == skip:
            continue
        report = validate(path, digests(accepted))
        submission, problems = report.submission, report.problems
        runs = [_drawn_part(run, last) for run in report.runs]
        if submission is not None and not problems:
            problems = list(_unfit(path, submission, runs))
        if submission is None or problems:
            refused += [f"{shown(path.name)}: {problem}" for problem in problems]
        else:
            sound.append((_entry(submission, accepted, verified), runs))
    return sound, refused


def _members(folder: Path) -> list[Path]:
    """What a folder holds, in order; nothing if there is no such folder."""
    try:
        return sorted(folder.iterdir())
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        raise UserError(f"cannot read {folder}: {error.strerror}") from error


def _drawn_part(run: Run, last: int | None) -> Run:
    """A whole run up to the end of its curve: what is never drawn need not be computed or kept."""
    header, rows = run
    spec = lookup(header.task)
    drawn = LENGTHS * spec.score_window[1] + spec.smoothing  # smoothing looks ahead
    if last is not None or header.episodes <= drawn or len(rows) != 2 * header.episodes:
        return run
    kept = [row for row in rows if row.episode <= drawn]
    return Run(replace(header, episodes=drawn), kept)


def _unfit(path: Path, submission: Submission, runs: list[Run]) -> Iterator[str]:
    """What keeps a sound submission off this leaderboard, whoever else is on it."""
    if submission.agent != path.name:
        yield f"the folder must be named like its label, {submission.agent}"
    if not _computable(runs):
        yield "its scores, coverage or seconds cannot be computed"


def _computable(runs: list[Run]) -> bool:
    """Whether the numbers of all runs, and so their means, are finite."""
    with np.errstate(all="ignore"):  # what overflows is found by what becomes of it
        try:
            scores = run_scores(episode_table(runs))[["normalised", "coverage", "seconds"]]
        except (ArithmeticError, ValueError):
            return False
        return bool(np.isfinite(scores.to_numpy(dtype=float).sum(axis=0)).all())


def _entry(
    submission: Submission, accepted: dict[str, Acceptance], verified: dict[str, Verification]
) -> Entry:
    label, name = submission.agent, submission.name
    check, held = verified.get(label), acceptance(accepted, submission)
    if check is not None and check.files == files_digest(submission.files):
        return Entry(label, name, VERIFIED, submission, check)
    badge = REPLAY_CHECKED if held is not None and held.replayed else SELF_REPORTED
    return Entry(label, name, badge, submission)
