"""The numbers of the pages about learners that hold everywhere are those of the data."""

import importlib
import json
import re
from dataclasses import replace
from functools import cache

import matplotlib.pyplot as plt
import numpy as np
import pytest

from decentral.analysis.results import late_returns
from decentral.analysis.suite_scores import scale_of
from decentral.configs.config import Config
from decentral.deviation import mean_and_spread
from decentral.reproduction.battle_curves import battle_panel, endings_of
from decentral.reproduction.battle_pieces import at_common_steps
from decentral.reproduction.pieces import curves_in
from decentral.reproduction.record import Record
from decentral.sweeps.suites import SUITES, planned_runs
from tests.reproduction.test_documented_numbers import ROOT, text

IN_THREES = (
    "lenient",
    "earning-iql",
    "i2q",
    "forgiving-iql",
    "hysteretic",
    "iql",
    "dac",
)  # trained on three predators, besides patient and actor-critics
ACTOR_CRITICS = {"ippo", "dpo", "tvpo", "ia2c"}
PATIENT, EVIDENCE = "docs/algorithms/patient.md", "docs/algorithms/patient-evidence.md"
HELD_OUT_HUNTS = ("visible-P0.2", "visible-P0.75", "visible-P0.5-4x4", "visible-P0.5-6x6")
NEWLY = {"rac", "bql", "ma2ql", "i2q-forward"}  # have hunted on five seeds
RANDOM_PORTERS, BEST_PORTERS = 0.08969, 27.76268  # both exact


@pytest.fixture(scope="module")
def coordination():
    with pytest.MonkeyPatch.context() as patched:
        patched.syspath_prepend(str(ROOT / "benchmarks"))
        yield importlib.import_module("coordination")


@pytest.fixture(scope="module")
def curves(coordination):
    """Of a run of a file, battles at the same steps for all seeds."""
    return coordination.curves_of


@pytest.fixture(scope="module")
def scores(coordination):
    """Of the suite `coordination`."""
    return coordination.stored_scores()


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
            assert f"| {name} | {steps} | {in_games(scores)} |" in page


def in_games(scores):
    return " | ".join(f"{np.mean(scores[game]):.2f} ({min(scores[game]):.2f})" for game in ("climbing", "penalty"))


def test_games_of_the_suites_own_length_are_told_as_they_are(scores):
    page, ends, best = text("docs/results.md"), {}, {}
    for run in stored("suite.json"):
        if run["config"]["environment"]["name"] == "matrix-game":
            game = {11: "climbing", 10: "penalty"}[run["config"]["environment"]["payoff"][0][0]]
            plan = run["config"]["training"]
            assert (plan["steps"], plan["epsilon_steps"], plan["seed"], plan["seeds"]) == (50_000, 50_000, 310, 10)
            key = run["config"]["algorithm"]["name"], game
            ends[key], best[key] = np.asarray(run["returns"])[:, -1], np.max(run["returns"], axis=1)
    assert {method for method, _ in ends} == {"rac", "bql", "i2q-forward", "ma2ql"} and len(ends) == 8
    for method, _ in ends:
        assert f"| {method} | 50,000 | {in_games(scores[method])} |" in page
    assert "every seed is at 10 at some test, and three of ten end at -100" in page
    assert (best["bql", "penalty"] == 10).all() and (ends["bql", "penalty"] == -100).sum() == 3
    told = (
        "eight of ten seeds end at 11 and two at 7. In the penalty game, which has two best joint actions, all ten are"
    )
    assert f"{told} at 10 at some time, and after 50,000 steps three are at -100." in text("docs/algorithms/bql.md")
    assert [(ends["bql", "climbing"] == end).sum() for end in (11, 7)] == [8, 2]
    assert "in climbing, at 11. In the penalty game with k = -100 it settles for the safe 2 (ten seeds" in text(
        "docs/algorithms/rac.md"
    )
    assert (ends["rac", "climbing"] == 11).all() and (ends["rac", "penalty"] == 2).all()
    assert "in the penalty game it settles for 6 of 11 and 2 of 10 as well" in text("docs/algorithms/ma2ql.md")
    for method in ("ma2ql", "i2q-forward"):
        assert (ends[method, "climbing"] == 6).all() and (ends[method, "penalty"] == 2).all()


def stored(name):
    return json.loads((ROOT / "results" / name).read_text())["runs"]


def late_of(run):
    return late(run | {"returns": np.asarray(run["returns"]).T})


def view(run):
    return "visible" if run["config"]["environment"]["observe_teammate"] else "hidden"


def test_the_table_of_actor_critics_is_that_of_the_data(curves):
    endings, battles = {}, {}
    for run in stored("actor-critics.json"):
        method, world = run["config"]["algorithm"], run["config"]["environment"]
        if world["name"] != "predator-prey":
            battles[method["name"], world["name"]] = 100 * won_late(curves(run))
            continue
        share = method["forgive_beyond"]
        name = f"{method['name']}, `forgive_beyond` {share:g}" if share else method["name"]
        endings.setdefault((name, view(run)), {})[world["penalty"]] = late_of(run)
    page = text("docs/results.md")
    for (name, seen), ends in endings.items():
        cells = " | ".join(mean_and_spread(ends[penalty], digits=2) for penalty in (0.0, 0.3, 0.5, 1.0))
        assert f"| {name} | {seen} | {cells} |" in page
    wins = {fight: mean_and_spread(won, digits=1) for fight, won in battles.items()}
    assert f"wins {wins['ippo', '3m']} % and {wins['ippo', '5m_vs_6m']} % of its greedy tests" in page
    own = ("dpo", "tvpo", "ia2c")
    dpo, tvpo, ia2c = (f"{wins[method, '3m']} % and {wins[method, '5m_vs_6m']} %" for method in own)
    told = f"DPO, run the same way on seeds 310 to 314, wins {dpo}, TVPO {tvpo}, IA2C {ia2c}."
    assert told in page and len(wins) == 9
    won, highest = sorted(battles["dpo", "5m_vs_6m"]), max(battles["ippo", "5m_vs_6m"])
    each, of_tvpo = (
        "{:.0f}, {:.0f}, {:.0f}, {:.0f} and {:.0f} %".format(*sorted(battles[method, "5m_vs_6m"]))
        for method in ("dpo", "tvpo")
    )
    told = f"they win {each}, and those of TVPO {of_tvpo}, where no seed of IPPO wins more than {highest:.0f} %"
    assert told in page
    steadiest = min(("ippo", *own), key=lambda method: battles[method, "3m"].std(ddof=1))
    assert steadiest == "ia2c" and "On `3m` IA2C, with one step on each batch, is the steadiest of the four." in page
    assert f"MAPPO, whose critic sees all, wins {wins['mappo', '3m']} % of `3m`: more than any of them." in page
    assert all(battles["mappo", "3m"].mean() > battles[method, "3m"].mean() for method in ("ippo", *own))
    [fight] = [
        run
        for run in stored("actor-critics.json")
        if (run["config"]["algorithm"]["name"], run["config"]["environment"]["name"]) == ("dpo", "5m_vs_6m")
    ]
    played = np.asarray(fight["seed_steps"])[:, -1] / 1e6
    best = played[np.argmax(battles["dpo", "5m_vs_6m"])]
    told = f"had played {best:.1f} M steps, and the longest {played.max():.1f} M, when the shortest reached"
    assert f"{told} {played.min():.0f} M." in page
    own = text("docs/algorithms/dpo.md")
    assert f"it wins {wins['dpo', '3m']} % on `3m` and {wins['dpo', '5m_vs_6m']} % on `5m_vs_6m` (five seeds" in own
    told = f"one seed wins {won[-1]:.0f} % and two win none; IPPO wins {wins['ippo', '5m_vs_6m']} % there."
    assert told in own and won[1] < 0.5 < won[2]
    told = f"IPPO wins {wins['ippo', '3m']} % and IA2C {wins['ia2c', '3m']} %, on `5m_vs_6m` IPPO wins"
    assert f"{told} {wins['ippo', '5m_vs_6m']} %" in text("docs/algorithms/ippo.md")
    [beside] = stored("iql-3m.json")
    won = 100 * won_late(curves(beside))
    assert f"IQL wins {mean_and_spread(won, digits=1)} % of `3m` with" in page
    screened = [won_late(curves(run)) for run in stored("ippo-entropy.json")]
    words = [mean_and_spread(100 * of_seeds, digits=1) for of_seeds in screened]
    assert f"0.01, 0.03 and 0.1 win {words[0]}, {words[1]} and {words[2]} % in the last tenth" in page


def test_what_patience_reaches_is_told_as_it_is():
    page = text(EVIDENCE)
    endings = {}
    for run in stored("patient.json"):
        method, world = run["config"]["algorithm"], run["config"]["environment"]
        if world["name"] == "predator-prey":
            iql = "forgiving-iql" if method["forgive"] else "earning-iql"
            name = "patient" if method["name"] == "patient" else iql
            endings.setdefault((name, view(run)), {})[world["penalty"]] = late_of(run)
    for run in stored("patient-one-step.json"):
        world = run["config"]["environment"]
        if world["name"] == "predator-prey" and (world["num_predators"], run["seeds"][0]) == (2, 310):
            endings.setdefault(("patient, lambda = 0", view(run)), {})[world["penalty"]] = late_of(run)
    assert len(endings) == 8
    for (name, seen), ends in endings.items():
        assert all(len(seeds) == 10 for seeds in ends.values())
        cells = " | ".join(mean_and_spread(ends[penalty], digits=2) for penalty in (0.0, 0.3, 0.5, 1.0))
        assert f"| {name} | {seen} | {cells} |" in page
    chosen = {}
    for run in stored("patient-shares.json"):
        method, penalty = run["config"]["algorithm"], run["config"]["environment"]["penalty"]
        row = chosen.setdefault((method["name"], view(run), penalty), {})
        row[method["forgive_beyond"]] = mean_and_spread(late_of(run), digits=1)
    for (name, seen, penalty), cells in chosen.items():
        row = " | ".join([name, seen, str(penalty), *(cells.get(share, "") for share in (0.0, 0.5, 1.5, 3.0))])
        assert f"| {' '.join(row.split())} |" in page


def test_the_optimum_and_the_planner_beside_patience_are_those_of_the_data():
    page, optimal = text(EVIDENCE), {}
    for run in stored("patient.json"):
        if run["config"]["environment"]["name"] == "predator-prey":
            optimal[run["config"]["environment"]["penalty"]] = run["config"]["references"]["optimal"]
    planned = json.loads((ROOT / "results" / "hidden-planner.json").read_text())["found"].values()
    assert f"| optimum | | {' | '.join(f'{optimal[penalty]:.2f}' for penalty in (0.0, 0.3, 0.5, 1.0))} |" in page
    cells = " | ".join(f"{found['returned']:.2f}" for found in planned)
    assert f"| [a planner](../reproduction.md#readings) | hidden | {cells} |" in page


def test_where_patience_is_not_best_is_told_as_it_is():
    ends = {}
    for run in (*stored("patient.json"), *stored("patient-one-step.json")):
        method, world = run["config"]["algorithm"], run["config"]["environment"]
        if world["name"] == "predator-prey" and world["penalty"] == 1.0 and not world["observe_teammate"]:
            ends[method["name"], bool(method["forgive"]), method["td_lambda"]] = late_of(run)
    schedule, *patients = (
        ends[which] for which in (("iql", True, 0.0), ("patient", False, 0.0), ("patient", False, 0.5))
    )
    before, now = (schedule.mean() - patient.mean() for patient in patients)
    told = (
        f"the tuned schedule was ahead of them by {before:.1f}, and is behind patient by {-now:.1f} now (all vary by 2"
    )
    assert f"Hidden at P = 1.0 {told}" in text(EVIDENCE)
    assert {round(scores.std(ddof=1)) for scores in (schedule, *patients)} == {2}
    free = {
        run["config"]["algorithm"]["name"]: late_of(run).mean()
        for run in stored("patient.json")
        if run["config"]["environment"].get("penalty") == 0 and view(run) == "hidden"
    }
    cost = f"{free['iql'] - free['patient']:.1f}"  # IQL forgives nothing where there is no penalty
    assert f"Patience costs {cost} at P = 0 with the teammate hidden" in text(EVIDENCE)


def test_the_scores_of_the_suite_are_told_as_they_are(coordination, scores):
    best, second, *others = coordination.summaries(scores)
    page = text(EVIDENCE)
    assert f"on ten tasks of hunts and games** ({best.mean:.2f} and {best.worst:.2f})" in text(PATIENT)
    assert "is next. No other method is above 0.6 on its worst task." in text(PATIENT)
    assert best.mean >= 0.95 and best.worst >= 0.85 and best.worst == max(row.worst for row in (best, second, *others))
    assert (best.method, second.method) == ("patient", "forgiving-iql") and all(row.worst < 0.6 for row in others)
    porters = scores["patient"]["porters"]
    *alone, low, high = sorted(porters)
    assert f"two of them: {porters.mean():.2f}." in page and (porters > 0.9).sum() == 2
    assert f"**Porters: {porters.mean():.2f}.** Two of ten seeds learn to lift heavy loads together;" in text(PATIENT)
    assert f"Two of ten seeds learn to lift heavy loads together and reach {low:.2f}; the others" in page
    assert f"the others stay at {np.mean(alone):.2f}." in page and np.ptp(alone) < 0.02 and high - low < 0.005
    [one_step] = [run for run in stored("patient-one-step.json") if run["config"]["environment"]["name"] == "porters"]
    before = (late_of(one_step) - RANDOM_PORTERS) / (BEST_PORTERS - RANDOM_PORTERS)
    assert f"three of the same ten seeds do, and score {before.mean():.2f}." in page and (before > 0.9).sum() == 3
    on_porters = {method: by_task["porters"] for method, by_task in scores.items() if "porters" in by_task}
    lifted = {method: (score > 0.9).sum() for method, score in on_porters.items() if (score > 0.9).any()}
    assert len(on_porters) == 15 and lifted == {"patient": 2, "lenient": 1}
    failed = np.concatenate([score[score < 0.9] for method, score in on_porters.items() if method != "patient"])
    assert f"all other seeds end at {failed.min():.2f} to {failed.max():.2f}." in page
    for method, score in on_porters.items():
        returns = RANDOM_PORTERS + score * (BEST_PORTERS - RANDOM_PORTERS)
        row = f"| {method} | {mean_and_spread(returns, digits=2)} | {score.mean():.2f} |"
        assert row in text("docs/environments/porters.md")
    assert (2 + len(others), len(best.scores)) == (16, 10) and "Scores of sixteen methods on ten tasks" in text(PATIENT)
    assert "of sixteen decentralised methods on ten tasks" in text("README.md")


def test_the_tables_of_the_suite_have_the_scores_of_the_data(coordination, scores):
    page = text(EVIDENCE)
    assert " ".join(" ".join(coordination.table(scores)).split()) in page
    fights = {method: by_task["5m_vs_6m"].mean() for method, by_task in scores.items() if "5m_vs_6m" in by_task}
    named = {
        method: f"{fights.pop(method):.2f}" for method in ("patient", "iql", "forgiving-iql", "dpo", "ippo", "i2q")
    }
    assert f"1 M steps: {named['patient']}**" in page
    assert f"**Battles: {named['patient']} on `5m_vs_6m`**" in text(PATIENT)
    assert f"IQL has {named['iql']} on five seeds and {named['forgiving-iql']} on five others" in page
    assert np.array_equal(*(scores[name]["5m_vs_6m"] for name in ("forgiving-iql", "earning-iql")))
    del fights["earning-iql"]
    told = f"DPO {named['dpo']}, IPPO {named['ippo']}, I2Q {named['i2q']}, and the others {min(fights.values()):.2f} to"
    assert f"{told} {max(fights.values()):.2f};" in page and len(fights) == 7
    *four, one = sorted(scores["dpo"]["5m_vs_6m"])
    assert f"One seed of DPO has {one:.2f} (its other four {four[0]:.2f} to {four[-1]:.2f})" in page
    *four, one = sorted(scores["forgiving-iql"]["5m_vs_6m"])
    assert f"and one of IQL {one:.2f}." in page
    others = [
        by_task["5m_vs_6m"].max() for method, by_task in scores.items() if method in {*fights, "iql", "ippo", "i2q"}
    ]
    assert max(*four, *others, *scores["patient"]["5m_vs_6m"]) < 0.6
    ends = endings_of(battle_panel(Record.read(ROOT / "results/reproduction/smac.json").results, "5m_vs_6m", False))
    won = [100 * ends[name].win_rate for name in ("iql", "hysteretic", "i2q")]
    assert f"win {min(won):.0f} to {max(won):.0f} % of their battles [after 2 M steps]" in page
    shared = coordination.SHARED
    told = [
        (np.mean(means), np.min(means))
        for row in coordination.summaries(scores)
        if {"three-predators", "porters"} <= {*scores[row.method]}
        for means in [[scores[row.method][task].mean() for task in (*shared, "three-predators", "porters")]]
    ]
    (mean, worst), (second, second_worst), (third, third_worst), *others = told
    assert f"patient's mean is {mean:.2f} and its worst {worst:.2f}**" in page and len(others) == 9
    assert f"has {second:.2f} and {second_worst:.2f}, hysteretic {third:.2f} and {third_worst:.2f}." in page
    assert max(told) == told[0] and max(lowest for _, lowest in told) == worst


def test_the_goal_is_told_as_reached_and_as_missed(coordination, scores, held_out):
    page, (_, seeds) = text(PATIENT), held_out
    assert " ".join(" ".join(coordination.summary_table(scores, seeds)).split()) in page
    everything = [task.name for task in SUITES["coordination"]]
    [of_all] = coordination.summaries({"patient": scores["patient"]}, everything)
    best, *others = coordination.summaries(seeds, coordination.HELD_OUT)
    assert f"**and on the held-out suite** ({best.mean:.2f} and {best.worst:.2f})" in page
    assert best.method == "patient" and best.mean >= 0.95 and best.worst >= 0.85
    assert best.worst > max(row.worst for row in others) and len(others) == 11
    assert f"**missed on all fourteen tasks of the suite** ({of_all.mean:.2f} and {of_all.worst:.2f})" in page
    assert len(everything) == 14 and of_all.mean < 0.95 and of_all.worst < 0.85
    below = {task for task in everything if scores["patient"][task].mean() < 0.85}
    assert below == {"three-predators", "porters", "5m_vs_6m", "2s3z"}
    told = f"porters and battles; three predators, at {scores['patient']['three-predators'].mean():.2f}, are below 0.85"
    assert f"{told} too." in page
    mean, worst = coordination.summary_cells(of_all)
    assert f"battles included, it has {mean} and {worst}.**" in text(EVIDENCE)
    whole = {method: by_task for method, by_task in scores.items() if {*everything} <= {*by_task}}
    rows = {row.method: row for row in coordination.summaries(whole, everything)}
    names = ("forgiving-iql", "earning-iql", "hysteretic", "lenient", "iql", "dac")
    shown = "forgiving IQL has {}, earning IQL {}, hysteretic {}, lenient {}, IQL {}, DAC {}."
    words = [" and ".join(coordination.summary_cells(rows[name])) for name in names]
    assert f"Six more methods have been trained on all fourteen: {shown.format(*words)}" in text(EVIDENCE)
    words = [f"{rows[name].mean:.2f} and {rows[name].worst:.2f}" for name in names]
    assert f"Of the seven methods that have all fourteen it is ahead on both: {shown.format(*words)}" in page
    assert {*rows} == {"patient", *names}
    assert of_all.worst == max(row.worst for row in rows.values())
    assert of_all.mean == max(row.mean for row in rows.values())
    [hysteretic] = [row for row in others if row.method == "hysteretic"]
    low, high = coordination.difference(seeds, "patient", "hysteretic", coordination.HELD_OUT)
    told = f"of {best.mean:.2f} against hysteretic's {hysteretic.mean:.2f} may be chance: the 95 % interval of the"
    assert f"{told} difference is {low:.3f} to {high:.3f}." in page and low < 0 < high


def test_where_others_are_ahead_of_patience_is_told(coordination, scores, held_out):
    page, patient = text(PATIENT), scores["patient"]
    decentralised = {method: by_task for method, by_task in scores.items() if method not in coordination.CENTRALISED}
    ahead = {
        task: {
            method: by_task[task].mean() - patient[task].mean()
            for method, by_task in decentralised.items()
            if task in by_task and by_task[task].mean() > patient[task].mean()
        }
        for task in patient
    }
    ahead = {task: methods for task, methods in ahead.items() if methods}
    shown = " ".join(page.split())
    assert max(lead for methods in ahead.values() for lead in methods.values()) < 0.031 and len(patient) == 14
    assert "**On none of the fourteen is any other decentralised method ahead of it by more than 0.031.**" in shown
    assert "no other decentralised method is ahead of it by more than 0.031" in " ".join(text("README.md").split())
    free, hidden = ahead.pop("visible-P0"), ahead.pop("hidden-P0")
    assert {*free} == {"hysteretic", "i2q", "lenient"} and max(free.values()) < 0.01
    assert "At P = 0 hysteretic, I2Q and lenient are ahead of it by less than 0.01 with the teammate visible" in shown
    assert {*hidden} == {"i2q", "lenient", "iql", "forgiving-iql", "earning-iql"}
    least, most = min(hidden.values()), max(hidden.values())
    assert f"earning IQL by {least:.2f} to {most:.2f} with the teammate hidden" in shown
    three, battle = ahead.pop("three-predators"), ahead.pop("5m_vs_6m")
    assert {*three} == {"lenient", "earning-iql"} and {*battle} == {"forgiving-iql", "earning-iql"}
    told = f"lenient and earning IQL by {three['earning-iql']:.2f} to {three['lenient']:.2f}, and on `5m_vs_6m`"
    assert f"{told} five seeds of IQL by {battle['earning-iql']:.2f}." in shown
    assert {task: {*methods} for task, methods in ahead.items()} == {
        task: {"earning-iql"} for task in ("visible-P0.5", "visible-P1")
    }
    assert max(ahead[task]["earning-iql"] for task in ahead) < 0.01
    assert "Visible at P = 0.5 and 1.0 earning IQL is ahead by less than 0.01" in shown
    games = [task for task in coordination.HELD_OUT if task not in HELD_OUT_HUNTS]
    found = [
        sum((held_out[1][name][game] == 1).sum() for game in games) for name in ("patient", "hysteretic", "lenient")
    ]
    assert found == [38, 40, 40] and "the best joint action in all 40 runs, patient in 38." in page


def test_who_dares_in_hunts_is_told(scores, coordination):
    page = " ".join(text(EVIDENCE).split())
    mean = {
        row.method: {task: of.mean() for task, of in scores[row.method].items()}
        for row in coordination.summaries(scores)
    }
    hidden = {
        method: [by_task[f"hidden-P{penalty}"] for penalty in ("0.3", "0.5", "1")] for method, by_task in mean.items()
    }
    assert {method for method, of in hidden.items() if min(of) > 0.6} == {"patient", "forgiving-iql", "earning-iql"}
    assert [score > 0.6 for score in hidden["hysteretic"]] == [True, False, False]
    assert [score > 0.6 for score in hidden["dac"]] == [True, True, False]
    others = {*hidden} - {"patient", "forgiving-iql", "earning-iql", "hysteretic", "dac"}
    stay = [score for method in others for score in hidden[method]]
    assert f"and all others stay there at {min(stay):.2f} to {max(stay):.2f}, which is what" in page
    few, more = ({method: mean[method][f"visible-P{penalty}"] for method in mean} for penalty in ("0.3", "0.5"))
    assert f"({few['rac']:.2f} both times), lenient too ({few['lenient']:.2f} and {more['lenient']:.2f});" in page
    assert f"{few['rac']:.2f}" == f"{more['rac']:.2f}" and mean["rac"]["visible-P1"] < 0.5
    three = [few[method] for method in ("i2q-forward", "ma2ql", "bql")]
    assert f"come to {min(three):.2f} to {max(three):.2f} at 0.3" in page
    dare = [(scores[method]["visible-P0.5"] > 0.5).sum() for method in ("ma2ql", "bql", "i2q-forward")]
    assert dare == [0, 0, 3] and "at 0.5 MA2QL and BQL never dare, I2Q-forward on three of five seeds." in page


def test_what_each_part_of_patience_does_is_told_as_it_is(coordination, monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    parts, page = importlib.import_module("patient_parts"), text(PATIENT)
    assert " ".join(" ".join(parts.table()).split()) in page
    scores = parts.scores_of_parts()
    full, whole, forgiving, unending, patience, iql = scores.values()
    assert {iql[hunt].size for hunt in parts.HUNTS} == {5} and "`iql` has five other seeds in hunts" in text(EVIDENCE)
    hunts, games = parts.HUNTS, parts.GAMES
    played = [game for game in games if game in patience]
    assert {task: patience[task].size for task in patience} == dict.fromkeys(hunts, 2) | dict.fromkeys(played, 10)
    assert {unending[task].size for task in hunts} == {2} and not {*unending} & {*games}
    assert {by_task[task].size for by_task in (full, whole) for task in parts.TASKS} == {10}
    assert {forgiving[task].size for task in (*hunts, *games)} == {10}
    mean = {task: (full[task].mean(), whole[task].mean()) for task in whole}
    battles = ["{:.2f} instead of {:.2f} on `{}`".format(*mean[name], name) for name in ("5m_vs_6m", "2s3z")]
    assert f"**Longer targets carry it through battles**: {' and '.join(battles)}." in page
    longer = {task: now - before for task, (now, before) in mean.items()}
    told = [f"{longer.pop(task):.2f}" for task in ("hidden-P0.5", "hidden-P1")]
    assert told == ["0.04"] * 2 and "With the teammate hidden they add 0.04 at P = 0.5 and at 1.0." in page
    others = {*longer} - {"5m_vs_6m", "2s3z", "porters"}
    assert len(others) == 17 and max(abs(longer[task]) for task in others) < 0.0105
    lifted = [(of_seeds["porters"] > 0.9).sum() for of_seeds in (full, whole)]
    assert lifted == [2, 3] and "two of ten seeds instead of three lift together, which may be chance" in page
    less = [forgiving[game].mean() for game in games if forgiving[game].mean() < 0.9]
    assert f"settles for less in five of six games ({min(less):.2f} to {max(less):.2f})" in page and len(less) == 5
    gain = {hunt: whole[hunt].mean() - forgiving[hunt].mean() for hunt in hunts}
    assert f"at P = 1.0 it adds {gain['hidden-P1']:.2f} to the score" in page and gain["hidden-P0.3"] > 0
    assert "it adds less than 0.01." in page and 0 < max(gain["visible-P0.3"], gain["visible-P1"]) < 0.01
    lost = [whole[hunt].mean() - unending[hunt].mean() for hunt in hunts]
    assert f"all four hunts come out lower, by {min(lost):.2f} to {max(lost):.2f}." in page
    assert patience["hidden-P1"].max() < 0.56  # who never dares has 0.55


def test_the_games_of_patience_that_forgives_nothing_are_told_as_they_are():
    page, names, rows = text(EVIDENCE), {11: "climbing", 10: "penalty", 8: "the paper's"}, []
    for run in stored("patient-ablation.json"):
        payoff, plan = np.asarray(run["config"]["environment"]["payoff"]), run["config"]["training"]
        own = {"name": "patient", "forgive_beyond": 0, "negative_weight": 0.1, "patience": 1}
        assert own.items() <= run["config"]["algorithm"].items() and len(run["seeds"]) == 10
        large = payoff.ndim == 3 or (payoff.min() == -30 and payoff.max() == 10)
        suffix = ", three agents" if payoff.ndim == 3 else ", k = -30" if large else ""
        steps = (330, 20_000, 10_000, 2_000) if large else (310, 8_000, 4_000, 800)
        assert tuple(plan[name] for name in ("seed", "steps", "epsilon_steps", "test_interval")) == steps
        [end] = {returns[-1] for returns in run["returns"]}
        row = f"| {names[payoff.max()]}{suffix} | {plan['seed']} | {payoff.max():g} | {end:g} |"
        assert row in page
        rows.append(row)
    assert len(rows) == len({*rows}) == 6
    seconds = [round(run["seconds"]) for run in stored("patient-ablation.json")]
    assert f"{min(seconds)} to {max(seconds)} s each." in page
    told = "at -100 all ten seeds settle for 2 of 10, with three agents in climbing for 5 of 11 and in the paper's game"
    assert f"{told} for 6 of 8." in text(PATIENT)
    assert sum(row.startswith("| penalty") and row.endswith("| 10 | 2 |") for row in rows) == 2


def test_how_many_battles_each_method_wins_is_told_as_it_is(coordination, curves, scores):
    won = {"5m_vs_6m": {}, "2s3z": {}}
    for run in [*stored("suite.json"), *stored("actor-critics.json")]:
        method, battle = run["config"]["algorithm"], run["config"]["environment"]["name"]
        if battle in won and not (method["name"] == "iql" and (method["forgive"] or method["forgive_beyond"])):
            won[battle][method["name"]] = 100 * won_late(coordination.begun(curves(run)))
    for name, piece in Record.read(ROOT / "results/reproduction/smac.json").results.items():
        if name.startswith("5m_vs_6m") and not name.endswith(("weights", "shared")):
            run = coordination.battle_of(piece)
            wins = {"win_rate": at_common_steps(run.config, piece.result, "win_rates")}
            seeds = 100 * won_late(coordination.begun(replace(run, reports=wins)))
            won["5m_vs_6m"][name.removeprefix("5m_vs_6m-")] = seeds
    assert (len(won["5m_vs_6m"]), len(won["2s3z"])) == (12, 6)
    page = text(EVIDENCE)
    patient = mean_and_spread(won["5m_vs_6m"]["patient"], digits=1)
    assert f"where it wins {patient} % of its battles in the last tenth of 1 M steps" in text(PATIENT)
    assert f"and {patient} % of battles won in the last tenth." in page
    wins = {method: mean_and_spread(seeds, digits=1) for method, seeds in won["2s3z"].items()}
    assert f"1 M steps: {scores['patient']['2s3z'].mean():.2f}**, and {wins['patient']} % of battles won." in page
    names = ("iql", "dac", "hysteretic", "ma2ql", "lenient")
    words = [f"{scores[name]['2s3z'].mean():.2f} and {wins[name]} %" for name in names]
    assert "IQL has {}, DAC {}, hysteretic {}, MA2QL {}, lenient {}.".format(*words) in page


def test_patience_among_three_predators_and_in_battles_is_told_as_it_is(scores, curves):
    page = text(EVIDENCE)
    hunts = {method: by_task["three-predators"] for method, by_task in scores.items() if "three-predators" in by_task}
    best, *others = (f"{hunts.pop(name).mean():.2f}" for name in ("patient", *IN_THREES))
    low, high = (f"{end(hunt.mean() for hunt in hunts.values()):.2f}" for end in (min, max))
    words = "behind lenient ({}) and earning IQL ({}). I2Q has {}, forgiving IQL {}, hysteretic {}, IQL {}, DAC {}"
    told = f"P = 0.5: {best}**, {words.format(*others)} and actor-critics {low} to {high}."
    assert told in page and {*hunts} == ACTOR_CRITICS
    by_world = {
        run["config"]["environment"]["name"]: run
        for run in stored("suite.json")
        if run["config"]["algorithm"]["name"] == "patient"
    }
    exact = next(task.best.value for task in SUITES["coordination"] if task.name == "three-predators")
    returns = mean_and_spread(late_of(by_world["predator-prey"]), digits=2)
    assert f"It returns {returns}; predators that plan all moves together could have {exact:.2f}, which" in page
    [fight] = [
        curves(run) for run in stored("patient-one-step.json") if run["config"]["environment"]["name"] == "5m_vs_6m"
    ]
    course = dict(zip(fight.steps.tolist(), fight.returns.mean(axis=0), strict=True))
    chance, best = 1.50, 20.0
    score = (late_returns(fight).mean() - chance) / (best - chance)
    assert f"With targets of one step patient has {score:.2f}, and the mean return" in page
    assert f"falls from {course[400_000]:.1f} after 0.4 M steps to {course[650_000]:.1f} after 0.65 M before" in page
    assert min(course[step] for step in course if step > 400_000) == course[650_000]
    assert fight.config["training"]["epsilon_steps"] == 50_000


def won_late(run):
    """The share of battles that each seed wins, mean over the tests in the last tenth of training."""
    return run.reports["win_rate"][:, run.steps * 10 >= run.steps[-1] * 9].mean(axis=1)


def test_battles_are_read_at_the_same_steps_for_all_seeds(curves):
    training = {"steps": 100, "test_interval": 50}
    entry = {"config": {"training": training}, "seeds": [0, 1], "steps": [0.0, 80.0, 150.0]}
    entry |= {"seed_steps": [[0, 50, 100], [0, 100, 200]], "returns": [[0.0, 1.0, 2.0], [0.0, 1.0, 2.0]]}
    run = curves(entry | {"reports": {"win_rate": [[0.0, 0.5, 1.0], [0.0, 0.5, 1.0]]}})
    assert run.steps.tolist() == [0, 50, 100]
    assert run.returns.tolist() == [[0.0, 1.0, 2.0], [0.0, 0.5, 1.0]]
    assert run.reports["win_rate"].tolist() == [[0.0, 0.5, 1.0], [0.0, 0.25, 0.5]]


def test_of_shared_parameters_and_of_longer_battles_the_suite_counts_what_belongs_to_it(coordination, scores):
    pieces = Record.read(ROOT / "results/reproduction/smac.json").results
    run = coordination.begun(coordination.battle_of(pieces["5m_vs_6m-iql"]))
    assert (run.steps[-1], run.config["training"]["steps"], run.returns.shape) == (1_000_000, 1_000_000, (5, 21))
    score = scale_of("5m_vs_6m", {"random": (1.5, ""), "best": (20.0, "")}, run).score(late_returns(run))
    np.testing.assert_allclose(scores["iql"]["5m_vs_6m"], score)


def test_the_table_of_methods_trained_on_some_tasks_is_that_of_the_data(coordination, scores):
    page = text("docs/compare.md")
    lines = coordination.partial_table(scores)
    assert " ".join(" ".join(lines).split()) in page
    assert {len(seeds) for line in lines[2:] for seeds in scores[line.split()[1]].values()} == {5, 10}
    whole = [row.method for row in coordination.summaries(scores)]
    numbers = [
        sum(task in scores[method] for method in whole) for task in ("porters", "5m_vs_6m", "three-predators", "2s3z")
    ]
    told = "fourteen of them on porters and on `5m_vs_6m`, twelve on three predators and eight on `2s3z`"
    assert numbers == [14, 14, 12, 8] and f"Sixteen methods have been trained on ten tasks, {told}" in page
    assert len(whole) == 16 and "what sixteen methods score on ten of its tasks" in page
    assert "50,000 steps for `i2q-forward`, `ma2ql`, `bql` and `rac`, and 20,000 for the others." in page
    _, run = curves_in(Record.read(ROOT / "results/reproduction/extensions.json").results["optimistic target"])
    score = scale_of("visible-P1", {}, run).score(late_returns(run)).mean()
    assert (run.config["environment"]["penalty"], run.config["algorithm"]["window"], len(run.seeds)) == (1, 10, 5)
    assert f"with a window of 10, where the suite has the paper's 5: {score:.2f}, five seeds." in page
    earning, *_ = stored("coordination-games.json")
    games = [np.mean(earning["scores"]["earning-dac"][game]) for game in ("climbing", "penalty")]
    share = earning["provenance"]["earning share"]
    assert f"with a share of {share}, where the suite has 1.5: {games[0]:.2f} and {games[1]:.2f} ([the games]" in page


def test_the_scores_on_held_out_tasks_are_told_as_they_are(coordination):
    page, scores = text(EVIDENCE), coordination.scores_of_runs("held-out")
    assert " ".join(" ".join(coordination.held_out_table(scores)).split()) in page
    assert {len(seeds) for by_task in scores.values() for seeds in by_task.values()} == {5, 10}
    assert {method for method, by_task in scores.items() for seeds in by_task.values() if len(seeds) == 5} == NEWLY
    whole = {method: by_task for method, by_task in scores.items() if len(by_task) == 8}
    means = {method: [np.mean(score) for score in by_task.values()] for method, by_task in whole.items()}
    told = {method: (f"{np.mean(of):.2f}", f"{min(of):.2f}") for method, of in means.items()}
    best, second = told.pop("patient"), told.pop("forgiving-iql")
    assert f"scores {best[0]} on the mean and {best[1]} on the worst task.**" in page
    presets = told.pop("hysteretic")
    assert f"Hysteretic has {presets[0]} and {presets[1]}, with one preset for games and another for" in page
    low, high = coordination.difference(scores, "patient", "hysteretic", [task.name for task in SUITES["held-out"]])
    assert f"the difference may be chance (its 95 % interval is {low:.3f} to {high:.3f})" in page and low < 0 < high
    rows = {row.method: row for row in coordination.summaries(scores, coordination.HELD_OUT)}
    assert rows["patient"].worst_interval[0] > rows["hysteretic"].worst_interval[1]
    assert f"Forgiving IQL has {second[0]} and {second[1]}: with three agents" in page
    readme = f"that nothing was chosen on its worst case is the best of twelve, {best[1]}, and its mean is level with"
    assert readme in " ".join(text("README.md").split()) and len(whole) == 12
    assert "Both are the highest of twelve methods." in page
    assert max(means, key=lambda method: np.mean(means[method])) == "patient"
    assert max(means, key=lambda method: min(means[method])) == "patient"
    assert max(min(means[method]) for method in told) < 0.5 and "above 0.5 on its worst task." in page
    missed = {task: (score < 0.9).sum() for task, score in scores["patient"].items() if (score < 0.9).any()}
    assert missed == {"paper-three": 1, "climbing-three": 1}
    ends = {}
    for run in stored("held-out.json"):
        own = coordination.that_counts(Config.from_data(run["config"]).as_data())
        for (task, method), plan in planned("held-out", ("patient", "forgiving-iql", "dac")).items():
            plan = coordination.that_counts(plan)
            if all(own[part] == plan[part] for part in ("algorithm", "environment")):
                ends[task, method] = np.asarray(run["returns"])[:, -1]
    assert (ends["climbing-three", "forgiving-iql"] == 7).all()
    assert (min(ends["paper-three", "patient"]), min(ends["climbing-three", "patient"])) == (6, 5)
    games = [task.name for task in SUITES["held-out"] if task.environment == "matrix-game"]
    assert len(games) == 4 and all(
        (scores[name][game] == 1).all() for name in ("hysteretic", "lenient") for game in games
    )
    iql, ippo = ([scores[name][task].max() for task in HELD_OUT_HUNTS] for name in ("iql", "ippo"))
    assert max(iql[1], iql[3]) < 0.5 < min(iql[0], iql[2]) and max(ippo) < 0.5
    optimal = dict(zip(games, (10, 8, 11, 10), strict=True))
    assert [(ends[game, "dac"] == optimal[game]).sum() for game in games] == [5, 10, 10, 2]
    seconds = {}
    for run in stored("held-out.json"):
        kind = (run["config"]["environment"]["name"], run["config"]["training"]["num_environments"])
        seconds.setdefault(kind, []).append(round(run["seconds"]))
    hunts, short, wide = (
        f"{min(seconds[kind])} to {max(seconds[kind])} s"
        for kind in (("predator-prey", 1), ("matrix-game", 1), ("predator-prey", 32))
    )
    assert f"a hunt took {hunts}, games {short}. Actor-critics had" in page and f"in hunts, which took {wide}" in page


@pytest.fixture(scope="module")
def held_out(coordination):
    """The score of every method on every held-out task, mean over seeds; and of every seed."""
    scores = coordination.scores_of_runs("held-out")
    return {method: {task: of.mean() for task, of in by_task.items()} for method, by_task in scores.items()}, scores


def test_where_patience_is_not_best_on_held_out_tasks_is_told(held_out):
    page, (means, _) = text(EVIDENCE), held_out
    patient, earning, lenient = (means[method] for method in ("patient", "earning-iql", "lenient"))
    ahead = [max(means, key=lambda method: means[method].get(hunt, 0)) for hunt in HELD_OUT_HUNTS]
    assert ahead == ["lenient", "patient", "earning-iql", "patient"]
    assert f"Lenient is ahead by {lenient['visible-P0.2'] - patient['visible-P0.2']:.2f} at P = 0.2" in page
    assert 0 < earning["visible-P0.5-4x4"] - patient["visible-P0.5-4x4"] < 0.005
    assert all(abs(earning[hunt] - patient[hunt]) < 0.01 for hunt in HELD_OUT_HUNTS) and "is within 0.01 every" in page
    low, high = (f"{end(earning[hunt] for hunt in HELD_OUT_HUNTS):.2f}" for end in (min, max))
    told = f"it scores {low} to {high}, like patient; in three of the four games there it settles for less."
    assert told in text("docs/algorithms/forgiving.md") and earning["penalty-three"] > 0.95
    missed = [game for game in patient if game not in HELD_OUT_HUNTS and earning[game] < 0.9]
    assert len(missed) == 3 and f"three of the games ({earning['penalty-k30']:.2f} with k = -30)" in page
    small, large, little, much = (f"{lenient[hunt]:.2f}" for hunt in HELD_OUT_HUNTS)
    told = (
        f"it scores {small} at P = 0.2 and {little} on 4 by 4 cells, but at P = 0.75 and on 6 by 6 cells no seed dares"
    )
    assert f"{told}, which leaves {large} and {much}." in page
    told = (
        f"the defaults score {small} of 1 at P = 0.2 and {little} at P = 0.5 on 4 by 4 cells; at P = 0.75, or at 0.5 on"
    )
    assert told in text("docs/algorithms/lenient.md")


def test_what_other_methods_reach_on_held_out_tasks_is_told_as_it_is(held_out):
    page, (means, seeds) = text(EVIDENCE), held_out
    games = [task for task in seeds["patient"] if task not in HELD_OUT_HUNTS]
    for hunt in ("visible-P0.75", "visible-P0.5-6x6"):
        assert all((seeds[method][hunt] < 0.5).all() for method in ("lenient", "iql", "i2q"))
    for hunt in ("visible-P0.2", "visible-P0.5-4x4"):
        assert all((seeds[method][hunt] > 0.9).all() for method in ("lenient", "iql", "i2q"))
    for method in ("i2q", "i2q-forward", "ma2ql"):
        assert all(np.array_equal(seeds[method][game], seeds["iql"][game]) for game in games)
    low, high = (f"{end(means['dac'][hunt] for hunt in HELD_OUT_HUNTS):.2f}" for end in (min, max))
    assert f"**DAC** hunts in all four tasks, at {low} to {high}, and is still improving when training ends:" in page
    best = [max(seeds[method]["visible-P0.2"]) for method in ("dpo", "tvpo")]
    assert "At P = 0.2 the best seeds of DPO and TVPO come to {:.2f} and {:.2f}.".format(*best) in page
    others = np.concatenate([seeds[m][hunt] for m in ACTOR_CRITICS for hunt in HELD_OUT_HUNTS[1:]])
    assert others.max() < 0.4
    ends = {}
    for run in stored("held-out.json"):
        method, world = run["config"]["algorithm"]["name"], run["config"]["environment"]
        if method == "dac" and world.get("penalty") == 0.75:
            course = dict(zip(run["steps"], np.mean(run["returns"], axis=0), strict=True))
        if world["name"] == "matrix-game" and method in ("rac", "bql"):
            payoff = np.asarray(world["payoff"])
            ends[method, payoff.ndim, payoff.max(), payoff.min()] = np.asarray(run["returns"])[:, -1]
    told = f"at P = 0.75 it returns {course[2_000_000]:.1f} after 2 M steps and {course[3_050_000]:.1f} after 3.05 M."
    assert told in page
    k30, paper, climbing, penalty = (2, 10, -30), (3, 8, -12), (3, 11, -30), (3, 10, -100)
    assert all((ends["rac", *game] == game[1]).all() for game in (k30, paper, climbing)) and len(ends) == 8
    assert (ends["rac", *penalty] == 2).all() and "in the penalty game it settles for 2 of 10." in page
    assert "With three agents it is [the same]" in text("docs/algorithms/rac.md") and (ends["bql", *k30] == 10).all()
    found = [(ends["bql", *game] == game[1]).sum() for game in (paper, climbing, penalty)]
    assert (min(found), max(found)) == (3, 6) and "in the other three games three to six seeds of ten do." in page


@cache
def planned(suite, methods):
    """The settings of methods on the tasks of a suite."""
    cells = [(task.name, method) for task in SUITES[suite] for method in methods]
    return dict(
        zip(cells, (run.config.as_data() for run in planned_runs(SUITES[suite], methods, {}, ROOT)), strict=True)
    )


def test_what_more_patience_gives_is_told_as_it_is():
    page, ends, games = text(EVIDENCE), {}, {}
    for run in stored("patience.json"):
        method = run["config"]["algorithm"]
        if run["config"]["environment"]["name"] == "porters":
            ends.setdefault((method["negative_weight"], method["patience"]), []).extend(late_of(run))
        else:
            games[run["config"]["training"]["steps"]] = sorted(np.asarray(run["returns"])[:, -1])
    everyone = np.concatenate([np.asarray(of_seeds) for of_seeds in ends.values()])
    lifted, others = everyone[everyone > 20], everyone[everyone <= 20]
    assert f"ends at {lifted.min():.1f} to {lifted.max():.1f} of 27.76" in page
    assert f"the others at {others.min():.1f} to {others.max():.1f}" in page
    assert f"learners that never lift together to {others.max():.1f} at most" in text("docs/environments/porters.md")
    on_cpu = {seed for run in stored("patience.json") if run["seeds"][0] in range(400, 420) for seed in run["seeds"]}
    assert on_cpu == {400, 401, *range(410, 414)} and "seeds 400, 401 and 410 to 413" in page
    for weight in (0.03, 0.01, 0.003, 0.001):
        tried = [np.asarray(ends.get((weight, patience), [])) for patience in (1, 2, 4, 8)]
        cells = [f"{(of_seeds > 20).sum()} of {of_seeds.size}" if of_seeds.size else "" for of_seeds in tried]
        assert " ".join(f"| {weight} | {' | '.join(cells)} |".split()) in page
    much, some = (
        np.concatenate([ends[weight, n] for weight in (0.01, 0.003, 0.001) for n in ns]) > 20 for ns in ((4, 8), (2,))
    )
    told = (
        f"{much.sum()} of {much.size} seeds lift together with n = 4 or 8, and {some.sum()} of {some.size} with n = 2"
    )
    assert told in page
    assert games == {8_000: [-100.0] * 5 + [10.0] * 5, 20_000: [10.0] * 10}
    assert "five of ten seeds end at 10, the others at -100; after 20,000 steps all ten end at 10" in page


def test_what_more_patience_costs_where_prey_is_hunted_is_told_as_it_is():
    page, rows, halfway = text(EVIDENCE), {}, {}
    for run in stored("patience-hunts.json"):
        method, penalty = run["config"]["algorithm"], run["config"]["environment"]["penalty"]
        setting = method["negative_weight"], method["patience"]
        rows.setdefault(setting, {})[view(run), penalty] = late_of(run)
        if (view(run), penalty) == ("hidden", 1.0):
            halfway[setting] = np.asarray(run["returns"])[:, run["steps"].index(1_500_000)].mean()
    hunts = [(seen, penalty) for seen in ("visible", "hidden") for penalty in (0.3, 1.0)]
    for (weight, patience), ends in rows.items():
        cells = " | ".join(mean_and_spread(ends[hunt], digits=1) for hunt in hunts)
        assert f"| {weight:g} | {patience:g} | {cells} |" in page
    default = rows.pop((0.1, 1.0))
    assert len(rows) == 4 and all(ends[hunt].mean() < default[hunt].mean() for ends in rows.values() for hunt in hunts)
    told = f"the default's at {halfway.pop((0.1, 1.0)):.1f}"
    assert f"of these four are at {max(halfway.values()):.0f} to {min(halfway.values()):.0f}, and {told}" in page


def test_what_targets_of_several_steps_give_is_told_as_it_is(curves, scores):
    page, rows, lifted, course = text(EVIDENCE), {}, {}, {}
    tasks = {"predator-prey": None, "porters": "porters", "5m_vs_6m": "5m_vs_6m", "2s3z": "2s3z"}
    one_step = stored("patient-one-step.json")
    battles = [run for run in one_step if run["config"]["environment"]["name"] in ("5m_vs_6m", "2s3z")]
    for run in (*stored("patience-hunts.json"), *battles, *stored("patience-lambda.json")):
        method, world = run["config"]["algorithm"], run["config"]["environment"]
        if world["name"] not in tasks or world.get("num_predators", 2) > 2:
            continue
        task, ends = tasks[world["name"]] or (view(run), world["penalty"]), late_returns(curves(run))
        setting = method.get("negative_weight"), method.get("patience")
        rows[method["name"], setting, method.get("td_lambda", 0.0), task] = ends
        if task == "5m_vs_6m":
            mean = curves(run).returns.mean(axis=0)
            course[method["name"], method.get("td_lambda", 0.0)] = (np.maximum.accumulate(mean) - mean).max()
        if task == "porters":
            lifted.setdefault(setting, {})[method["td_lambda"]] = (ends > 20).sum()
    hunts = [(seen, penalty) for seen in ("visible", "hidden") for penalty in (0.3, 1.0)]
    for mixed in (0.0, 0.5, 0.65, 0.8):
        cells = [rows.get(("patient", (0.1, 1.0), mixed, task)) for task in (*hunts, *list(tasks.values())[1:])]
        told = [f"{mean_and_spread(ends, digits=1)} |" if ends is not None else "|" for ends in cells]
        assert f"| {mixed:g} | {' '.join(told)}" in page
    assert f"IQL with 0.8 returns {mean_and_spread(rows['iql', (None, None), 0.8, '5m_vs_6m'], digits=1)}" in page
    best, chance = 20.0, 1.50
    without = chance + (best - chance) * scores["iql"]["5m_vs_6m"].mean()
    assert f"on the same four seeds ({without:.1f} without, on five others)" in page
    falls = course["patient", 0.0], max(course["patient", mixed] for mixed in (0.5, 0.8))
    assert "falls {:.1f} below what it was before; with them it never falls by more than {:.1f}".format(*falls) in page
    for setting, mixed, words in (
        ((0.03, 4.0), 0.5, "n = 4 the four hunts return {:.1f}, {:.1f}, {:.1f} and {:.1f}."),
        ((0.01, 4.0), 0.0, "no lambda they are at {:.1f}, {:.1f}, {:.1f} and {:.1f}."),
    ):
        assert words.format(*(rows["patient", setting, mixed, hunt].mean() for hunt in hunts)) in page
    assert lifted[0.01, 4.0] == {0.0: 5, 0.5: 4, 0.8: 4, 0.95: 2} and not any(lifted[0.1, 1.0].values())


def test_what_is_told_of_continuous_actions_is_that_of_the_data():
    [run] = stored("spread-continuous.json")
    returns = np.asarray(run["returns"])
    told = f"rise from {returns[:, 0].mean():.1f} to {mean_and_spread(returns[:, -1], digits=1)} within 200,000 steps"
    assert told in text("docs/algorithms/ippo.md") and returns.shape[0] == 5


def test_what_larger_teams_of_porters_learn_is_told_as_it_is():
    page = text("docs/environments/porters.md")
    runs = stored("porters-many.json")
    for run in runs:
        porters, method = run["config"]["environment"]["num_porters"], porter_method(run)
        half = np.asarray(run["returns"])[:, np.asarray(run["steps"]) * 2 == run["steps"][-1]].mean(axis=1)
        ends = [mean_and_spread(half), mean_and_spread(late_of(run))]
        one_step = ", lambda = 0" if method == "patient" and run["config"]["algorithm"]["td_lambda"] == 0 else ""
        assert f"| {porters} | {method}{one_step} | {' | '.join(ends)} |" in page and len(run["seeds"]) == 5
        assert late_of(run).max() < 6.2  # whoever lifts alone has 5.85 with eight, and less in larger teams
    ends = {(porter_method(run), run["config"]["environment"]["num_porters"]): late_of(run).mean() for run in runs}
    assert len(ends) == len(runs)
    for method, words in (
        ("iql", "IQL comes to {:.2f} and {:.2f} in"),
        ("ippo", "with 32 and 100**: {:.2f} and {:.2f}."),
    ):
        assert words.format(ends[method, 32], ends[method, 100]) in " ".join(page.split())
    for method, teams in (("dac", (8, 32)), ("forgiving-iql", (8, 32, 100))):
        assert all(abs(ends[method, porters] - ends["iql", porters]) < 0.1 for porters in teams)
    words = [ends["forgiving-iql", porters] for porters in (8, 32, 100)]
    assert "too: {:.2f} with eight, {:.2f} with 32 and {:.2f} with 100.".format(*words) in page
    seconds = [round(run["seconds"]) for run in runs]
    assert f"one H200, {min(seconds)} to {max(seconds)} s each (`results/porters-many.json`)" in page


def test_the_figure_of_porters_has_the_script_at_its_return_in_the_table(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    program = importlib.import_module("collected")
    page = (ROOT / "docs" / "environments" / "porters.md").read_text()
    table = re.findall(r"^\| (\d+) \| 0\.\d\d[^|]* \| (\d\.\d\d) \| \d", page, flags=re.MULTILINE)
    [told] = re.findall(r'--line "each for itself" (\S+)', program.__doc__)
    files = [
        [program.curves_of(run) for run in stored(file)]
        for file in ("patient.json", "patient-one-step.json", "porters.json", "porters-many.json")
    ]
    lines = {"each for itself": [float(value) for value in told.split(",")]}
    figure = program.figure_by("num_porters", files, "{} porters", lines)
    assert [axes.get_title() for axes in figure.axes] == [f"{porters} porters" for porters, _ in table]
    drawn = [{line.get_label(): line.get_ydata()[0] for line in axes.get_lines()} for axes in figure.axes]
    assert [f"{panel['each for itself']:.2f}" for panel in drawn] == [alone for _, alone in table]
    assert [f"optimal: {BEST_PORTERS:.2f}" in panel for panel in drawn] == [True, False, False, False]
    assert all(axes.get_ylim()[1] < 7 for axes in figure.axes[1:])  # their curves would be flat on the axis of two
    plt.close(figure)


def test_forgiving_porters_forgive_as_long_as_they_learn():
    page = text("docs/environments/porters.md")
    many = [run for run in stored("porters-many.json") if porter_method(run) == "forgiving-iql"]
    porters = [run for run in stored("patient.json") if run["config"]["environment"]["name"] == "porters"]
    two = [run for run in porters if porter_method(run) == "forgiving-iql"]
    assert [run["config"]["environment"]["num_porters"] for run in (*two, *many)] == [2, 8, 32, 100]
    for run in (*two, *many):
        episodes = run["config"]["training"]["steps"] / run["config"]["environment"]["length"]
        assert run["config"]["algorithm"]["forgive"] == episodes == 10_000
    assert "Its 10,000 episodes of forgiving are all that 500,000 steps have" in page


def porter_method(run):
    forgiving = run["config"]["algorithm"]["forgive"] > 0
    return "forgiving-iql" if forgiving else run["config"]["algorithm"]["name"]


def test_the_familys_figure_has_each_method_in_one_panel_and_no_look_twice_there(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    program = importlib.import_module("family")
    runs = program.family()
    figure = program.figure(runs)
    assert figure.get_suptitle().startswith("predator-prey, P = 0, teammate visible")
    methods = []
    for axes in figure.axes:
        named = {line.get_label(): line for line in axes.get_lines()}
        shown = [entry.get_text() for entry in axes.get_legend().get_texts()]
        looks = {(named[method].get_color(), named[method].get_linestyle()) for method in shown}
        assert len(looks) == len(shown) and len(axes.get_lines()) == len(runs) + 2  # optimal and random play
        methods += shown
    assert sorted(methods) == sorted(run.algorithm for run in runs)
    assert {run.algorithm for run in runs if not run.decentralised} == set(program.KINDS["not decentralised"])
    plt.close(figure)


def test_the_table_and_the_speed_of_the_family_are_those_of_the_data(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    program, page = importlib.import_module("family"), text("docs/results.md")
    runs = {run.algorithm: run for run in program.family()}
    for method, run in runs.items():
        shown = {"hysteretic": "hysteretic (beta 0.3)"}.get(method, method)
        shown += "" if run.config["strictness"]["decentralised"] else " (not decentralised)"
        assert f"| {shown} | {program.row(run)} |" in page
    hunting = {method: run.steps[np.argmax(run.returns.mean(axis=0) > 25)] for method, run in runs.items()}
    quick = {method for method, step in hunting.items() if 0 < step <= 350_000}
    assert len(runs) == 20 and quick == {"ippo", "dpo", "tvpo", "lenient"} and hunting["lenient"] == 350_000
    assert (hunting["ippo"], hunting["tvpo"], hunting["dpo"]) == (128_000, 128_000, 192_000)
    assert "IPPO and TVPO come above 25 after 0.13 M steps and DPO after 0.19 M" in page
    assert "31.31 ± 0.71 at P = 0 (5 seeds), reached sooner than by any other value" in text(
        "docs/algorithms/lenient.md"
    )


def test_the_best_single_teams_that_do_not_see_each_other_are_told(coordination):
    best = dict.fromkeys((0.0, 0.3, 0.5, 1.0), -np.inf)
    for run in coordination.stored_runs():
        world = run.config["environment"]
        if world["name"] == "predator-prey" and not world["observe_teammate"]:
            best[world["penalty"]] = max(best[world["penalty"]], late_returns(run).max())
    *most, last = (f"{value:.1f}" for value in best.values())
    told = f"team stored anywhere comes to {', '.join(most)} and {last} in the last tenth"
    assert told in " ".join(text("docs/reproduction.md").split())
