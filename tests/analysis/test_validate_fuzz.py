"""Five thousand spoilt submissions: none crashes the validator, leaves the folder or gets through.

A mutation changes nothing of substance if every run file keeps its bytes and submission.json says
the same but for its prose (PROSE in fuzz_sandbox.py) and the spelling of its JSON. Only then may a
mutated submission pass. Half of the mutations of run files are sealed again, digests and scores
brought up to date as a forger would do; such a one may pass as another sound submission, if an
independent reading of its rows finds the stated scores.
"""

import json
import os
import shutil

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from tests.helpers.fuzz_sandbox import FILES, PATHS, RUN_PATHS, sandbox  # noqa: F401

EXAMPLES = 1000  # of each of the five kinds of mutation below
FUZZ = settings(
    max_examples=EXAMPLES, deadline=None, derandomize=True, database=None,
    suppress_health_check=list(HealthCheck), phases=[Phase.generate, Phase.shrink],
)  # fmt: skip


@FUZZ
@given(st.sampled_from(PATHS), st.randoms(use_true_random=False), st.booleans())
def test_bytes(sandbox, path, draw, seal):  # noqa: F811
    """Bits flipped, bytes replaced, put in, left out; ends cut off."""
    data = bytearray(FILES[path])
    for _ in range(draw.choice([1, 1, 1, 2, 5])):
        place, act = draw.randrange(len(data)), draw.randrange(5)
        if act == 0:
            data[place] ^= 1 << draw.randrange(8)
        elif act == 1:
            data[place] = draw.randrange(256)
        elif act == 2:
            data[place:place] = draw.choice(
                [b"\xff", b"\x00", b" ", b"\n", b"\r", b"9", b"-", b","]
            )
        elif act == 3:
            del data[place : place + draw.choice([1, 1, 7, 100])]
        else:
            del data[place:]
        if not data:
            break
    sandbox.try_out(FILES | {path: bytes(data)}, seal and path != "submission.json")


@FUZZ
@given(st.sampled_from(RUN_PATHS), st.randoms(use_true_random=False), st.booleans())
def test_lines(sandbox, path, draw, seal):  # noqa: F811
    """Lines swapped, doubled, left out, taken from other runs, or whole files exchanged."""
    lines = FILES[path].split(b"\n")
    one, two, act = draw.randrange(len(lines)), draw.randrange(len(lines)), draw.randrange(5)
    files = dict(FILES)
    if act == 0:
        lines[one], lines[two] = lines[two], lines[one]
    elif act == 1:
        lines.insert(one, lines[two])
    elif act == 2:
        del lines[min(one, two) : max(one, two) + 1]
    elif act == 3:
        lines[one] = draw.choice(FILES[draw.choice(RUN_PATHS)].split(b"\n"))
    other = draw.choice(RUN_PATHS)
    files |= {path: FILES[other], other: FILES[path]} if act == 4 else {path: b"\n".join(lines)}
    sandbox.try_out(files, seal)


CELLS = ["", "0", "-1", "1", "nan", "inf", "1e999", "1_0", "+1", " 1", "01", "1.0", "True",
         "\u0661", "9" * 400, "0.5", "0.50", "train", "eval", '"1"', "1e-5", "-0.0"]  # fmt: skip


@FUZZ
@given(st.sampled_from(RUN_PATHS[::2]), st.randoms(use_true_random=False), st.booleans())
def test_cells(sandbox, path, draw, seal):  # noqa: F811
    """Values of a row changed: to strange ones, to near ones, to those of other rows."""
    assert path.endswith(".csv")
    lines = FILES[path].decode().split("\n")
    for _ in range(draw.choice([1, 1, 2, 3])):
        number, column = draw.randrange(1, len(lines) - 1), draw.randrange(8)
        cells, others = (
            lines[number].split(","),
            lines[draw.randrange(1, len(lines) - 1)].split(","),
        )
        near = repr(float(cells[column]) + draw.choice([-1, 1, 1e-9, 0.1])) if column else "test"
        new = draw.choice([draw.choice(CELLS), near.removesuffix(".0"), near, others[column]])
        lines[number] = ",".join([*cells[:column], new, *cells[column + 1 :]])
    sandbox.try_out(FILES | {path: "\n".join(lines).encode()}, seal)


VALUES = [None, True, False, 0, 1, -1, 1.5, 10**30, "", "1", "x" * 3000, "../..", "\x1b[2J",
          "\ud800", [], {}, [[]], {"a": 1}, "ExploreSuite/HallwayAdversarial-v1"]  # fmt: skip


@FUZZ
@given(
    st.sampled_from(["submission.json", *RUN_PATHS[1::2]]),
    st.randoms(use_true_random=False),
    st.booleans(),
)
def test_keys_and_types(sandbox, path, draw, seal):  # noqa: F811
    """Keys renamed, left out, put in; values of other types or from elsewhere, at any depth."""
    values = json.loads(FILES[path])
    for _ in range(draw.choice([1, 1, 2])):
        part = values
        while draw.random() < 0.4 and any(part_of(part)):
            part = draw.choice(part_of(part))
        keys = list(part) if isinstance(part, dict) else list(range(len(part)))
        key, act = draw.choice(keys) if keys else None, draw.randrange(4)
        if key is None or act == 0:
            if isinstance(part, dict):
                part[draw.choice(["colour", "seed", "", "__class__"])] = draw.choice(VALUES)
        elif act == 1:
            del part[key]
        elif act == 2:
            part[key] = draw.choice(VALUES)
        elif isinstance(part, dict):
            part[key + draw.choice(["s", " ", "\u0301"])] = part.pop(key)
    indent = draw.choice([1, 1, 1, None])
    text = json.dumps(values, indent=indent, sort_keys=path != "submission.json") + "\n"
    sandbox.try_out(FILES | {path: text.encode()}, seal and path != "submission.json")


def part_of(value):
    """The lists and objects directly inside a list or object."""
    inside = value.values() if isinstance(value, dict) else value
    return [item for item in inside if isinstance(item, dict | list) and item]


def _symlink(place, target, canary):
    _clear(place)
    place.symlink_to(target)


def _relative_symlink(place, target, canary):
    _clear(place)
    place.symlink_to(os.path.relpath(target, place.parent))


def _hard_link(place, target, canary):
    _clear(place)
    place.hardlink_to(canary)


def _fifo(place, target, canary):
    _clear(place)
    os.mkfifo(place)


def _folder(place, target, canary):
    _clear(place)
    place.mkdir()


def _rename(place, target, canary):
    place.rename(place.with_name(target.name + "x"))


def _copy(place, target, canary):
    copy = shutil.copyfile if place.is_file() else shutil.copytree
    copy(place, place.with_name(target.name + "2"))


def _remove(place, target, canary):
    _clear(place)


def _clear(place):
    shutil.rmtree(place) if place.is_dir() else place.unlink()


ACTS = [_symlink, _relative_symlink, _hard_link, _fifo, _folder, _rename, _copy, _remove]
FOLDERS = sorted({path.rsplit("/", depth)[0] for path in RUN_PATHS for depth in range(1, 5)})
TARGETS = ["../canary", "/etc/passwd", "..", ".", "/dev/zero", "nothing", *RUN_PATHS[:6]]


@FUZZ
@given(st.sampled_from(PATHS + FOLDERS), st.sampled_from(TARGETS), st.sampled_from(ACTS))
def test_files(sandbox, path, target, act):  # noqa: F811
    """Files and folders renamed, copied, taken away, or replaced by links and special files."""
    try:
        act(sandbox.folder / path, sandbox.folder / target, sandbox.canary)
        problems = sandbox.judge().problems
    finally:
        sandbox.mend()
    assert problems
