"""What `decentral bench` prints: a line per case, the yardstick, and what changed since an earlier benchmark."""

from rich.table import Table

from decentral.api.bench import AXES, SHARED, Bench, Case, Change, Measured, Peak, Rates, Timing, Yardstick
from decentral.screen import Screen

WIDEST = 1000  # characters of a table


def print_measured(console: Screen, benchmark: Bench) -> None:
    """All cases, one line each."""
    cases = [measured.case for measured in benchmark.measured]
    named = _distinguishing(cases)
    chunks = f"median of {benchmark.repeats} chunks of {benchmark.turns} turns"
    table = _table_of_cases(f"{_shared(cases)}: milliseconds per turn, {chunks}", named)
    headings = ["turn", "play", "learn", "steps/s\nper seed", "steps/s\nin all", "compile\ns", "peak\nMiB"]
    headings += ["floor", "floor\nof turn"] if benchmark.rates else []
    headings += ["times\nPyTorch"] if benchmark.yardstick else []
    for heading in headings:
        table.add_column(heading, justify="right", no_wrap=True)
    for measured in benchmark.measured:
        cells = _cells(measured) + _floor_cells(measured, benchmark.rates) + _times_cells(measured, benchmark.yardstick)
        table.add_row(*_case_cells(measured.case, named), *cells)
    _print_whole(console, table)
    if benchmark.rates is not None:
        _print_rates(console, benchmark.rates)


def print_yardstick(console: Screen, yardstick: Yardstick) -> None:
    """The time of a turn in PyTorch."""
    others = "".join(f"; {milliseconds:.1f} ms on {where}" for where, milliseconds in yardstick.others.items())
    parts = f"play {yardstick.play.median:.1f}, learn {yardstick.learn.median:.1f}"
    line = f"on {yardstick.where}: {_plus_minus(yardstick.turn)} ms per turn ({parts}){others}"
    console.say(f"PyTorch {yardstick.version}, IQL as in PyMARL, one seed, {line}")


def print_changes(console: Screen, changes: list[Change], cases: int) -> None:
    """Every case that an earlier benchmark has too, then and now, and the names of those that became slower."""
    named = _distinguishing([change.case for change in changes])
    table = _table_of_cases("milliseconds per turn, then and now", named)
    for heading in ("then", "now", "change", ""):
        table.add_column(heading, justify="right", no_wrap=True)
    for change in changes:
        relative = f"{change.now.median / change.before.median - 1:+.1%}"
        verdict = "slower" if change.slower else "faster" if change.faster else "same"
        cells = (_plus_minus(change.before), _plus_minus(change.now), relative, verdict)
        table.add_row(*_case_cells(change.case, named), *cells)
    if changes:
        _print_whole(console, table)
    slower = [change.case.label for change in changes if change.slower]
    lines = [f"slower by more than both spreads: {label}" for label in slower]
    lines = lines or ["no case is slower by more than both spreads"]
    if len(changes) < cases:
        lines.append(f"{cases - len(changes)} of {cases} cases are not in the earlier benchmark")
    for line in lines:
        console.say(line)


def _distinguishing(cases: list[Case]) -> list[str]:
    """The axes in which the cases differ, besides the algorithm."""
    return ["algorithm", *(name for name, values in _values(cases).items() if len(values) > 1)]


def _shared(cases: list[Case]) -> str:
    """What all cases have in common, in words."""
    same = {name: next(iter(values)) for name, values in _values(cases).items() if len(values) == 1}
    return ", ".join(f"{name} {value}" for name, value in same.items()) or "several environments"


def _values(cases: list[Case]) -> dict[str, set]:
    """The values that the cases have, for those of the axes that mean something to them."""
    unsaid = {"algorithm"} | (set() if any(case.parameters == SHARED for case in cases) else {"parameters"})
    names = dict.fromkeys(name for case in cases for name in case.values if name not in unsaid)
    return {name: {case.values.get(name) for case in cases} - {None} for name in names}


def _table_of_cases(title: str, named: list[str]) -> Table:
    table = Table(title=title, title_justify="left")
    for heading in named:
        table.add_column(heading, justify="right" if heading in AXES else "left", no_wrap=True)
    return table


def _print_whole(console: Screen, table: Table) -> None:
    """A table at the width that it needs, as a truncated number would mislead."""
    width = console.width
    console.width = WIDEST
    console.width = max(width, console.measure(table).maximum)
    console.print(table)
    console.width = width


def _case_cells(case: Case, named: list[str]) -> list[str]:
    values = [case.values.get(name) for name in named]
    return ["" if value is None else str(value) for value in values]


def _cells(measured: Measured) -> list[str]:
    return [
        _plus_minus(measured.turn),
        f"{measured.play.median:.2f}",
        f"{measured.learn:.2f}",
        f"{measured.steps_per_second:,.0f}",
        f"{measured.case.seeds * measured.steps_per_second:,.0f}",
        f"{sum(measured.compile_seconds.values()):.1f}",
        _peak_cell(measured.peak, measured.peak_before),
    ]


def _floor_cells(measured: Measured, rates: Rates | None) -> list[str]:
    if rates is None:
        return []
    return [f"{measured.floor_ms(rates):.3f}", f"{measured.floor_ms(rates) / measured.turn.median:.1%}"]


def _times_cells(measured: Measured, yardstick: Yardstick | None) -> list[str]:
    if yardstick is None:
        return []
    times = yardstick.times_as_fast(measured)
    return ["" if times is None else f"{times:.1f}"]


def _print_rates(console: Screen, rates: Rates) -> None:
    products, copies = rates.flops_per_second / 1e9, rates.bytes_per_second / 1e9
    line = f"this device: {products:,.0f} GFLOP/s in matrix products, {copies:,.0f} GB/s in copies"
    console.say(line)


def _peak_cell(peak: Peak, before: Peak) -> str:
    """The peak of the process so far; where an earlier case has set it, this one stayed below it."""
    return f"{'< ' if peak.bytes <= before.bytes else ''}{peak.bytes / 2**20:,.0f}"


def _plus_minus(timing: Timing) -> str:
    return f"{timing.median:.2f} ± {timing.spread:.2f}"
