"""What the page on performance tells of many agents and of other libraries is what was measured."""

import json
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "performance.md").read_text()


def test_many_agents_on_a_gpu():
    for entry in json.loads((ROOT / "results" / "bench-h200-agents.json").read_text())["cases"]:
        agents, turn = entry["case"]["agents"], entry["turn_ms"]["median"]
        compiling, play = entry["compile_seconds"]["in_all"], entry["play_ms"]["median"]
        assert f"| {agents} | {compiling:.1f} | {play:.1f} | {turn:.2f} | {turn / agents:.2f} |" in PAGE


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
