"""Where runs are read from: the user's store in the working directory, and the published runs."""

from pathlib import Path

from explore_suite.errors import UserError
from explore_suite.runs.store import DEFAULT_STORE

REFERENCE, LOCAL = "reference", "local"  # origins of runs
# Where the published runs are: in a checkout, or in an installed package.
_PUBLISHED = (
    Path(__file__).parents[2] / "results" / "runs",
    Path(__file__).parents[1] / "published" / "runs",
)


def published() -> Path | None:
    """The store of the published runs; None if it is not installed."""
    return next((path for path in _PUBLISHED if path.is_dir()), None)


def is_published(store: Path) -> bool:
    """Whether this is the store of the published runs, which alone are reference runs."""
    found = published()
    return found is not None and store.resolve() == found.resolve()


def default_stores() -> list[Path]:
    """The user's store `runs` and the store of the published runs, those that exist."""
    found = [path for path in (DEFAULT_STORE, published()) if path is not None and path.is_dir()]
    if not found:
        raise UserError(
            "no runs found: name a store with --results, or make `runs` with explore-suite train"
        )
    return found
