"""Several runs on one environment, side by side: what the final tests of each one's seeds say together."""

import csv
import io
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from decentral.analysis.results import Curves, names, shared_references, shared_reports
from decentral.analysis.statistics import CONFIDENCE, RESAMPLES, Summary, interquartile_mean, summarise_all
from decentral.analysis.text_table import TextTable
from decentral.deviation import mean_and_spread
from decentral.errors import Refused
from decentral.records import RunDirectory

MOST_RUNS = 20  # that are all drawn with their bands and named
BEST = 10  # of more runs
MOST_OTHERS = 100  # whose curves are drawn besides


@dataclass(frozen=True)
class ComparisonRow:
    """One run of a comparison: the returns of its final test, one per seed, and their summary."""

    label: str
    decentralised: bool
    steps: int
    returns: list[float]
    summary: Summary
    reports: dict[str, list[float]]  # what the environments of all runs report of the final test besides, one per seed


def rows_of(runs: list[Curves]) -> list[ComparisonRow]:
    """A row for each run, in the order given; runs that can't be compared are refused."""
    check_comparable(runs)
    reports = shared_reports(runs)
    summaries = summarise_all([run.returns[:, -1] for run in runs])
    return [
        _row(run, label, summary, reports) for run, label, summary in zip(runs, names(runs), summaries, strict=True)
    ]


def table_of(rows: list[ComparisonRow], references: dict[str, float]) -> TextTable:
    """The final tests of several runs, a line for each; steps are a column only where they differ."""
    same_steps = len({row.steps for row in rows}) == 1
    after = f" after {rows[0].steps:,} steps" if same_steps else ""
    headings = ["algorithm", "decentralised", *([] if same_steps else ["steps"])]
    headings += [
        "seeds",
        "mean",
        "spread",
        "IQM",
        "95 % interval",
        *(name.replace("_", " ") for name in rows[0].reports),
    ]
    cells = [
        [
            row.label,
            "yes" if row.decentralised else "no",
            *([] if same_steps else [f"{row.steps:,}"]),
            str(row.summary.seeds),
            *map(number_cell, (row.summary.mean, row.summary.spread, row.summary.iqm)),
            interval_cell(row.summary.low, row.summary.high),
            *(mean_and_spread(np.asarray(values)) for values in row.reports.values()),
        ]
        for row in rows
    ]
    known = ", ".join(f"{name} {value:.2f}" for name, value in references.items())
    return TextTable(f"greedy test{after}, over seeds", headings, cells, 2, f"known: {known}" if known else "")


def number_cell(number: float | None) -> str:
    """A number with two digits; `-` for what one seed does not tell."""
    return "-" if number is None else f"{number:.2f}"


def interval_cell(low: float | None, high: float | None) -> str:
    """The ends of an interval; `-` for one seed, which has none."""
    return "-" if low is None or high is None else f"{low:.2f} to {high:.2f}"


def drawn_runs(runs: list[Curves]) -> tuple[list[int], list[int]]:
    """The places of the runs that a figure draws with all their marks, and of those of which it draws the curve.

    All with their marks, in their order, unless there are too many; then the best, and a sample of the others.
    """
    if len(runs) <= MOST_RUNS:
        return [*range(len(runs))], []
    finals = [run.returns[:, -1] for run in runs]
    alike = len({len(final) for final in finals}) == 1  # then one call for all
    worth = interquartile_mean(np.stack(finals)) if alike else np.asarray([*map(interquartile_mean, finals)])
    best = sorted(np.argsort(-worth, kind="stable")[:BEST].tolist())
    others = sorted({*range(len(runs))} - {*best})
    return best, others[:: -(-len(others) // MOST_OTHERS)]


def check_comparable(runs: list[Curves]) -> None:
    """Refuse runs that can't be compared: none, unfinished ones, of different environments, or without all returns."""
    if not runs:
        raise Refused("compare needs at least one RUN, got none")
    _check_finished(runs)
    _check_one_environment(runs)
    for run in runs:
        if not np.isfinite(run.returns[:, -1]).all():
            raise Refused(f"return must be finite at the last test of every seed, which is not so in {run.path}")


def as_data(runs: list[Curves], rows: list[ComparisonRow]) -> dict[str, Any]:
    """The comparison as JSON-ready data."""
    return {
        "environment": runs[0].config["environment"],
        "references": shared_references(runs),
        "confidence": CONFIDENCE,
        "resamples": RESAMPLES,
        "rows": [_row_data(run, row) for run, row in zip(runs, rows, strict=True)],
    }


def final_tests(runs: list[Curves], rows: list[ComparisonRow]) -> Iterable[Sequence[Any]]:
    """The final test of every seed, as lines of a table whose first line names the columns."""
    reports = list(rows[0].reports)
    yield "label", "algorithm", "decentralised", "steps", "seed", "return", *reports
    for run, row in zip(runs, rows, strict=True):
        numbers = zip(run.seeds, row.returns, *(row.reports[name] for name in reports), strict=True)
        for seed, *final in numbers:
            yield row.label, run.algorithm, row.decentralised, row.steps, seed, *final


def write(data: dict[str, Any], file: Path) -> None:
    """Write a comparison's data, in place of an earlier one."""
    write_text(json.dumps(data, indent=2) + "\n", file)


def write_rows(data: dict[str, Any], file: Path) -> None:
    """The same, with a line for each of its rows: of many runs it is half as long."""
    lines = ",\n".join(f"    {json.dumps(row)}" for row in data["rows"])
    others = json.dumps({key: value for key, value in data.items() if key != "rows"}, indent=2)
    write_text(f'{others[:-2]},\n  "rows": [\n{lines}\n  ]\n}}\n', file)


def write_csv(lines: Iterable[Sequence[Any]], file: Path) -> None:
    """Write lines of cells, the first of which names the columns."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(lines)
    write_text(text.getvalue(), file)


def write_text(text: str, file: Path) -> None:
    """Write a file of a comparison, in place of an earlier one."""
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    except OSError as error:
        raise Refused(f"out must be a directory that can be written, got {file.parent} ({error.strerror})") from None


def _row(run: Curves, label: str, summary: Summary, reports: list[str]) -> ComparisonRow:
    final, reported = run.returns[:, -1], {name: run.reports[name][:, -1].tolist() for name in reports}
    return ComparisonRow(label, run.decentralised, int(run.steps[-1]), final.tolist(), summary, reported)


def _row_data(run: Curves, row: ComparisonRow) -> dict[str, Any]:
    return {
        "label": row.label,
        "algorithm": run.algorithm,
        "decentralised": row.decentralised,
        "run": str(run.path),
        "steps": row.steps,
        **vars(row.summary),
        "returns": row.returns,
        **({"reports": row.reports} if row.reports else {}),
    }


def _check_finished(runs: list[Curves]) -> None:
    for run in runs:
        planned = run.config["training"].get("steps", 0)
        if run.steps[-1] < planned:
            stands = f"at step {run.steps[-1]:.0f} of {planned}"
            if RunDirectory(run.path).is_finished:
                raise Refused(f"RUN must be whole, got {run.path}, which ended and whose metrics.jsonl stops {stands}")
            raise Refused(f"RUN must be finished, got {run.path}, which stands {stands}")


def _check_one_environment(runs: list[Curves]) -> None:
    """Returns in different environments, or under other settings of one environment, say nothing about each other."""
    first = runs[0]
    for run in runs[1:]:
        ours, theirs = first.config["environment"], run.config["environment"]
        for key in ours | theirs:
            if ours.get(key) != theirs.get(key):
                raise Refused(
                    f"runs must be on one environment, got environment.{key} {ours.get(key)!r:.60} of {first.path}"
                    f" and {theirs.get(key)!r:.60} of {run.path}"
                )
