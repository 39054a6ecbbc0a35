"""Numbers in the sentences of docs/results.md, put together again from the data."""

import json

import numpy as np

from tests.reproduction.test_coordination_numbers import late_of, stored
from tests.reproduction.test_documented_numbers import ROOT, mean, text
from tests.reproduction.test_family_numbers import PENALTIES

PAGE = text("docs/results.md")


def actor_critics(environment):
    return [one for one in stored("actor-critics.json") if one["config"]["environment"]["name"] == environment]


def test_the_optimum_beside_actor_critics_is_that_of_the_data():
    optimal = {
        one["config"]["environment"]["penalty"]: one["config"]["references"]["optimal"]
        for one in actor_critics("predator-prey")
    }
    assert f"| optimum | | {' | '.join(f'{optimal[penalty]:.2f}' for penalty in PENALTIES)} |" in PAGE


def test_what_ippo_and_iql_reach_with_a_small_penalty_is_told_as_it_is():
    told = f"reaches {mean('predator-prey', 'visible iql', 0.3)} at P = 0.3 with the teammate visible."
    assert told in PAGE
    [ippo] = [
        one
        for one in actor_critics("predator-prey")
        if one["config"]["environment"]["penalty"] == 0.3
        and one["config"]["environment"]["observe_teammate"]
        and one["config"]["algorithm"]["name"] == "ippo"
        and not one["config"]["algorithm"]["forgive_beyond"]
    ]
    curve = dict(zip(ippo["steps"], np.asarray(ippo["returns"]).mean(axis=0), strict=True))
    assert f"at the end (from {curve[1_024_000]:.1f} to {curve[2_048_000]:.1f} in the second half," in PAGE


def test_how_actor_critics_were_run_is_told_as_it_was():
    note = json.loads((ROOT / "results" / "actor-critics.json").read_text())["note"]
    plain = [one for one in actor_critics("predator-prey") if not one["config"]["algorithm"]["forgive_beyond"]]
    assert f"All {sum(len(one['seeds']) for one in plain)} runs took 76 s side by side" in PAGE and "took 76 s" in note


def test_the_seed_of_ippo_that_stays_behind_is_told():
    [one] = [one for one in actor_critics("3m") if one["config"]["algorithm"]["name"] == "ippo"]
    behind, *others = sorted(100 * late_of(one | {"returns": one["reports"]["win_rate"]}))
    assert f"and one seed then stays at {behind:.0f} %." in PAGE and min(others) > 70


def test_how_long_the_family_took_is_told_as_it_was():
    seconds = {one["config"]["algorithm"]["name"]: one["seconds"] for one in stored("family.json")}
    tables = seconds.pop("i2q-tabular")
    low, high = (round(end(seconds.values()) / 10) * 10 for end in (min, max))
    assert f"{low} to {high} s each (`i2q-tabular` {tables:.0f} s)" in PAGE


def test_who_meets_in_the_penalty_game_is_told_as_it_is():
    scores = {}
    for one in json.loads((ROOT / "results" / "coordination-games.json").read_text())["runs"]:
        scores |= {method: np.asarray(by_game["penalty"]) for method, by_game in one["scores"].items()}
    met = (scores["dac"] == 1.0).sum()
    assert f"(on {met} of {scores['dac'].size} seeds; the others score 0)" in PAGE and (scores["dac"] == 0).sum() == 8
    assert "as distributed Q-learning does on two of ten seeds" in PAGE and (scores["distributed"] == 0).sum() == 2
