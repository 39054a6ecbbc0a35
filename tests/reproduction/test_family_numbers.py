"""What results.md and the pages of algorithms tell of the family are numbers of the data."""

import json
import re

import numpy as np

from decentral.deviation import mean_and_spread
from decentral.reproduction.pieces import curves_in, curves_of
from decentral.reproduction.predator_prey import WEIGHTS, Promise
from decentral.reproduction.table_1 import compared_with_payoff
from tests.reproduction.test_coordination_numbers import late_of, stored
from tests.reproduction.test_documented_numbers import ROOT, finals, results, run, text

PENALTIES = (0.0, 0.3, 0.5, 1.0)
BY_SEED = {(6.0,) * 5: "6.00 on every seed", (8.0,) * 5: "8.00 on every seed"}
IN_MATRIX_GAME = {
    "iql": ["iql"],
    "hysteretic, beta 0.01": ["hysteretic 0.01"],
    "hysteretic, beta 0.5": ["hysteretic 0.5"],
    "distributed": ["distributed"],
    "lenient": ["lenient 20"],
    "lenient as published": ["lenient 2"],
    "i2q-tabular": ["i2q-tabular"],
    "i2q, i2q-forward": ["i2q", "i2q-forward"],
    "ma2ql": ["ma2ql"],
    "rac": ["rac"],
    "patient": ["patient"],
    "ippo, dpo, tvpo, ia2c": ["ippo", "dpo", "tvpo", "ia2c"],
    "vdn, qmix, mappo (not decentralised)": ["vdn", "qmix", "mappo"],
    "fingerprints, importance-sampling (not decentralised)": ["fingerprints", "importance-sampling"],
}
SETTING = {"hysteretic": "negative_weight", "lenient": "leniency"}


def matrix_game():
    """By method, with the setting in which two runs of one method differ: the last returns of the seeds, the steps."""
    ends = {}
    for one in stored("family-matrix.json"):
        method = one["config"]["algorithm"]
        name = " ".join([method["name"], *(f"{method[key]:g}" for key in [SETTING.get(method["name"])] if key)])
        ends[name] = np.asarray(one["returns"])[:, -1], one["steps"][-1]
    return ends


def family():
    return {one["config"]["algorithm"]["name"]: np.asarray(one["returns"])[:, -1] for one in stored("family.json")}


def plain(page):
    """A page without the marks of what is best."""
    return text(page).replace("**", "")


def test_the_run_in_the_matrix_game_is_told_as_it_is():
    page = text("docs/results.md")
    seconds = []
    for method, best in (("iql", 6.0), ("dac", 8.0)):
        lines = (ROOT / "results" / "matrix-game" / method / "metrics.jsonl").read_text().splitlines()
        tests = [json.loads(line) for line in lines]
        assert {test["test_return_mean"] for test in tests if test["step"] == 50_000} == {best}
        assert {test["seed"] for test in tests} == set(range(5))
        seconds.append(f"{max(test['seconds'] for test in tests):.0f} s")
    assert f"H200 this took {seconds[0]} and {seconds[1]} in all" in page
    assert {test["test_return_mean"] for test in tests if test["step"] >= 1000} == {8.0}
    assert "| DAC | 8 | 8.00 on every seed, from step 1,000 on |" in page and "| IQL | 6 | 6.00 on every seed |" in page


def test_the_values_in_the_matrix_game_are_told_as_they_are():
    page, every = text("docs/results.md"), compared_with_payoff(results("table-1"))[1]
    phi = np.stack([agent.phi for agent in every])
    low, high = (f"({', '.join(f'{value:.2f}' for value in end(axis=0))})" for end in (phi.min, phi.max))
    assert f"phi of all ten agents lies between {low} and {high};" in page and len(phi) == 10
    first = next(agent for agent in every if (agent.seed, agent.agent) == (0, 0))
    for action, (values, occurs) in enumerate(zip(first.by_context, first.occurs, strict=True), start=1):
        cells = [f"{value:.2f}" if told else f"({value:.2f})" for value, told in zip(values, occurs, strict=True)]
        assert f"| a{action} | {first.phi[action - 1]:.2f} | {' | '.join(cells)} |" in page


def test_the_familys_endings_in_the_matrix_game_are_told_as_they_are():
    ends, page = matrix_game(), text("docs/results.md")
    for label, names in IN_MATRIX_GAME.items():
        [told] = {f"{BY_SEED[tuple(ends[name][0])]} | {ends[name][1]:,}" for name in names}
        assert f"| {label} | {told} |" in page
    dac = curves_of(results("matrix-game")["dac"])
    assert f"| dac | {BY_SEED[tuple(dac.returns[:, -1])]} | {dac.steps[-1]:,} | above |" in page
    assert sum(map(len, IN_MATRIX_GAME.values())) == len(ends) - 1  # but for BQL
    assert sorted(ends["bql"][0]) == [-12.0, *[8.0] * 4]
    assert f"| bql | 8.00 on four seeds, -12.00 on one | {ends['bql'][1]:,} |" in page


def test_the_pages_of_the_family_tell_the_same_endings():
    ends = {name: set(returns) for name, (returns, _) in matrix_game().items()}
    hysteretic = "beta = 0.01 ends at {:.2f} on all seeds, beta = 0.5 at {:.2f} on all seeds."
    told = {
        "bql": "8.00 on four seeds and -12.00 on one (`results/family-matrix.json`, on a CPU)",
        "hysteretic": hysteretic.format(*ends["hysteretic 0.01"], *ends["hysteretic 0.5"]),
        "lenient": "Measured with the preset: {:.2f} on all seeds (5 seeds, 50,000".format(*ends["lenient 20"]),
        "ma2ql": "that is where it ends: {:g} (measured, 5 seeds, 50,000 steps)".format(*ends["ma2ql"]),
        "rac": "matrix game it ends at {:g} on all seeds (measured, 5 seeds)".format(*ends["rac"]),
        "i2q": "All three end at {:.2f} on all seeds".format(*ends["i2q"] | ends["i2q-tabular"] | ends["i2q-forward"]),
    }
    assert [name for name, sentence in told.items() if sentence not in text(f"docs/algorithms/{name}.md")] == []
    published, steps = matrix_game()["lenient 2"]
    sentence = f"As published it ends at {published.mean():g} (measured, 5 seeds, {steps:,} steps, `results/family"
    assert not np.ptp(published) and sentence in text("docs/algorithms/lenient.md")


def test_the_pages_of_the_family_tell_its_returns_in_predator_prey():
    ends = {name: mean_and_spread(returns) for name, returns in family().items()}
    [pair] = stored("i2q-forward-pair.json")
    assert f"it ended at {ends['distributed']}; the optimum" in plain("docs/algorithms/distributed.md")
    assert f"one H200): {ends['ma2ql']}; the optimum" in plain("docs/algorithms/ma2ql.md")
    assert f"without a penalty: {ends['lenient']} at P = 0 (5 seeds)" in text("docs/algorithms/lenient.md")
    references = " | ".join(ends[name] for name in ("fingerprints", "importance-sampling", "vdn", "qmix"))
    heads = "| fingerprints | importance-sampling | vdn | qmix | |---|---|---|---| |"
    assert f"{heads} {references} |" in text("docs/algorithms/references.md")
    for name in ("i2q", "i2q-tabular", "i2q-forward"):
        assert f"| `{name}` | {ends[name]} |" in text("docs/algorithms/i2q.md")
    [forward] = [one for one in stored("family.json") if one["config"]["algorithm"]["name"] == "i2q-forward"]
    curve = np.asarray(forward["returns"]).mean(axis=0)
    peak = f"it peaks at {curve.max():.2f}, at {forward['steps'][curve.argmax()] / 1e6:.1f} M steps, and then"
    assert peak in text("docs/algorithms/i2q.md")
    diverged = mean_and_spread(np.asarray(pair["returns"])[:, -1])
    assert f'| `i2q-forward`, `follow = "pair"`, `ambition` 0.2 | {diverged} |' in text("docs/algorithms/i2q.md")
    [best, at_random] = {tuple(one["config"]["references"].values()) for one in stored("family.json")}.pop()
    assert f"Optimal is {best:.2f}, random {at_random:.2f}." in text("docs/results.md")
    for name in ("ma2ql", "i2q", "references"):
        assert f"the optimum is {best:.2f}" in text(f"docs/algorithms/{name}.md")
        assert f"random play returns {at_random:.2f}" in text(f"docs/algorithms/{name}.md")
    assert f"the optimum is {best:.2f}, and random play returns {at_random:.2f}" in text(
        "docs/algorithms/distributed.md"
    )


def gap_of(piece, penalty, **settings):
    """How much more the agents of a run promise themselves than they get, on average."""
    done = results("predator-prey")[piece]
    [one] = [
        one
        for curves, one in zip(curves_in(done), done.result["runs"], strict=True)
        if curves.config["environment"]["penalty"] == penalty
        and all(curves.config["algorithm"][key] == value for key, value in settings.items())
    ]
    return Promise.of(one).gap.mean()


def test_how_much_hysteretic_overestimates_is_told_as_it_is():
    page = text("docs/results.md")
    for penalty in PENALTIES:
        gaps = [gap_of("hidden hysteretic", penalty, negative_weight=weight) for weight in WEIGHTS]
        cells = [f"{gap:.2f}" for gap in [*gaps, gap_of("hidden iql", penalty)]]
        assert f"| {penalty or 0} | {' | '.join(cells)} |" in page


def test_hysteretics_returns_by_weight_are_told_as_they_are():
    page = plain("docs/algorithms/hysteretic.md")
    for penalty in PENALTIES:
        weights = (finals("predator-prey", "hidden hysteretic", penalty, negative_weight=weight) for weight in WEIGHTS)
        assert f"| {penalty or 0} | {' | '.join(map(mean_and_spread, weights))} |" in page


def test_dacs_table_and_what_its_extensions_gain_are_told_as_they_are():
    page = text("docs/algorithms/dac.md")
    for seen in ("visible", "hidden"):
        cells = (mean_and_spread(finals("predator-prey", f"{seen} dac", penalty)) for penalty in PENALTIES)
        assert f"| {seen} | {' | '.join(cells)} |" in page
    optimal = (run("predator-prey", "visible dac", penalty).references["optimal"] for penalty in PENALTIES)
    assert f"| optimal | {' | '.join(f'{value:.2f}' for value in optimal)} |" in page
    ours, plain_dac = (
        mean_and_spread(finals("predator-prey", f"visible {name}", 1.0)) for name in ("dac-extended", "dac")
    )
    assert f"plain DAC does not: {ours} against {plain_dac} on fresh seeds 5 to 9" in page
    plain_dac, optimistic, attainable = (
        mean_and_spread(finals("extensions", name, 1.0), digits=1)
        for name in ("DAC", "optimistic target", "attainable")
    )
    assert f"(plain DAC with k = 10: {plain_dac})" in page
    assert f"(alone {optimistic}; attainable contexts alone {attainable})" in page


FORGIVING = {  # the name of a row, the sweep, and what it does not vary within a row
    "visible | 1.0 | IQL": ("iqlV", {}),
    "visible | 1.0 | Hysteretic, 0.1": ("hysV", {"negative_weight": 0.1}),
    "visible | 1.0 | Hysteretic, 0.3": ("hysV", {"negative_weight": 0.3}),
    "visible | 1.0 | DAC, k = 5": ("dacV", {}),
    "visible | 1.0 | DAC, k = 5, attainable and optimistic": ("attV", {}),
    "hidden | 0.3 | IQL": ("iqlH", {"penalty": 0.3}),
    "hidden | 1.0 | IQL": ("iqlH", {"penalty": 1.0}),
    "hidden | 0.3 | DAC, k = 5": ("dacH", {"penalty": 0.3}),
    "hidden | 1.0 | DAC, k = 5": ("dacH", {"penalty": 1.0}),
}


def swept(sweep):
    """Every run of a sweep: its numbers, those of the command and those in its name, and its last returns."""
    fixed = re.findall(r"--([\w-]+) ([\d.]+)(?= |$)", sweep["command"])
    for name, one in sweep["runs"].items():
        pairs = [*fixed, *(pair.split("=") for pair in name.split(","))]
        yield {key.replace("-", "_"): float(value) for key, value in pairs}, np.asarray(one["returns"][-1])


def test_the_table_of_forgiving_is_that_of_the_data():
    sweeps, page = json.loads((ROOT / "results" / "forgiving.json").read_text())["sweeps"], plain("docs/results.md")
    shown = 0
    for label, (sweep, other) in FORGIVING.items():
        ends = {
            (settings["forgive"], settings["forgive_fade"]): returns
            for settings, returns in swept(sweeps[sweep])
            if other.items() <= settings.items()
        }
        columns = ((0, 0), (0, 10_000), (10_000, 0), (10_000, 10_000))
        row = " | ".join([label, *(mean_and_spread(ends[way]) if way in ends else "" for way in columns)])
        assert f"| {' '.join(row.split())} |" in page
        shown += len(ends)
    assert shown == sum(len(one["runs"]) for one in sweeps.values())


def test_what_forgiving_gains_is_told_as_it_is():
    page = text("docs/algorithms/forgiving.md")
    plain_iql = [finals("predator-prey", "visible iql", 1.0), finals("predator-prey", "hidden iql", 0.3)]
    visible, hidden = (finals("predator-prey", f"{seen} iql-forgiving", 1.0) for seen in ("visible", "hidden"))
    assert f"IQL ends at {plain_iql[0].mean():.1f} without forgiving." in page
    short = [mean_and_spread(scores, digits=1) for scores in (visible, hidden)]
    assert f"IQL ends at {short[0]} when the teammate is visible and at {short[1]} when it is hidden" in page
    ends = [f"{scores.mean():.1f}" for scores in (*plain_iql, visible, hidden)]
    assert f"IQL ends at {ends[0]} at P = 1.0, and hidden at {ends[1]} at P = 0.3;" in page
    assert f"the schedule above ends at {ends[2]} and {ends[3]} at P = 1.0:" in page


def test_a_share_beside_a_schedule_is_told_as_it_is():
    ends = {}
    for one in stored("patient.json"):
        method, world = one["config"]["algorithm"], one["config"]["environment"]
        if world["name"] == "predator-prey" and method["name"] == "iql" and not world["observe_teammate"]:
            ends[bool(method["forgive"]), world["penalty"]] = late_of(one)
    pairs = [f"{ends[False, p].mean():.1f} against {ends[True, p].mean():.1f} at" for p in PENALTIES[1:]]
    told = f"hidden: {pairs[0]} P = 0.3, {pairs[1]} 0.5, {pairs[2]} 1.0, where"
    assert told in text("docs/algorithms/forgiving.md")
    highest = ends[False, 1.0]
    assert f"seeds end anywhere from {highest.min():.0f} to {highest.max():.0f}." in text(
        "docs/algorithms/forgiving.md"
    )


def test_what_actor_critics_reach_is_told_on_their_page():
    ends = {}
    for one in stored("actor-critics.json"):
        world, method = one["config"]["environment"], one["config"]["algorithm"]
        if world["name"] == "predator-prey" and world["observe_teammate"] and not method["forgive_beyond"]:
            ends[method["name"], world["penalty"]] = mean_and_spread(late_of(one))
    page = text("docs/algorithms/ippo.md")
    [best] = {f"{one['config']['references']['optimal']:.2f}" for one in stored("family.json")}
    assert f"IPPO reaches {ends['ippo', 0.0]} of {best} and IA2C {ends['ia2c', 0.0]} (five seeds" in page
