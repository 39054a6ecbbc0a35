"""bench.json: writing and reading all measurements, and finding what became slower."""

import math
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from decentral.benchmarking.cases import Case
from decentral.benchmarking.device import Rates
from decentral.benchmarking.measure import Measured, Timing
from decentral.benchmarking.yardstick import Yardstick
from decentral.plain_files import read_json
from decentral.runs.provenance import provenance
from decentral.settings import Refused

FORMAT = 1
MOST_BYTES = 2**28  # of bench.json


@dataclass(frozen=True)
class Change:
    """One case, then and now, in milliseconds per turn."""

    case: Case
    before: Timing
    now: Timing

    @property
    def slower(self) -> bool:
        """Whether the turn takes longer by more than the spreads of both measurements together."""
        return self.now.median - self.before.median > self.now.spread + self.before.spread

    @property
    def faster(self) -> bool:
        return Change(self.case, self.now, self.before).slower


def as_data(
    turns: int, repeats: int, measured: list[Measured], rates: Rates | None, yardstick: Yardstick | None
) -> dict[str, Any]:
    """A benchmark as JSON-ready data; rates and yardstick are measured last."""
    return {
        "format": FORMAT,
        "provenance": provenance(),
        "rates": None if rates is None else asdict(rates),
        "turns": turns,
        "repeats": repeats,
        "cases": [_case_data(case, rates, yardstick) for case in measured],
        "yardstick": None if yardstick is None else _yardstick_data(yardstick),
    }


def read_timings(file: Path) -> dict[Case, Timing]:
    """The turns of every case in an earlier bench.json."""
    try:
        data = read_json(file, MOST_BYTES, follow=True)
    except Refused as refusal:
        raise Refused(f"against must be torch or an earlier bench.json, got {file} ({refusal})") from None
    try:
        if data["format"] != FORMAT:
            raise ValueError
        return {Case.from_data(case["case"]): _timing_of(case["turn_ms"]) for case in data["cases"]}
    except (KeyError, TypeError, ValueError, OverflowError):
        raise Refused(f"against must be torch or an earlier bench.json, got {file}, which is none") from None


def changes(measured: list[Measured], earlier: dict[Case, Timing]) -> list[Change]:
    """The cases of both benchmarks, compared."""
    return [Change(now.case, earlier[now.case], now.turn) for now in measured if now.case in earlier]


def _case_data(measured: Measured, rates: Rates | None, yardstick: Yardstick | None) -> dict[str, Any]:
    case, total = measured.case, sum(measured.compile_seconds.values())
    return {
        "case": asdict(case),
        "turn_ms": _timing_data(measured.turn),
        "play_ms": _timing_data(measured.play),
        "learn_ms": measured.learn,
        "steps_per_second": {
            "per_seed": measured.steps_per_second,
            "in_all": case.seeds * measured.steps_per_second,
        },
        "compile_seconds": {**measured.compile_seconds, "in_all": total},
        "peak_memory": {**asdict(measured.peak), "bytes_before_the_case": measured.peak_before.bytes},
        "floor": {"flops_per_seed": measured.floor.flops, "bytes_per_seed": measured.floor.bytes}
        | ({} if rates is None else _floor_data(measured, rates)),
        "times_as_fast_as_yardstick": None if yardstick is None else yardstick.times_as_fast(measured),
        "config": case.config.as_data(),
    }


def _floor_data(measured: Measured, rates: Rates) -> dict[str, float]:
    return {
        "products_ms": measured.product_ms(rates),
        "copies_ms": measured.copy_ms(rates),
        "ms": measured.floor_ms(rates),
        "of_measured": measured.floor_ms(rates) / measured.turn.median,
    }


def _yardstick_data(yardstick: Yardstick) -> dict[str, Any]:
    return {
        "name": "torch",
        "version": yardstick.version,
        "where": yardstick.where,
        "turn_ms": _timing_data(yardstick.turn),
        "play_ms": _timing_data(yardstick.play),
        "learn_ms": _timing_data(yardstick.learn),
        "elsewhere_ms": yardstick.others,
    }


def _timing_data(timing: Timing) -> dict[str, Any]:
    return {"median": timing.median, "spread": timing.spread, "all": timing.all}


def _timing_of(data: dict[str, Any]) -> Timing:
    milliseconds = [float(turn) for turn in data["all"]]
    if not milliseconds or not all(0 < turn < math.inf for turn in milliseconds):
        raise ValueError
    return Timing(milliseconds)
