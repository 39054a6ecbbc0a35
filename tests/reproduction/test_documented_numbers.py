"""Numbers in sentences of README and docs are those of the data in results/reproduction.

`test_claims.py` compares the tables; here every sentence is put together from the data again.
"""

import json
import re
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from decentral.deviation import mean_and_spread
from decentral.reproduction.pieces import curves_in, curves_of
from decentral.reproduction.predator_prey import Promise
from decentral.reproduction.record import Record

ROOT = Path(__file__).parents[2]
DATA = ROOT / "results" / "reproduction"


@cache
def results(target):
    return Record.read(DATA / f"{target}.json").results


def run(target, piece, penalty, **settings):
    """The one run of a piece with this penalty and these settings of its algorithm."""
    [found] = [
        one
        for one in curves_in(results(target)[piece])
        if one.config["environment"]["penalty"] == penalty
        and all(one.config["algorithm"][key] == value for key, value in settings.items())
    ]
    return found


def finals(*which, **settings):
    return run(*which, **settings).returns[:, -1]


def short(scores):
    return mean_and_spread(scores, digits=1)


def mean(*which, **settings):
    return f"{finals(*which, **settings).mean():.1f}"


def learned(*which, **settings):
    """How many seeds end with at least half of the optimal return."""
    found = run(*which, **settings)
    return int((found.returns[:, -1] >= found.references["optimal"] / 2).sum())


def text(page):
    return " ".join((ROOT / page).read_text().split())


def test_who_learns_at_the_highest_penalty():
    page = text("docs/reproduction.md")
    weights = dict.fromkeys((0.1, 0.3, 0.5), ("predator-prey", "visible hysteretic", 1.0))
    each = {weight: mean(*which, negative_weight=weight) for weight, which in weights.items()}
    told = f"with a weight of 0.1 ({each[0.1]}), 0.3 ({each[0.3]}) or 0.5 ({each[0.5]})"
    assert told in page
    half = run("predator-prey", "visible hysteretic", 1.0, negative_weight=0.1).references["optimal"] / 2
    every = (0.01, 0.1, 0.3, 0.5, 0.7)
    means = {
        weight: finals("predator-prey", "visible hysteretic", 1.0, negative_weight=weight).mean() for weight in every
    }
    assert {weight for weight, value in means.items() if value >= half} == set(weights)
    assert mean("predator-prey", "visible dac", 1.0) == "-3.5" and learned("predator-prey", "visible dac", 1.0) == 0


def test_which_settings_of_plain_dac_begin_to_learn():
    page = text("docs/reproduction.md")
    few, kl = finals("ablation", "m=5", 1.0), finals("ablation", "kl weight", 1.0, kl_weight=0.01)
    base = finals("ablation", "kl weight", 1.0, kl_weight=0.001)
    best, second = sorted(few)[:-3:-1]
    assert (
        f"it ends at {short(few)}, with two of five seeds above half of the optimum ({best:.1f} and {second:.1f})"
        in page
    )
    assert f"where m = 10 ends at {short(base)}, with none" in page
    assert f"the highest mean of plain DAC, {short(kl)}, still rising, with two of five seeds above half" in page
    assert "So have two with m = 5 and one of DAC_phi; with all other settings none has." in page
    others = {piece: learned("ablation", piece, 1.0) for piece in ("m=5", "m=15", "m=20", "k=5", "k=15", "k=20", "phi")}
    weights = {beta: learned("ablation", "kl weight", 1.0, kl_weight=beta) for beta in (0.0, 0.001, 0.01, 0.1)}
    assert {name: count for name, count in (others | weights).items() if count} == {"m=5": 2, "phi": 1, 0.01: 2}


@pytest.mark.parametrize("penalty", [0.3, 0.5, 1.0])
def test_five_contexts_have_the_highest_mean_and_no_more_is_said_of_them(penalty):
    assert "m = 5 has the highest mean at every penalty" in text("docs/reproduction.md")
    means = [finals("ablation", f"m={m}", penalty).mean() for m in (5, 15, 20)]
    assert np.argmax([*means, finals("ablation", "kl weight", penalty, kl_weight=0.001).mean()]) == 0


def test_how_many_seeds_of_an_ensemble_learn():
    best, second, third, *_ = sorted(finals("controls", "plain ensemble", 0.5))[::-1]
    assert learned("controls", "plain ensemble", 0.5) == 1 and learned("controls", "plain ensemble", 1.0) == 0
    told = f"({best:.1f}; two more end at {second:.1f} and {third:.1f})"
    assert f"one seed of five reaches half of the optimum at P = 0.5 {told}" in text("docs/reproduction.md")


def test_what_windows_and_kl_weights_do():
    page = text("docs/reproduction.md")
    lost = [
        finals("ablation", "kl weight", penalty, kl_weight=0.001).mean() - finals("ablation", "k=5", penalty).mean()
        for penalty in (0.3, 0.5)
    ]
    assert f"k = 5 is worse at P = 0.3 and 0.5 (by {lost[0]:.1f} and {lost[1]:.1f})" in page
    longer = [mean("ablation", piece, 0.5) for piece in ("k=15", "k=20")]
    base = mean("ablation", "kl weight", 0.5, kl_weight=0.001)
    assert f"({longer[0]} and {longer[1]} against {base} at P = 0.5)" in page
    delayed = [mean("ablation", "kl weight", 0.5, kl_weight=beta) for beta in (0.01, 0.1)]
    assert f"at P = 0.5 past the end ({delayed[0]} and {delayed[1]})" in page


def test_what_is_said_of_hidden_teammates_and_of_extensions():
    page = text("docs/reproduction.md")
    hidden = {name: mean("predator-prey", f"hidden {name}", 0.3) for name in ("dac", "iql-forgiving")}
    assert f"DAC ({hidden['dac']}) and Hysteretic (22.6) learn" in page
    best = max(
        finals("predator-prey", "hidden hysteretic", 0.3, negative_weight=beta).mean()
        for beta in (0.01, 0.1, 0.3, 0.5, 0.7)
    )
    assert f"{best:.1f}" == "22.6"
    forgiving = [mean("predator-prey", "hidden iql-forgiving", penalty) for penalty in (0.3, 0.5, 1.0)]
    assert f"{forgiving[0]}, {forgiving[1]} and {forgiving[2]} for P = 0.3, 0.5 and 1.0" in page
    annealed, alone = finals("extensions", "both, annealed", 1.0), finals("extensions", "optimistic target", 1.0)
    assert f"{short(annealed)} at P = 1.0 (every seed {annealed.min():.1f} to {annealed.max():.1f})" in page
    assert f"alone it ends at {short(alone)}, on every seed" in page
    assert short(finals("extensions", "DAC", 1.0)) in page
    variants = {name: finals("extensions", name, 1.0).mean() for name in results("extensions")}
    assert len(variants) == 8 and max(variants, key=variants.get) == "both, annealed"
    dac = text("docs/algorithms/dac.md")
    assert f"k = 10: {short(annealed)} on the same seeds, the highest of eight variants on them" in dac


def test_how_far_dac_underestimates_is_told_as_it_is():
    gaps = {}
    for view in ("visible", "hidden"):
        done = results("predator-prey")[f"{view} dac"]
        for curves, one in zip(curves_in(done), done.result["runs"], strict=True):
            gaps[view, curves.config["environment"]["penalty"]] = Promise.of(one).gap.mean()
    low = gaps.pop(("hidden", 0.5))
    wrong = gaps.pop(("visible", 1.0)), gaps.pop(("hidden", 1.0))
    page = text("docs/reproduction.md")
    assert f"DAC underestimates by {-max(gaps.values()):.0f} to {-min(gaps.values()):.0f} where it learns" in page
    assert f"(by {-low:.0f} hidden at P = 0.5)" in page
    assert f"where it does not (by {wrong[0]:.1f} visible, {wrong[1]:.1f} hidden)" in page


def test_trees_that_were_not_committed_are_told_as_they_were():
    pieces = [
        piece
        for target in ("ablation", "controls", "extensions")
        for piece in json.loads((DATA / f"{target}.json").read_text())["pieces"].values()
    ]
    dirty = {piece["provenance"]["commit"] for piece in pieces if piece["provenance"]["commit"].endswith("-dirty")}
    told = re.findall(r"those with (\w{7})-dirty", text("docs/reproduction.md"))
    assert sorted(told) == sorted(commit[:7] for commit in dirty)


def test_how_long_the_readings_took_is_told_as_it_was():
    pieces = json.loads((DATA / "readings.json").read_text())["pieces"]
    seconds = {name: one["seconds"] for name, one in pieces.items() if "H200" in one["provenance"]["device"]}
    alone = [seconds[f"final-{name}-dac"] for name in ("shared-visible", "appendix-a")]
    page, total = text("docs/reproduction.md"), sum(seconds.values())
    assert "for themselves and took {:.0f} and {:.0f} s".format(*alone) in page
    assert f"All {len(seconds)} pieces that were run on an H200 add up to {total:,.0f} s ({total / 60:.0f} min" in page
    assert len(pieces) - len(seconds) == 3 and "The three in the matrix game were run on a CPU" in page


def test_what_the_references_end_at_in_the_matrix_game_is_told_as_it_is():
    runs = json.loads((ROOT / "results" / "family-matrix.json").read_text())["runs"]
    ends = {run["config"]["algorithm"]["name"]: np.asarray(run["returns"])[:, -1].tolist() for run in runs}
    assert ends["vdn"] == ends["qmix"] == ends["mappo"] == [6.0] * 5
    assert "Both end at 6.00 there on five of five seeds" in text("docs/algorithms/references.md")
    assert "So does MAPPO, whose critic sees everything" in text("docs/algorithms/references.md")
    assert all(ends[name] == [6.0] * 5 for name in ("ippo", "dpo", "tvpo", "ia2c")) and ends["patient"] == [8.0] * 5
    assert "| patient | 8.00 on every seed |" in text("docs/results.md")
    assert "| ippo, dpo, tvpo, ia2c | 6.00 on every seed |" in text("docs/results.md")


def test_separate_agents_lie_apart_where_nothing_is_trained_as_far_as_is_said():
    from decentral.reproduction.table_1 import compared_with_payoff, untrained_gaps

    gaps = untrained_gaps(compared_with_payoff(results("table-1"))[1]).values()
    assert f"such entries lie {min(gaps):.2f} to {max(gaps):.2f} apart, on every seed" in text("docs/reproduction.md")
    assert len(gaps) == 5


def readme():
    """The rows of README's table of results, by task."""
    lines = (ROOT / "README.md").read_text().split("## Results next to the paper's")[1].splitlines()
    rows = [[cell.strip() for cell in line.strip("| ").split(" | ")] for line in lines if line.startswith("| ")]
    return {row[0]: row[2] for row in rows[1:]}


def test_readme_tells_the_returns_of_the_data():
    rows = readme()
    for method in ("iql", "dac"):
        told = mean_and_spread(curves_of(results("matrix-game")[method]).returns[:, -1])
        assert rows[f"matrix game, {method.upper()}"] == told
    dac = [short(finals("predator-prey", "visible dac", penalty)) for penalty in (0.0, 0.3, 0.5)]
    [told] = [cell for task, cell in rows.items() if task.startswith("predator-prey P = 0, 0.3, 0.5, DAC")]
    assert told.startswith(", ".join(dac))
    [told] = [cell for task, cell in rows.items() if "P = 0.3, DAC / Hysteretic / IQL" in task]
    weights = [finals("predator-prey", "hidden hysteretic", 0.3, negative_weight=beta) for beta in (0.1, 0.3, 0.5, 0.7)]
    best = max(weights, key=np.mean)
    others = [finals("predator-prey", f"hidden {name}", 0.3) for name in ("dac", "iql")]
    assert told.startswith(f"{short(others[0])} / {short(best)} / {short(others[1])}")
    [told] = [cell for task, cell in rows.items() if "forgiving IQL" in task]
    assert told == " / ".join(
        short(finals("predator-prey", f"{view} iql-forgiving", 1.0)) for view in ("visible", "hidden")
    )


def test_readme_tells_of_the_highest_penalty_what_the_data_do():
    [told] = [cell for task, cell in readme().items() if task.startswith("predator-prey P = 1.0, DAC")]
    known = [finals("predator-prey", f"visible {name}", 1.0) for name in ("dac", "dac-extended")]
    known += [finals("extensions", name, 1.0) for name in results("extensions")]
    numbers = re.findall(r"-?[\d.]+ ± [\d.]+", told)
    assert numbers and set(numbers) <= {short(scores) for scores in known}


def test_how_far_starts_on_a_gpu_lie_apart_is_told_as_it_was():
    programs = json.loads((ROOT / "results" / "gpu-starts.json").read_text())["programs"]
    apart = {name: np.ptp([np.ravel(start) for start in one["starts"]], axis=0) for name, one in programs.items()}
    tuned, untuned = apart["screen-shared-visible-dac"], apart["screen-shared-visible-q-learning"]
    page = " ".join((ROOT / "docs" / "decisions" / "networks.md").read_text().split())
    assert f"all {untuned.size} seeds of Hysteretic and IQL had the same" in page and not untuned.any()
    assert f"lay {np.median(tuned):.1f} apart in the median and {tuned.max():.1f} at most" in page and tuned.all()


@pytest.mark.parametrize("data", ["foraging.json", "spread.json", "coin-game.json", "catalogue.json"])
def test_the_curves_of_the_catalogue_are_those_of_the_data(data):
    page = (ROOT / "docs" / "environments" / "catalogue.md").read_text()
    for method, seeds in json.loads((ROOT / "results" / data).read_text())["runs"].items():
        returns = np.array([[value for _, value in tests] for tests in seeds.values()])
        assert f"| {method} | {' | '.join(map(mean_and_spread, returns.T))} |" in page


def test_the_catalogue_prints_the_commands_of_its_small_runs_and_how_long_they_took():
    page = text("docs/environments/catalogue.md").replace(" \\ ", " ")
    data = json.loads((ROOT / "results" / "catalogue.json").read_text())
    assert data["commands"].keys() == data["seconds"].keys() == data["runs"].keys()
    assert [command for command in data["commands"].values() if command not in page] == []
    assert [taken for taken in data["seconds"].values() if not re.search(rf"\b{taken}\b[^.]* s\b", page)] == []


def test_where_single_seeds_of_the_catalogue_end_is_told_as_it_is():
    page, runs = text("docs/environments/catalogue.md"), json.loads((ROOT / "results" / "catalogue.json").read_text())
    ends = {name: sorted(seed[-1][1] for seed in seeds.values()) for name, seeds in runs["runs"].items()}
    none, *served = ends["IPPO, Overcooked"]
    words = f"four seeds of five serve dishes and end between {served[0]:.1f} and {served[-1]:.1f}; the fifth ends at"
    assert f"{words} {none:.1f}, from small rewards alone" in page
    storm = ends["IPPO, STORM"]
    assert f"every seed ends above random play ({storm[0]:.1f} to {storm[-1]:.1f})," in page and storm[0] > 0.42
    *below, best = ends["IQL, archers"]
    assert f"one seed of five ends above random play ({best:.2f}), the others below it" in page and max(below) < 1.48
