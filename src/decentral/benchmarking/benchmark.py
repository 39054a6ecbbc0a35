"""A benchmark from its first case to its figure; each measurement is written to disk at once."""

from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Protocol

from decentral.analysis.comparison import write
from decentral.analysis.plots.benchmark import plot_growth, varied
from decentral.benchmarking.cases import Case, axes_of
from decentral.benchmarking.device import Rates, measured_rates
from decentral.benchmarking.measure import Measured, measure
from decentral.benchmarking.report import as_data
from decentral.benchmarking.yardstick import Yardstick, require_torch, torch_yardstick
from decentral.runs.lanes import LaneBatch
from decentral.runs.memory import memory_statement
from decentral.runs.placement import use_every_core
from decentral.settings import Refused


class Watcher(Protocol):
    """Is notified of the progress of a benchmark."""

    def doing(self, what: str) -> None: ...

    def finished(self, measured: Measured) -> None: ...


@dataclass
class Benchmark:
    """What to measure, for how long, and where to write it."""

    cases: list[Case]
    turns: int  # in a chunk
    repeats: int  # chunks that count
    out: Path
    with_torch: bool = False
    measured: list[Measured] = field(default_factory=list)
    rates: Rates | None = None  # measured last, so that the memory peak is that of training
    yardstick: Yardstick | None = None

    @property
    def data(self) -> Path:
        return self.out / "bench.json"

    @property
    def plot(self) -> Path:
        return self.out / "bench.png"

    def run(self, watcher: Watcher) -> None:
        """Measure everything."""
        if self.data.exists():
            raise Refused(f"out must be a directory without a bench.json, got {self.out}")
        if self.with_torch:
            require_torch()
        use_every_core()
        for case in self.cases:
            setup = case.config.setup
            memory_statement(setup, LaneBatch.describe(setup))  # refuses what can't fit
        self._write()  # refused here if it can't be
        for number, case in enumerate(self.cases, start=1):
            prefix = f"{number} of {len(self.cases)}: {case.label}: "
            self.measured.append(measure(case, self.turns, self.repeats, partial(_tell, watcher, prefix)))
            self._write()
            watcher.finished(self.measured[-1])
        watcher.doing("measuring the device")
        self.rates = measured_rates()
        if self.with_torch:
            self.yardstick = torch_yardstick(self.turns, self.repeats, watcher.doing)
        self._write()

    def draw(self) -> bool:
        """Draw the time of a turn along the axes with several values; nothing is drawn if there are none."""
        names = list(dict.fromkeys(name for measured in self.measured for name in measured.case.values))
        cases = [dict.fromkeys(names) | measured.case.values for measured in self.measured]
        axes = axes_of(measured.case.values for measured in self.measured)
        rows = [
            case | {"median": measured.turn.median, "spread": measured.turn.spread}
            for case, measured in zip(cases, self.measured, strict=True)
        ]
        if not varied(rows, axes):
            return False
        plot_growth(rows, axes, self.plot)
        return True

    def _write(self) -> None:
        write(as_data(self.turns, self.repeats, self.measured, self.rates, self.yardstick), self.data)


def _tell(watcher: Watcher, prefix: str, stage: str) -> None:
    watcher.doing(prefix + stage)
