"""What each open setting of the battles changes, on every map: SMAC's script and random play under it.

    python benchmarks/battle_variants.py results/battle-variants.jsonl --maps 3m,2s3z
    python benchmarks/battle_variants.py results/battle-variants.jsonl --table

Every line of the file is one map under one setting; what is there already is not played again, nor what a map has by
default.
"""

import argparse
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import decentral
from decentral.environments.battles import BATTLES

VARIANTS: tuple[dict[str, Any], ...] = (
    {},
    *({"prefer": whom} for whom in ("attackers", "in_reach", "nearest")),
    *({"keep_target": rule} for rule in ("in_reach", "in_duel", "until_left", "until_lost", "chase", "until_dead")),
    {"keep_target": "until_dead", "leash": 6.0},  # a leash matters to an enemy that does not let go by itself
    *({"enemy_ids": ids} for ids in ("shuffled_by_kind", "fixed")),
    {"scan_to": "centre"},
    {"call_radius": 0.0},
    {"packing": "grid"},
    {"packing": "unmirrored"},
    {"push_rounds": 3},
    {"anchored": False},
    {"turning": True},
    {"overkill": False},
    {"profile": "liberty"},
)


def named(variant: dict[str, Any]) -> str:
    return ", ".join(f"{name} {str(value).lower()}" for name, value in variant.items()) or "default"


def is_default(battle: str, variant: dict[str, Any]) -> bool:
    """Does a variant change nothing?"""
    environment = BATTLES[battle]()
    return bool(variant) and all(getattr(environment, name) == value for name, value in variant.items())


def play(battle: str, variant: dict[str, Any], episodes: int) -> dict[str, Any]:
    """Return, win rate and length of each policy in one map under one setting."""
    probe = decentral.probe(battle, environment=variant, episodes=episodes)
    policies = {
        name: {
            "return": round(float(np.mean(scores.returns)), 3),
            "won": round(float(np.mean(scores.reports["win_rate"])), 4),
            "median_steps": float(np.median(scores.lengths)),
        }
        for name, scores in probe.policies.items()
    }
    return {"map": battle, "variant": named(variant), "episodes": episodes, "policies": policies}


def tables(rows: list[dict[str, Any]]) -> str:
    """The script's return and win rate, then the median length of random episodes: a line a setting, a column a map."""
    by_place = {(row["variant"], row["map"]): row["policies"] for row in rows}
    maps = [battle for battle in BATTLES if any(row["map"] == battle for row in rows)]

    def table(cell: Callable[[dict[str, Any]], str]) -> str:
        lines = [["setting", *maps], ["---"] * (1 + len(maps))]
        for name in map(named, VARIANTS):
            found = (by_place.get((name, battle)) for battle in maps)
            lines.append([name, *("" if policies is None else cell(policies) for policies in found)])
        return "\n".join(f"| {' | '.join(line)} |" for line in lines)

    scripted = table(
        lambda policies: "{return:.1f}, {percent:.0f}".format(
            **policies["script"], percent=100 * policies["script"]["won"]
        )
    )
    return scripted + "\n\n" + table(lambda policies: f"{policies['random']['median_steps']:.0f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("file", type=Path, help="JSON lines, read and added to")
    parser.add_argument("--maps", default=",".join(BATTLES), help="which (default: all)")
    parser.add_argument("--episodes", type=int, default=64, help="of each policy (default: 64)")
    parser.add_argument("--table", action="store_true", help="play nothing: print the tables")
    asked = parser.parse_args()
    rows = [json.loads(line) for line in asked.file.read_text().splitlines()] if asked.file.exists() else []
    if asked.table:
        print(tables(rows))
        return
    done = {(row["map"], row["variant"]) for row in rows}
    for battle in asked.maps.split(","):
        for variant in VARIANTS:
            if (battle, named(variant)) in done or is_default(battle, variant):
                continue
            row = play(battle, variant, asked.episodes)
            with asked.file.open("a") as file:
                file.write(json.dumps(row) + "\n")
            print(battle, row["variant"], row["policies"], flush=True)


if __name__ == "__main__":
    main()
