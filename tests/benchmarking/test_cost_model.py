"""The cost model: lines through what was measured, and the page that tells them."""

import importlib
import json
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture
def costs(monkeypatch):
    """The program, which lies outside the package."""
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    return importlib.import_module("cost_model")


def test_a_line_is_found_again_and_never_waits_less_than_nothing(costs):
    line = costs.Line.through([1.0, 1.0, 2.0], [1.0, 10.0, 100.0], [2.5, 7.0, 54.0])
    assert (line.start, line.slope) == (pytest.approx(2.0), pytest.approx(0.5))
    assert costs.Line.through([1.0, 1.0], [1.0, 2.0], [1.0, 3.0]).start == 0.0


def test_the_page_tells_the_constants_and_the_errors(costs):
    page = " ".join((ROOT / "docs" / "scale.md").read_text().split())
    for device in costs.FILES:
        cases = costs.measured_on(device)
        model = costs.CostModel.fitted(cases)
        for line in model.playing.values():
            assert f"{line.start:.2f} ms | {1000 * line.slope:.3g} us per seed and agent" in page
        for pair, line in model.learning.items():
            told = f"{line.start:.2f} ms | {1e-6 / line.slope:,.0f} G operations per second"
            assert told in page or pair == ("dac", "5m_vs_6m")  # one case is no line
        off = [100 * abs(model.turn(case) / case.turn - 1) for case in cases]
        average, most = f"{sum(off) / len(off):.0f} %", f"{max(off):.0f} %"
        between = {costs.ARM: " on average and ", costs.X86: " and ", costs.H200: " and "}[device]
        assert f"by {average}{between}{most}" in page and f"the {len(cases)} " in page


def test_the_page_tells_the_memory(costs):
    page = (ROOT / "docs" / "scale.md").read_text()
    words = " ".join(page.split())
    found = costs.rooms()
    numbers = costs.numbers_per_unit(found)
    assert f"x hidden x {numbers:.1f} x 4 bytes" in page and f"the {numbers:.1f} numbers are fitted" in page
    told = {room.case: room.replays + numbers * room.batch for room in found}
    for room in found:
        case = room.case
        scale = "100 agents (1,024 episodes so far)" if case.environment == "porters" else f"{case.seeds} seed"
        row = f"| {case.algorithm.upper()} on {case.environment}, {scale}{'s' if case.seeds > 1 else ''} "
        if case.environment != "porters" or case.agents == 100:
            assert f"{row}| {room.peak / 1e9:.2f} | {told[case] / 1e9:.2f} |" in page
    off = [abs(told[room.case] / room.peak - 1) for room in found]
    peak = by_seeds(costs, "bench-h200-8-kernels", "iql")[256]["peak_memory"]["bytes"]
    assert f"IQL takes less than DAC on predator-prey, {peak / 1e9:.2f} GB with 256 seeds" in words
    assert max(off[1:-1]) < 0.05 < min(off[0], off[-1])
    assert {room.case.agents for room in found[1:-1] if room.case.environment == "porters"} > {100}
    assert "All but the first and the last are met within 5 %, as are porters with fewer agents." in words
    runs = {room.case.environment: int(139 * 2**30 / room.peak * room.case.seeds) for room in found[:-1]}
    hunts, battles = round(runs["predator-prey"], -3), round(runs["5m_vs_6m"], -2)
    assert f"hold some {hunts:,} runs of DAC on predator-prey and {battles} of IQL on 5m_vs_6m" in words


def test_the_page_tells_the_study(costs):
    page = (ROOT / "docs" / "scale.md").read_text()
    for gpus in (1, 8, 64):
        lanes, programs, hours = costs.study(gpus)
        assert f"| {gpus} | {programs} | {lanes} | {60 * hours:.0f} minutes |" in page
    many, timed = (by_seeds(costs, name)[256]["learn_ms"] for name in ("bench-h200-256", "bench-h200-timed-before"))
    words = " ".join(page.split())
    assert f"(256 seeds learned in {timed:.1f} ms so, and take {many:.1f} by default)" in words
    assert timed / many == pytest.approx(0.82, abs=0.03) and "learning would take about a fifth less" in words
    compiling = [one["compile_seconds"]["in_all"] for one in costs.entries_of(costs.FILES[costs.H200][:3])]
    assert f"Compiling adds some {min(compiling):.0f} to {max(compiling):.0f} s to each program" in words


def by_seeds(costs, name, algorithm="dac"):
    cases = json.loads((costs.RESULTS / f"{name}.json").read_text())["cases"]
    return {one["case"]["seeds"]: one for one in cases if one["case"]["algorithm"] == algorithm}


def test_the_page_tells_how_one_run_waits(costs):
    words = " ".join((ROOT / "docs" / "scale.md").read_text().split())
    model = costs.CostModel.fitted(costs.measured_on(costs.H200))
    waits = model.playing["predator-prey"].start + model.learning["dac", "predator-prey"].start
    turns = {seeds: entry["turn_ms"]["median"] for seeds, entry in by_seeds(costs, "bench-h200").items()}
    assert f"almost all of its turn ({waits:.1f} of {turns[1]:.1f} ms)" in words
    assert f"and five seeds take {100 * (turns[5] / turns[1] - 1):.0f} % longer than one" in words
    acting = [
        by_seeds(costs, name, algorithm)[1]["play_ms"]["median"]
        for name, algorithm in (("bench-h200", "dac"), ("bench-h200-iql", "iql"))
    ]
    assert f"though DAC takes {acting[0] - acting[1]:.1f} ms longer with one seed" in words
    iql, before = model.learning["iql", "predator-prey"], by_seeds(costs, "bench-h200-8-kernels", "iql")[256]
    [work] = {
        case.operations
        for case in costs.measured_on(costs.H200)
        if (case.algorithm, case.environment) == ("iql", "predator-prey")
    }
    told = f"says {iql.at(1, 256 * work):.1f} ms for 256, which took {before['learn_ms']:.1f} to learn"
    assert told in words
    one = by_seeds(costs, "bench-h200-battles-iql-before", "iql")[1]
    played = one["play_ms"]["median"]
    assert f"it played in {played:.1f} ms even before" in words and model.playing["5m_vs_6m"].at(1, 5) > 1.3 * played
    assert 1 - waits / by_seeds(costs, "bench-h200-256")[256]["turn_ms"]["median"] > 0.9
    assert f"30,500 x {waits:.1f} ms = {costs.TURNS * waits / 1000:.0f} s, on however many GPUs" in words
