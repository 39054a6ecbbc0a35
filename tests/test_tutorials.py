"""The tutorials, run cell by cell without Jupyter: what they tell is so."""

import json

import numpy as np
from website.notebooks import code_cells, page_of, run_notebook

from tests.pages import DOCS


def read(name):
    return json.loads((DOCS / "tutorials" / f"{name}.ipynb").read_text())


def test_contexts_tell_apart_what_pays_differently():
    notebook = read("contexts")
    found = run_notebook(notebook)
    assert found["runs"]["dac"].returns[0, -1] == 8.0 > found["runs"]["iql"].returns[0, -1]
    np.testing.assert_allclose(found["first"].values, [8, 6, 6], atol=0.5)
    payoff = found["game"].payoff
    for own in range(3):
        for one in range(3):
            for other in range(3):
                alike = found["first"].inferred[own, one] == found["first"].inferred[own, other]
                assert alike == (payoff[own, one] == payoff[own, other])
    assert "image/png" in list(code_cells(notebook))[-1]["outputs"][-1]["data"]


def test_people_agree_on_an_order_before_the_door():
    found = run_notebook(read("own_world"))
    assert found["run"].returns[:, -1].tolist() == [2.0, 2.0]


def test_what_the_site_shows_was_printed_by_the_cells():
    """Outputs are stored, none is missing, and a page holds them in their order."""
    for name in ("contexts", "own_world"):
        notebook = read(name)
        assert [cell["execution_count"] for cell in code_cells(notebook)] == list(
            range(1, 1 + len(list(code_cells(notebook))))
        )
    page, pictures = page_of(read("contexts"), "contexts")
    assert page.startswith("# DAC on the matrix game")
    assert page.index("print(game.payoff)\n```\n\n```text\n[[  8. -12. -12.]") < page.index("](contexts-1.png)")
    assert list(pictures) == ["contexts-1.png"] and pictures["contexts-1.png"].startswith(b"\x89PNG")
