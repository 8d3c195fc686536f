"""What two entries of the leaderboard may not share: a label, a name, the rows of a run."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from analysis.stats.tables import StoredRun
from analysis.submissions.duplicate_runs import matches, scored_rows
from analysis.submissions.unicode_checks import skeleton


class Claim(NamedTuple):
    """What an entry claims for itself alone."""

    label: str
    name: str
    runs: list[StoredRun]
    standing: tuple[bool, int] | None = None  # the lower one stays; None: below all others


# Indices of two claims, and why one of them is refused: a format of `mine` and of `other`.
Conflict = tuple[int, int, str]


def conflicts(ours: Sequence[Claim], submitted: Sequence[Claim]) -> dict[str, list[str]]:
    """Label -> reasons for which a submission is refused.

    In a conflict ours stay, and of two submissions the one of better standing does, so that no copy
    takes its original off the page. Of two without any standing both are refused: a maintainer
    decides. A refused submission refuses no other.
    """
    found: dict[str, list[str]] = defaultdict(list)
    if not submitted:
        return found
    everyone, reasons = [*ours, *submitted], defaultdict(list)
    for rule in (_labels, _names, _rows):
        for first, second, reason in rule(everyone):
            reasons[first, second].append(reason)
    ranks = [_rank(place, claim, len(ours)) for place, claim in enumerate(everyone)]
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
                found[everyone[mine].label] += [
                    reason.format(mine=everyone[mine], other=everyone[other].label)
                    for reason in reasons[pair]
                ]
    return found


def _rank(place: int, claim: Claim, ours: int) -> tuple[int, bool, int]:
    """Ours first, then submissions by their standing, then those without one, as equals."""
    if place < ours:
        return 0, False, 0
    return (2, False, 0) if claim.standing is None else (1, *claim.standing)


def _labels(everyone: Sequence[Claim]) -> Iterator[Conflict]:
    for first, second in _equal(everyone, lambda claim: {skeleton(claim.label)}):
        yield first, second, "the label {mine.label} is taken by {other}; choose another"


def _names(everyone: Sequence[Claim]) -> Iterator[Conflict]:
    """Names that look like another's name or label; equal labels are a conflict of their own."""
    labels = [skeleton(claim.label) for claim in everyone]
    for first, second in _equal(
        everyone, lambda claim: {skeleton(claim.name), skeleton(claim.label)}
    ):
        if labels[first] != labels[second]:
            yield first, second, "its name looks like that of {other}; choose another"


def _rows(everyone: Sequence[Claim]) -> Iterator[Conflict]:
    """The first copied run of each two entries."""
    owned = [(owner, run) for owner, claim in enumerate(everyone) for run in claim.runs]
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
    everyone: Sequence[Claim], keys: Callable[[Claim], set[str]]
) -> Iterator[tuple[int, int]]:
    """Indices of any two claims with a key in common, each pair once."""
    seen: dict[str, list[int]] = defaultdict(list)
    for place, claim in enumerate(everyone):
        earlier = {other for key in keys(claim) for other in seen[key]}
        yield from ((other, place) for other in sorted(earlier))
        for key in keys(claim):
            seen[key].append(place)
