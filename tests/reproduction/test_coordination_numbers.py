"""The numbers of the pages about learners that hold everywhere are those of the data."""

import json

import numpy as np

from decentral.deviation import mean_and_spread
from tests.reproduction.test_documented_numbers import ROOT, text


def late(run):
    steps, returns = np.asarray(run["steps"]), np.asarray(run["returns"]).T
    return returns[:, steps * 10 >= steps[-1] * 9].mean(axis=1)


def test_what_forgiving_by_what_is_earned_gives_is_told_as_it_is():
    sweeps = json.loads((ROOT / "results" / "earning.json").read_text())["sweeps"]
    for view, sweep in sweeps.items():
        for penalty in (0.3, 1.0):
            names = [f"forgive_beyond={share:g},penalty={penalty:g}" for share in (0.25, 0.5, 0.9, 1.5)]
            cells = " | ".join(mean_and_spread(late(sweep["runs"][name]), digits=1) for name in names)
            assert f"| {view} | {penalty} | {cells} |" in text("docs/algorithms/forgiving.md")


def test_the_table_of_the_two_games_is_that_of_the_data():
    page = text("docs/results.md")
    for run in json.loads((ROOT / "results" / "coordination-games.json").read_text())["runs"]:
        steps, share = f"{int(run['provenance']['command'].split()[-1]):,}", run["provenance"]["earning share"]
        for method, scores in run["scores"].items():
            name = f"{method} ({share:g})" if method.startswith("earning") else method
            cells = " | ".join(
                f"{np.mean(scores[game]):.2f} ({min(scores[game]):.2f})" for game in ("climbing", "penalty")
            )
            assert f"| {name} | {steps} | {cells} |" in page


def test_the_table_of_actor_critics_is_that_of_the_data():
    endings = {}
    for run in json.loads((ROOT / "results" / "actor-critics.json").read_text())["runs"]:
        world = run["config"]["environment"]
        row = run["config"]["algorithm"]["name"], "visible" if world["observe_teammate"] else "hidden"
        returns = np.asarray(run["returns"]).T
        endings.setdefault(row, {})[world["penalty"]] = late({"steps": run["steps"], "returns": returns})
    for (method, view), ends in endings.items():
        cells = " | ".join(mean_and_spread(ends[penalty], digits=2) for penalty in (0.0, 0.3, 0.5, 1.0))
        assert f"| {method} | {view} | {cells} |" in text("docs/results.md")


def test_what_is_told_of_continuous_actions_is_that_of_the_data():
    [run] = json.loads((ROOT / "results" / "spread-continuous.json").read_text())["runs"]
    returns = np.asarray(run["returns"])
    told = f"rise from {returns[:, 0].mean():.1f} to {mean_and_spread(returns[:, -1], digits=1)} within 200,000 steps"
    assert told in text("docs/algorithms/ippo.md") and returns.shape[0] == 5
