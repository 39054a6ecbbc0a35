"""An index of many runs: one page, a line for each run with a link to its own page. No script, no server."""

from html import escape
from pathlib import Path

import numpy as np

from decentral.analysis.report.list_page import link, list_page, moment, side, table
from decentral.analysis.run_list import RunStatus, counted
from decentral.errors import printable

NAME = "index.html"
HEADS = ("run", "algorithm", "environment", "state", "step", "seeds", "return", "curve", "last change (UTC)")
CURVE = (120, 28)  # pixels
POINTS = 24  # of a curve, however many tests there were: more could not be told apart
FOLD = 100  # runs in a table; more are folded, so many at a time
BEST = 20  # runs that are shown besides, if there are more


def index_page(title: str, runs: list[RunStatus], pages: list[Path | None], place: Path, now: float) -> str:
    """The page that lies in the directory `place`; `pages` are those of the runs, None where a run has none."""
    name = escape(printable(title))
    count = f"{len(runs):,} run{'' if len(runs) == 1 else 's'}"
    body = f"""<p class="state">{_as_of(runs, now)}</p>
<p class="quiet">{count}. The return is that of the last test: mean ± standard deviation over seeds, and the curve the
mean at every test. {_about_pages(pages)}</p>
{_tables(runs, pages, place)}"""
    return list_page(name, f"{name}: {count}", body)


def _as_of(runs: list[RunStatus], now: float) -> str:
    """When the page was made, and whether there will be more to see."""
    trained = any(run.state == "running" for run in runs)
    again = "; runs are being trained: <code>decentral report</code> makes a newer page" if trained else ""
    return f"as of {moment(now)} UTC: {counted(run.state for run in runs)}{again}"


def _about_pages(pages: list[Path | None]) -> str:
    """How to see more of a run."""
    if all(page is not None for page in pages) or len(pages) <= FOLD:
        return "A name opens the run's own page."
    return (
        "A name with a link opens the run's own page; <code>decentral report RUN</code> makes that of another, and the "
        "next index links to it."
    )


def _tables(runs: list[RunStatus], pages: list[Path | None], place: Path) -> str:
    """All runs in one table; many in folded tables, behind those that are not finished and those that are the best."""
    rows = [_row(run, page, place) for run, page in zip(runs, pages, strict=True)]
    if len(runs) <= FOLD:
        return table(HEADS, rows)
    unfinished = [number for number, run in enumerate(runs) if run.state != "finished"]
    parts = [
        _folded(f"not finished: {len(unfinished):,}", [rows[number] for number in unfinished[:FOLD]], True),
        _folded(f"the {BEST} with the largest return", [rows[number] for number in _best(runs)], True),
    ]
    for first in range(0, len(runs), FOLD):
        names = [escape(printable(run.name)) for run in runs[first : first + FOLD]]
        heading = f"{first + 1:,} to {first + len(names):,}: {names[0]} to {names[-1]}"
        parts.append(_folded(heading, rows[first : first + FOLD], False))
    return "\n".join(part for part in parts if part)


def _best(runs: list[RunStatus]) -> list[int]:
    """Those with the largest mean return; none where runs are on different environments: it would say nothing."""
    ranked = [number for number, run in enumerate(runs) if run.final.size and np.isfinite(run.final).all()]
    if len({repr(runs[number].config["environment"]) for number in ranked}) != 1:
        return []
    return sorted(ranked, key=lambda number: -runs[number].final.mean())[:BEST]


def _folded(heading: str, rows: list[str], is_open: bool) -> str:
    if not rows:
        return ""
    return f"<details{' open' if is_open else ''}><summary>{heading}</summary>\n{table(HEADS, rows)}\n</details>"


def _row(run: RunStatus, page: Path | None, place: Path) -> str:
    name = escape(printable(run.name))
    if page is not None:
        name = f'<a href="{link(page, place)}">{name}</a>'
    return f'<tr><th scope="row">{name}</th>{"".join(_cells(run))}<td>{moment(run.changed)}</td></tr>'


def _cells(run: RunStatus) -> list[str]:
    """The columns between a run's name and its last change; what it lacks takes the place of its results."""
    if run.last is None:
        problem = f'<td class="problem" colspan="4">{escape(printable(run.problem))}</td>'
        return ["<td></td><td></td>", f"<td>{run.state}</td>", problem]
    step = f"{run.step:,}" + ("" if run.planned is None else f" of {run.planned:,}")
    names = [escape(printable(text)) for text in (run.algorithm, run.environment)]
    curve = "can't be read" if run.curves is None else _curve(run.curves.returns.mean(axis=0))
    cells = [*names, _state(run), step, str(run.final.size), run.result, curve]
    return [f"<td{side(head)}>{cell}</td>" for head, cell in zip(HEADS[1:-1], cells, strict=True)]


def _state(run: RunStatus) -> str:
    return run.state + (f", {run.diverged} diverged" if run.diverged else "")


def _curve(values: np.ndarray) -> str:
    known = np.flatnonzero(np.isfinite(values))
    if len(known) < 2:
        return ""
    if len(known) > POINTS:  # the first and the last among them
        known = known[np.linspace(0, len(known) - 1, POINTS).round().astype(int)]
    (width, height), shown = CURVE, values[known]
    low, high = shown.min(), shown.max()
    x = 2 + (width - 4) * known / known[-1]
    y = 2 + (height - 4) * ((high - shown) / (high - low) if high > low else np.full(len(shown), 0.5))
    points = " ".join(f"{one:.0f},{other:.0f}" for one, other in zip(x, y, strict=True))
    size = f'width="{width}" height="{height}"'
    return f'<svg {size} role="img" aria-label="learning curve"><polyline points="{points}"/></svg>'
