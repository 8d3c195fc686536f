"""`explore-suite weights`: a folder of trained policies with a card, ready to be released."""

import argparse
import hashlib
from collections.abc import Sequence
from pathlib import Path

from analysis.cli.options import add_stores
from analysis.stats import formatting, tables
from analysis.stats.stores import default_stores
from analysis.stats.tables import StoredRun
from explore_suite.cli.console import say
from explore_suite.errors import UserError
from explore_suite.files import replace_bytes, replace_text
from explore_suite.runs.format import WEIGHTS
from explore_suite.runs.store import ResultStore
from explore_suite.tasks import lookup

_CARD = """# Trained policies of explore_suite

The policy networks of one run of each agent and task, as safetensors: no pickle, no code.
Licence: Apache-2.0. The score is the mean evaluation return of that one run over its task's score
window.

{table}

Each file lies beside its run, so that the policy can be watched:

```bash
explore-suite watch {task} --run {rows} --out film.gif
```
"""
_COLUMNS = ("agent", "task", "preset", "score", "commit", "file", "SHA-256")


def main(arguments: list[str]) -> None:
    """Copies the weights of one seed and the runs that they are from, and writes the card."""
    options = _parser().parse_args(arguments)
    if options.out.exists():
        raise UserError(f"{options.out} exists; name a new folder")
    runs, _ = tables.load(options.results or default_stores())
    chosen = [
        run for run in runs if run.header.seed == options.seed and _file(run, WEIGHTS).is_file()
    ]
    if not chosen:
        raise UserError(
            f"no finished run of seed {options.seed} has weights: `train` leaves them beside the "
            "run, and they are not committed"
        )
    lines = [_released(run, options.out) for run in chosen]
    table = formatting.table(_COLUMNS, lines)
    first = chosen[0].header
    example = {"task": lookup(first.task).name, "rows": f"{first.key.path.as_posix()}.csv"}
    replace_text(options.out / "README.md", _CARD.format(table=table, **example))
    say(f"{len(chosen)} policies written to {options.out}")


def _file(run: StoredRun, suffix: str) -> Path:
    return ResultStore(run.store).path(run.header.key, suffix)


def _released(run: StoredRun, out: Path) -> Sequence[str]:
    """Copies one run; returns its line of the card."""
    header, released = run.header, ResultStore(out)
    for suffix in (".json", ".csv", WEIGHTS):
        copy = released.path(header.key, suffix)
        copy.parent.mkdir(parents=True, exist_ok=True)
        replace_bytes(copy, _file(run, suffix).read_bytes())
    score = float(tables.run_scores(tables.episode_table([run])).score.iloc[0])
    weights = released.path(header.key, WEIGHTS)
    digest = hashlib.sha256(weights.read_bytes()).hexdigest()
    commit = str(header.code.get("commit") or "unknown")[:12]
    return (
        header.agent, lookup(header.task).name, header.preset, formatting.number(score, 1), commit,
        weights.relative_to(out).as_posix(), digest,
    )  # fmt: skip


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="explore-suite weights",
        description="Gather the trained policies of one seed of every agent and task into a folder "
        "that can be released, with a card that names agent, task, score, commit and licence.",
        epilog="example: explore-suite weights --results results/runs --out release",
    )
    add_stores(parser)
    add = parser.add_argument
    add("--out", type=Path, required=True, help="folder to write; must not exist yet")
    add("--seed", type=int, default=0, help="seed of the runs (default: %(default)s)")
    return parser
