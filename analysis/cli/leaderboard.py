"""`explore-suite leaderboard`: write the page, and show it to a browser on this machine."""

import argparse
import contextlib
import logging
import re
from collections.abc import Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from analysis.cli.options import add_stores
from analysis.leaderboard.build import TITLE, Row, write_page
from analysis.stats import formatting
from analysis.stats.stores import default_stores
from explore_suite.cli.console import say, table
from explore_suite.errors import UserError

HOST = "127.0.0.1"  # nobody else's business
# Names by which a browser on this machine asks. Another name that leads here is a stranger's page
# that wants to read this one (DNS rebinding).
NAMES = (HOST, "localhost", "[::1]")
MAX_PORT = 65535


def main(arguments: list[str]) -> int:
    """Writes the page, without what was refused; 1 if anything was. --serve shows it, too."""
    options = _parser().parse_args(arguments)
    if not 0 <= options.port <= MAX_PORT:
        raise UserError(f"--port must be 0 (any) to {MAX_PORT}, got {options.port}")
    if options.last is not None and options.last < 1:
        raise UserError(f"--last must be 1 or more, got {options.last}")
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    logging.getLogger("absl").setLevel(logging.WARNING)  # rliable announces every interval
    stores = options.results or default_stores()
    out = options.out or stores[0].parent / "leaderboard.html"
    try:
        rows, refused = write_page(stores, out, options.title, options.last)
    except OSError as error:
        raise UserError(f"cannot write to {out}: {error.strerror}") from error
    _tell(rows)
    say(f"written to {out}")
    if options.serve:
        serve(out.read_bytes(), options.port)
    return 1 if refused else 0


def _tell(rows: Sequence[Row]) -> None:
    """The rows in short, one table per task of each ranking."""
    for section in dict.fromkeys(row.section for row in rows):
        members = [row for row in rows if row.section == section]
        tasks = [task for task in section.tasks if any(row.by_task[task].runs for row in members)]
        for task in tasks:
            say()
            table(
                task if len(tasks) == 1 else f"{section.title}: {task}",
                ("method", "preset", "score", "coverage", "runs", "label"),
                [_told(row, task) for row in members if row.by_task[task].runs],
            )
    say()


def _told(row: Row, task: str) -> tuple[str, ...]:
    found = row.by_task[task]
    score = formatting.score(found.score, task).line
    coverage = formatting.percent(found.coverage).value
    return row.entry.name, row.preset, score, coverage, str(found.runs), row.entry.label


def serve(page: bytes, port: int) -> None:
    """Answers with this page, and nothing else, until interrupted."""
    try:
        server = make_server(page, port)
    except OSError as error:
        raise UserError(f"port {port}: {error.strerror}; --port takes another") from error
    with server, contextlib.suppress(KeyboardInterrupt):
        say(f"http://{HOST}:{server.server_port}/ (Ctrl-C ends)")
        server.serve_forever()


def make_server(page: bytes, port: int) -> ThreadingHTTPServer:
    """A server of one page, on this machine only; port 0 takes any that is free."""

    class OnePage(BaseHTTPRequestHandler):
        """Knows one address."""

        def do_GET(self) -> None:
            """The page, 404, or 421 for a request to somebody else."""
            if not _is_own(self.headers.get_all("Host", [])):
                self.send_error(421, "this server answers to its own names only")
                return
            if self.path.partition("?")[0] not in ("/", "/leaderboard.html"):
                self.send_error(404)
                return
            self.send_response(200)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.send_header("Content-Length", str(len(page)))
            self.end_headers()
            self.wfile.write(page)

        def log_message(self, format: str, *args: object) -> None:
            """Requests of one's own browser are no news."""

    return ThreadingHTTPServer((HOST, port), OnePage)


def _is_own(hosts: Sequence[str]) -> bool:
    """Whether a request's one Host header, NAME or NAME:PORT, is a name of this server."""
    return len(hosts) == 1 and re.sub(r":[0-9]*$", "", hosts[0].strip().lower()) in NAMES


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="explore-suite leaderboard",
        description="Write the leaderboard of a store and of the submissions beside it, as one "
        "HTML file that opens from disk without a network. Exit code 1 if a submission was "
        "refused; the page is written without it.",
    )
    add_stores(parser)
    parser.add_argument(
        "--out", type=Path, help="file to write (leaderboard.html beside the first store)"
    )
    parser.add_argument("--title", default=TITLE, help="of the page (%(default)s)")
    parser.add_argument(
        "--last",
        type=int,
        metavar="N",
        help="score the last N evaluations of each run instead of the task's score window, for a "
        "look at short runs",
    )
    parser.add_argument("--serve", action="store_true", help=f"show it on http://{HOST}")
    parser.add_argument("--port", type=int, default=8000, help="of --serve (%(default)s)")
    return parser
