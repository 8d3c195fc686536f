"""MkDocs' hooks: pages made of files outside docs/, of code and of results; nothing is copied.

A page may hold two kinds of lines that the build replaces:

    [Included: how to start](../README.md#start)    a section of a file, or without # all of it
    <!-- made: fields baselines.agent.Bounds -->    a fragment, by its name in FRAGMENTS

Links are written as they work in the repository. Where their target has a page here they go to it,
otherwise to the repository.
"""

import logging
import posixpath
import re
from pathlib import Path

from fragments import FRAGMENTS, leaderboard_page
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page
from pymdownx.slugs import slugify
from task_pages import curves, task_page

from explore_suite import TASKS

ROOT = Path(__file__).parents[1]
# Files outside docs/ that are a page as they are.
WHOLE = {
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
    "results/REPRODUCTION.md": "reproduction.md",
}
# Every file outside docs/ that links may mean, and its page.
PAGES = WHOLE | {
    "README.md": "index.md",
    "results/README.md": "protocol.md",
    "results/leaderboard.md": "leaderboard.md",
}
SOURCES = {page: source for source, page in WHOLE.items()}
_FIGURES = "results/figures/"
_INCLUDE = re.compile(r"^\[Included: [^\]\n]+\]\(([^)#\n]+)#?([^)\n]*)\)$", re.MULTILINE)
_FRAGMENT = re.compile(r"^<!-- made: (\w+) ?(\S*) -->$", re.MULTILINE)
_HEADING = re.compile(r"(#+) (.+)")
# Targets of links and pictures, but not in code, and not those of includes.
_TARGET = re.compile(
    r"^ *```.*?^ *```|`[^`\n]+`|^\[Included: [^\n]*"
    r'|(?<=\]\()(?P<link>[^)\s]+)(?=\))|(?<=src=")(?P<picture>[^"]+)(?=")',
    re.MULTILINE | re.DOTALL,
)
_TASK_CELL = re.compile(rf"\| `({'|'.join(spec.name for spec in TASKS.values())})` \|")
_slug = slugify(case="lower")
_log = logging.getLogger("mkdocs.hooks")


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """The menu lists every task of the catalogue."""
    pages = [{spec.name: f"tasks/{spec.name}.md"} for spec in TASKS.values()]
    config.nav = [
        {"Tasks": [*entry["Tasks"], *pages]} if "Tasks" in entry else entry
        for entry in config.nav or []
    ]
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Adds the pages that are no files of docs/: tasks, whole files, figures, the leaderboard."""
    made: dict[str, str | bytes] = {
        f"tasks/{spec.name}.md": task_page(spec) for spec in TASKS.values()
    }
    made |= {page: (ROOT / source).read_text() for source, page in WHOLE.items()}
    made["leaderboard_page.html"] = leaderboard_page()
    made |= {f"figures/{path.name}": path.read_bytes() for path in (ROOT / _FIGURES).glob("*.svg")}
    for spec in TASKS.values():
        made |= {f"figures/{name}": drawn for name, drawn in curves(spec).items()}
    for path, content in made.items():
        files.append(File.generated(config, path, content=content))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Puts in fragments and included sections, and points links to pages of the site."""
    here = page.file.src_uri
    text = _FRAGMENT.sub(lambda found: FRAGMENTS[found[1]](*found[2].split()), markdown)
    text = relink(text, SOURCES.get(here, f"docs/{here}"), here, str(config.repo_url))

    def included(found: re.Match[str]) -> str:
        source = posixpath.normpath(posixpath.join("docs", posixpath.dirname(here), found[1]))
        return relink(section(source, found[2]), source, here, str(config.repo_url))

    text = _INCLUDE.sub(included, text)
    if here == "tasks/index.md":
        text = _TASK_CELL.sub(r"| [`\1`](\1.md) |", text)
    return text


def section(source: str, anchor: str) -> str:
    """What stands below a heading of a file, up to the next one; without anchor, below the first.

    Without anchor later headings belong to it.
    """
    kept, inside, fenced = list[str](), False, False
    for line in (ROOT / source).read_text().splitlines():
        fenced ^= line.lstrip().startswith("```")
        heading = None if fenced else _HEADING.fullmatch(line)
        if heading and (anchor or not inside):
            inside = not anchor or _slug(heading[2], "-") == anchor
        elif inside:
            kept.append(line)
    if not kept:
        _log.warning("%s has no section #%s to include", source, anchor)
    return "\n".join(kept).strip()


def relink(text: str, source: str, page: str, repository: str) -> str:
    """The text with links that are right in the file `source` made right on a page of the site."""

    def moved(found: re.Match[str]) -> str:
        target = found["link"] or found["picture"]
        if target is None or re.match(r"[a-z]+:|#", target):
            return found[0]
        path, mark, anchor = target.partition("#")
        path = posixpath.normpath(posixpath.join(posixpath.dirname(source), path))
        return _address(path, page, repository) + mark + anchor

    return _TARGET.sub(moved, text)


def _address(path: str, page: str, repository: str) -> str:
    """Where a file of the repository is found, seen from a page."""
    if path in PAGES:
        inside = PAGES[path]
    elif path.startswith(_FIGURES):  # of the two forms of a figure the site has the drawing
        inside = posixpath.splitext(path.removeprefix("results/"))[0] + ".svg"
    elif path.startswith("docs/"):
        inside = path.removeprefix("docs/")
    elif (ROOT / path).exists():
        return f"{repository}/{'tree' if (ROOT / path).is_dir() else 'blob'}/main/{path}"
    else:
        _log.warning("page %s links to %s, which does not exist", page, path)
        return path
    return posixpath.relpath(inside, posixpath.dirname(page) or ".")
