"""A page that says where each of many units of work stands: what has gone wrong first, then what runs, then results.

It is small and without curves, so that it can be written again every few seconds.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path

import numpy as np

from decentral.analysis.report.list_page import link, list_page, moment, side, table
from decentral.analysis.run_list import age
from decentral.deviation import mean_and_spread
from decentral.errors import printable

NAME = "status.html"
HEADS = ("run", "progress", "seeds", "return", "age", "note")
STATES = ("unreadable", "failed", "lost", "stopped", "running", "finished", "waiting")  # what needs attention first
TO_COME = ("lost", "running", "waiting")  # states after which there will be more to see


@dataclass(frozen=True)
class UnitLine:
    """One unit: its state, how far it is, every seed's return in its last test, and what else is to say."""

    name: str
    state: str
    task: str  # what it trains on, with all settings: returns on one task are put in order
    step: int
    planned: int | None
    returns: Sequence[float]
    changed: float | None  # when it last gave a sign, in seconds since 1970; None before the first
    note: str = ""
    page: Path | None = None  # where more is to see: its report, or the log of what failed


def goes_on(lines: Sequence[UnitLine]) -> bool:
    """Whether there will be more to see."""
    return any(line.state in TO_COME for line in lines)


def status_page(title: str, lines: Sequence[UnitLine], place: Path, now: float, reload_seconds: int | None) -> str:
    """The page that lies in the directory `place`; with seconds it says that there is more to come, and reloads."""
    name, ended = escape(printable(title)), sum(line.state == "finished" for line in lines)
    states = [state for state in STATES if any(line.state == state for line in lines)]
    again = "" if reload_seconds is None else f"; loads itself again every {reload_seconds} s"
    counts = " ".join(
        f'<a href="#{state}">{sum(line.state == state for line in lines):,} {state}</a>' for state in states
    )
    sections = "\n".join(
        _section(state, [line for line in lines if line.state == state], place, now) for state in states
    )
    body = f"""<p class="state">as of {moment(now, seconds=True)} UTC: {_done(lines)}{again}</p>
<nav aria-label="states">{counts}</nav>
<p class="quiet">The return is that of the last test: mean ± standard deviation over seeds; the age the time since that
test, or before the first since the last sign of life.</p>
{sections}"""
    return list_page(name, f"{ended:,} of {len(lines):,}: {name}", body, reload_seconds)


def _done(lines: Sequence[UnitLine]) -> str:
    """How much of everything is done: by runs, and by steps where it is known how many there will be."""
    ended = sum(line.state == "finished" for line in lines)
    planned = sum(line.planned or 0 for line in lines)
    done = sum(min(line.step, line.planned or 0) for line in lines)
    steps = f", {100 * done / planned:.0f} % of the steps" if planned else ""
    return f"{ended:,} of {len(lines):,} finished{steps}"


def _section(state: str, lines: list[UnitLine], place: Path, now: float) -> str:
    """The lines of one state: by name, and on one task those that are finished by their return."""
    order = f"{state}: {len(lines):,}"
    if state == "finished" and len({line.task for line in lines}) == 1 and len(lines) > 1:
        lines = sorted(lines, key=lambda line: -_mean(line.returns))
        order += ", the largest return first"
    rows = [_row(line, place, now) for line in lines]
    return f'<h2 id="{state}">{order}</h2>\n{table(HEADS, rows)}'


def _mean(returns: Sequence[float]) -> float:
    """For an order: what is not finite comes last."""
    mean = float(np.mean(returns)) if returns else -np.inf
    return mean if np.isfinite(mean) else -np.inf


def _row(line: UnitLine, place: Path, now: float) -> str:
    name = escape(printable(line.name))
    if line.page is not None:
        name = f'<a href="{link(line.page, place)}">{name}</a>'
    returns = np.asarray(line.returns, dtype=float)
    result = "" if not returns.size else mean_and_spread(returns) if np.isfinite(returns).all() else "not finite"
    old = "" if line.changed is None else age(now - line.changed)
    numbers = zip(HEADS[2:5], (returns.size or "", result, old), strict=True)
    cells = "".join(f"<td{side(head)}>{cell}</td>" if cell != "" else "<td></td>" for head, cell in numbers)
    note = f'<td class="problem">{escape(printable(line.note))}</td>' if line.note else "<td></td>"
    return f'<tr><th scope="row">{name}</th><td>{_progress(line)}</td>{cells}{note}</tr>'


def _progress(line: UnitLine) -> str:
    """How far it is, as a bar where its end is known and not yet reached."""
    if line.state == "waiting":
        return ""
    step = f"{line.step:,}" + ("" if line.planned is None else f" of {line.planned:,}")
    if line.state == "finished" or not line.planned:
        return step
    return (
        f'<progress max="{line.planned}" value="{min(line.step, line.planned)}" aria-hidden="true"></progress> {step}'
    )
