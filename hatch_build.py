"""Puts the published results into the wheel: without a checkout, too, methods can be compared.

Of each finished run in `results/runs` these are the rows, the header and the visited states; its
traces of actions stay in the repository. Submissions are taken whole: their manifests list files.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class PublishedResults(BuildHookInterface):
    """Adds files to the wheel; an editable installation reads the checkout itself."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Names each file of the checkout with its path in the wheel."""
        if version != "editable":
            results = Path(self.root) / "results"
            for path in [*_runs(results / "runs"), *_submissions(results)]:
                target = f"analysis/published/{path.relative_to(results).as_posix()}"
                build_data["force_include"][str(path)] = target


def _runs(store: Path) -> Iterator[Path]:
    for rows in sorted(store.glob("*/*/*/seed-*.csv")):
        header = rows.with_suffix(".json")
        if header.is_file() and json.loads(header.read_text(encoding="utf-8"))["finished"]:
            states = rows.with_suffix(".states.json")
            yield from (path for path in (rows, header, states) if path.is_file())


def _submissions(results: Path) -> Iterator[Path]:
    yield from sorted(path for path in (results / "submissions").rglob("*") if path.is_file())
    yield from (path for path in results.glob("*.json") if path.stem in ("accepted", "verified"))
