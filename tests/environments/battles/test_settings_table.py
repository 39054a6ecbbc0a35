"""The tables in the docs of what each setting changes are those of the data."""

import importlib
import json
from pathlib import Path

ROOT = Path(__file__).parents[3]


def test_every_map_is_played_under_every_setting_and_told_as_it_was(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    variants = importlib.import_module("battle_variants")
    rows = [json.loads(line) for line in (ROOT / "results" / "battle-variants.jsonl").read_text().splitlines()]
    played = {(row["map"], row["variant"]) for row in rows}
    settings = ((battle, one) for battle in variants.BATTLES for one in variants.VARIANTS)
    assert played == {(battle, variants.named(one)) for battle, one in settings if not variants.is_default(battle, one)}
    page = (ROOT / "docs" / "environments" / "battles.md").read_text()
    for line in variants.tables(rows).splitlines():
        assert line in page or set(line) <= set("| -")
    free = {row["map"]: row["policies"]["random"] for row in rows if row["variant"] == "anchored false"}
    medians = [f"{free[battle]['median_steps']:.0f} on `{battle}`" for battle in ("10m_vs_11m", "27m_vs_30m")]
    assert f"without it the medians of 64 episodes are {' and '.join(medians)}" in " ".join(page.split())
