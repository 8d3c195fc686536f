"""What two entries of the leaderboard may not share: a label, a name, the rows of a run."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from analysis.stats.tables import StoredRun
from analysis.submissions.duplicate_runs import matches, scored_rows
from analysis.submissions.unicode_checks import skeleton


class Candidate(NamedTuple):
    """An entry, or what would be one, with what it may share with no other."""

    label: str
    name: str
    runs: list[StoredRun]
    standing: tuple[bool, int] | None = None  # smaller is verified or older and stays; None is last


# Indices of two candidates, and why one of them is refused: a format of `mine` and of `other`.
Conflict = tuple[int, int, str]


def conflicts(ours: Sequence[Candidate], submitted: Sequence[Candidate]) -> dict[str, list[str]]:
    """Label -> reasons for which a submission is refused.

    In a conflict ours stay, and of two submissions the one of better standing does, so that no copy
    takes its original off the page. Of two without any standing both are refused: a maintainer
    decides. A refused submission refuses no other.
    """
    found: dict[str, list[str]] = defaultdict(list)
    if not submitted:
        return found
    candidates, reasons = [*ours, *submitted], defaultdict(list)
    for rule in (_labels, _names, _rows):
        for first, second, reason in rule(candidates):
            reasons[first, second].append(reason)
    ranks = [_rank(place, candidate, len(ours)) for place, candidate in enumerate(candidates)]
    beaten: set[int] = set()  # by one of better standing
    for pair in sorted(reasons, key=lambda pair: sorted((ranks[pair[0]], ranks[pair[1]]))):
        stays, goes = sorted(pair, key=lambda place: ranks[place])
        tied = ranks[stays] == ranks[goes]
        if stays in beaten or (tied and goes in beaten):
            continue
        if not tied:
            beaten.add(goes)
        for mine, other in ((stays, goes), (goes, stays))[not tied :]:
            if mine >= len(ours):
                found[candidates[mine].label] += [
                    reason.format(mine=candidates[mine], other=candidates[other].label)
                    for reason in reasons[pair]
                ]
    return found


def _rank(place: int, candidate: Candidate, ours: int) -> tuple[int, bool, int]:
    """Ours first, then submissions by their standing, then those without one, as equals."""
    if place < ours:
        return 0, False, 0
    return (2, False, 0) if candidate.standing is None else (1, *candidate.standing)


def _labels(candidates: Sequence[Candidate]) -> Iterator[Conflict]:
    for first, second in _equal(candidates, lambda candidate: {skeleton(candidate.label)}):
        yield first, second, "the label {mine.label} is taken by {other}; choose another"


def _names(candidates: Sequence[Candidate]) -> Iterator[Conflict]:
    """Names that look like another's name or label; equal labels are a conflict of their own."""
    labels = [skeleton(candidate.label) for candidate in candidates]
    for first, second in _equal(
        candidates, lambda candidate: {skeleton(candidate.name), skeleton(candidate.label)}
    ):
        if labels[first] != labels[second]:
            yield first, second, "its name looks like that of {other}; choose another"


def _rows(candidates: Sequence[Candidate]) -> Iterator[Conflict]:
    """The first copied run of each two entries."""
    owned = [(owner, run) for owner, candidate in enumerate(candidates) for run in candidate.runs]
    seen = set()
    scored = [scored_rows(run.header.task, run.header.seed, run.rows) for _, run in owned]
    for match in matches(scored):
        (first, _), (second, run) = owned[match.first], owned[match.second]
        if first != second and (first, second) not in seen:
            seen.add((first, second))
            nearly = "" if match.what == "episodes" else "nearly "
            what = f"on {run.header.task} it has {nearly}the same {match.what}"
            yield first, second, what + " as {other}"


def _equal(
    candidates: Sequence[Candidate], keys: Callable[[Candidate], set[str]]
) -> Iterator[tuple[int, int]]:
    """Indices of any two candidates with a key in common, each pair once."""
    seen: dict[str, list[int]] = defaultdict(list)
    for place, candidate in enumerate(candidates):
        earlier = {other for key in keys(candidate) for other in seen[key]}
        yield from ((other, place) for other in sorted(earlier))
        for key in keys(candidate):
            seen[key].append(place)
