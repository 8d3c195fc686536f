"""Which stores are read: a user's own in the working directory, and the published runs."""

from pathlib import Path

from explore_suite.errors import UserError

REFERENCE, LOCAL = "reference", "local"  # where runs come from
OWN = Path("runs")  # what train, sweep and record write by default
# The published runs: in a checkout, and in an installed package.
_PUBLISHED = (
    Path(__file__).parents[2] / "results" / "runs",
    Path(__file__).parents[1] / "reference_runs",
)


def published() -> Path | None:
    """The store of the published runs, or None where it was not installed."""
    return next((path for path in _PUBLISHED if path.is_dir()), None)


def is_published(store: Path) -> bool:
    """Whether this folder is the published store: only its runs are reference runs."""
    found = published()
    return found is not None and store.resolve() == found.resolve()


def default_stores() -> list[Path]:
    """`runs` of the working directory and the published runs, where they exist."""
    found = [path for path in (OWN, published()) if path is not None and path.is_dir()]
    if not found:
        raise UserError("no store: --results names one, explore-suite train makes `runs`")
    return found
