"""The results of runs, for other tools."""

from collections.abc import Sequence
from pathlib import Path

from decentral.analysis.marl_eval import marl_eval_data, write_results
from decentral.analysis.results import load_curves
from decentral.api.places import PathLike, several
from decentral.environments.battles import BATTLES, DRAWN_BATTLES
from decentral.plain_files import as_path
from decentral.records import RunDirectory

FAMILIES = dict.fromkeys((*BATTLES, *DRAWN_BATTLES), "battles")  # whose names are tasks of one environment


def export_results(
    runs: PathLike | Sequence[PathLike],
    /,
    *,
    label: str | Sequence[str] | None = None,
    out: PathLike = "marl-eval.json",
) -> Path:
    """Write the tests of runs as JSON that marl-eval reads; gives the file.

    `label` names the algorithm of each run; runs of one label on one task are taken together if their seeds differ.
    """
    curves = [load_curves(RunDirectory.open(as_path("run", run))) for run in several(runs)]
    labels = [] if label is None else [str(text) for text in several(label)]
    file = as_path("out", out)
    write_results(marl_eval_data(curves, labels, FAMILIES), file)
    return file
