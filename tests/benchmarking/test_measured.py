"""What the page on performance tells of many agents and of other libraries is what was measured."""

import json
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "performance.md").read_text()
WORDS = " ".join(PAGE.split())
SCALE = " ".join((ROOT / "docs" / "scale.md").read_text().split())


def bench(name):
    return json.loads((ROOT / "results" / f"bench-{name}.json").read_text())


def turn(entry):
    return entry["turn_ms"]["median"]


def play(entry):
    return entry["play_ms"]["median"]


def by_seeds(name, agents=2, algorithm=None):
    """The cases of a benchmark, whose file has one algorithm if none is named."""
    chosen = [one for one in bench(name)["cases"] if one["case"]["agents"] == agents]
    chosen = [one for one in chosen if algorithm in (None, one["case"]["algorithm"])]
    assert len({one["case"]["algorithm"] for one in chosen}) == 1
    return {one["case"]["seeds"]: one for one in chosen}


def test_many_agents_on_a_gpu():
    by_agents = {entry["case"]["agents"]: entry for entry in bench("h200-agents")["cases"]}
    for agents, entry in by_agents.items():
        compiling = entry["compile_seconds"]["in_all"]
        peak = entry["peak_memory"]["bytes"] / 2**20
        memory = f"{peak:.0f} MiB" if peak < 1024 else f"{peak / 1024:.1f} GiB"
        times = f"{play(entry):.1f} | {turn(entry):.2f} | {turn(entry) / agents:.2f}"
        row = f"| {agents} | {compiling:.1f} | {times} | {memory} |"
        assert row in PAGE
    milliseconds = {agents: turn(entry) for agents, entry in by_agents.items()}
    more = f"fifty times the agents take {milliseconds[100] / milliseconds[2]:.1f} times as long"
    assert f"{more}: {milliseconds[2]:.1f} ms for 2 and {milliseconds[100]:.1f} ms for 100" in SCALE


def test_ippo_beside_that_of_other_libraries():
    for line in (ROOT / "results" / "beside-others.jsonl").read_text().splitlines():
        found = json.loads(line)
        milliseconds = [f"{found[f'{library}_ms']:,.0f}" for library in ("decentral", "benchmarl", "jaxmarl")]
        assert f"| {found['agents']} | {' | '.join(milliseconds)} |" in PAGE


def test_the_products_of_a_gpu():
    ways = json.loads((ROOT / "results" / "bench-h200-products.json").read_text())
    rows = PAGE.split("| products of DAC |")[1].split("\n\n")[0].splitlines()[2:]
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
    assert f"five runs of DAC together take {turn(by_seeds('h200')[5]):.1f} ms per turn" in readme


def told(entry):
    """A turn, its halves, the speed of all seeds and compiling, as tables of a GPU tell them."""
    times = f"{turn(entry):.2f} | {play(entry):.2f} | {entry['learn_ms']:.2f}"
    return f"{times} | {entry['steps_per_second']['in_all']:,.0f} | {entry['compile_seconds']['in_all']:.1f}"


HUNTS = {  # the programs by their names on the page, newest first, and the files of their benchmarks
    "now": "h200 h200-iql h200-256",
    "two after each other": "h200-apart",
    "one kernel an episode": "h200-one-kernel h200-one-kernel-iql h200-one-kernel-256",
    "8 kernels": "h200-8-kernels",
    "11 kernels": "h200-before",
    "11 kernels, timed": "h200-timed",
    "14 kernels, timed": "h200-timed-before",
}
ANOTHER_DAY = "5m_vs_6m, 4 warps, another day"
FIGHTS = {
    "now": "h200-battles",
    "82 kernels for seven steps": "h200-battles-unrolled",
    "14 kernels": "h200-battles-warps",
    "one warp": "h200-battles-one-warp",
    "three lengths": "h200-battles-lengths",
    "five lengths": "h200-battles-iql h200-battles-dac",
    "more kernels": "h200-battles-shared",
    "more kernels, timed": "h200-battles-iql-before h200-battles-dac-before",
    "no kernel for wide outputs": "h200-battles-shared-loop",
}


def rows_of(programs, named_parameters):
    """The rows of a task's table: sorted by method, parameters and seeds, and then by program, as they are named."""
    rows = []
    for place, (program, names) in enumerate(programs.items()):
        for name in names.split():
            measured = bench(name)
            cases = measured["5m_vs_6m, 4 warps"]["cases"] if name.endswith("-warps") else measured["cases"]
            for entry in cases:
                case = entry["case"]
                parameters = case.get("parameters") or "own"
                order = (case["algorithm"] == "dac", parameters, case["seeds"], place)
                cells = [case["algorithm"].upper(), *([parameters] if named_parameters else []), str(case["seeds"])]
                rows.append((order, f"| {' | '.join([*cells, program, told(entry)])} |"))
    return [row for _, row in sorted(rows)]


@pytest.mark.parametrize(("programs", "parameters"), [(HUNTS, False), (FIGHTS, True)])
def test_every_benchmark_of_a_task_on_a_gpu_is_a_row_of_its_table(programs, parameters):
    header = f"| |{' parameters |' if parameters else ''} seeds | program |"
    assert PAGE.split(header)[1].split("\n\n")[0].splitlines()[2:] == rows_of(programs, parameters)
    for program, names in programs.items():
        files = ", ".join(f"`bench-{name}.json`" for name in names.split())
        [row] = [
            line for line in PAGE.splitlines() if line.startswith(f"| {program} | ") and line.endswith(f"{files} |")
        ]
        for name in names.split():
            measured = bench(name)
            command = measured.get("5m_vs_6m, 4 warps", measured)["provenance"]["command"]
            assert f"`{command.removeprefix('decentral bench ')}`" in row


def test_what_one_kernel_an_episode_gains():
    now, before = by_seeds("h200-one-kernel"), by_seeds("h200-8-kernels-again")
    halves = [[f"{half(which[seeds]):.2f}" for seeds in (1, 5)] for half in (play, turn) for which in (now, before)]
    played, were, turns, had_been = halves
    assert f"an episode of DAC takes {played[0]} and {played[1]} ms instead of {were[0]} and {were[1]}" in WORDS
    assert f"a turn {turns[0]} and {turns[1]} instead of {had_been[0]} and {had_been[1]}" in WORDS
    many = play(by_seeds("h200-one-kernel-256")[256]), play(by_seeds("h200-8-kernels", algorithm="dac")[256])
    assert "With 256 seeds an episode takes {:.2f} instead of {:.2f} ms".format(*many) in WORDS


def test_what_two_recurrences_side_by_side_gain():
    now, apart, before = (by_seeds(name) for name in ("h200", "h200-apart", "h200-one-kernel"))
    turns = [f"{turn(which[seeds]):.2f}" for seeds in (1, 5) for which in (now, apart)]
    assert "a turn takes {} instead of {} ms with 1 seed and {} instead of {} with 5".format(*turns) in WORDS
    iql = [f"{turn(by_seeds(name)[seeds]):.2f}" for seeds in (1, 5) for name in ("h200-iql", "h200-one-kernel-iql")]
    assert "IQL takes {} instead of {} and {} instead of {} ms".format(*iql) in WORDS
    many = turn(by_seeds("h200-256")[256]), turn(by_seeds("h200-one-kernel-256")[256])
    assert "256 seeds of DAC {:.2f} instead of {:.2f}".format(*many) in WORDS
    assert all(turn(apart[seeds]) < turn(before[seeds]) for seeds in (1, 5))


def test_what_eight_kernels_a_step_gain():
    now, before = by_seeds("h200-8-kernels", algorithm="dac"), by_seeds("h200-before")
    played = [f"{play(before[seeds]) - play(now[seeds]):.2f}" for seeds in (1, 5)]
    learned = [f"{before[seeds]['learn_ms'] - now[seeds]['learn_ms']:.2f}" for seeds in (1, 5)]
    assert f"save {played[0]} ms of an episode of DAC with 1 seed and {played[1]} with 5" in WORDS
    assert f"Learning took {learned[0]} and {learned[1]} ms less, too" in WORDS
    assert play(now[256]) == pytest.approx(play(before[256]), rel=0.01) and "they gain nothing" in WORDS
    assert f"one of predator-prey by DAC {play(before[5]):.1f} instead of 1.7 with 11 kernels" in WORDS
    assert f"with 11 kernels and {play(now[5]):.1f} with 8 ([figures]" in WORDS
    compiling = [f"{one[5]['compile_seconds']['in_all']:.1f}" for one in (now, before)]
    assert f"(five seeds of DAC {compiling[0]} instead of {compiling[1]} s)" in WORDS


def test_what_is_said_of_products_on_a_gpu():
    untimed, before = by_seeds("h200-before"), by_seeds("h200-timed-before")
    assert bench("h200-timed")["provenance"]["source"] == bench("h200-before")["provenance"]["source"]
    assert (
        f"the last row took {turn(before[5]):.2f} and {turn(before[20]):.2f} ms (above): a difference of some 5 %"
        in WORDS
    )
    fastest = list(bench("h200-products").values())[2]["cases"]
    differences = [turn(entry) / turn(before[entry["case"]["seeds"]]) - 1 for entry in fastest]
    assert round(100 * sum(differences) / len(differences)) == 5
    shorter = 1 - 27.76 / turn(untimed[256])  # of the same call; not kept
    assert f"make a turn of 256 seeds {100 * shorter:.0f} % shorter (27.76 ms" in WORDS
    assert f"Of the {turn(before[256]):.2f} ms of 256 seeds with 14 kernels, {play(before[256]):.1f} are play" in WORDS


def test_what_is_said_of_battles_on_a_gpu():
    ways = [bench(f"h200-battles-{name}")["cases"] for name in ("lengths", "shared")]
    longer = [turn(shared) - turn(own) for own, shared in ways]
    assert f"Shared parameters took DAC {longer[1]:.1f} ms longer" in WORDS and f"leaves {longer[0]:.1f} ms." in WORDS
    turns = {name: bench(f"h200-battles-{name}")["turns"] for name in ("lengths", "one-warp")}
    assert (
        turns == {"lengths": 20, "one-warp": 40} and "three lengths are of 20 turns of a chunk, the others of" in WORDS
    )


def test_what_fewer_kernels_gain():
    battle = [play(by_seeds(f"h200-battles-iql{when}", agents=5)[5]) for when in ("", "-before")]
    hunt = [play(by_seeds(f"h200-timed{when}")[5]) for when in ("", "-before")]
    one_array = play(bench("h200-battles-warps")["5m_vs_6m, 4 warps"]["cases"][0])
    assert (
        f"of `5m_vs_6m` takes {battle[0]:.1f} instead of {battle[1]:.1f} ms to play, and {one_array:.1f} since" in WORDS
    )
    assert f"one of predator-prey by DAC {hunt[0]:.1f} instead of {hunt[1]:.1f} with 11 kernels" in WORDS


def test_what_steps_without_a_loop_and_game_loops_without_tensor_cores_gain():
    before, unrolled = bench("h200-battles-warps")[ANOTHER_DAY]["cases"][0], bench("h200-battles-unrolled")["cases"][0]
    now = bench("h200-battles")["cases"][0]
    assert f"Five seeds of IQL play in {play(unrolled):.2f} instead of {play(before):.2f} ms, and" in WORDS
    compiling = [one["compile_seconds"]["in_all"] for one in (unrolled, before)]
    assert "the program compiles in {:.1f} instead of {:.1f} s.".format(*compiling) in WORDS
    assert f"Five seeds of IQL play in {play(now):.2f} instead of {play(unrolled):.2f} ms. Where so many" in WORDS
    of_two = bench("h200-battles-warps")["5m_vs_6m, 2 warps, that day"]["cases"][0]
    assert f"two warps played `5m_vs_6m` in {play(of_two):.2f} ms and four in {play(before):.2f}." in WORDS


def test_battles_in_other_numbers_of_warps():
    ways = {name: way["cases"][0] for name, way in bench("h200-battles-warps").items()}
    four, large, eight = ways["5m_vs_6m, 4 warps"], ways["10m_vs_11m, 4 warps"], ways["10m_vs_11m, 8 warps"]
    in_one = bench("h200-battles-one-warp")["cases"]
    spreads = {id(one): f"{turn(one):.2f} ± {one['turn_ms']['spread']:.2f}" for one in (in_one[0], four, eight, large)}
    few, many = ((in_one[0], four), (eight, large))
    assert f"in {play(few[0]):.2f} ms with one warp and {play(few[1]):.2f} with four" in WORDS
    assert f"`10m_vs_11m` in {play(many[0]):.2f} ms, four in {play(many[1]):.2f}" in WORDS
    for pair in (few, many):
        assert f"(a turn takes {spreads[id(pair[0])]} and {spreads[id(pair[1])]} ms)" in WORDS


def test_a_turn_per_seed_and_per_agent_on_a_cpu():
    each = [turn(entry) / seeds for seeds, entry in sorted(by_seeds("cpu-seeds").items()) if seeds > 1]
    assert f"a turn of IQL costs {', '.join(f'{time:.1f}' for time in each[:-1])} and {each[-1]:.1f} ms" in WORDS
    growing = {one["case"]["agents"]: turn(one) for one in bench("cpu-agents")["cases"]}
    assert f"agents on the matrix game a turn grows {growing[10] / growing[2]:.1f} times" in WORDS


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
    shares = [row.split(" | ")[-2] for row in rows]
    cases = [entry for kind in CPUS for entry in bench(kind)["cases"]]
    assert shares == [f"{100 * entry['floor']['of_measured']:.0f} %" for entry in cases]


def test_the_goals_on_a_cpu_tell_what_was_measured():
    for algorithm, first in (("iql", "86.8 ms"), ("dac", "195 ms")):
        cells = []
        for kind in CPUS:
            entry = next(one for one in bench(kind)["cases"] if one["case"]["algorithm"] == algorithm)
            cells.append(f"{turn(entry):.1f} ms, {entry['times_as_fast_as_yardstick']:.1f} times")
        assert f"| {first} | {'; on x86 '.join(cells)} |" in PAGE


def test_the_goals_on_a_gpu_tell_what_was_measured():
    hunts, before = by_seeds("h200") | by_seeds("h200-256"), by_seeds("h200-timed-before")
    battle, dac = bench("h200-battles")["cases"]
    twenty = by_seeds("h200-battles-iql", agents=5)[20]
    latest, lengths = bench("h200-battles-one-warp")["cases"][2:], bench("h200-battles-lengths")["cases"]
    assert f"| 1.6 and 2.0 ms | 6.51 ms with 5 seeds | {turn(hunts[1]):.2f} and {turn(hunts[5]):.2f} ms |" in PAGE
    many = [f"{by[256]['steps_per_second']['in_all'] / 1e6:.2f} million" for by in (hunts, before)]
    first = f"{256 * 100 / 71.96 / 1000:.2f} million"  # at 71.96 ms for a turn of 100 steps
    there = f"{many[0]}; with 14 kernels and products chosen by timing {many[1]}"
    assert f"| 1.6 million steps/s | {first} | {there} |" in PAGE
    assert f"| 2 ms | 9.8 ms | {play(battle):.2f} ms |" in PAGE
    there = f"{turn(battle):.2f} ms and, before, with five lengths, {turn(twenty):.2f} ms"
    assert f"| 4 and 6 ms | 12.4 and 13.6 ms | {there} |" in PAGE
    assert f"| 8 ms | 16.9 ms | {turn(dac):.2f} ms |" in PAGE
    alone = by_seeds("h200-battles-dac-before", agents=5)[1]["compile_seconds"]["in_all"]
    first, second = (f"{one['compile_seconds']['in_all']:.1f} s" for one in lengths)
    now = f"{dac['compile_seconds']['in_all']:.1f}"
    later = " and ".join(f"{one['compile_seconds']['in_all']:.1f}" for one in latest)
    there = f"{first} for 5 seeds, {second} with shared parameters; later, with one warp, {later} s, and now {now} s"
    assert f"| 20 s | {alone:.1f} s for 1 seed, products timed | {there} |" in PAGE


def test_a_turn_per_seed_on_a_gpu():
    each = {seeds: turn(entry) / seeds for seeds, entry in (by_seeds("h200") | by_seeds("h200-256")).items()}
    assert f"the cost of DAC falls from {each[1]:.2f} to {each[256]:.2f} ms from 1 to 256 seeds." in PAGE


def test_what_many_replays_take():
    sizes = {}
    for one in json.loads((ROOT / "results" / "many-agents-cpu.json").read_text())["cases"]:
        sizes[one["agents"]] = mebibytes = one["replay_bytes"] / 2**20
        size = f"{mebibytes:.0f} MiB" if mebibytes < 1024 else f"{mebibytes / 1024:.1f} GiB"
        row = next(line for line in PAGE.splitlines() if line.startswith(f"| {one['agents']} |") and "iB |" in line)
        assert row.endswith(f" | {size} |")
    assert f"{sizes[100] * 5000 / 1024**2:.1f} GiB for 100 agents and 5,000 episodes" in WORDS


def test_what_normal_net_takes_with_one_product_for_all_contexts():
    ways = {name: found["cases"][0] for name, found in bench("x86-normal-net").items()}
    turns = {name: f"{turn(entry):.0f}" for name, entry in ways.items()}
    plays = {name: f"{play(entry):.1f}" for name, entry in ways.items()}
    words = " ".join(PAGE.split())
    assert f"takes {turns['inferred']} instead of {turns['inferred, before']} ms," in words
    assert f"of which playing {plays['inferred']} instead of {plays['inferred, before']}; with" in words
    assert f"too, {turns['optimistic']} instead of {turns['optimistic, before']}. On a GPU a step" in words


KERNELS = {  # what kernels are for, by what their names begin with or have in them
    "playing": ("program",),
    "windows of the decoders": ("through_windows", "through_steps"),
    "recurrences": ("walk",),
    "products on tensor cores": ("tensorop", "tensor16"),
    "other products": ("ffma", "gemmSN"),
    "biases written out before a product": ("wrapped_broadcast",),
    "the encoder's windows, assembled": ("loop_concatenate_fusion",),
}


def test_where_a_turn_goes_on_a_gpu():
    profiles = json.loads((ROOT / "results" / "h200-kernels.json").read_text())["by_seeds"].values()
    found = [dict.fromkeys(KERNELS, 0.0) for _ in profiles]
    for parts, profile in zip(found, profiles, strict=True):
        for name, _, microseconds in profile["kernels"]:
            for part, marks in KERNELS.items():
                if any(mark in name for mark in marks) and not name.endswith("loop_concatenate_fusion_1"):
                    parts[part] += microseconds / 1000
        parts["everything else"] = profile["busy_ms"] - sum(parts.values())
        parts["between kernels"] = profile["span_ms"] - profile["busy_ms"]
    for part in found[0]:
        assert f"| {part} | {found[0][part]:.2f} | {found[1][part]:.2f} |" in PAGE
