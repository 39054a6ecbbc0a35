"""Numbers in sentences of README and of the report, put together again from the data."""

import json

import numpy as np

from decentral.deviation import mean_and_spread
from decentral.reproduction.pieces import curves_in, curves_of
from decentral.reproduction.switching_wind import measures
from decentral.reproduction.table_1 import compared_with_payoff, untrained_gaps
from tests.reproduction.test_documented_numbers import ROOT, finals, mean, readme, results, run, short, text
from tests.reproduction.test_report import PENALTIES, REPORT, late_returns, told


def optimum(penalty):
    return f"{run('predator-prey', 'visible dac', penalty).references['optimal']:.1f}"


def second_opinion(name):
    return json.loads((ROOT / "results" / "second-opinion" / f"{name}.json").read_text())


def appendix_a(world):
    return results("appendix-a")[f"{world} exact"].result


def row_of(task):
    [cell] = [cell for start, cell in readme().items() if start.startswith(task)]
    return cell


def test_readme_tells_the_optimal_returns_and_all_of_iqls():
    optimal = ", ".join(optimum(penalty) for penalty in PENALTIES[:3])
    assert row_of("predator-prey P = 0, 0.3, 0.5, DAC").endswith(f"(optimal {optimal})")
    iql = ", ".join(short(finals("predator-prey", "visible iql", penalty)) for penalty in PENALTIES[:3])
    assert row_of("the same, IQL") == iql
    assert row_of("predator-prey P = 0.3, DAC / Hysteretic / IQL").endswith(f"(optimal {optimum(0.3)})")


def test_readme_tells_each_number_of_the_highest_penalty_in_its_place():
    few = [short(finals("predator-prey", f"visible {name}", 1.0)) for name in ("dac", "dac-extended")]
    many = [short(finals("extensions", name, 1.0)) for name in ("DAC", "both")]
    assert row_of("predator-prey P = 1.0, DAC") == (
        f"k = 5, as in the paper: {few[0]}, with our extensions {few[1]};"
        f" k = 10: {many[0]}, with our extensions {many[1]}"
        f" (optimal {optimum(1.0)}): not reproduced"
    )


def test_the_report_tells_the_matrix_game_and_the_wind_as_they_are():
    page = text(REPORT)
    error = max(agent.phi_error for agent in compared_with_payoff(results("table-1"))[1])
    ends = {name: curves_of(results("matrix-game")[name]).returns[:, -1] for name in ("dac", "iql", "i2q")}
    wind = measures(results("switching-wind")["k=1, m=3"])["one-to-one"]
    assert all(np.ptp(returns) == 0 for returns in ends.values())
    dac, iql, i2q = (f"{returns.mean():.2f}" for returns in ends.values())
    assert f"(largest error of phi {error:.2f}), DAC ends at {dac} where IQL ends at {iql}," in page
    assert f"stands for each wind in {100 * wind.mean():.1f} % of the steps." in page
    assert f"ends at {i2q} when its published code is run" in page


def test_how_much_dac_and_hysteretic_vary_is_told_as_it_is():
    spreads = [late_returns(told("separate-hidden", 0.5, method)).std(ddof=1) for method in ("dac", "hysteretic")]
    assert "varies much less from seed to seed ({:.1f} against {:.1f})".format(*spreads) in text(REPORT)


def test_the_report_tells_the_errors_of_appendix_a():
    page, hunt = text(REPORT), appendix_a("hunt")
    errors = {
        name: {target: found["q_mean"] for target, found in of_targets.items()}
        for name, of_targets in hunt["partners"].items()
    }
    optimistic = [
        found["optimistic"]["q_largest"]
        for world in ("climbing", "fork", "hunt")
        for name, found in appendix_a(world)["partners"].items()
        if "fixed" not in name
    ]
    assert len(optimistic) == 9 and f"(error {max(optimistic):.2f} in three worlds)" in page
    good, cautious, random = (
        errors[f"{name}"]["printed"] for name in ("cooperative, exploring", "cautious, exploring", "random")
    )
    assert (
        f"its error is {good:.2f} beside a good partner, {cautious:.2f} beside a cautious one and {random:.2f}" in page
    )
    assert f"earn {hunt['exact_phi_return']:.2f} of {hunt['optimal']:.2f}, and a context" in page
    assert f"makes phi wrong by {hunt['lucky_phi_error']:.2f}." in page


def test_the_report_tells_what_the_ablation_found():
    page = text(REPORT)
    delayed = [mean("ablation", "kl weight", 0.5, kl_weight=weight) for weight in (0.01, 0.1)]
    best = finals("ablation", "kl weight", 1.0, kl_weight=0.01)
    assert (
        f"({delayed[0]} and {delayed[1]} at the end) while 0.01 is the best plain setting at P = 1.0 ({short(best)})"
        in page
    )
    plain = [
        curves.returns[:, -1].mean()
        for done in results("ablation").values()
        for curves in curves_in(done)
        if curves.config["environment"]["penalty"] == 1.0
    ]
    assert best.mean() == max(plain)


def shares_of_the_partner(*pieces):
    """What contexts tell of the partner's action, in percent: of DAC that learns, and of DAC that does not."""
    each = {}
    for piece in pieces:
        done = results("predator-prey")[piece]
        for curves, one in zip(curves_in(done), done.result["runs"], strict=True):
            learns = curves.returns[:, -1].mean() >= curves.references["optimal"] / 2
            each.setdefault(learns, []).append(100 * np.mean(one["measures"]["context_partner_share"]))
    return each


def test_what_contexts_tell_of_the_partner_is_told_as_it_is():
    each = shares_of_the_partner("visible dac", "hidden dac")
    told = f"the most likely context holds {min(each[True]):.0f} to {max(each[True]):.0f} % of the"
    assert told in text(REPORT) and told in text("docs/reproduction.md")


def test_the_report_tells_how_far_separate_agents_lie_apart():
    separate, shared = (
        untrained_gaps(compared_with_payoff(results(target), piece)[1]).values()
        for target, piece in (("table-1", "dac"), ("readings", "table-1-shared"))
    )
    page, each = text(REPORT), np.asarray(list(shared))
    assert f"Separate agents lie {min(separate):.2f} to {max(separate):.2f} apart there" in page
    assert f"agents that share parameters {each.mean():.2f} (five seeds each)" in page
    assert len(separate) == len(shared) == 5


def test_the_report_tells_how_two_implementations_agree():
    page, agreement = text(REPORT), second_opinion("agreement")
    loss = max(found["loss, difference"] for found in agreement.values())
    assert f"one update agrees to {loss:.0e} in the loss".replace("e-0", "e-") in page
    iql = next(pair for pair in second_opinion("learned") if pair["method"] == "iql")
    library, torch = (np.asarray(iql[name])[:, -1] for name in ("library", "torch"))
    ends = f"IQL ends at {mean_and_spread(library)} in the library and at {mean_and_spread(torch)} in PyTorch"
    assert f"{ends} ({len(torch)} seeds each" in page and len(torch) == len(library)
    [steps] = {pair["settings"]["steps"] for pair in second_opinion("curves")}
    assert f"Short runs ({steps:,} steps, three seeds)" in page and f"{iql['settings']['steps']:,} steps)" in page
