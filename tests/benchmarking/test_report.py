"""What is kept of a benchmark, and what became slower since an earlier one."""

import json

import pytest

from decentral.benchmarking.cases import Case
from decentral.benchmarking.device import Peak, Rates
from decentral.benchmarking.floor import Floor
from decentral.benchmarking.measure import Measured, Timing
from decentral.benchmarking.report import Change, as_data, changes, read_timings
from decentral.benchmarking.yardstick import Yardstick
from decentral.settings import Refused

IQL = Case("iql", "predator-prey", 4, 2, None, None)
DAC = Case("dac", "matrix-game", 1, 2, 1, 4)


def measured(case, *turn):
    return Measured(
        case=case,
        turn=Timing(list(turn)),
        play=Timing([2.0, 3.0, 4.0]),
        steps=100.0,
        compile_seconds={"begin": 0.5, "play": 1.0, "learn": 2.5},
        floor=Floor(flops=1_000_000, bytes=3000),
        peak=Peak(500, "process"),
        peak_before=Peak(400, "process"),
    )


def test_the_middle_repeat_counts_and_half_the_range_is_the_spread():
    timing = Timing([10.0, 14.0, 11.0])
    assert (timing.median, timing.spread) == (11.0, 2.0)


def test_the_numbers_of_a_case_follow_from_what_the_clock_said():
    own = measured(IQL, 10.0, 8.0, 12.0)
    assert own.learn == 7.0
    assert own.steps_per_second == 10_000.0
    rates = Rates(flops_per_second=2e9, bytes_per_second=1e6)
    assert own.product_ms(rates) == 2.0  # four seeds of a million at two thousand million a second
    assert own.copy_ms(rates) == own.floor_ms(rates) == 12.0
    data = as_data(20, 3, [own], rates, None)["cases"][0]
    assert data["steps_per_second"] == {"per_seed": 10_000.0, "in_all": 40_000.0}
    assert data["floor"]["of_measured"] == 1.2
    assert data["compile_seconds"]["in_all"] == 4.0
    assert data["peak_memory"] == {"bytes": 500, "source": "process", "bytes_before_the_case": 400}


def test_a_yardstick_is_beaten_by_all_seeds_together_and_only_in_its_own_world():
    torch = Yardstick("2.9", "cpu, threads 1", Timing([30.0, 40.0]), Timing([50.0, 80.0]), {})
    assert torch.turn.all == [80.0, 120.0]
    assert torch.times_as_fast(measured(IQL, 10.0)) == 40.0  # four seeds in a tenth of the time
    assert torch.times_as_fast(measured(DAC, 10.0)) is None


@pytest.mark.parametrize(
    ("before", "now", "slower", "faster"),
    [
        ([9.0, 10.0, 11.0], [12.5, 13.0, 13.5], True, False),  # by 3, of which the spreads explain 1.5
        ([9.0, 10.0, 11.0], [11.0, 12.0, 14.0], False, False),  # by 2, of which they explain 2.5
        ([12.5, 13.0, 13.5], [9.0, 10.0, 11.0], False, True),
    ],
)
def test_slower_is_what_both_spreads_do_not_explain(before, now, slower, faster):
    change = Change(IQL, Timing(before), Timing(now))
    assert (change.slower, change.faster) == (slower, faster)


def test_a_benchmark_is_read_again_and_compared_case_by_case(tmp_path):
    file = tmp_path / "bench.json"
    earlier = [measured(IQL, 10.0, 11.0), measured(DAC, 5.0)]
    file.write_text(json.dumps(as_data(20, 2, earlier, None, None)))
    timings = read_timings(file)
    assert timings == {IQL: Timing([10.0, 11.0]), DAC: Timing([5.0])}
    unknown = Case("iql", "matrix-game", 1, 2, None, None)
    found = changes([measured(DAC, 7.0), measured(unknown, 1.0)], timings)
    assert [(change.case, change.before.median, change.now.median) for change in found] == [(DAC, 5.0, 7.0)]


@pytest.mark.parametrize(
    "text",
    [
        "not JSON",
        "[]",
        "{}",
        '{"format": 2, "cases": []}',
        '{"format": 1, "cases": [{"case": {"algorithm": "iql"}, "turn_ms": {"all": [1.0]}}]}',
        '{"format": 1, "cases": 3}',
        json.dumps({"format": 1, "cases": [{"case": vars(IQL), "turn_ms": {"all": []}}]}),
        json.dumps({"format": 1, "cases": [{"case": vars(IQL), "turn_ms": {"all": ["fast"]}}]}),
        json.dumps({"format": 1, "cases": [{"case": vars(IQL), "turn_ms": {"all": [0.0]}}]}),
        json.dumps({"format": 1, "cases": [{"case": vars(IQL) | {"seeds": [1]}, "turn_ms": {"all": [1.0]}}]}),
    ],
)
def test_a_file_that_is_no_benchmark_is_refused(tmp_path, text):
    (tmp_path / "bench.json").write_text(text)
    with pytest.raises(Refused, match=r"against must be torch or an earlier bench\.json, got .*bench\.json"):
        read_timings(tmp_path / "bench.json")
