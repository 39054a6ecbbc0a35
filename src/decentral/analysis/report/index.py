"""An index of many runs: one page, a line for each run with a link to its own page. No script, no server."""

import os
from datetime import UTC, datetime
from html import escape
from pathlib import Path
from urllib.parse import quote

import numpy as np

from decentral.analysis.report.page import part
from decentral.analysis.run_list import RunStatus
from decentral.errors import printable

NAME = "index.html"
HEADS = ("run", "algorithm", "environment", "state", "step", "seeds", "return", "curve", "last change (UTC)")
NUMBERS = ("step", "seeds", "return")  # columns that stand to the right
CURVE = (120, 28)  # pixels
STYLE = """
main { max-width: 1400px; }
td { white-space: nowrap; }
tbody th { font-weight: 400; min-width: 160px; }
polyline { fill: none; stroke: var(--c0); stroke-width: 1.5; }
.problem { white-space: normal; color: var(--quiet); max-width: 420px; overflow-wrap: anywhere; }
a { color: var(--focus); }
@media (max-width: 800px) {
  thead { display: none; }
  tr { display: flex; flex-wrap: wrap; gap: 0 14px; padding: 6px 0; border-bottom: 1px solid var(--line); }
  tbody tr > *, tbody tr > td.number { border: 0; padding: 0; text-align: left; }
  tbody tr > .number::before { content: attr(data-head) " "; color: var(--quiet); }
  tbody th { flex-basis: 100%; max-width: none; }
  td:empty { display: none; }
}
"""


def index_page(title: str, runs: list[RunStatus], pages: list[Path | None], place: Path) -> str:
    """The page that lies in the directory `place`; `pages` are those of the runs, None where a run has none."""
    rows = "\n".join(_row(run, page, place) for run, page in zip(runs, pages, strict=True))
    heads = "".join(f'<th scope="col"{_side(head)}>{head}</th>' for head in HEADS)
    name = escape(printable(title))
    count = f"{len(runs)} run{'' if len(runs) == 1 else 's'}"
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{name}: {count}</title>
<style>
{part("report.css")}{STYLE}</style>
</head>
<body>
<main>
<h1>{name}</h1>
<p class="quiet">{count}. The return is that of the last test: mean ± standard deviation over seeds, and the curve the
mean at every test. A name opens the run's own page.</p>
<div class="wide" tabindex="0" role="region" aria-label="runs">
<table>
<thead><tr>{heads}</tr></thead>
<tbody>
{rows}
</tbody>
</table>
</div>
</main>
</body>
</html>
"""


def _row(run: RunStatus, page: Path | None, place: Path) -> str:
    name = escape(printable(run.name))
    if page is not None:
        name = f'<a href="{_link(page, place)}">{name}</a>'
    when = datetime.fromtimestamp(run.changed, UTC).strftime("%Y-%m-%d %H:%M")
    return f'<tr><th scope="row">{name}</th>{"".join(_cells(run))}<td>{when}</td></tr>'


def _cells(run: RunStatus) -> list[str]:
    """The columns between a run's name and its last change; what it lacks takes the place of its results."""
    if run.curves is None:
        problem = f'<td class="problem" colspan="4">{escape(printable(run.problem))}</td>'
        return ["<td></td><td></td>", f"<td>{run.state}</td>", problem]
    curves = run.curves
    step = f"{run.step:,}" + ("" if run.planned is None else f" of {run.planned:,}")
    names = [escape(printable(text)) for text in (curves.algorithm, curves.environment)]
    cells = [*names, _state(run), step, str(len(curves.seeds)), run.result, _curve(curves.returns.mean(axis=0))]
    return [f"<td{_side(head)}>{cell}</td>" for head, cell in zip(HEADS[1:-1], cells, strict=True)]


def _state(run: RunStatus) -> str:
    return run.state + (f", {run.diverged} diverged" if run.diverged else "")


def _side(head: str) -> str:
    return f' class="number" data-head="{head}"' if head in NUMBERS else ""


def _link(page: Path, place: Path) -> str:
    """A relative address; `quote` leaves no sign that HTML would read, and no colon that would make it a scheme."""
    return quote(os.fsencode(os.path.relpath(page, place)))


def _curve(values: np.ndarray) -> str:
    known = np.flatnonzero(np.isfinite(values))
    if len(known) < 2:
        return ""
    (width, height), shown = CURVE, values[known]
    low, high = shown.min(), shown.max()
    x = 2 + (width - 4) * known / known[-1]
    y = 2 + (height - 4) * ((high - shown) / (high - low) if high > low else np.full(len(shown), 0.5))
    points = " ".join(f"{one:.1f},{other:.1f}" for one, other in zip(x, y, strict=True))
    size = f'width="{width}" height="{height}"'
    return f'<svg {size} role="img" aria-label="learning curve"><polyline points="{points}"/></svg>'
