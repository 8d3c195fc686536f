"""Whether a stranger's text can be shown as it is, and whether two names would pass for one."""

import re
import unicodedata

# Control, format (invisible or reordering), half, private and unknown characters, line breaks.
_BAD_CATEGORIES = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
# Letters and marks that show nothing: fillers of Hangul and Khmer, an empty Braille cell, a joiner.
_BLANKS = set("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0")
_MAX_MARKS = 2  # on one letter; Vietnamese needs two, and a tower of them covers other lines
_MAX_SHOWN = 300  # characters; paths of a submission have up to 220
_WORD = re.compile(r"\w+")
# Scripts with letters that look Latin.
_LATIN_ALIKE = {"ARMENIAN", "CHEROKEE", "COPTIC", "CYRILLIC", "GREEK"}
_TWINS = str.maketrans(
    "\u0430\u0432\u0441\u0435\u043d\u0456\u0458\u043a\u043c\u043e\u0440\u051b\u0455\u0442\u0443\u0445\u051d"
    "\u03b1\u03b2\u03b5\u03b6\u03b7\u03b9\u03ba\u03bc\u03bd\u03bf\u03c1\u03c4\u03c5\u03c7",
    "abcehijkmopqstyxw"  # for Cyrillic
    "abezhikmnoptyx",  # for Greek
)


def unclean(text: str) -> str | None:
    """None for text that can be shown, else what is wrong with it."""
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


def unreadable(text: str) -> str | None:
    """None for text that a reader can read out, else what is wrong with it; stricter."""
    if text != text.strip():
        return "begins or ends with a space"
    if reason := unclean(text):
        return reason
    return None if any(map(str.isalnum, text)) else "holds no letter or digit"


def mixed(name: str) -> str | None:
    """None, or which word of a name has Latin letters and others that look like them."""
    for word in _WORD.findall(unicodedata.normalize("NFKC", name)):
        scripts = {unicodedata.name(letter, "").split(" ")[0] for letter in word}
        if "LATIN" in scripts and scripts & _LATIN_ALIKE:
            return f"mixes Latin letters with letters that look like them in {shown(word)}"
    return None


def likeness(name: str) -> str:
    """What a name looks like at a glance: names of equal likeness would pass for one another."""
    parts = unicodedata.normalize("NFKD", name).casefold()
    letters = [part for part in parts if unicodedata.category(part)[0] != "M"]
    return "".join("".join(letters).translate(_TWINS).split())


def shown(name: str) -> str:
    """A stranger's name, safe to print in a line; cut off where it is too long for one."""
    short = name if len(name) <= _MAX_SHOWN else name[:_MAX_SHOWN] + "..."
    return short if short.isascii() and short.isprintable() else ascii(short)
