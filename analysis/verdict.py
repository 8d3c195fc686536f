"""How a claim is judged: what its tests say together."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from analysis.part import Gap, Outcome, Part, among

ALL_TASKS = "all tasks"  # instead of a task, where a test is of a mean over tasks


@dataclass(frozen=True)
class Verdict:
    """What the runs say of a claim, and the tests behind it."""

    outcome: Outcome
    parts: tuple[Part, ...]
    beside: tuple[Part, ...] = ()  # tests that are shown, and decide nothing

    @property
    def gaps(self) -> tuple[Gap, ...]:
        """What is missing, once for each agent and task."""
        return _once(part for part in self.parts if part.outcome is Outcome.LACKING)

    @property
    def left_out(self) -> tuple[Gap, ...]:
        """Whose runs do not count although the tests can be made without them."""
        return _once(part for part in self.parts if part.outcome is not Outcome.LACKING)

    @property
    def tasks(self) -> dict[str, bool]:
        """The tasks of the claim, and whether all runs of each are there."""
        parts = [*self.parts, *self.beside]
        lacking = {part.task for part in parts if part.outcome is Outcome.LACKING}
        named = (part.task for part in parts if part.task != ALL_TASKS)
        return {task: task not in lacking for task in named}


def all_of(parts: Iterable[Part], beside: Iterable[Part] = ()) -> Verdict:
    """Holds if all tests do; fails if one does even as one of so many."""
    found = tuple(parts)
    return Verdict(every(settled(part, len(found)) for part in found), found, tuple(beside))


def exactly(wanted: Mapping[Outcome, int], parts: Iterable[Part]) -> Verdict:
    """Comparisons by EQUAL, of which so many must be of each kind."""
    plain = tuple(parts)
    found = tuple(map(kind, plain))
    surely = [kind(among(part, len(plain))).outcome for part in plain]
    return Verdict(pattern([part.outcome for part in found], surely, wanted), found)


def settled(part: Part, tests: int) -> Outcome:
    """What a test says as one of several: a failure that only a lone test shows is not decided."""
    if part.outcome is Outcome.FAILS and among(part, tests).outcome is not Outcome.FAILS:
        return Outcome.OPEN
    return part.outcome


def every(outcomes: Iterable[Outcome]) -> Outcome:
    """All must hold; one that fails is enough to fail, once all runs are there."""
    order = (Outcome.LACKING, Outcome.FAILS, Outcome.OPEN, Outcome.HOLDS)
    return min(outcomes, key=order.index)


def at_least(wanted: int, outcomes: Sequence[Outcome]) -> Outcome:
    """So many must hold; fails when too many have failed, once all runs are there."""
    count = Counter(outcomes)
    if count[Outcome.LACKING]:
        return Outcome.LACKING
    if count[Outcome.HOLDS] >= wanted:
        return Outcome.HOLDS
    return Outcome.FAILS if len(outcomes) - count[Outcome.FAILS] < wanted else Outcome.OPEN


def kind(part: Part) -> Part:
    """A comparison by EQUAL told as better, worse or equal; certain but small is equal."""
    if part.outcome is Outcome.LACKING:
        return part
    if part.outcome is Outcome.HOLDS:
        return part._replace(outcome=Outcome.EQUAL)
    if part.found.low > 0:
        return part._replace(outcome=Outcome.BETTER)
    outcome = Outcome.WORSE if part.found.high < 0 else Outcome.OPEN
    return part._replace(outcome=outcome)


def pattern(
    kinds: Iterable[Outcome], surely: Iterable[Outcome], wanted: Mapping[Outcome, int]
) -> Outcome:
    """Exactly so many of each kind; fails when those that are surely of one kind are too many."""
    count, certain = Counter(kinds), Counter(surely)
    if count[Outcome.LACKING]:
        return Outcome.LACKING
    decided = (Outcome.BETTER, Outcome.WORSE, Outcome.EQUAL)
    if any(certain[one] > wanted.get(one, 0) for one in decided):
        return Outcome.FAILS
    return Outcome.HOLDS if count == Counter(wanted) else Outcome.OPEN


def _once(parts: Iterable[Part]) -> tuple[Gap, ...]:
    """The gaps of these tests; of an agent's on one task, that of the longest runs needed."""
    found: dict[tuple[str, str], Gap] = {}
    for gap in (gap for part in parts for gap in part.gaps):
        held = found.setdefault((gap.agent, gap.task), gap)
        if gap.needed > held.needed:
            found[gap.agent, gap.task] = gap
    return tuple(found.values())
