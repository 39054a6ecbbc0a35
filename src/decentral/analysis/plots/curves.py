"""Learning curves: the mean over seeds with its spread, several runs in one figure, and the exact references."""

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import EngFormatter

from decentral.analysis.plots.legends import draw_legend, figure_size, legend_place
from decentral.analysis.plots.options import PLAIN, PlotOptions, drawn_in, time_unit
from decentral.analysis.plots.rates import show_rate
from decentral.analysis.plots.texts import shown
from decentral.analysis.results import MARKED, Curves, labels, shared_references, shared_reports
from decentral.analysis.series import load_axis, load_metric, metric_called, smoothed
from decentral.analysis.statistics import deviation_band
from decentral.errors import Refused

matplotlib.use("Agg")


DOTS = 150  # of a PNG, per inch
LEVEL = 6  # of its compression
REFERENCES = {"bound": "-.", "optimal": "--", "random": ":"}

# Okabe and Ito's colours, which the colour-blind can tell apart, without the yellow, which is faint on white.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
STYLES = ("-", (0, (6, 2)), (0, (3, 1, 1, 1)))
# How metrics are called where their names in the records say too little.
METRICS = {
    "loss": "loss",
    "td_error_abs": "absolute TD error",
    "q_taken_mean": "Q-value of the action taken",
    "q_greedy_mean": "Q-value of the greedy action",
    "q_optimistic_mean": "Q-value in the best context",
    "kl": "KL divergence",
}

Band = tuple[np.ndarray, np.ndarray]  # from, to [tests]


def plot_curves(runs: list[Curves], out: Path, options: PlotOptions = PLAIN) -> None:
    """Draw the runs' test returns, what their environments report besides, or other metrics, as PNG, SVG or PDF."""
    check_request(runs, out)
    options.check(runs)
    with drawn_in(options.style):
        save(curves_figure(runs, labels(runs), options.title, options=options), out)


def curves_figure(
    runs: list[Curves],
    names: list[str],
    title: str | None = None,
    may_coincide: bool = False,
    options: PlotOptions = PLAIN,
) -> Figure:
    """The runs' metrics at every test: mean and standard deviation over seeds, a panel for each metric.

    Where curves may coincide every other one has wide gaps, through which the one below is seen.
    """
    named = tuple(metric_called(runs[0], name) for name in options.metrics)
    metrics = named or ("return", *shared_reports(runs))
    legends = legend_texts(runs, names, options.labels)
    where = legend_place(legends, len(metrics), options.size)
    size = options.size or figure_size(legends, len(metrics), where)
    figure, (grid,) = plt.subplots(1, len(metrics), figsize=size, layout="constrained", sharex=True, squeeze=False)
    places, x_label = _horizontal(runs, options.x)
    drawn: dict[str, list[np.ndarray]] = {metric: [] for metric in metrics}
    for number, (run, place, legend) in enumerate(zip(runs, places, legends, strict=True)):
        gaps = {"linestyle": (0, (4, 4)), "linewidth": 2.0} if may_coincide and number % 2 else {}
        for axes, metric in zip(grid, metrics, strict=True):
            values = smoothed(load_metric(run, metric, options.x), options.smooth)
            appearance = look(number, options.colours or COLOURS) | gaps
            draw_values(axes, place, legend, values, deviation_band(values), appearance)
            drawn[metric].append(values)
    for axes, metric in zip(grid, metrics, strict=True):
        show_rate(axes, metric, drawn[metric])
        if metric == "return":
            draw_references(axes, runs)
        label_axes(axes, runs, metric)
        axes.set_ylabel(_in_words(runs, metric))
        axes.set_xlabel(x_label)
        if title is not None:
            axes.set_title(shown(title) if len(metrics) == 1 else "")
    if title is not None and len(metrics) > 1:
        figure.suptitle(shown(title))
    band = any(len(run.seeds) > 1 for run in runs)
    draw_legend(figure, grid, where, band, may_grow=options.size is None)
    return figure


def legend_texts(runs: list[Curves], names: list[str], own: Sequence[str] = ()) -> list[str]:
    """What the legend says of each run: the user's own words, or its name and how many seeds it has.

    A run that is not decentralised says so in either case; `names` do already.
    """
    if own:
        return [shown(text) + ("" if run.decentralised else MARKED) for text, run in zip(own, runs, strict=True)]
    return [seeds_beside(name, len(run.seeds)) for name, run in zip(names, runs, strict=True)]


def seeds_beside(name: str, *seeds: int) -> str:
    """A name with the number of its seeds, or the numbers that it has in several panels."""
    numbers = " or ".join(map(str, sorted(seeds)))
    return f"{shown(name)} ({numbers} seed{'s' if numbers != '1' else ''})"


def _horizontal(runs: list[Curves], x: str) -> tuple[list[np.ndarray], str]:
    """Where the tests of every run stand, and what the axis says."""
    places = [load_axis(run, x) for run in runs]
    if x != "time":
        return places, "environment steps" if x == "steps" else "episodes"
    seconds, unit = time_unit(max(float(place[-1]) for place in places))
    return [place / seconds for place in places], f"training time ({unit})"


def _in_words(runs: list[Curves], metric: str) -> str:
    """What the vertical axis says of a metric."""
    tested = metric == "return" or all(metric in run.reports for run in runs)
    return shown(f"{'test ' if tested else ''}{METRICS.get(metric, metric.replace('_', ' '))}")


def check_request(runs: list[Curves], out: Path) -> None:
    """Refuse a request without runs, or for a file of unknown format."""
    if not runs:
        raise Refused("plot needs at least one RUN, got none")
    check_file(out)


def check_file(out: Path) -> None:
    """Refuse an unknown format."""
    if out.suffix.lower() not in (".png", ".svg", ".pdf"):
        raise Refused(f"out must end in .png, .svg or .pdf, got {out}")


def save(figure: Figure, out: Path, level: int = LEVEL) -> None:
    """Write a figure into a file, and close it."""
    save_all(figure, [out], level)


def save_all(figure: Figure, files: list[Path], level: int = LEVEL) -> None:
    """Write a figure into several files, and close it. Equal figures give equal files, byte for byte.

    A PNG is compressed at this level of zlib.
    """
    try:
        for out in files:
            out.parent.mkdir(parents=True, exist_ok=True)
            with plt.rc_context({"svg.hashsalt": "decentral"}), warnings.catch_warnings():
                warnings.filterwarnings("ignore", "Glyph .* missing")  # a missing letter is drawn as an empty box
                warnings.filterwarnings("ignore", 'Creating legend with loc="best" can be slow')  # so can a machine
                with _laid_out(figure, out):
                    figure.savefig(out, dpi=DOTS, **_format_options(out.suffix.lower(), level))
    except OSError as error:
        raise Refused(f"out must be a file that can be written, got {out} ({error.strerror})") from None
    finally:
        plt.close(figure)


def _format_options(ending: str, level: int) -> dict[str, Any]:
    if ending == ".png":
        return {"pil_kwargs": {"compress_level": level}}
    return {"metadata": {"Date": None}} if ending == ".svg" else {}


@contextmanager
def _laid_out(figure: Figure, out: Path) -> Iterator[None]:
    """Find the places of all parts of a picture before it is drawn; by itself matplotlib draws it twice for that."""
    engine, dots = figure.get_layout_engine(), figure.get_dpi()
    if out.suffix.lower() != ".png" or engine is None:
        yield
        return
    figure.set_dpi(DOTS)
    engine.execute(figure)
    figure.set_layout_engine(None)
    try:
        yield
    finally:
        figure.set_layout_engine(engine)
        figure.set_dpi(dots)


def look(number: int, colours: Sequence[str] = COLOURS) -> dict[str, Any]:
    """The colour and the line style of one of several runs; twenty-one are distinguishable."""
    style = STYLES[number // len(colours) % len(STYLES)]
    return {"color": colours[number % len(colours)], "linestyle": style}


def draw_curve(axes: Axes, run: Curves, label: str, values: np.ndarray, band: Band, appearance: dict[str, Any]) -> None:
    """Draw the mean over seeds of a quantity [seeds, tests] of a run against steps, with a band around it."""
    draw_values(axes, run.steps, seeds_beside(label, len(run.seeds)), values, band, appearance)


def draw_values(
    axes: Axes, places: np.ndarray, legend: str, values: np.ndarray, band: Band, appearance: dict[str, Any]
) -> None:
    """Draw the mean over seeds of a quantity [seeds, tests] with a band around it; a single seed has no band."""
    axes.plot(places, values.mean(axis=0), label=legend, **appearance)
    if len(values) == 1:
        return
    low, high = band
    axes.fill_between(places, low, high, color=appearance["color"], alpha=0.2, linewidth=0)


def draw_references(axes: Axes, runs: list[Curves]) -> None:
    """Lines for the returns that are known exactly, where all runs agree on them."""
    known = shared_references(runs)
    for name, style in REFERENCES.items():
        if name in known:
            label = f"{name}: {known[name]:.2f}"
            axes.axhline(known[name], linestyle=style, color="grey", linewidth=1, label=label)


def label_axes(axes: Axes, runs: list[Curves], quantity: str = "return") -> None:
    """Label the axes of a panel of learning curves."""
    axes.set_xlabel("environment steps")
    axes.set_ylabel(f"test {quantity.replace('_', ' ')}")
    axes.set_title(shown(" and ".join(dict.fromkeys(run.environment for run in runs))))
    axes.xaxis.set_major_formatter(EngFormatter(sep=""))
    axes.spines[["top", "right"]].set_visible(False)
