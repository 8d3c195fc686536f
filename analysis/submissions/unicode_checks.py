"""Unicode checks on submitted text: printable characters only, no look-alike (homoglyph) names.

Labels are ASCII by their pattern and stand beside every name on the page. Names are kept to ASCII
and accented Latin letters, and two of them are compared by their skeletons (Unicode TS 39).
"""

import re
import unicodedata

from explore_suite.runs.header_rules import RESERVED, map_homoglyphs, unclean

_MAX_SHOWN = 300  # characters; paths of a submission have up to 220
# Latin letters that are no ASCII letter with an accent, and what they look like or are written as.
_LATIN = {
    "ß": "ss", "æ": "ae", "œ": "oe", "ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "p", "ħ": "h",
    "ŧ": "t", "ı": "i", "ŋ": "n", "ĸ": "k",
}  # fmt: skip


def unreadable(text: str) -> str | None:
    """What is wrong with a text that people are to read; None if nothing is."""
    if text != text.strip():
        return "begins or ends with a space"
    if reason := unclean(text):
        return reason
    return None if any(map(str.isalnum, text)) else "holds no letter or digit"


def not_latin(name: str) -> str | None:
    """Which character of a name is neither ASCII nor an accented Latin letter; None if none is."""
    for character in name:
        if not _folded(character).isascii():
            return f"holds U+{ord(character):04X}: names are in ASCII and accented Latin letters"
    return None


def reserved(name: str) -> str | None:
    """Which badge of the page a word of the name looks like; None if none does."""
    words = f" {' '.join(map(map_homoglyphs, re.findall('[a-z0-9|!]+', _folded(name))))} "
    for word in RESERVED:
        if f" {' '.join(map(map_homoglyphs, word.split('-')))} " in words:
            return f"holds the word {word}, which is the page's own"
    return None


def skeleton(name: str) -> str:
    """The homoglyph skeleton of a name: names with equal skeletons look alike.

    Accents, case, spaces and signs between letters make no difference; signs at the end do, as in
    SAC and SAC+.
    """
    folded = _folded(name)
    end = re.search(r"[+*#']*$", folded)
    return map_homoglyphs(re.sub("[^a-z0-9|!]", "", folded)) + (end[0] if end else "")


def shown(text: str) -> str:
    """A stranger's text, safe to print in a line; cut off where it is too long for one."""
    short = text if len(text) <= _MAX_SHOWN else text[:_MAX_SHOWN] + "..."
    return short if short.isascii() and short.isprintable() else ascii(short)


def _folded(text: str) -> str:
    """Without accents and case; ASCII if the text is in Latin letters."""
    parts = unicodedata.normalize("NFD", text).casefold()
    letters = [part for part in parts if unicodedata.category(part) != "Mn"]
    return "".join(_LATIN.get(letter, letter) for letter in letters)
