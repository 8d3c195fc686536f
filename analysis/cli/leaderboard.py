"""`explore-suite leaderboard`: writes the page, and can serve it to a browser on this machine."""

import argparse
import contextlib
import logging
import re
from collections.abc import Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from analysis.cli.options import add_last, add_stores
from analysis.leaderboard import build
from analysis.leaderboard.entries import gather
from analysis.leaderboard.rows import Row
from analysis.stats import formatting
from analysis.stats.stores import default_stores
from explore_suite.cli.console import say, table
from explore_suite.errors import UserError

HOST = "127.0.0.1"  # not reachable from other machines
# Names that a browser on this machine uses for it. A request for any other name comes from a web
# page of others that tries to read this one (DNS rebinding).
HOST_NAMES = (HOST, "localhost", "[::1]")
MAX_PORT = 65535


def main(arguments: list[str]) -> int:
    """Writes the page without refused submissions; returns 1 if any was refused."""
    options = _parser().parse_args(arguments)
    if not 0 <= options.port <= MAX_PORT:
        raise UserError(f"--port must be 0 (any) to {MAX_PORT}, got {options.port}")
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    stores = options.results or default_stores()
    out = options.out
    board = gather(stores, options.last)
    for one in board.left_out:
        say(f"  left out: {one.why}")
    try:
        rows = build.write(board, out, title=options.title)
    except BrokenPipeError:  # of the reader of our output, not of the file
        raise
    except OSError as error:
        raise UserError(f"cannot write to {out}: {error.strerror}") from error
    _print(rows)
    say(f"written to {out}")
    if options.serve:
        serve(out.read_bytes(), options.port)
    return 1 if board.refused else 0


def _print(rows: Sequence[Row]) -> None:
    """Prints the rows in short: one table per section and task."""
    for section in dict.fromkeys(row.section for row in rows):
        members = [row for row in rows if row.section == section]
        tasks = [task for task in section.tasks if any(row.by_task[task].runs for row in members)]
        for task in tasks:
            say()
            table(
                section.title if section.title == task else f"{section.title}: {task}",
                ("method", "preset", "score", "coverage", "runs", "label"),
                [_cells(row, task) for row in members if row.by_task[task].runs],
            )
    say()


def _cells(row: Row, task: str) -> tuple[str, ...]:
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
        """Answers requests for the one page."""

        def do_GET(self) -> None:
            """Sends the page, 404, or 421 for a request to another host name."""
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
            """Logs nothing: requests come from one's own browser."""

    return ThreadingHTTPServer((HOST, port), OnePage)


def _is_own(hosts: Sequence[str]) -> bool:
    """Whether a request's one Host header, NAME or NAME:PORT, is a name of this server."""
    return len(hosts) == 1 and re.sub(r":[0-9]*$", "", hosts[0].strip().lower()) in HOST_NAMES


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="explore-suite leaderboard",
        description="Write the leaderboard of a store and of the submissions beside it, as one "
        "HTML file that opens from disk without a network. A refused submission is left out, and "
        "the exit code is then 1.",
    )
    add_stores(parser)
    add = parser.add_argument
    add("--out", type=Path, default="leaderboard.html", help="file to write (default: %(default)s)")
    add("--title", default=build.TITLE, help="title of the page (default: %(default)s)")
    add_last(parser)
    add("--serve", action="store_true", help=f"also serve the page on http://{HOST}")
    add("--port", type=int, default=8000, help="port for --serve (default: %(default)s)")
    return parser
