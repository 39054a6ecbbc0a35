"""What the page on sweeps tells of a thousand units is what was measured."""

import json
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = " ".join((ROOT / "docs" / "sweep.md").read_text().split())
MEASURED = json.loads((ROOT / "results" / "thousand-units.json").read_text())
NOTHING = {"printed_bytes": 0, "files": {}}
LABELS = {
    "sweep FILE --status": "`sweep FILE --status`",
    "sweep FILE, nothing left to train": "`sweep FILE`, nothing left to train",
    "runs DIR": "`runs DIR`",
    "compare --runs DIR": "`compare --runs DIR`",
    "report DIR": "`report DIR`",
    "report DIR --every 5, one page": "`report DIR --every 5`, one page",
}


def seconds(when, command):
    call = MEASURED[when].get(command, {})
    if "given_up_after_seconds" in call:
        return f"given up at {call['given_up_after_seconds']} s"
    return f"{call['processor_seconds']:.1f} s" if call else "-"


def kilobytes(count):
    return f"{count / 1000:.0f} kB"


def printed(when, command):
    count = MEASURED[when].get(command, NOTHING)["printed_bytes"]
    return kilobytes(count) if count > 1000 else "-"


def written(when, command):
    call = MEASURED[when].get(command, NOTHING)
    sizes = list(map(kilobytes, call["files"].values()))
    if "pages" in call:
        return f"{sizes[0]}, and {call['pages']['count']} pages, {call['pages']['bytes'] / 1e6:.0f} MB"
    return f"{sizes[0]}, a picture; {sizes[1]} of data" if len(sizes) == 2 else "".join(sizes) or "-"


def test_the_table_of_a_thousand_units_is_that_of_the_data():
    assert set(MEASURED["now"]) == {*LABELS, "load", "import jax", "import matplotlib"}
    for command, label in LABELS.items():
        cells = [seconds(when, command) for when in ("first", "then", "now")]
        cells += [f"{MEASURED['now'][command]['seconds']:.1f} s", printed("first", command), printed("now", command)]
        cells += [written("first", command), written("now", command)]
        assert f"| {label} | {' | '.join(cells)} |" in PAGE
    assert (
        MEASURED["units"] == 1000
        and f"Of `compare`'s {MEASURED['now']['compare --runs DIR']['processor_seconds']} s" in PAGE
    )
