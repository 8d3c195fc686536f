"""`make demo`: the tasks, and a film of each explore task beside what random actions earn."""

from pathlib import Path

from explore_suite import listing, watch
from explore_suite.console import say, table
from explore_suite.errors import RenderingUnavailableError
from explore_suite.tasks import TASKS

_STEPS = 100  # two seconds and a half at the most


def main(out: Path = Path("demo")) -> None:
    """Lists the tasks and writes one short film per explore task into `out`."""
    listing.main([])
    rows = []
    for sheet in TASKS.values():
        if sheet.group != "explore":
            continue
        film = out / f"{sheet.name}.gif"
        try:
            watch.record(sheet, film, watch.POLICIES["random"], seed=0, steps=_STEPS)
        except RenderingUnavailableError as error:
            say(str(error))
            film = Path("no picture")
        rows.append((sheet.name, f"{sheet.random_return:.1f}", listing.best(sheet), str(film)))
    say()
    table("random actions", ("task", "mean of 100", "best", "film of one"), rows)


if __name__ == "__main__":
    main()
