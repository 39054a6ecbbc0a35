"""The legend of learning curves: between them, beside them, or below, where its texts are long."""

from collections.abc import Sequence
from typing import Any, Literal

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from decentral.analysis.plots.texts import HANDLE, LETTER, POINTS, points, wrapped
from decentral.analysis.results import shortened

Place = Literal["inside", "beside", "below"]
Size = tuple[float, float]  # inches

MOST_INSIDE = 5  # runs whose legend fits between the curves
PANEL, HIGH, HIGHER = 6.4, 4.2, 4.8  # inches of a panel, the last with many runs
BESIDE = 3.2  # inches of a legend at its side
MOST_OF_PANEL = 0.7  # that a legend between the curves may cover, of its width
MOST_OF_FIGURE = 0.45  # that a legend below may take of a figure that must not grow
LONGEST, SMALLEST = 300, 2  # letters of a text; points of a letter
BAND = "mean over seeds\n± one standard deviation"
NARROW_BAND = "mean ± std"  # in a small panel


def legend_place(texts: Sequence[str], panels: int, size: Size | None) -> Place:
    """Where there is room for the legend of runs with these texts; `size` is that of the figure, if it is given."""
    width, height = (PANEL * panels + BESIDE, HIGHER) if size is None else size
    longest = max(map(len, texts))
    if len(texts) <= MOST_INSIDE:
        panel = PANEL if size is None else width / panels
        return "inside" if _inches(longest, points()) <= MOST_OF_PANEL * panel else "below"
    fits = _inches(longest, points("small")) <= min(BESIDE, width / 3) and _height(texts, points("small")) <= height
    return "beside" if fits else "below"


def figure_size(texts: Sequence[str], panels: int, place: Place) -> Size:
    """The size of a figure of so many panels, without a legend below."""
    return PANEL * panels + BESIDE * (place == "beside"), HIGHER if len(texts) > MOST_INSIDE else HIGH


def draw_legend(figure: Figure, row: Sequence[Axes], place: Place, band: bool, may_grow: bool) -> None:
    """Draw the legend of a row of panels, which says what a band is. A figure that may grow does by a legend below."""
    look: dict[str, Any] = {"frameon": False, "alignment": "left"}
    look |= {"title": BAND, "title_fontsize": "small"} if band else {}
    if place == "inside":
        panel = figure.get_size_inches()[0] / len(row)
        wide = _inches(max(map(len, BAND.split("\n"))), points("small")) <= MOST_OF_PANEL * panel
        row[0].legend(**look | ({"title": BAND if wide else NARROW_BAND} if band else {}))
    elif place == "beside":
        row[-1].legend(loc="center left", bbox_to_anchor=(1.0, 0.5), fontsize="small", **look)
    else:
        _draw_below(figure, row[0], look | ({"title": BAND.replace("\n", " ")} if band else {}), may_grow)


def _draw_below(figure: Figure, axes: Axes, look: dict[str, Any], may_grow: bool) -> None:
    handles, texts = axes.get_legend_handles_labels()
    width, height = figure.get_size_inches()
    size = points("small")
    lines, tall = _in_lines(texts, width, size)
    while not may_grow and tall > MOST_OF_FIGURE * height and size > SMALLEST:
        size *= 0.9
        lines, tall = _in_lines(texts, width, size)
    if may_grow:
        figure.set_size_inches(width, height + tall)
    look |= {"title_fontsize": size} if "title" in look else {}
    figure.legend(handles, lines, loc="outside lower center", ncols=1, fontsize=size, **look)


def _in_lines(texts: Sequence[str], width: float, size: float) -> tuple[list[str], float]:
    """The texts in lines that fit into a width, and the height of their legend with a title, in inches."""
    letters = max(10, int((width * POINTS / size - HANDLE) / LETTER))
    lines = [wrapped(shortened(text, LONGEST), letters) for text in texts]
    return lines, _height([BAND.replace("\n", " "), *lines], size)


def _inches(letters: int, size: float) -> float:
    return size / POINTS * (HANDLE + LETTER * letters)


def _height(texts: Sequence[str], size: float) -> float:
    """The inches of a legend whose letters have this size: a line takes 1.2 of them, an entry half a line more."""
    return size / 72 * sum(1.2 * (1 + text.count("\n")) + 0.5 for text in [*texts, ""])
