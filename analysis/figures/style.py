"""The style of all figures: one style per method, fixed page widths, reproducible bytes."""

import io
import re
import zlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import matplotlib
import pandas as pd
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator

from analysis.stats import formatting
from analysis.stats.intervals import MIN_SEEDS
from analysis.stats.methods import METHODS, NAMES

WIDTH = 7.0  # inches: two columns of a paper
COLUMN = 3.4  # inches: one column
GREY = "#6b6b6b"  # for axes, notes and reference lines
BAR_ALPHA = 0.8
# An id that matplotlib ends with a hash: where it is defined and where it is referred to.
_HASHED_ID = re.compile(rb'(\bid="|href="#|url\(#)([A-Za-z]\w*?)[0-9a-f]{10}(?=["\)])')
_LONG_NUMBER = re.compile(rb"scale\([^)]*\)|-?\d+\.\d{4,6}\b")  # the scale of glyphs stays exact

RC: dict[Any, Any] = {
    "font.family": "DejaVu Sans", "font.size": 8, "axes.titlesize": 8, "axes.labelsize": 8,
    "xtick.labelsize": 7, "ytick.labelsize": 7, "legend.fontsize": 8, "legend.title_fontsize": 7,
    "axes.linewidth": 0.6, "axes.edgecolor": GREY, "axes.spines.top": False,
    "axes.spines.right": False, "xtick.color": GREY, "ytick.color": GREY,
    "xtick.labelcolor": "black", "ytick.labelcolor": "black", "xtick.major.width": 0.6,
    "ytick.major.width": 0.6, "xtick.major.size": 2.5, "ytick.major.size": 2.5,
    "lines.linewidth": 1.4, "legend.frameon": False, "legend.handlelength": 2.6,
    "figure.dpi": 100, "savefig.dpi": 200, "svg.hashsalt": "explore-suite", "svg.fonttype": "path",
    "axes.grid": True, "axes.grid.axis": "y", "grid.color": "#e6e6e6", "grid.linewidth": 0.5,
    "axes.axisbelow": True,
}  # fmt: skip


class Style(NamedTuple):
    """How a method is drawn."""

    label: str
    colour: str  # Okabe and Ito's palette, distinguishable by colour-blind readers
    line: Any  # matplotlib linestyle
    marker: str


_DASH = (0, (5, 1.5))
_DASH_DOT = (0, (5, 1.2, 1.2, 1.2))
_DOTS = (0, (1.3, 1))
_COLUMN_SPACING = 1.8  # of legends, in font sizes
# The colour shows what a method adds to SAC or DDQN.
_STYLES = {
    "random": ("#999999", _DOTS, "x"),
    "sac": ("#404040", _DASH, "o"),
    "sac_bbe": ("#D55E00", _DASH_DOT, "s"),
    "sac_2q": ("#009E73", _DOTS, "^"),
    "sac_deep": ("#0072B2", "-", "D"),
    "sac.long": ("#404040", _DASH, "o"),
    "sac_deep.long": ("#0072B2", "-", "D"),
    "ddqn": ("#404040", _DASH, "o"),
    "ddqn_bbe": ("#D55E00", _DASH_DOT, "s"),
    "ddqn_deep": ("#0072B2", "-", "D"),
    "ddqn_deep.pure_slow": ("#CC79A7", _DASH, "v"),
    "ddqn_deep.pure_plain": ("#56B4E9", (0, (3, 1, 1, 1, 1, 1)), "^"),
}
# A variant has the style of its method, unless it is in _STYLES itself. Ablations are drawn side by
# side, so that each needs its own.
STYLES = {
    label: Style(name, *(_STYLES.get(label) or _STYLES[label.partition(".")[0]]))
    for label, name in NAMES.items()
    if label in _STYLES or (label in METHODS and label.partition(".")[0] in _STYLES)
}
# For all other methods, chosen by a hash of the label: a new method changes no other's style.
_USER_COLOURS = (
    "#E69F00", "#66A61E", "#5E3C99", "#1B7837", "#B2182B", "#01665E", "#C51B7D", "#4D4D00",
    "#2166AC", "#35978F", "#AA4499",
)  # fmt: skip
_USER_MARKERS = "PX*hpdv<>"
_USER_LINES = ("-", _DASH, _DASH_DOT, _DOTS)


def style(method: str) -> Style:
    """The style of a method, a function of its label alone."""
    if method in STYLES:
        return STYLES[method]
    number = zlib.crc32(method.encode())
    number, colour = divmod(number, len(_USER_COLOURS))
    number, line = divmod(number, len(_USER_LINES))
    marker = number % len(_USER_MARKERS)
    name = NAMES.get(method, method)
    return Style(name, _USER_COLOURS[colour], _USER_LINES[line], _USER_MARKERS[marker])


def page(
    rows: int, columns: int, *, width: float = WIDTH, height: float
) -> tuple[Figure, list[Axes]]:
    """A figure and its panels, row by row."""
    figure = Figure(figsize=(width, height), layout="constrained")
    panels = figure.subplots(rows, columns, squeeze=False)
    return figure, list(panels.flat)


def draw_band(axes: Axes, line: pd.DataFrame, style: Style, x: str, y: str) -> None:
    """Draws a curve and, where it has one, its interval."""
    # Above the axis and unclipped, so that a curve of zeros is visible.
    axes.plot(line[x], line[y], color=style.colour, linestyle=style.line, clip_on=False, zorder=3)
    axes.fill_between(line[x], line.low, line.high, color=style.colour, alpha=0.18, linewidth=0)


def count_episodes(axes: Axes) -> None:
    """Makes the x axis one of episodes, from 0 to the last one drawn."""
    axes.margins(x=0)
    axes.set_xlim(left=0)
    axes.xaxis.set_major_locator(MaxNLocator(5, steps=[1, 2, 5, 10], integer=True))


def draw_best(axes: Axes, best: float) -> None:
    """Draws a dashed line at the best return (known or bound), with space above it."""
    axes.axhline(best, color=GREY, linewidth=0.7, linestyle=(0, (4, 3)))
    axes.set_ylim(0, 1.05 * best)


def draw_nothing(axes: Axes, why: str = "no curve yet") -> None:
    """Writes into an empty panel why it is empty."""
    axes.set_xticks([])
    axes.text(0.5, 0.5, why, transform=axes.transAxes, ha="center", va="center", color=GREY)


def legend(
    figure: Figure,
    seeds: Mapping[str, Sequence[int]],
    what: str,
    *,
    kind: str = "line",
    columns: int = 5,
) -> None:
    """Draws the legend above the figure: caption and seeds, and a line, point or bar per method."""
    alike = len({number for numbers in seeds.values() for number in numbers}) == 1
    handles = [
        _handle(style(method), "" if alike else f" ({seed_count(numbers)})", kind)
        for method, numbers in seeds.items()
    ]
    figure.legend(
        handles=handles, loc="outside upper center", columnspacing=_COLUMN_SPACING,
        ncols=_columns_that_fit(figure, handles, min(len(handles), columns)),
        title=caption(what, [number for numbers in seeds.values() for number in numbers]),
    )  # fmt: skip


def _columns_that_fit(figure: Figure, handles: list[Artist], most: int) -> int:
    """The largest number of legend columns, up to `most`, that fits the width of the figure."""
    for columns in range(most, 1, -1):
        trial = figure.legend(handles=handles, ncols=columns, columnspacing=_COLUMN_SPACING)
        width = trial.get_window_extent().width
        trial.remove()
        if width <= figure.bbox.width:
            return columns
    return 1


def caption(what: str, seeds: Sequence[int]) -> str:
    """Caption of a figure: what is drawn, over how many seeds, with which interval."""
    over = seed_count(seeds) if min(seeds) == max(seeds) else "seeds"
    if max(seeds) < MIN_SEEDS:
        return f"{what} over {over}, too few for an interval"
    few = f"; none below {MIN_SEEDS} seeds" if min(seeds) < MIN_SEEDS else ""
    return f"{what} and 95 % bootstrap interval over {over}{few}"


def seed_count(seeds: Sequence[int]) -> str:
    """Numbers of seeds as text: "1 seed", "8 seeds" or "5–8 seeds"."""
    low, high = min(seeds), max(seeds)
    return formatting.count(low, "seed") if low == high else f"{low}–{high} seeds"


def _handle(style: Style, suffix: str, kind: str) -> Artist:
    label = style.label + suffix
    if kind == "bar":
        return Patch(facecolor=style.colour, alpha=BAR_ALPHA, label=label)
    if kind == "point":
        return Line2D([], [], color=style.colour, label=label, linestyle="", marker=style.marker,
                      markersize=4)  # fmt: skip
    return Line2D([], [], color=style.colour, label=label, linestyle=style.line)


def render(make: Callable[[], Figure]) -> dict[str, bytes]:
    """Renders the figure that `make` returns as SVG and PNG; equal figures give equal bytes."""
    with matplotlib.rc_context(RC):
        figure = make()
        svg = _bytes(figure, "svg", {"Date": None, "Creator": "explore-suite"})
        return {"svg": _portable(svg), "png": _bytes(figure, "png", {"Software": None})}


def _portable(svg: bytes) -> bytes:
    """The same picture in bytes that all machines agree on.

    The last bits of coordinates differ between machines. Matplotlib rounds to 6 digits, but some
    lie half-way between two of these; rounded to 3 digits after that, all agree. It also names clip
    paths by a hash of unrounded coordinates: such names are numbered in order of appearance.
    """
    numbers: dict[bytes, int] = {}

    def rounded(found: re.Match[bytes]) -> bytes:
        number = found[0]
        return number if number.startswith(b"scale") else f"{float(number):.3f}".encode()

    def renamed(found: re.Match[bytes]) -> bytes:
        before, kind = found.groups()
        hashed = found[0].removeprefix(before)
        return b"%s%s%d" % (before, kind, numbers.setdefault(hashed, 1 + len(numbers)))

    return _HASHED_ID.sub(renamed, _LONG_NUMBER.sub(rounded, svg))


def _bytes(figure: Figure, kind: str, metadata: dict[str, str | None]) -> bytes:
    buffer = io.BytesIO()
    figure.savefig(buffer, format=kind, metadata=metadata)
    return buffer.getvalue()
