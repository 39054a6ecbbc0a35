"""Learning curves of runs, or what one of them measured besides its returns."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from decentral.analysis.results import Curves, load_curves
from decentral.api.arguments import check_whole
from decentral.api.places import PathLike, several
from decentral.notebook import Drawing
from decentral.plain_files import as_path
from decentral.records import RunDirectory
from decentral.settings import Refused

if TYPE_CHECKING:
    from decentral.analysis.plots.options import PlotOptions


def plot(
    runs: PathLike | Sequence[PathLike],
    /,
    *,
    metric: str | Sequence[str] | None = None,
    smooth: int = 1,
    label: str | Sequence[str] | None = None,
    title: str | None = None,
    size: tuple[float, float] | None = None,
    style: str | None = None,
    x: str = "steps",
    diagnostics: bool = False,
    out: PathLike | None = None,
) -> Drawing:
    """Draw the learning curves of runs, mean and spread over seeds, as PNG, SVG or PDF; gives the file.

    `metric` names one or several numbers of the runs' records, a panel each (without it, the return and what all
    environments report). `smooth` is how many tests a running mean takes in. `label` has a text for each run; `size` is
    width and height in inches; `style` is paper, slides or one of matplotlib's; `x` is steps, episodes or time. With
    `diagnostics`, what one run measured besides its returns. Without `out`: `returns.png` or `diagnostics.png`.
    """
    from decentral.analysis.plots.curves import plot_curves
    from decentral.analysis.plots.options import PlotOptions

    check_whole(smooth=smooth)
    places = several(runs)
    metrics, labels = (() if given is None else tuple(map(str, several(given))) for given in (metric, label))
    options = PlotOptions(metrics, smooth, labels, title, _pair(size), style, x)
    curves = [load_curves(RunDirectory.open(as_path("run", run))) for run in places]
    file = Path(("diagnostics.png" if diagnostics else "returns.png") if out is None else out)
    if diagnostics:
        _plot_diagnostics(curves, file, options)
    else:
        plot_curves(curves, file, options)
    return Drawing(file)


def _plot_diagnostics(curves: list[Curves], file: Path, options: "PlotOptions") -> None:
    from decentral.analysis.plots.diagnostics import plot_diagnostics

    if len(curves) > 1:
        raise Refused(f"RUN must be one directory with --diagnostics, got {len(curves)}")
    for word, value in (
        ("metric", options.metrics),
        ("smooth", options.smooth),
        ("label", options.labels),
        ("x", options.x),
    ):
        if value not in ((), 1, "steps"):
            raise Refused(f"{word} can't be combined with diagnostics, which draws all its metrics as they are")
    options.check(curves)
    plot_diagnostics(curves[0], file, options)


def _pair(size: Sequence[float] | None) -> tuple[float, float] | None:
    if size is None:
        return None
    if isinstance(size, str) or len(size) != 2 or not all(type(side) in (int, float) for side in size):
        raise Refused(f"size must be a width and a height in inches, got {size!r:.40}")
    return float(size[0]), float(size[1])
