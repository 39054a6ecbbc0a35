"""A report of runs: one page that shows all there is to see of them."""

import os
from collections.abc import Sequence
from pathlib import Path

from decentral.analysis.report.data import report_data
from decentral.analysis.report.page import page, write_page
from decentral.analysis.results import load_curves
from decentral.api.requests import Place, place_for
from decentral.inspection.learned_summary import learned_summary
from decentral.records import RunDirectory


def report(runs: Place | Sequence[Place], out: Place | None = None) -> Path:
    """Write `report.html`, a page that needs nothing else, in place of an earlier one.

    Without `out` the page of one run goes into its own directory, that of several into a new one under `runs`.
    """
    several = [runs] if isinstance(runs, str | os.PathLike) else runs
    directories = [RunDirectory.open(Path(run)) for run in several]
    place = directories[0].path if out is None and len(directories) == 1 else place_for(out, "report")
    curves = [load_curves(directory) for directory in directories]
    return write_page(page(report_data(curves, [learned_summary(directory) for directory in directories])), place)
