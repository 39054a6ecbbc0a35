"""The cost model: lines through what was measured, and the page that tells them."""

import importlib
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
    found = costs.rooms()
    numbers = costs.numbers_per_unit(found)
    assert f"x hidden x {numbers:.1f} x 4 bytes" in page
    told = {room.case: room.replays + numbers * room.batch for room in found}
    large = [room for room in found if room.peak > costs.LARGE]
    for room in large:
        assert f"| {room.peak / 1e9:.2f} | {told[room.case] / 1e9:.2f} |" in page
    assert len(large) == 6 and max(abs(told[room.case] / room.peak - 1) for room in large) < 0.04
    rest = [room.peak - told[room.case] for room in found if room not in large and room.case.environment != "porters"]
    assert all(0.1e9 < more < 0.35e9 for more in rest)


def test_the_page_tells_the_study(costs):
    page = (ROOT / "docs" / "scale.md").read_text()
    for gpus in (1, 8, 64):
        lanes, programs, hours = costs.study(gpus)
        assert f"| {gpus} | {programs} | {lanes} | {60 * hours:.0f} minutes |" in page
