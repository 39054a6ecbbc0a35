"""Stored results whose commit or source the history does not have are those that the page names."""

import json
import re
import subprocess
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = " ".join((ROOT / "docs" / "reproduction.md").read_text().split())
COMMITS, SOURCES = PAGE.split("names a commit that the history does not have: ")[1].split(
    ". Others name a source that no commit has: "
)
TOLD = {
    "commit": re.findall(r"\b([0-9a-f]{8}) \(", COMMITS),
    "source": re.findall(r"\b[0-9a-f]{8}\b", SOURCES.split(". Two runs")[0]),
}


def git(*words, given=""):
    return subprocess.run(["git", "-C", ROOT, *words], input=given, capture_output=True, text=True, check=True).stdout


def marks_in(data, where):
    """Every commit and source that is named, with the place."""
    if isinstance(data, dict):
        for key in ("commit", "source"):
            if re.fullmatch("[0-9a-f]{7,40}(-dirty)?", str(data.get(key))):
                yield key, data[key].removesuffix("-dirty"), where
        for name, part in data.items():
            if isinstance(part, dict) or name in ("runs", "cases", "settings"):
                yield from marks_in(part, (*where, name))
    elif isinstance(data, list):
        for part in data:
            yield from marks_in(part, where)


@cache
def marks():
    files = sorted((ROOT / "results").rglob("*.json"))
    return {mark for file in files for mark in marks_in(json.loads(file.read_text()), (file.stem,))}


def places(told):
    """Where a commit or a source is named, by the first letters of it."""
    return {" ".join(where[:3:2]) for _, name, where in marks() if name.startswith(told)}


def test_lost_commits_and_sources_are_named_where_they_are():
    ours = ("dac", "hysteretic", "iql")
    wind = {f"switching-wind {name}" for name in ("k=1, m=3", "k=5, m=6")}
    assert places("ee4646d1") == {"table-1 dac", *(f"matrix-game {name}" for name in ours), *wind}
    small = {f"appendix-a {world} {how}" for world in ("climbing", "fork", "hunt") for how in ("exact", "learning")}
    assert places("8d03cf1f") == {"appendix-a hunt learning"} == small - places("68e410c3")
    assert places("801b9c6d") == {"curves"} and places("5b70c4b7") == {"readings matrix-game-shared-hysteretic"}
    assert places("4352ad04") == {"bench-h200-battles-shared"} and places("12d0e378") == {
        "bench-h200-battles-shared-loop"
    }
    assert places("f7d4b3ee") == {f"bench-h200-one-kernel{case}" for case in ("", "-iql", "-256")}
    *warps, unrolled = TOLD["source"][-5:]
    assert {where.split()[0] for told in warps for where in places(told)} == {"bench-h200-battles-warps"}
    assert places(unrolled) == {"bench-h200-battles-unrolled"} and sum(map(len, TOLD.values())) == 13
    family = json.loads((ROOT / "results" / "family-matrix.json").read_text())
    bare = [run for run in family["runs"] if not run["provenance"]["commit"] and "source" not in run["provenance"]]
    assert len(bare) == 2 and "no commit" in family["note"] and "Two runs of `results/family-matrix.json`" in PAGE


def test_the_history_has_all_other_commits_and_sources():
    if not (ROOT / ".git").exists() or git("rev-parse", "--is-shallow-repository").strip() != "false":
        pytest.skip("the history is not here: this is an archive or a shallow clone")
    commits = git("rev-list", "HEAD").split()
    sources = git("cat-file", "--batch-check", given="\n".join(f"{commit}:src/decentral" for commit in commits))
    known = {"commit": commits, "source": [line.split()[0] for line in sources.splitlines()]}
    for kind, of_history in known.items():
        every = "\n".join(of_history)
        lost = {name[:8] for own, name, _ in marks() if own == kind and name not in every}
        assert lost == set(TOLD[kind])
