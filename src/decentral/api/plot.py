"""Learning curves of runs, or what one of them measured besides its returns."""

from collections.abc import Sequence
from pathlib import Path

from decentral.analysis.results import load_curves
from decentral.api.arguments import PathLike, several
from decentral.records import RunDirectory
from decentral.settings import Refused


def plot(runs: PathLike | Sequence[PathLike], /, *, diagnostics: bool = False, out: PathLike | None = None) -> Path:
    """Draw the learning curves of runs, mean and spread over seeds, as PNG, SVG or PDF; gives the file.

    With `diagnostics`, what one run measured besides its returns. Without `out`: `returns.png` or `diagnostics.png`.
    """
    places = several(runs)
    if diagnostics and len(places) > 1:
        raise Refused(f"RUN must be one directory with --diagnostics, got {len(places)}")
    curves = [load_curves(RunDirectory.open(Path(run))) for run in places]
    if diagnostics:
        from decentral.analysis.plots.diagnostics import plot_diagnostics

        file = Path("diagnostics.png" if out is None else out)
        plot_diagnostics(curves[0], file)
    else:
        from decentral.analysis.plots.curves import plot_curves

        file = Path("returns.png" if out is None else out)
        plot_curves(curves, file)
    return file
