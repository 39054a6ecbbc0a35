"""What the docs tell of trained and scripted battles is what the data say."""

import json
from pathlib import Path

import numpy as np
import pytest

from decentral.deviation import mean_and_spread
from decentral.reproduction.battle_curves import battle_panel, endings_of, is_above
from decentral.reproduction.battle_pieces import MAPS, PAPER, SHARED_MAPS, at_common_steps, common_steps
from decentral.reproduction.record import Record

ROOT = Path(__file__).parents[2]
PAPER_ORDER = ("dac", "hysteretic", "i2q", "iql")  # of the columns of tables
RESULTS = Record.read(ROOT / "results" / "reproduction" / "smac.json").results
NEAREST = Record.read(ROOT / "results" / "two-stalkers-nearest.json").results  # 2s_vs_1sc under the rule of other maps


def text(page):
    return " ".join((ROOT / page).read_text().split())


def measured(piece, what, step, results=RESULTS):
    """Of every seed, at a step."""
    done = results[piece]
    config = done.settings.get("configs", [done.settings])[0]  # those of one piece differ in Hysteretic's weight alone
    at = list(common_steps(config)).index(step)
    return at_common_steps(config, done.result, what)[:, at]


def win_percentages(piece, step, results=RESULTS):
    return 100 * measured(piece, "win_rates", step, results)


@pytest.mark.parametrize(
    ("piece", "results", "rule"),
    [
        ("5m_vs_6m-iql", RESULTS, ""),
        ("10m_vs_11m-iql", RESULTS, ""),
        ("3s_vs_5z-iql", RESULTS, ""),
        ("3s5z-iql", RESULTS, ""),
        ("2s_vs_1sc-iql", NEAREST, ", `nearest`"),
        ("2s_vs_1sc-iql", RESULTS, ", `attackers`"),
        ("5m_vs_6m-iql-shared", RESULTS, ", shared"),
        ("3s_vs_5z-iql-shared", RESULTS, ", shared"),
        ("3s5z-iql-shared", RESULTS, ", shared"),
    ],
)
def test_levels_beside_the_live_ones(piece, results, rule):
    steps = (500_000, 1_000_000, 2_000_000)
    early, middle, late = (win_percentages(piece, step, results) for step in steps)
    told = f"{early.mean():.0f} | {middle.mean():.0f} | {late.mean():.0f} ({late.min():.0f} to {late.max():.0f})"
    assert f"| `{piece.split('-')[0]}`, here{rule} | {told} |" in text("docs/environments/battles.md")


def test_shared_levels_in_words():
    ends = [win_percentages(f"{battle}-iql-shared", 2_000_000).mean() for battle in SHARED_MAPS]
    assert "{:.0f} % where the best live seed has 65, {:.0f} where it has 56, and {:.0f} where it has 21".format(
        *ends
    ) in text("docs/environments/battles.md")
    assert f"{ends[0]:.0f} % of `5m_vs_6m` at 2 M steps" in text("docs/reproduction.md")
    told = "({:.0f}, {:.0f} and {:.0f} % of 5m_vs_6m, 3s_vs_5z and 3s5z at 2 M steps".format(*ends)
    assert told in text("docs/reproduction/report.md")


def test_levels_of_the_crawler():
    wins = [win_percentages("2s_vs_1sc-iql", step).mean() for step in (500_000, 1_000_000, 2_000_000)]
    end = measured("2s_vs_1sc-iql", "returns", 2_000_000).mean()
    told = f"{wins[0]:.0f}, {wins[1]:.0f} and {wins[2]:.0f} % at 0.5, 1 and 2 M steps beside 83, 99 and 99"
    assert f"{told}, with a return of {end:.1f} at the end in both" in text("docs/environments/battles.md")
    endings = endings_of(battle_panel(RESULTS, "2s_vs_1sc", False))
    told = f"lets IQL win {endings['iql'].win_words} and I2Q {endings['i2q'].win_words}."
    assert told in text("docs/reproduction.md")


def shared_levels():
    """By map and method: what is won, in percent, after 0.5 and 1 M steps [seeds]."""
    levels = {}
    for run in json.loads((ROOT / "results" / "battles-shared.json").read_text())["runs"]:
        config = run["config"]
        assert config["training"]["sharing"] and len(run["seeds"]) == 5
        won = 100 * at_common_steps(config, run | run["reports"], "win_rate")
        both = tuple(won[:, list(common_steps(config)).index(step)] for step in (500_000, 1_000_000))
        levels.setdefault(config["environment"]["name"], {})[config["algorithm"]["name"]] = both
    return levels


def test_levels_with_shared_parameters():
    page = text("docs/environments/battles.md")
    for battle, levels in shared_levels().items():
        cells = [
            f"{half.mean():.0f} / {end.mean():.0f} ({end.min():.0f} to {end.max():.0f})"
            for half, end in (levels[method] for method in ("iql", "vdn", "qmix"))
        ]
        assert f"| `{battle}`, here | {' | '.join(cells)} |" in page


def test_levels_with_shared_parameters_in_words():
    page = text("docs/environments/battles.md")
    means = {
        battle: {method: [f"{won.mean():.0f}" for won in both] for method, both in levels.items()}
        for battle, levels in shared_levels().items()
    }
    marines = means["10m_vs_11m"]
    told = f"at 0.5 M VDN wins {marines['vdn'][0]} % and QMIX {marines['qmix'][0]}, where live teams win 23 and 25;"
    assert f"{told} at 1 M IQL wins {marines['iql'][1]}, live 1." in page
    assert f"QMIX ends where live teams do ({marines['qmix'][1]} and 86 %)" in page
    few = means["5m_vs_6m"]
    assert f"its {few['qmix'][1]} % is near the live 57" in page
    assert "IQL wins three and a half times as often at 1 M, VDN nearly twice as often" in page
    assert 3.25 < int(few["iql"][1]) / 21 < 3.75 and 1.7 < int(few["vdn"][1]) / 53 < 2
    separate = win_percentages("3s5z-iql", 1_000_000).mean()
    assert f"at 1 M IQL wins {means['3s5z']['iql'][1]} % shared and {separate:.0f} % separate, live 5 %." in page


def ended(team):
    """Of a team that plays under other rules: the last step of each seed, and the percentage won in its last test."""
    battle, method = team.lower().split(", ")
    if method == "iql":
        done = RESULTS[f"{battle}-iql-shared"].result
        steps, won = done["seed_steps"], done["win_rates"]
    else:
        runs = json.loads((ROOT / "results" / "battles-shared.json").read_text())["runs"]
        names = [(one["config"]["environment"]["name"], one["config"]["algorithm"]["name"]) for one in runs]
        run = runs[names.index((battle, method))]
        steps, won = run["seed_steps"], run["reports"]["win_rate"]
    return np.asarray(steps)[:, -1], 100 * np.asarray(won)[:, -1]


def test_trained_teams_under_other_rules():
    page = text("docs/environments/battles.md")
    for team, rules in json.loads((ROOT / "results" / "trained-under-rules.json").read_text())["teams"].items():
        battle, method = team.split(", ")
        steps, last = ended(team)
        unit = " steps" if method == "VDN" else ""
        won = " | ".join(f"{100 * played['won']:.0f}" for played in rules.values())
        told = f"{method} ({steps.min() / 1e6:.2f} to {steps.max() / 1e6:.2f} M{unit})"
        assert f"| `{battle}`, {told} | {won} |" in page
        assert abs(last.mean() - 100 * rules["default"]["won"]) < 7  # of 160 battles and of 320


def test_why_trained_teams_win_more_than_at_the_step_of_the_levels():
    teams = ("3s_vs_5z", "3s5z")
    more = np.concatenate([ended(f"{battle}, IQL")[0] for battle in teams]) / 1e6 - 2
    early = [win_percentages(f"{battle}-iql-shared", 2_000_000).mean() for battle in teams]
    late = [ended(f"{battle}, IQL")[1].mean() for battle in teams]
    page = text("docs/environments/battles.md")
    assert "(#the-look-at-what-was-held-out), {:.0f} and {:.0f} %: these agents".format(*early) in page
    assert f"learned for {more.min():.2f} to {more.max():.2f} M steps more" in page
    assert "of 32 battles each, they won {:.0f} and {:.0f} %.".format(*late) in page


def test_returns_where_levels_agree():
    at_the_end = [measured(f"{battle}-iql", "returns", 2_000_000) for battle in ("5m_vs_6m", "10m_vs_11m", "3s_vs_5z")]
    told = "{:.1f}, {:.1f} and {:.1f} here".format(*(returns.mean() for returns in at_the_end))
    assert told in text("docs/environments/battles.md")


def test_levels_without_live_ones():
    ends = [win_percentages(f"{battle}-iql", 2_000_000).mean() for battle in ("8m_vs_9m", "3s_vs_4z")]
    assert f"IQL ends at {ends[0]:.0f} and {ends[1]:.0f} %" in text("docs/environments/battles.md")


def test_how_much_has_been_run():
    pairs = sum(f"{battle}-{method}" in RESULTS for battle in MAPS for method in PAPER)
    assert pairs == 28
    told = f"Of 77 pieces, {len(RESULTS)} have been run so far, among them all {pairs} pairs of map and method in"
    assert told in text("docs/reproduction.md")
    assert f"All {pairs} pairs of map and method are done with separate" in text("docs/reproduction/report.md")


def test_where_methods_end():
    contexts = json.loads((ROOT / "results" / "battle-contexts.json").read_text())["runs"]
    page, report = text("docs/reproduction.md"), text("docs/reproduction/report.md")
    for battle in MAPS:
        endings = endings_of(battle_panel(RESULTS, battle, False))
        won = [endings[method].win_words.removesuffix(" %") for method in PAPER_ORDER]
        seeds = contexts[f"{battle}-dac"].values()
        wishes = np.array([seed["q_optimistic_mean"] / seed["q_taken_mean"] for seed in seeds])
        telling = np.array([seed["kl"] for seed in seeds])
        cells = [*won, mean_and_spread(wishes, digits=2), mean_and_spread(telling, digits=2)]
        assert f"| `{battle}` | {' | '.join(cells)} |" in page
        assert f"| {battle} | {' | '.join(won)} |" in report


def test_where_methods_end_with_shared_parameters():
    page = text("docs/reproduction.md")
    for battle in SHARED_MAPS:
        endings = endings_of(battle_panel(RESULTS, battle, True))
        won = [endings[method].win_words.removesuffix(" %") for method in PAPER_ORDER]
        assert f"| `{battle}` | {' | '.join(won)} |" in page
    assert len(SHARED_MAPS) == 3 and "with shared parameters, three of seven maps." in text(
        "docs/reproduction/report.md"
    )


def test_what_sharing_does_for_dac_is_told_as_it_is():
    page, report = text("docs/reproduction.md"), text("docs/reproduction/report.md")
    own, shared = (endings_of(battle_panel(RESULTS, "5m_vs_6m", sharing)) for sharing in (False, True))
    words = {method: ending.win_words.removesuffix(" %") for method, ending in shared.items()}
    told = f"It wins {words['dac']} % there instead of {own['dac'].win_words.removesuffix(' %')}, and its worst seed"
    assert told in page and shared["dac"].win_rates.min() > own["dac"].win_rates.max()
    low, middle, third, _, high = sorted(100 * shared["dac"].win_rates)
    told = f"Three seeds end between {third:.0f} and {high:.0f} %, the others at {low:.0f} and {middle:.0f}."
    assert told in page
    after = [win_percentages(f"5m_vs_6m-{method}-shared", 1_000_000).mean() for method in ("dac", "iql")]
    assert "after 1 M steps it wins {:.0f} %, IQL {:.0f}.".format(*after) in page
    assert 1.95 < shared["iql"].win_rate / own["iql"].win_rate < 2.05 and "IQL wins twice as much" in page
    errors = {
        method: (shared["dac"].win_rate - other.win_rate)
        / np.sqrt((shared["dac"].win_rates.var(ddof=1) + other.win_rates.var(ddof=1)) / 5)
        for method, other in shared.items()
    }
    above = f"by {errors['hysteretic']:.1f} and {errors['i2q']:.1f} standard errors of the difference"
    assert f"({above}), but not above IQL ({-errors['iql']:.1f} below): two of C7's three parts hold" in page
    told = f"DAC wins {words['dac']} % of 5m_vs_6m: above Hysteretic ({words['hysteretic']}) and I2Q ({words['i2q']}),"
    assert f"{told} as claimed, {above}, but not above IQL ({words['iql']})." in report


def test_what_sharing_does_on_two_maps_is_told_in_the_readme():
    panels = [endings_of(battle_panel(RESULTS, battle, True)) for battle in ("5m_vs_6m", "3s_vs_5z")]
    dac, hysteretic, i2q, iql = (
        " / ".join(endings[method].win_words.removesuffix(" %") for endings in panels) for method in PAPER_ORDER
    )
    assert (
        f"| {dac}: above I2Q ({i2q}), above Hysteretic on 5m_vs_6m alone ({hysteretic}), not above IQL ({iql}) |"
        in text("README.md")
    )
    above = [[is_above("dac", other, endings) for other in ("hysteretic", "i2q", "iql")] for endings in panels]
    assert above == [[True, True, False], [False, True, False]]


def test_sharing_changes_little_on_the_two_other_maps():
    page, report = text("docs/reproduction.md"), text("docs/reproduction/report.md")
    for battle, gains in (("3s_vs_5z", True), ("3s5z", False)):
        own, shared = (endings_of(battle_panel(RESULTS, battle, sharing)) for sharing in (False, True))
        for method in PAPER_ORDER:
            spread = max(endings[method].win_rates.std(ddof=1) for endings in (own, shared))
            change = shared[method].win_rate - own[method].win_rate
            assert abs(change) < spread and (change > 0) == gains
        for endings in (own, shared):
            assert [is_above("dac", other, endings) for other in ("hysteretic", "i2q", "iql")] == [False, True, False]
    early = {
        method: mean_and_spread(win_percentages(f"3s_vs_5z-{method}-shared", 1_000_000), digits=0)
        for method in PAPER_ORDER
    }
    told = "after 1 M steps it wins {dac} %, IQL {iql}, I2Q {i2q} and Hysteretic {hysteretic}."
    assert told.format(**early) in page
    ends = [
        endings_of(battle_panel(RESULTS, battle, True))["dac"].win_words.removesuffix(" %")
        for battle in ("3s_vs_5z", "3s5z")
    ]
    assert f"On 3s_vs_5z and 3s5z it ends at {ends[0]} and {ends[1]} %, above I2Q alone" in report
    assert f"it learns first ({early['dac']} % after 1 M steps, IQL {early['iql']})" in report


def test_battles_in_the_readme():
    battles = ("5m_vs_6m", "8m_vs_9m", "10m_vs_11m", "3s_vs_4z", "3s_vs_5z")
    endings = [endings_of(battle_panel(RESULTS, battle, False)) for battle in battles]
    readme = text("README.md")
    for method, before in (("dac", "| "), ("iql", "(IQL ")):
        words = " / ".join(ended[method].win_words.removesuffix(" %") for ended in endings)
        assert f"{before}{words}" in readme


def test_who_steps_back_in_a_scripted_battle():
    by_script = {}
    for row in map(json.loads, (ROOT / "results" / "two-stalkers.jsonl").read_text().splitlines()):
        script = row["who"], row["how_far"], row["noise"]
        by_script.setdefault(script, []).append(f"{100 * row['won']:.0f} % | {row['return']:.1f}")
    page = text("docs/environments/battles.md")
    who = {"nobody": "nobody", "first": "the one that is hit first", "second": "the other one", "both": "both"}
    far = {1: "one step", 2: "two steps"}
    for (name, how_far, noise), cells in by_script.items():
        script = who[name] if name == "nobody" else f"{who[name]}, {far[how_far]}"
        at_random = f"; {100 * noise:.0f} % of the actions at random" if noise else ""
        assert f"| {script}{at_random} | {' | '.join(cells)} |" in page


def test_two_stalkers_with_shared_parameters():
    runs = json.loads((ROOT / "results" / "two-stalkers-shared.json").read_text())["runs"]
    page = text("docs/environments/battles.md")
    for run in runs.values():
        last, best = run["returns"][-1], [max(wins) for wins in zip(*run["win_rates"], strict=True)]
        told = " and ".join(f"{value:.1f}" for value in last)
        most = " and ".join(f"{100 * value:.0f}" for value in best)
        assert f"return {told}, at most {most} % won in a test" in page
    wins = [win_rate > 0 for of_seeds in runs["attackers"]["win_rates"] for win_rate in of_seeds]
    assert f"wins in {sum(wins)} of its {len(wins)} tests" in page


def test_the_readme_tells_how_battles_end():
    rows = [line for line in (ROOT / "README.md").read_text().splitlines() if line.startswith("| simulated battles")]
    assert sorted(battle for row in rows for battle in MAPS if battle in row.split("|")[1]) == sorted(MAPS)
    for row in rows:
        battles = row.split("|")[1].removeprefix(" simulated battles ").split(", ")[0].split(" / ")
        for method, mark in (("dac", "| {}: "), ("iql", "(IQL {})")):
            endings = [endings_of(battle_panel(RESULTS, battle, False))[method].win_words for battle in battles]
            assert mark.format(" / ".join(ending.removesuffix(" %") for ending in endings)) in row
