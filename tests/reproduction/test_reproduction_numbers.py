"""Numbers in the sentences of docs/reproduction.md, put together again from the data."""

import json

import numpy as np
import pytest

from decentral.reproduction.battle_curves import battle_panel, endings_of
from decentral.reproduction.pieces import curves_in
from decentral.reproduction.predator_prey import Promise
from decentral.reproduction.reading_results import BEST_KNOWN_HIDDEN
from decentral.reproduction.table_1 import compared_with_payoff, untrained_gaps
from tests.reproduction.test_documented_numbers import ROOT, finals, learned, mean, results, run, short, text
from tests.reproduction.test_report import late_returns, told
from tests.reproduction.test_report_numbers import appendix_a

PAGE = text("docs/reproduction.md")


def measured(target, piece, name):
    """By penalty (the only difference of a piece's runs): the mean of a metric over seeds and agents."""
    done = results(target)[piece]
    penalties = [curves.config["environment"]["penalty"] for curves in curves_in(done)]
    values = [np.mean(one["measures"][name]) for one in done.result["runs"]]
    return dict(zip(penalties, values, strict=True))


def test_what_decides_between_dac_and_hysteretic_is_told_as_it_is():
    dac, hysteretic = (late_returns(told("separate-hidden", 0.5, method)) for method in ("dac", "hysteretic"))
    errors = (dac.mean() - hysteretic.mean()) / np.sqrt((dac.var(ddof=1) + hysteretic.var(ddof=1)) / len(dac))
    assert f"if only by {errors:.1f} standard errors of the difference" in PAGE
    half = list(BEST_KNOWN_HIDDEN.values())[2] / 2
    assert hysteretic.mean() < half < dac.mean() and f"best return known, {half:.2f}, so that" in PAGE.replace(
        "half", "half"
    )


def test_what_sharing_does_beside_a_hidden_teammate_is_told_as_it_is():
    both = ("separate-hidden", "shared-hidden")
    dac, hysteretic = (
        [late_returns(told(name, 0.5, method)).mean() for name in both] for method in ("dac", "hysteretic")
    )
    fall = "it falls from {:.1f} to {:.1f}, and Hysteretic from {:.1f} to {:.1f}."
    assert f"at P = 0.5 hidden {fall.format(*dac, *hysteretic)}" in PAGE
    optimal = told("appendix-a", 1.0).references["optimal"]
    assert f"between 20.4 and 22.7, of {optimal:.1f} possible." in PAGE
    same = late_returns(told("same-context", 1.0)).mean()
    assert f"(`same-context`) comes to {same:.1f}, below half of the optimum." in PAGE and same < optimal / 2


def test_agents_of_one_network_agree_as_far_as_is_said():
    gaps = list(untrained_gaps(compared_with_payoff(results("readings"), "table-1-shared")[1]).values())
    assert f"`table-1-shared`, the same 50,000 steps on the same five seeds, they lie {np.mean(gaps):.2f} apart" in PAGE


def test_how_short_of_half_the_optimum_dac_falls_is_told_as_it_is():
    hidden = run("predator-prey", "hidden dac", 0.5)
    end = hidden.returns[:, -1].mean()
    short_by = hidden.references["optimal"] / 2 - end
    assert f"At P = 0.5 DAC ({end:.1f}) falls short of half of the optimum by {short_by:.1f}." in PAGE
    extended = [finals("predator-prey", f"{seen} dac-extended", 1.0) for seen in ("visible", "hidden")]
    assert f"with the teammate visible ({short(extended[0])}) but not hidden." in PAGE
    assert learned("predator-prey", "visible dac-extended", 1.0) and not learned(
        "predator-prey", "hidden dac-extended", 1.0
    )


def test_what_contexts_know_of_the_partner_is_told_as_it_is():
    shares = {seen: measured("predator-prey", f"{seen} dac", "context_partner_share") for seen in ("visible", "hidden")}
    failed = [100 * of_view.pop(1.0) for of_view in shares.values()]
    low, *_, high = sorted(100 * share for of_view in shares.values() for share in of_view.values())
    assert f"holds {low:.0f} to {high:.0f} % of the entropy of the partner's action at that step; at P = 1.0," in PAGE
    assert f"where it fails, {failed[0]:.0f} and {failed[1]:.0f} %." in PAGE
    extended = 100 * measured("predator-prey", "visible dac-extended", "context_partner_share")[1.0]
    assert f"(Extended DAC: {extended:.0f} % where it learns P = 1.0.)" in PAGE
    pieces = [f"{seen} {name}" for seen in ("visible", "hidden") for name in ("dac", "dac-extended")]
    used = [count for piece in pieces for count in measured("predator-prey", piece, "contexts_used").values()]
    assert "Seven and a half to nine and a half of ten contexts are in use." in PAGE
    assert (round(2 * min(used)) / 2, round(2 * max(used)) / 2) == (7.5, 9.5)


def test_how_far_hysteretic_overestimates_is_told_as_it_is():
    gaps = {}
    for seen in ("visible", "hidden"):
        done = results("predator-prey")[f"{seen} hysteretic"]
        for curves, one in zip(curves_in(done), done.result["runs"], strict=True):
            gaps.setdefault(curves.config["algorithm"]["negative_weight"], []).append(Promise.of(one).gap.mean())
    least, small = gaps[0.01], gaps[0.1]
    words = "by {:.0f} to {:.0f} with 0.01, by {:.0f} to {:.0f} with 0.1, in every environment"
    assert words.format(min(least), max(least), min(small), max(small)) in PAGE
    above = [gap for weight in (0.3, 0.5, 0.7) for gap in gaps[weight]]
    assert max(above) < 1.2 and len(least) == len(small) == 8 and np.mean(np.greater(above, 0.5)) < 0.2


def battle(name):
    contexts = json.loads((ROOT / "results" / "battle-contexts.json").read_text())["runs"][f"{name}-dac"]
    optimism = np.array([seed["q_optimistic_mean"] / seed["q_taken_mean"] for seed in contexts.values()])
    ends = endings_of(battle_panel(results("smac"), name, False))
    return optimism, ends["dac"].win_rates, ends["dac"].win_rate / ends["iql"].win_rate


def test_where_dac_is_too_optimistic_in_battles_is_told_as_it_is():
    high = [battle(name) for name in ("5m_vs_6m", "8m_vs_9m")]
    optimism, won, share = battle("10m_vs_11m")
    assert f"is {high[0][0].mean():.1f} and {high[1][0].mean():.1f} times that of the actions taken" in PAGE
    assert [round(share, 2) for *_, share in high] == [0.32, 0.33] and "DAC wins a third as often as IQL" in PAGE
    assert f"On `10m_vs_11m` it is {optimism.mean():.1f} times and DAC wins {share:.1f} times as often" in PAGE
    assert set(won.argsort()[:2]) == {optimism.argmax(), optimism.argmin()}
    low = [battle(name) for name in ("3s_vs_4z", "3s_vs_5z", "3s5z")]
    [times] = {f"{optimism.mean():.1f}" for optimism, *_ in low}
    shares = sorted(share for *_, share in low)
    assert f"it is {times} times, and DAC wins {shares[0]:.1f} to {shares[-1]:.1f} times as often." in PAGE
    assert f"`2s_vs_1sc` does not fit in: {battle('2s_vs_1sc')[0].mean():.1f} times" in PAGE


def test_how_a_crawler_is_unlearned_is_told_as_it_is():
    kept = results("smac")["2s_vs_1sc-hysteretic"].result
    place = int(np.argmax([steps[-1] for steps in kept["seed_steps"]]))
    steps, won = np.asarray(kept["seed_steps"][place]) / 1e6, 100 * np.asarray(kept["win_rates"][place])
    last = won[(steps > 4.15) & (steps < 4.5)]
    assert f"every test battle from 4.2 to {steps[-1]:.1f} M" in PAGE and len(last) == 6 and (last == 100).all()
    [[before], [lost], [again]] = (won[np.round(steps, 1) == when] for when in (1.7, 1.9, 2.2))
    told = (
        f"one of Hysteretic's seeds wins {before:.0f} % at 1.7 M steps, {lost:.0f} % at 1.9 and 2.2 M, and every test"
    )
    assert f"{lost:.0f}" == f"{again:.0f}" and told in PAGE


def test_what_the_ablation_changes_is_told_as_it_is():
    base = {penalty: finals("ablation", "kl weight", penalty, kl_weight=0.001) for penalty in (0.3, 0.5, 1.0)}
    comparison, again = finals("predator-prey", "visible dac", 0.3).mean(), base[0.3].mean()
    assert f"({comparison:.2f} and {again:.2f} at P = 0.3) are like those of different seeds" in PAGE
    low, high = (mean("ablation", "kl weight", 0.5, kl_weight=weight) for weight in (0.01, 0.1))
    assert f"at P = 0.5 past the end ({low} and {high})." in PAGE
    for weight in (0.01, 0.1):
        delayed = run("ablation", "kl weight", 0.3, kl_weight=weight)
        caught = delayed.steps[delayed.returns.mean(axis=0) > 1]
        assert "at P = 0.3 until 1.75 M steps" in PAGE and 1_700_000 <= caught[0] <= 1_750_000
    phi = {penalty: finals("ablation", "phi", penalty) for penalty in base}
    apart = [abs(phi[penalty].mean() - base[penalty].mean()) for penalty in base]
    assert "DAC_phi ends within 0.5 of DAC at P = 0.3 and 0.5" in PAGE and 0.4 < max(apart[:2]) < 0.5
    [spread] = {f"{scores[1.0].std(ddof=1):.0f}" for scores in (phi, base)}
    assert f"and {apart[2]:.1f} above it at P = 1.0, with spreads of {spread}." in PAGE


def test_what_contexts_without_an_encoder_do_is_told_as_it_is():
    plain = measured("controls", "plain reward-bins", "value_gap").values()
    assert f"overestimate by {min(plain):.0f} to {max(plain):.0f}: the maximum" in PAGE
    near = [
        ("plain noise", 0.5),
        ("plain noise", 1.0),
        ("extended noise", 0.5),
        ("extended noise", 1.0),
        ("plain ensemble", 1.0),
    ]
    assert "settle within 1 of 0" in PAGE and max(abs(finals("controls", *which).mean()) for which in near) < 1
    pairs = [[mean("controls", f"extended {source}", p) for source in ("reward-bins", "encoder")] for p in (0.5, 1.0)]
    assert "({} against {}, {} against {})".format(*pairs[0], *pairs[1]) in PAGE
    bins, inferred = (
        [100 * share for share in measured("controls", f"extended {source}", "context_partner_share").values()]
        for source in ("reward-bins", "encoder")
    )
    words = "({:.1f} to {:.1f} % of its entropy, inferred ones {:.1f} to {:.1f} %)"
    assert words.format(min(bins), max(bins), min(inferred), max(inferred)) in PAGE


def test_what_extensions_do_is_told_as_it_is():
    attainable, annealed = mean("extensions", "attainable", 1.0), finals("extensions", "both, annealed", 0.5)
    assert f"**Attainable contexts alone do not**: at P = 1.0 they end at {attainable}." in PAGE
    assert f"and {short(annealed)} at P = 0.5, the highest of these eight variants" in PAGE
    assert annealed.mean() == max(finals("extensions", name, 0.5).mean() for name in results("extensions"))
    assert f"plain DAC with the same k = 10 ends at {short(finals('extensions', 'DAC', 1.0))} at P = 1.0." in PAGE
    errors = measured("extensions", "sampled maximum", "phi_gap")
    assert f"phi is then too low by {errors[0.5]:.2f} and {errors[1.0]:.2f}." in PAGE
    alone = run("extensions", "optimistic target", 1.0)
    below = alone.steps[alone.returns.mean(axis=0) < alone.references["random"]]
    assert "below random play, around 1 M steps" in PAGE and 900_000 <= min(below) <= max(below) <= 1_150_000


def test_what_appendix_a_finds_is_told_as_it_is():
    hunt = appendix_a("hunt")
    learners = {
        world: {
            target: {name: np.mean([pair[name] for pair in pairs]) for name in ("q_mean", "return")}
            for target, pairs in results("appendix-a")[f"{world} learning"].result["targets"].items()
        }
        for world in ("climbing", "fork", "hunt")
    }
    errors = [learners[world]["optimistic"]["q_mean"] for world in learners]
    assert f"(error {max(errors[:2]):.2f}); beside" in PAGE and max(errors[:2]) < 0.005
    assert f"the errors are {errors[0]:.2f} in the first two worlds, and {errors[2]:.2f} in the hunt after 2 M" in PAGE
    good, cautious = (
        hunt["partners"][f"{name}, exploring"]["printed"]["q_mean"] for name in ("cooperative", "cautious")
    )
    assert f"from an error of {good:.2f} to one of {cautious:.2f}, so" in PAGE
    earned = learners["hunt"]["printed"]["return"]
    assert f"and at {earned:.2f} of {hunt['optimal']:.2f} in the hunt." in PAGE
    fork = appendix_a("fork")
    misled = [fork["partners"][name]["printed"]["return"] for name in ("cautious, exploring", "random")]
    assert f"({misled[0]:.2f} instead of {fork['optimal']:.2f})" in PAGE and misled[0] == pytest.approx(misled[1])
    assert f"break ties at random earn {hunt['exact_phi_return']:.2f} of {hunt['optimal']:.2f} (learners" in PAGE
    wrong, earned = hunt["lucky_phi_error"], hunt["lucky_phi_return"]
    assert f"by {wrong:.2f} on average in the hunt, and acting on it earns {earned:.2f}." in PAGE
