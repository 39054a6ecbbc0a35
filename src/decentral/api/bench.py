"""How fast training is on this machine, case by case."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from decentral.api.places import PathLike, place_for, several
from decentral.benchmarking.cases import AXES, OWN, SHARED, Case, Grid
from decentral.benchmarking.device import Peak, Rates
from decentral.benchmarking.measure import Measured, Timing
from decentral.benchmarking.report import Change, changes, read_timings
from decentral.benchmarking.yardstick import Yardstick
from decentral.settings import Refused

__all__ = [
    "AXES",
    "OWN",
    "SHARED",
    "Bench",
    "BenchListener",
    "Case",
    "Change",
    "Measured",
    "Peak",
    "Rates",
    "Timing",
    "Yardstick",
    "bench",
]

TORCH = "torch"  # what `against` says to have PyTorch timed too
MOST = 1_000_000  # of whatever is counted


class BenchListener(Protocol):
    """Is notified of the progress of a benchmark."""

    def doing(self, what: str) -> None: ...

    def finished(self, measured: Measured) -> None: ...


class SilentBench:
    """A listener that prints nothing."""

    def doing(self, what: str) -> None:
        pass

    def finished(self, measured: Measured) -> None:
        pass


@dataclass(frozen=True)
class Bench:
    """What was measured, in milliseconds per turn, and where bench.json and the figure lie."""

    path: Path
    cases: list[Case]
    turns: int  # in a chunk that is timed
    repeats: int  # chunks
    measured: list[Measured]  # one for each case
    rates: Rates | None  # of the device
    yardstick: Yardstick | None  # PyTorch's, where it was asked for
    changes: list[Change] | None  # since the earlier benchmark, where one was given
    plot: Path | None  # none where no axis has several values

    @property
    def data(self) -> Path:
        return self.path / "bench.json"


def bench(
    algorithms: str | Sequence[str] = ("iql", "dac"),
    environments: str | Sequence[str] = ("predator-prey",),
    *,
    seeds: int | Sequence[int] = (1,),
    agents: int | Sequence[int] = (),
    window: int | Sequence[int] = (),
    contexts: int | Sequence[int] = (),
    parameters: str | Sequence[str] = OWN,
    algorithm: dict[str, Any] | None = None,
    environment: dict[str, Any] | None = None,
    training: dict[str, Any] | None = None,
    turns: int = 20,
    repeats: int = 5,
    out: PathLike | None = None,
    against: PathLike | None = None,
    listener: BenchListener | None = None,
) -> Bench:
    """Measure time per turn, its parts, memory and the least possible, for every combination of what is listed.

    An axis that is left empty takes what each algorithm or environment has by itself. `parameters` are each agent's
    `"own"`, `"shared"` by all, or both in turn. `algorithm`, `environment` and `training` hold any other settings, for
    whatever has them; a setting that is a list takes its values in turn. `against` is an earlier bench.json to compare
    with, or `"torch"` to time PyTorch too. Without `out`, a new directory under `runs`.
    """
    from decentral.benchmarking.benchmark import Benchmark  # it draws

    axes = {
        "seeds": several(seeds),
        "agents": several(agents),
        "window": several(window),
        "contexts": several(contexts),
    }
    for key, values in {**axes, "turns": [turns], "repeats": [repeats]}.items():
        _check_counts(key, values)
    given = {"algorithm": algorithm or {}, "environment": environment or {}, "training": training or {}}
    settings = {
        f"{group}.{name}": values if isinstance(values, list) else [values]
        for group, own in given.items()
        for name, values in own.items()
    }
    grid = Grid(several(algorithms), several(environments), **axes, parameters=several(parameters), settings=settings)
    earlier = None if against is None or against == TORCH else read_timings(Path(against))
    benchmark = Benchmark(grid.cases(), turns, repeats, place_for(out, "bench"), with_torch=against == TORCH)
    benchmark.run(listener or SilentBench())
    return Bench(
        path=benchmark.out,
        cases=benchmark.cases,
        turns=turns,
        repeats=repeats,
        measured=benchmark.measured,
        rates=benchmark.rates,
        yardstick=benchmark.yardstick,
        changes=None if earlier is None else changes(benchmark.measured, earlier),
        plot=benchmark.plot if benchmark.draw() else None,
    )


def _check_counts(key: str, values: Sequence[Any]) -> None:
    for value in values:
        if type(value) is not int or not 1 <= value <= MOST:
            raise Refused(f"{key} must be a whole number from 1 to {MOST}, got {value!r:.40}")
