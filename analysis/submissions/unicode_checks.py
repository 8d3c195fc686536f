"""Whether a stranger's text can be shown as it is, and whether two names would pass for one."""

import re
import unicodedata

from explore_suite.runs.header_rules import RESERVED, unclean

_MAX_SHOWN = 300  # characters; paths of a submission have up to 220
# Latin letters that are no ASCII letter with an accent, and what they look like or are written as.
_LATIN = {
    "ß": "ss", "æ": "ae", "œ": "oe", "ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "p", "ħ": "h",
    "ŧ": "t", "ı": "i", "ŋ": "n", "ĸ": "k",
}  # fmt: skip
# ASCII that passes for other ASCII at a glance: a homoglyph skeleton, as in UTS 39, and coarser.
_TWINS = (("rn", "m"), ("vv", "w"), ("0", "o"), ("1", "l"), ("i", "l"), ("|", "l"), ("!", "l"))


def unreadable(text: str) -> str | None:
    """None for text that a reader can read out, else what is wrong with it; stricter."""
    if text != text.strip():
        return "begins or ends with a space"
    if reason := unclean(text):
        return reason
    return None if any(map(str.isalnum, text)) else "holds no letter or digit"


def not_latin(name: str) -> str | None:
    """None for a name in ASCII and Latin letters with accents, else what else it holds."""
    for character in name:
        if not _folded(character).isascii():
            return f"holds U+{ord(character):04X}: names are in ASCII and accented Latin letters"
    return None


def reserved(name: str) -> str | None:
    """None, or which word of a name would pass for a statement of the page's own."""
    words = f" {' '.join(map(_skeleton, re.findall('[a-z0-9|!]+', _folded(name))))} "
    for word in RESERVED:
        if f" {' '.join(map(_skeleton, word.split('-')))} " in words:
            return f"holds the word {word}, which is the page's own"
    return None


def likeness(name: str) -> str:
    """What a name looks like at a glance: names of equal likeness would pass for one another.

    Accents, capital letters, spaces and signs between letters do not tell names apart; signs at the
    end do, as in SAC and SAC+.
    """
    folded = _folded(name)
    end = re.search(r"[+*#']*$", folded)
    return _skeleton(re.sub("[^a-z0-9|!]", "", folded)) + (end[0] if end else "")


def _folded(text: str) -> str:
    """Without accents and capital letters; ASCII if the text is in Latin letters."""
    parts = unicodedata.normalize("NFD", text).casefold()
    letters = [part for part in parts if unicodedata.category(part) != "Mn"]
    return "".join(_LATIN.get(letter, letter) for letter in letters)


def _skeleton(folded: str) -> str:
    for twin, letter in _TWINS:
        folded = folded.replace(twin, letter)
    return folded


def shown(name: str) -> str:
    """A stranger's name, safe to print in a line; cut off where it is too long for one."""
    short = name if len(name) <= _MAX_SHOWN else name[:_MAX_SHOWN] + "..."
    return short if short.isascii() and short.isprintable() else ascii(short)
