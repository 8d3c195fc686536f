"""Abuse of sweeps, stores and submissions for some minutes: `make fuzz`. No test of `make test`.

Each round starts a sweep in a new folder, kills it or one of its processes at a random moment,
damages a file or two, and starts it again. What is then finished must have the rows of an
undisturbed run, unless the damage was such that sound rows tell other numbers. After the damaged
runs are removed, as their messages advise, one more sweep must finish, and every run must have the
rows of an undisturbed one. Then the validator is given damaged and forged submissions, copies with
and without noise among them, and must refuse each unless the damage changed nothing of substance.
"""

import argparse
import collections
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from explore_suite.runs.format import Run
from explore_suite.runs.store import ResultStore
from tests.helpers.fuzz_submissions import KINDS, attempt

CELLS = [
    "--agents", "random", "ddqn", "--tasks", "GridWorld", "--seeds", "0-1", "--episodes", "6",
    "--checkpoint-minutes", "0",
]  # fmt: skip
RUNS = 4
SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
MOMENTS = 15.0  # seconds within which a sweep is killed
SUBMISSIONS = 10  # of each kind in a round
PATIENCE = 600.0  # seconds until a process that does not end is a failure


class Abuse:
    """One store under abuse; `counts` says what was done to it."""

    def __init__(
        self, root: Path, chance: random.Random, counts: collections.Counter, expected: dict
    ) -> None:
        self.root, self.chance, self.counts = root, chance, counts
        self.expected = expected  # rows of each run, undisturbed
        self.store = ResultStore(root)
        self.output = root.with_suffix(".out")  # of the last sweep
        self.kept: dict[Path, bytes] = {}  # files of finished runs that nobody has damaged
        self.damaged: set[Path] = set()  # runs, as paths below the root without suffix
        self.forged: set[Path] = set()  # those of them whose rows are sound, but may be others
        self.strays: list[Path] = []  # files made by copying and renaming

    def round(self) -> None:
        """Kills, damages, and one more sweep that must live with it."""
        for _ in range(self.chance.randint(1, 3)):
            self.kill()
            self.check_kept()
        for _ in range(self.chance.randint(0, 2)):
            self.damage()
        code = self.sweep()
        assert code in (0, 1, 2), f"exit code {code}"
        self.check_kept()
        self.check_rows()

    def kill(self) -> None:
        """A sweep, one process of which is killed or asked to stop."""
        process = self.start()
        # Before its first line Python is still importing: interrupted then, it may say anything.
        wait_until(lambda: self.said() or process.poll() is not None)
        time.sleep(self.chance.uniform(0, MOMENTS))
        children = self.children(process.pid)
        whom = self.chance.choice(["parent", "child"]) if children else "parent"
        number = self.chance.choice(SIGNALS)
        target = process.pid if whom == "parent" else self.chance.choice(children)
        try:
            os.kill(target, number)
            self.counts[f"{number.name} to the {whom}"] += 1
        except ProcessLookupError:
            self.counts["too late to kill"] += 1
        self.end(process)
        wait_until(lambda: not any(is_alive(child) for child in children))
        self.keep_finished()

    def damage(self) -> None:
        """Spoils one file of the store."""
        files = [path for path in self.root.rglob("*") if path.is_file()]
        files = [path for path in files if ".logs" not in path.parts and path not in self.strays]
        if not files:
            return
        path = self.chance.choice(files)
        how = self.chance.choice(["truncate", "flip", "delete", "copy", "rename", "swap"])
        self.counts[f"{how} {path.suffix}"] += 1
        content = bytearray(path.read_bytes())
        if how == "truncate":
            path.write_bytes(content[: self.chance.randint(0, len(content))])
        elif how == "flip" and content:
            content[self.chance.randrange(len(content))] ^= 1 << self.chance.randrange(8)
            path.write_bytes(content)
            self.forged.add(self.run_of(path))
        elif how == "swap":  # for the file of another run, such as another seed's checkpoint
            other = self.chance.choice([one for one in files if one.suffix == path.suffix])
            path.write_bytes(other.read_bytes())
            if path.suffix == ".csv":
                self.forged.add(self.run_of(path))
        elif how == "delete":
            path.unlink()
        elif how in ("copy", "rename"):
            name = path.name.replace("seed-00", "seed-01").replace("episode-0", "episode-1")
            other = path.with_name(name if name != path.name else f"copy-{name}")
            if how == "copy":
                shutil.copy(path, other)
            else:
                path.rename(other)
            self.strays.append(other)
        self.damaged.add(self.run_of(path))
        self.kept = {
            kept: text for kept, text in self.kept.items() if self.run_of(kept) not in self.damaged
        }

    def run_of(self, path: Path) -> Path:
        """The run that a file belongs to: preset, agent, task and seed."""
        parts = [part for part in path.relative_to(self.root).parts if part != ".checkpoints"]
        return Path(*parts[:3], parts[3].split(".")[0])

    def remove_damaged(self) -> None:
        for path in self.strays:
            path.unlink(missing_ok=True)
        for run in self.damaged:
            for path in (self.root / run.parent).glob(f"{run.name}.*"):
                path.unlink()
            shutil.rmtree(self.root / ".checkpoints" / run, ignore_errors=True)

    def keep_finished(self) -> None:
        """From now on nothing may alter what is finished."""
        sound, left_out = self.store.sound_runs()
        assert self.damaged or not left_out, left_out
        for run in sound:
            stem = self.store.path(run.header.key, "")
            if run.header.finished and self.run_of(stem) not in self.damaged:
                for path in stem.parent.glob(f"{stem.name}.*"):
                    self.kept.setdefault(path, path.read_bytes())

    def check_kept(self) -> None:
        for path, content in self.kept.items():
            assert path.exists() and path.read_bytes() == content, f"{path} was lost or altered"

    def check_rows(self) -> None:
        """Whatever was damaged, what is taken for finished has the rows of an undisturbed run."""
        for run in self.store.sound_runs()[0]:
            path = self.store.path(run.header.key, "")
            if run.header.finished and self.run_of(path) not in self.forged:
                assert rows(run) == self.expected[run.header.key], f"{path} has other rows"

    def start(self) -> subprocess.Popen:
        with self.output.open("w") as output:
            return subprocess.Popen(
                [sys.executable, "-m", "explore_suite", "sweep", *CELLS,
                 "--results", str(self.root)],
                stdout=output, stderr=subprocess.STDOUT, start_new_session=True,
            )  # fmt: skip

    def said(self) -> str:
        return self.output.read_text(errors="replace")

    def sweep(self) -> int:
        process = self.start()
        self.end(process)
        return process.returncode

    def end(self, process: subprocess.Popen) -> None:
        """Waits for a sweep; neither it nor any run may have left a traceback."""
        process.wait(PATIENCE)
        logs = [path.read_text(errors="replace") for path in self.root.rglob("*.log")]
        for text in [self.said(), *logs]:
            assert "Traceback" not in text, text

    def children(self, pid: int) -> list[int]:
        try:
            return [int(n) for n in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
        except OSError:
            return []


def is_alive(pid: int) -> bool:
    """Whether a process runs; one that waits for its parent to look does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def wait_until(condition) -> None:
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline, "a process does not end"
        time.sleep(0.1)


def rows(run: Run) -> list[tuple]:
    """All of a run's rows but their seconds."""
    return [row[:-1] for row in run.rows]


def abuse_runs(folder: Path, chance: random.Random, counts: collections.Counter, expected) -> None:
    """One round of kills and damage, after which every run must be as expected."""
    abused = Abuse(folder, chance, counts, expected)
    abused.round()
    abused.remove_damaged()
    assert abused.sweep() == 0, "the sweep does not finish"
    abused.check_kept()
    assert {run.header.key: rows(run) for run in abused.store.runs()} == expected
    shutil.rmtree(abused.root)


def abuse_validator(chance: random.Random, counts: collections.Counter) -> None:
    """Some submissions of each kind of damage and forgery."""
    for kind in KINDS * SUBMISSIONS:
        seed, outcome = chance.randrange(2**32), "failed"
        try:
            outcome = attempt(kind, random.Random(seed))
        finally:
            if outcome == "failed":
                print(f"to repeat it: attempt({kind!r}, random.Random({seed}))", flush=True)
        counts[f"submission with {kind}: {outcome}"] += 1


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--minutes", type=float, default=10.0, help="default: 10")
    parser.add_argument("--seed", type=int, default=None, help="of the abuse (default: any)")
    parser.add_argument("--only", choices=["runs", "submissions"], help="(default: both)")
    options = parser.parse_args()
    seed = random.SystemRandom().randrange(2**32) if options.seed is None else options.seed
    print(f"seed of the abuse: {seed}", flush=True)
    chance, counts = random.Random(seed), collections.Counter()
    with tempfile.TemporaryDirectory(prefix="fuzz-runs-") as folder:
        expected = {}
        if options.only != "submissions":
            whole = Abuse(Path(folder, "whole"), chance, counts, expected)
            assert whole.sweep() == 0
            expected = {run.header.key: rows(run) for run in whole.store.runs()}
            assert len(expected) == RUNS
        deadline = time.monotonic() + 60 * options.minutes
        rounds = 0
        while rounds == 0 or time.monotonic() < deadline:
            rounds += 1
            if options.only != "submissions":
                abuse_runs(Path(folder, f"round-{rounds}"), chance, counts, expected)
            if options.only != "runs":
                abuse_validator(chance, counts)
            print(f"round {rounds}: {dict(counts)}", flush=True)
    print(f"{rounds} rounds without a fault; abuse by kind:")
    for kind, number in sorted(counts.items()):
        print(f"  {number:5d} {kind}")


if __name__ == "__main__":
    main()
