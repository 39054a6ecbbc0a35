"""The second opinion in PyTorch: it sees the same hunt, and makes the same update from the same parameters."""

import importlib
import json
from pathlib import Path

import jax.numpy as jnp
import numpy as np
import pytest

from decentral.deviation import mean_and_spread
from decentral.environments.predator_prey import PredatorPrey
from decentral.environments.predator_prey.environment import Hunt

ROOT = Path(__file__).parents[2]
KEPT = ROOT / "results" / "second-opinion"
FIRST, OTHERS = slice(5), slice(5, None)  # of the seeds


@pytest.fixture
def part(monkeypatch):
    """A module of the program, which lies outside the package."""
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks" / "second_opinion"))
    return importlib.import_module


def test_both_predators_see_what_the_library_shows(part):
    hunt = part("hunts").VisibleHunt(0.5, np.random.default_rng(0))
    for _ in range(5):
        seen = hunt.reset()
        shown = PredatorPrey(observe_teammate=True).perceive(Hunt(jnp.asarray(hunt.cells)))
        assert np.array_equal(seen, shown.observation)


def test_one_predator_beside_the_prey_costs_and_two_catch_it(part):
    hunt = part("hunts").VisibleHunt(0.7, np.random.default_rng(0))
    hunt.rng = _NeverMoves()
    hunt.cells = [0, 24, 2]
    assert hunt.step([3, 2])[1] == -0.7  # from the corner to the prey's left
    hunt.cells = [1, 3, 2]
    assert hunt.step([2, 2])[1] == 1.0 and hunt.cells[:2] == [1, 3] and hunt.cells[2] not in (1, 2, 3)


class _NeverMoves:
    def integers(self, count):
        return 2  # stay; the third free cell


@pytest.mark.parametrize("method", ["iql", "dac"])
def test_both_implementations_make_the_same_update(part, monkeypatch, method):
    pytest.importorskip("torch")
    agreement = part("agreement")
    monkeypatch.setattr(agreement, "UPDATES", 1)
    found = agreement.agreement(method)
    assert found["gradient, largest"] > 0.01
    assert all(found[name] < 1e-5 for name in found if name.endswith("difference"))


def test_the_agreement_kept_is_one():
    for found in json.loads((KEPT / "agreement.json").read_text()).values():
        assert max(found[name] for name in ("loss, difference", "gradient, difference")) < 1e-5
        assert found["parameters after 1, difference"] < 1e-5


def page():
    return " ".join((ROOT / "docs" / "reproduction.md").read_text().split())


def test_the_agreement_told_is_the_one_kept():
    for method, found in json.loads((KEPT / "agreement.json").read_text()).items():
        names = ("loss", "gradient", *(f"parameters after {updates}" for updates in (1, 5, 10)))
        apart = [f"{found[f'{name}, difference']:.0e}".replace("e-0", "e-").replace("0e+00", "0") for name in names]
        assert f"| {method.upper()} | {found['loss']:.3f} | {' | '.join(apart)} |" in page()


def test_how_the_first_seeds_and_the_others_end_is_told_as_it_is():
    [pair] = [one for one in json.loads((KEPT / "learned.json").read_text()) if one["method"] == "iql"]
    torch, library = (np.asarray(pair[name])[:, -1] for name in ("torch", "library"))
    first, others = ([mean_and_spread(ends[some]) for ends in (torch, library)] for some in (FIRST, OTHERS))
    assert f"first five ended at {first[0]} in PyTorch and at {first[1]} here," in page()
    assert f"ten more seeds of the library ended at {others[1]}, and ten more in PyTorch," in page()
    assert f"between chance and a cause, at {others[0]}." in page() and len(torch) == len(library) == 15


@pytest.mark.parametrize("name", ["curves", "learned"])
def test_the_curves_told_are_those_kept(part, name):
    pairs = json.loads((KEPT / f"{name}.json").read_text())
    table = part("compare").table_of(pairs)
    assert (KEPT / f"{name}.md").read_text() == table + "\n"
    assert table in (ROOT / "docs" / "reproduction.md").read_text()


def test_means_that_differ_by_less_than_chance_agree(part):
    low, high = part("compare").difference(np.asarray([1.0, 2.0, 3.0]), np.asarray([1.0, 2.0, 3.0]))
    # Both have variance 1, so the error is sqrt(2 / 3) with 4 degrees of freedom, whose 97.5 % point is 2.776.
    assert (low, high) == pytest.approx((-2.776 * (2 / 3) ** 0.5, 2.776 * (2 / 3) ** 0.5), abs=1e-3)
