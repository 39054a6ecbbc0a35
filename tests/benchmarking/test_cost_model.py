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


def test_a_line_is_found_again_and_never_starts_below_zero(costs):
    line = costs.Line.through([1.0, 10.0, 100.0], [2.5, 7.0, 52.0])
    assert (line.start, line.slope) == (pytest.approx(2.0), pytest.approx(0.5))
    assert costs.Line.through([1.0, 2.0], [1.0, 3.0]).start == 0.0


def test_the_page_tells_the_constants_the_errors_and_the_study(costs, capsys):
    page = " ".join((ROOT / "docs" / "scale.md").read_text().split())
    for device in costs.FILES:
        cases = costs.measured_on(device)
        model = costs.CostModel.fitted(cases)
        for line in model.playing.values():
            assert f"{line.start:.2f} ms | {1000 * line.slope:.3g} us per seed and agent" in page
        for pair, line in model.learning.items():
            told = f"{line.start:.2f} ms | {1e-6 / line.slope:,.0f} G operations per second"
            assert told in page or pair == ("dac", "5m_vs_6m")  # one case is no line
    costs.main()
    printed = capsys.readouterr().out
    assert "error 1 % on average, 3 % at most" in printed and "error 3 % on average, 11 % at most" in printed
    for gpus in (1, 8, 64):
        lanes, programs, hours = costs.study(gpus)
        assert f"| {gpus} | {programs} | {lanes} | {60 * hours:.0f} minutes |" in page
