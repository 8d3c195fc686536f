"""What the numbers of a method rest on: seeds, hardware, commits and dates, and core-hours."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from analysis.leaderboard.entries import PACKAGES, Board, Entry
from analysis.stats.tables import StoredRun
from explore_suite.tasks import TASKS, lookup

_HASH = 7  # digits of a commit that are shown


class Provenance(NamedTuple):
    """Where the runs of a method come from; each list in order, without repetitions."""

    seeds: tuple[int, ...]
    hardware: tuple[str, ...]
    commits: tuple[str, ...]
    dates: tuple[str, ...]  # of the runs, of acceptance and of verification
    versions: tuple[str, ...]

    @property
    def parts(self) -> list[tuple[str, str, tuple[str, ...]]]:
        """For the page, by kind: the word for several, the word for one, and the values."""
        seeds = tuple(map(str, self.seeds))
        return [
            ("seeds", "seed", seeds),
            ("machines", "hardware", self.hardware),
            ("commits", "commit", self.commits),
            ("dates", "date", self.dates),
            ("versions", "versions", self.versions),
        ]


def provenance(board: Board, entry: Entry, tasks: Sequence[str]) -> Provenance:
    """Where the runs of a method on these tasks come from."""
    runs = [
        run
        for run in board.runs
        if run.method == entry.label and lookup(run.header.task).name in tasks
    ]
    manifest = entry.submission
    commits = [_commit(run) for run in runs]
    if manifest and manifest.code and not any(commits):
        commits = [manifest.code.commit[:_HASH]]
    dates = _days(runs)
    if entry.accepted:
        dates.append(f"accepted {entry.accepted}")
    if entry.verification:
        dates.append(f"verified {entry.verification.when}")
    return Provenance(
        tuple(sorted({run.header.seed for run in runs})),
        _distinct([*([manifest.hardware] if manifest else []), *map(_hardware, runs)]),
        _distinct(commits),
        tuple(dates),
        _distinct(map(_versions, runs)),
    )


def core_hours(board: Board) -> tuple[list[str], dict[str, dict[str, float]]]:
    """Tasks with a run, in order, and by method the core-hours of its runs on each."""
    begun = {task for _, task in board.hours}
    tasks = [spec.name for spec in TASKS.values() if spec.name in begun]
    return tasks, {
        label: {task: board.hours[label, task] for task in tasks if (label, task) in board.hours}
        for label in board.entries
    }


def _days(runs: Iterable[StoredRun]) -> list[str]:
    """The day on which the runs began, or the first and the last; older headers hold none."""
    days = sorted({run.header.date for run in runs if run.header.date})
    return ["begun " + " to ".join(dict.fromkeys([days[0], days[-1]]))] if days else []


def _distinct(found: Iterable[str]) -> tuple[str, ...]:
    """Sorted, without repetitions and empty ones."""
    return tuple(sorted({one for one in found if one}))


def _hardware(run: StoredRun) -> str:
    """The machine of a run as its header names it."""
    machine = run.header.machine
    cores = machine.get("cores")
    parts = [machine.get("processor"), f"{cores} cores" if cores else "", machine.get("system")]
    return ", ".join(str(part) for part in parts if part)


def _commit(run: StoredRun) -> str:
    """The commit of a run's code, with a + if files differed from it."""
    commit = str(run.header.code.get("commit") or "")[:_HASH]
    return f"{commit}+" if commit and run.header.code.get("dirty") else commit


def _versions(run: StoredRun) -> str:
    versions = run.header.versions
    return ", ".join(
        f"{short} {versions[name]}" for short, name in PACKAGES.items() if name in versions
    )
