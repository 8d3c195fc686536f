"""What tests ask of Markdown files: their fenced blocks, links and anchors."""

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

from markdown_it import MarkdownIt

ROOT = Path(__file__).parents[2]


class Block(NamedTuple):
    """A fenced block."""

    language: str
    title: str  # of title="...", the file that a reader is to save it as
    code: str


def blocks(path: Path, *languages: str) -> list[Block]:
    """The fenced blocks of these languages, in order."""
    found = []
    for token in MarkdownIt().parse(path.read_text()):
        if token.type == "fence":
            language, _, rest = token.info.partition(" ")
            title = re.search(r'title="([^"]+)"', rest)
            found.append(Block(language, title[1] if title else "", token.content))
    return [block for block in found if block.language in languages]


def links(path: Path) -> list[str]:
    """Targets of all links and pictures, those in HTML included."""
    found = []
    for token in MarkdownIt().enable("table").parse(path.read_text()):
        for part in [token, *(token.children or ())]:
            found += [str(part.attrs[name]) for name in ("href", "src") if name in part.attrs]
            if part.type in ("html_inline", "html_block"):
                found += re.findall(r'(?:src|href)="([^"]+)"', part.content)
    return found


def anchors(path: Path) -> set[str]:
    """What links to headings of this file may end in, by GitHub's rule."""
    tokens = MarkdownIt().parse(path.read_text())
    titles = [
        after.content for token, after in zip(tokens, tokens[1:], strict=False)
        if token.type == "heading_open"
    ]  # fmt: skip
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


def run_python(code: str, folder: Path) -> str:
    """The output of a program in a process of its own, as of a block copied by a reader."""
    return run([sys.executable, "-c", code], folder)


def run_bash(code: str, folder: Path) -> str:
    """The output of commands in a shell whose Python is this one; the first failure stops it."""
    return run(["bash", "-ec", code], folder)


def run(command: list[str], folder: Path) -> str:
    """The output of a command; a failure is shown with what it wrote."""
    person = {f"GIT_{who}_{what}": "reader@example.org"
              for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}  # fmt: skip
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    result = subprocess.run(
        command, cwd=folder, env=os.environ | person | {"PATH": path},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert result.returncode == 0, f"{command[-1]}\n{result.stderr[-2000:]}"
    return result.stdout
