"""What the page on performance tells of many agents and of other libraries is what was measured."""

import json
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "performance.md").read_text()


def bench(name):
    return json.loads((ROOT / "results" / f"bench-{name}.json").read_text())


def turn(entry):
    return entry["turn_ms"]["median"]


def play(entry):
    return entry["play_ms"]["median"]


def by_seeds(name, agents=2):
    return {one["case"]["seeds"]: one for one in bench(name)["cases"] if one["case"]["agents"] == agents}


def test_many_agents_on_a_gpu():
    for entry in json.loads((ROOT / "results" / "bench-h200-agents.json").read_text())["cases"]:
        agents, turn = entry["case"]["agents"], entry["turn_ms"]["median"]
        compiling, play = entry["compile_seconds"]["in_all"], entry["play_ms"]["median"]
        peak = entry["peak_memory"]["bytes"] / 2**20
        memory = f"{peak:.0f} MiB" if peak < 1024 else f"{peak / 1024:.1f} GiB"
        row = f"| {agents} | {compiling:.1f} | {play:.1f} | {turn:.2f} | {turn / agents:.2f} | {memory} |"
        assert row in PAGE


def test_ippo_beside_that_of_other_libraries():
    for line in (ROOT / "results" / "beside-others.jsonl").read_text().splitlines():
        found = json.loads(line)
        milliseconds = [f"{found[f'{library}_ms']:,.0f}" for library in ("decentral", "benchmarl", "jaxmarl")]
        assert f"| {found['agents']} | {' | '.join(milliseconds)} |" in PAGE


def test_the_products_of_a_gpu():
    ways = json.loads((ROOT / "results" / "bench-h200-products.json").read_text())
    rows = [line for line in PAGE.splitlines() if " timed" in line and line.startswith("|")]
    for way, row in zip(ways.values(), rows, strict=True):
        few, many = way["cases"]
        turns = f"{few['turn_ms']['median']:.2f} | {many['turn_ms']['median']:.2f}"
        assert row.endswith(f"| {turns} | {many['compile_seconds']['in_all']:.1f} |")


def test_shared_parameters_beside_own_ones():
    times = {}
    for entry in json.loads((ROOT / "results" / "bench-cpu-sharing.json").read_text())["cases"]:
        case = entry["case"]
        where = "`5m_vs_6m`" if case["environment"] == "5m_vs_6m" else case["environment"]
        times.setdefault((case["algorithm"].upper(), where), []).append(f"{entry['turn_ms']['median']:.1f}")
    for (algorithm, environment), milliseconds in times.items():
        assert f"| {algorithm}, {environment} | {' | '.join(milliseconds)} |" in PAGE


CPUS = ("cpu", "x86")  # in the order of the page


@pytest.mark.parametrize("algorithm", ["iql", "dac"])
@pytest.mark.parametrize("kind", CPUS)
def test_turns_on_a_cpu_beside_pytorch(kind, algorithm):
    measured = bench(kind)
    for entry in (one for one in measured["cases"] if one["case"]["algorithm"] == algorithm):
        label = "DAC, k = 10, m = 10" if algorithm == "dac" and entry["case"]["seeds"] == 1 else algorithm.upper()
        times = f"{turn(entry):.1f} | {play(entry):.1f} | {entry['learn_ms']:.1f}"
        steps, ratio = entry["steps_per_second"]["in_all"], entry["times_as_fast_as_yardstick"]
        assert f"| {label} | {entry['case']['seeds']} | {times} | {steps:,.0f} |" in PAGE
        assert f" | {ratio:.1f} |\n" in PAGE[PAGE.index(f"| {label} | {entry['case']['seeds']} | {times}") :][:120]


def test_the_readme_tells_the_speeds_that_were_measured():
    readme = " ".join((ROOT / "README.md").read_text().split())
    iql, dac = (
        next(one for one in bench("cpu")["cases"] if one["case"]["algorithm"] == name and one["case"]["seeds"] == 1)
        for name in ("iql", "dac")
    )
    assert f"takes {turn(iql):.0f} ms for IQL and {turn(dac):.0f} ms for DAC on two CPU cores" in readme
    pytorch = bench("cpu")["yardstick"]
    assert f"against {turn(pytorch):.0f} ms for IQL in PyTorch, written as in PyMARL." in readme
    few, _ = list(bench("h200-products").values())[1]["cases"]
    assert f"five runs of DAC together take {turn(few):.1f} ms per turn" in readme


def test_dac_on_a_gpu_with_more_and_more_seeds():
    for seeds, entry in by_seeds("h200").items():
        times = f"{turn(entry):.2f} | {play(entry):.2f} | {entry['learn_ms']:.2f}"
        assert f"| {seeds} | {times} | {entry['steps_per_second']['in_all']:,.0f} |" in PAGE


def test_battles_on_a_gpu():
    for name, label in (("iql", "IQL"), ("dac", "DAC, k = 15, m = 20")):
        for seeds, entry in by_seeds(f"h200-battles-{name}", agents=5).items():
            times = f"{turn(entry):.2f} | {play(entry):.2f} | {entry['learn_ms']:.2f}"
            assert f"| {label} | {seeds} | {times} | {entry['steps_per_second']['in_all']:,.0f} |" in PAGE
    ways = zip(bench("h200-battles-shared")["cases"], bench("h200-battles-shared-loop")["cases"], strict=True)
    for (now, before), label in zip(ways, ("own parameters", "shared parameters"), strict=True):
        times = [turn(now), play(now), now["learn_ms"], turn(before), before["learn_ms"]]
        assert f"| {label} | {' | '.join(f'{time:.2f}' for time in times)} |" in PAGE


def test_a_turn_per_seed_and_per_agent_on_a_cpu():
    words = " ".join(PAGE.split())
    each = [turn(entry) / seeds for seeds, entry in sorted(by_seeds("cpu-seeds").items()) if seeds > 1]
    assert f"a turn of IQL costs {', '.join(f'{time:.1f}' for time in each[:-1])} and {each[-1]:.1f} ms" in words
    growing = {one["case"]["agents"]: turn(one) for one in bench("cpu-agents")["cases"]}
    assert f"agents on the matrix game a turn grows {growing[10] / growing[2]:.1f} times" in words


def test_many_agents_on_a_cpu():
    for one in json.loads((ROOT / "results" / "many-agents-cpu.json").read_text())["cases"]:
        agents, milliseconds = one["agents"], 1000 * one["turn_seconds"]
        row = f"| {agents} | {one['compile_seconds']:.1f} | {1000 * one['play_seconds']:.2g} | {milliseconds:,.0f} |"
        assert f"{row} {milliseconds / agents:.1f} |" in PAGE


@pytest.mark.parametrize("kind", CPUS)
def test_the_turn_of_pytorch(kind):
    pytorch, cases = bench(kind)["yardstick"], bench(kind)["cases"]
    times = [turn(pytorch), play(pytorch), pytorch["learn_ms"]["median"]]
    steps = turn(cases[0]) * cases[0]["steps_per_second"]["in_all"]  # of a turn, in thousandths
    cells = " | ".join(f"{time:.1f}" for time in times)
    assert f"| PyTorch, IQL as in PyMARL | 1 | {cells} | {steps / turn(pytorch):,.0f} | | |" in PAGE


def test_pytorch_without_onednn():
    slow = bench("cpu")["yardstick"]["elsewhere_ms"]["cpu, threads 2, no oneDNN"]
    assert f"without oneDNN, which a PyMARL user does not run, takes {slow:.0f} ms." in PAGE


def test_how_near_turns_on_a_cpu_come_to_their_floor():
    rows = [line for line in PAGE.splitlines() if line.count("|") == 9 and " % | " in line]
    told = [row.split(" | ")[-2] for row in rows]
    cases = [entry for kind in CPUS for entry in bench(kind)["cases"]]
    assert told == [f"{100 * entry['floor']['of_measured']:.0f} %" for entry in cases]


def test_the_goals_on_a_cpu_tell_what_was_measured():
    for algorithm in ("iql", "dac"):
        told = []
        for kind in CPUS:
            entry = next(one for one in bench(kind)["cases"] if one["case"]["algorithm"] == algorithm)
            told.append(f"{turn(entry):.1f} ms, {entry['times_as_fast_as_yardstick']:.1f} times")
        assert f"| {'; on x86 '.join(told)} |" in PAGE


def test_the_goals_on_a_gpu_tell_what_was_measured():
    hunts, battles = by_seeds("h200"), by_seeds("h200-battles-iql", agents=5)
    untimed = bench("h200-products")
    default = list(untimed.values())[1]["cases"][0]
    chosen = f"{turn(hunts[1]):.2f} and {turn(hunts[5]):.2f} ms, with products chosen by timing"
    assert f"| {chosen}; {turn(default):.2f} ms for" in PAGE
    assert f"| 1.6 million steps/s | {hunts[256]['steps_per_second']['in_all'] / 1e6:.2f} million |" in PAGE
    assert f"| 2 ms | {play(battles[5]):.2f} ms |" in PAGE
    assert f"| 4 and 6 ms | {turn(battles[5]):.2f} and {turn(battles[20]):.2f} ms |" in PAGE
    own = bench("h200-battles-shared")["cases"][0]
    assert f"| 8 ms | {turn(own):.2f} ms |" in PAGE
    assert f"| 20 s | {own['compile_seconds']['in_all']:.1f} s for 5 seeds |" in PAGE


def test_a_turn_per_seed_on_a_gpu():
    each = {seeds: turn(entry) / seeds for seeds, entry in by_seeds("h200").items()}
    assert f"the cost falls from {each[1]:.2f} to {each[256]:.2f} ms from 1 to 256 seeds." in PAGE


def test_what_many_replays_take():
    sizes = {}
    for one in json.loads((ROOT / "results" / "many-agents-cpu.json").read_text())["cases"]:
        sizes[one["agents"]] = mebibytes = one["replay_bytes"] / 2**20
        size = f"{mebibytes:.0f} MiB" if mebibytes < 1024 else f"{mebibytes / 1024:.1f} GiB"
        row = next(line for line in PAGE.splitlines() if line.startswith(f"| {one['agents']} |") and "iB |" in line)
        assert row.endswith(f" | {size} |")
    assert f"{sizes[100] * 5000 / 1024**2:.1f} GiB for 100 agents and 5,000 episodes" in " ".join(PAGE.split())
