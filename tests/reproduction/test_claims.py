"""What docs/reproduction.md says is what the data in results/reproduction say."""

from pathlib import Path

import pytest
from matplotlib.figure import Figure

from decentral.reproduction.claims import CLAIMS, claims_table, findings_in
from decentral.reproduction.reproduce import redraw
from decentral.reproduction.target import ClaimFinding
from decentral.reproduction.targets import TARGETS

ROOT = Path(__file__).parents[2]
DATA = ROOT / "results" / "reproduction"


def test_the_table_of_claims_is_up_to_date():
    told = (ROOT / "docs" / "reproduction.md").read_text()
    table = told.split("<!-- claims -->\n")[1].split("\n<!-- end of claims -->")[0]
    assert table == claims_table(findings_in(DATA)), "run decentral reproduce --claims results/reproduction"


def test_claims_that_were_read_alike_share_a_line():
    found = {name: ClaimFinding("1.0", "reproduced", way) for name, way in (("C2", "so"), ("C4", "else"), ("C9", "so"))}
    table, lines = claims_table(found).split("\n\nHow the claims were read:\n\n")
    assert "| C9 |" in table and "| 1.0 | reproduced |" in table and lines == "- C2, C9: so.\n- C4: else."
    assert claims_table({}).endswith("|  | not yet run |")


@pytest.mark.parametrize("name", ["controls", "extensions", "appendix-a"])
def test_the_tables_told_are_those_kept(name):
    table = (DATA / f"{name}.md").read_text().split("\n\n", 1)[1].strip()
    assert table.startswith("|") and table in (ROOT / "docs" / "reproduction.md").read_text()


@pytest.fixture
def drawn_once(monkeypatch):
    """A figure is laid out anew for every format, which takes most of the time: here for one of them."""
    save = Figure.savefig
    monkeypatch.setattr(Figure, "savefig", lambda own, file, **how: file.suffix == ".png" or save(own, file, **how))


@pytest.mark.parametrize("name", [file.stem for file in sorted(DATA.glob("*.json"))])
def test_the_tables_kept_are_those_of_the_data(name, tmp_path, drawn_once):
    redraw(DATA / f"{name}.json", tmp_path)
    assert (tmp_path / f"{name}.md").read_text() == (DATA / f"{name}.md").read_text()
    assert (tmp_path / f"{name}.svg").is_file()


def test_every_claim_is_spoken_to_by_one_target_at_most():
    spoken = [claim for target in TARGETS.values() for claim in target.claims]
    assert len(set(spoken)) == len(spoken) and set(spoken) <= {claim.name for claim in CLAIMS}
    assert [claim.name for claim in CLAIMS] == [f"C{number}" for number in range(1, 23)]


def test_targets_find_what_they_claim_to():
    kept = [target for name, target in TARGETS.items() if (DATA / f"{name}.json").exists()]
    whole = {claim for target in kept if not target.grows for claim in target.claims}
    growing = {claim for target in kept if target.grows for claim in target.claims}
    assert whole <= set(findings_in(DATA)) <= whole | growing


def test_every_figure_kept_is_shown():
    told = (ROOT / "docs" / "reproduction.md").read_text()
    for file in DATA.glob("*.json"):
        assert f"](../results/reproduction/{file.stem}.png)" in told
