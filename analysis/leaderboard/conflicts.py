"""Conflicts between entries: the same label, a look-alike name, copied rows or actions."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from typing import NamedTuple

from analysis.stats.tables import StoredRun
from analysis.submissions.duplicate_runs import (
    matches,
    same_actions,
    scored_rows,
    traced_actions,
)
from analysis.submissions.unicode_checks import skeleton


class Candidate(NamedTuple):
    """A possible entry: the label, name and runs that no other entry may have as well."""

    label: str
    name: str
    runs: list[StoredRun]
    standing: tuple[bool, int] | None = None  # the smaller one stays; None is behind all others


# Indices of two candidates, and why one of them is refused: a format of `mine` and of `other`.
Conflict = tuple[int, int, str]


def conflicts(ours: Sequence[Candidate], submitted: Sequence[Candidate]) -> dict[str, list[str]]:
    """Label -> reasons for which a submission is refused.

    In a conflict ours stay, and of two submissions the one of better standing does, so that no copy
    takes its original off the page. Two submissions without standing are both refused, until a
    maintainer decides. A submission that is refused keeps no other off the page.
    """
    found: dict[str, list[str]] = defaultdict(list)
    if not submitted:
        return found
    candidates, reasons = [*ours, *submitted], defaultdict(list)
    for rule in (_labels, _names, _rows):
        for first, second, reason in rule(candidates):
            reasons[first, second].append(reason)
    for first, second, reason in _actions(candidates, len(ours)):
        if not reasons[first, second]:  # a copied run has the same rows, too
            reasons[first, second].append(reason)
    ranks = [_rank(index, candidate, len(ours)) for index, candidate in enumerate(candidates)]
    beaten: set[int] = set()  # by one of better standing
    # The pairs of best standing first: whether one is refused is known before it refuses another.
    for pair in sorted(reasons, key=lambda pair: sorted((ranks[pair[0]], ranks[pair[1]]))):
        stays, goes = sorted(pair, key=lambda index: ranks[index])
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


def _rank(index: int, candidate: Candidate, ours: int) -> tuple[int, bool, int]:
    """Sorts ours first, then submissions by standing, then those without one, as equals."""
    if index < ours:
        return 0, False, 0
    return (2, False, 0) if candidate.standing is None else (1, *candidate.standing)


def _labels(candidates: Sequence[Candidate]) -> Iterator[Conflict]:
    for first, second in _equal(candidates, lambda candidate: {skeleton(candidate.label)}):
        yield first, second, "the label {mine.label} is taken by {other}; choose another"


def _names(candidates: Sequence[Candidate]) -> Iterator[Conflict]:
    """Names that look like another's name or label; `_labels` finds those with equal labels."""
    labels = [skeleton(candidate.label) for candidate in candidates]
    for first, second in _equal(
        candidates, lambda candidate: {skeleton(candidate.name), skeleton(candidate.label)}
    ):
        if labels[first] != labels[second]:
            yield first, second, "its name looks like that of {other}; choose another"


def _rows(candidates: Sequence[Candidate]) -> Iterator[Conflict]:
    """Pairs of entries with a copied run, and the first such run."""
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


def _actions(candidates: Sequence[Candidate], ours: int) -> Iterator[Conflict]:
    """Pairs of entries with the same actions in a traced evaluation, and the first such task.

    Only tasks of which a submission has traces are read: ours are not compared with each other.
    """
    submitted = chain(*(candidate.runs for candidate in candidates[ours:]))
    seen = set()
    for task in dict.fromkeys(run.header.task for run in submitted if run.header.traces):
        owned = [
            (owner, traced_actions(run.store, run.header))
            for owner, candidate in enumerate(candidates)
            for run in candidate.runs
            if run.header.task == task and run.header.traces
        ]
        for one, other in same_actions([actions for _, actions in owned]):
            pair = owned[one][0], owned[other][0]
            if pair[0] != pair[1] and pair not in seen:
                seen.add(pair)
                yield *pair, f"on {task} an evaluation has the same actions as one of {{other}}"


def _equal(
    candidates: Sequence[Candidate], keys: Callable[[Candidate], set[str]]
) -> Iterator[tuple[int, int]]:
    """Indices of any two candidates with a key in common, each pair once."""
    seen: dict[str, list[int]] = defaultdict(list)
    for index, candidate in enumerate(candidates):
        earlier = {other for key in keys(candidate) for other in seen[key]}
        yield from ((other, index) for other in sorted(earlier))
        for key in keys(candidate):
            seen[key].append(index)
