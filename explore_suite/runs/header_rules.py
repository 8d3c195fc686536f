"""Rules for headers: what the leaderboard refuses, as far as it is known when a run starts.

Shared by `record` and by the validator, so that no run is refused weeks after it was started.
"""

import logging
import re
import unicodedata
from collections.abc import Iterator
from typing import Any

from explore_suite.errors import UserError
from explore_suite.runs.format import Header, dump_header
from explore_suite.runs.provenance import warn_of_changes

MAX_EPISODES = 5_000
MAX_THREADS = 1024
MAX_TEXT = 200  # characters of any text in a header
MAX_BYTES = 2**16  # of the file of a header
MAX_MACHINE = 20  # texts and numbers that describe a machine
MAX_DEPTH, MAX_VALUES = 4, 200  # of a config: nested dictionaries and lists, keys and items
MAX_NUMBER = 1e9  # in a config
OUR_PRESETS, OUR_SOURCE = ("cpu", "paper"), "explore-suite train"
RESERVED = ("verified", "reference", "ours", "replay-checked", "self-reported")  # badges
# ASCII homoglyphs and the letter that stands for them; coarser than those of Unicode TS 39.
_HOMOGLYPHS = (
    ("rn", "m"), ("vv", "w"), ("0", "o"), ("1", "l"), ("i", "l"), ("|", "l"), ("!", "l"),
)  # fmt: skip
_ROOM = 256  # bytes by which a header grows until its run is finished: its traces are listed
_MAX_MARKS = 2  # on one letter; Vietnamese needs two, and a tower of them covers other lines
# Control, format (invisible or reordering), half, private and unknown characters, line breaks.
_BAD_CATEGORIES = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
# Letters and marks that show nothing: fillers of Hangul and Khmer, an empty Braille cell, a joiner.
_BLANKS = set("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0")
_log = logging.getLogger(__name__)


def require(header: Header) -> None:
    """Raises a UserError if the leaderboard would refuse this header, and warns if it may."""
    _ = header.key.path  # a UserError if the labels cannot name a path
    found = list(dict.fromkeys([*faults(header), *text_faults(vars(header))]))
    if not found and len(dump_header(header).encode()) > MAX_BYTES - _ROOM:
        found = [f"its header would be larger than {MAX_BYTES} bytes"]
    if found:
        raise UserError(f"such a run cannot be submitted: {'; '.join(found)}")
    warn_of_changes(header.code, "the repository of this script")
    if header.episodes > MAX_EPISODES:
        _log.warning("runs of more than %d episodes cannot be submitted", MAX_EPISODES)


def faults(header: Header) -> Iterator[str]:
    """A line for each field that breaks a rule."""
    if header.preset in OUR_PRESETS and header.source != OUR_SOURCE:
        yield (
            f"preset {header.preset} is that of `{OUR_SOURCE}`: runs of other code have another, "
            "such as external"
        )
    for label in (header.preset, header.agent):
        words = map_homoglyphs("-".join(re.findall("[a-z0-9]+", label.lower())))
        taken = [word for word in RESERVED if f"-{map_homoglyphs(word)}-" in f"-{words}-"]
        if taken:
            yield f"no label may hold the word {taken[0]}, which is the page's own"
    if not 1 <= header.threads <= MAX_THREADS:
        yield f"threads must be 1 to {MAX_THREADS}, not {header.threads}"
    plain = all(isinstance(value, str | int | float | None) for value in header.machine.values())
    if not plain or len(header.machine) > MAX_MACHINE:
        yield f"machine must hold texts and numbers alone, at most {MAX_MACHINE}"
    yield from _config_faults(header.config)


def text_faults(values: Any) -> Iterator[str]:
    """A line for each string of a JSON value, keys included, that cannot be shown as it is."""
    for text in _texts(values):
        if len(text) > MAX_TEXT:
            yield f"holds a text of more than {MAX_TEXT} characters"
        elif reason := unclean(text):
            yield f"a text in it {reason}"


def unclean(text: str) -> str | None:
    """What keeps a text from being shown (control characters and the like), or None."""
    marks = 0
    for character in text:
        category = unicodedata.category(character)
        if category in _BAD_CATEGORIES:
            return f"holds the control character U+{ord(character):04X}"
        if character in _BLANKS:
            return f"holds the blank character U+{ord(character):04X}"
        marks = marks + 1 if category.startswith("M") else 0
        if marks > _MAX_MARKS:
            return f"has more than {_MAX_MARKS} marks on one letter"
    return None


def map_homoglyphs(folded: str) -> str:
    """A text in small letters with one letter for all that look like it."""
    for twin, letter in _HOMOGLYPHS:
        folded = folded.replace(twin, letter)
    return folded


def _config_faults(config: dict[str, Any]) -> Iterator[str]:
    """Limits on depth, size and numbers: a config holds settings, not data."""
    values = list(_values(config))
    if any(depth > MAX_DEPTH for depth, _ in values):
        yield f"config is nested deeper than {MAX_DEPTH}"
    if len(values) > MAX_VALUES:
        yield f"config holds {len(values)} values, more than {MAX_VALUES}"
    numbers = [value for _, value in values if isinstance(value, int | float)]
    if not all(abs(number) < MAX_NUMBER for number in numbers):  # which NaN is not, either
        yield f"config holds a number that is not finite or not below {MAX_NUMBER:.0e}"


def _values(value: Any, depth: int = 1) -> Iterator[tuple[int, Any]]:
    """Every value inside a JSON value, with its depth; none below the first level too deep."""
    for item in value.values() if isinstance(value, dict) else value:
        yield depth, item
        if isinstance(item, dict | list) and depth <= MAX_DEPTH:
            yield from _values(item, depth + 1)


def _texts(value: Any) -> Iterator[str]:
    """Every string inside a JSON value, however deep."""
    left = [value]
    while left:
        item = left.pop()
        if isinstance(item, str):
            yield item
        elif isinstance(item, dict):
            left += [*item, *item.values()]
        elif isinstance(item, list):
            left += item
