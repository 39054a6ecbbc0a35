"""The ablation of DAC, on curves written by hand."""

import pytest

from decentral.configs.config import Config
from decentral.reproduction.ablation import Ablation
from decentral.reproduction.target import Done, Scale
from decentral.runs.shapes import group_by_shape
from tests.reproduction.by_hand import results_by_hand

TARGET = Ablation()
FULL = Scale.of("full")


def as_the_paper_says(config, piece):
    """Every change costs 5, but k = 5 brings 5 at P = 1.0, and exploration nothing at P = 0.3."""
    own, penalty = config["algorithm"], config["environment"]["penalty"]
    if own["window"] == 5 and penalty == 1.0:
        return 25.0
    changes = [own["window"] != 10, own["contexts"] != 10, own["kl_weight"] != 0.001]
    changes.append(not own["explore_contexts"] and penalty > 0.3)
    return 20.0 - 5 * sum(changes)


@pytest.fixture(scope="module")
def results():
    return results_by_hand(TARGET, FULL, as_the_paper_says)


def test_one_thing_is_changed_at_a_time_at_every_penalty():
    pieces = {piece.name: piece.settings["configs"] for piece in TARGET.pieces(FULL)}
    assert list(pieces) == ["kl weight", "k=5", "k=15", "k=20", "m=5", "m=15", "m=20", "phi"]
    keys = ("window", "contexts", "kl_weight", "explore_contexts")
    run = [tuple(config["algorithm"][key] for key in keys) for configs in pieces.values() for config in configs]
    assert len(run) == 3 * 11 and len(set(run)) == 11
    assert all(sum(own != base for own, base in zip(each, (10, 10, 0.001, True), strict=True)) <= 1 for each in run)
    for configs in pieces.values():
        assert len(group_by_shape([Config.from_data(config) for config in configs])) == 1  # one program
    plan = pieces["phi"][0]["training"]
    assert [plan[key] for key in ("seed", "seeds", "steps", "test_interval")] == [5, 5, 3_050_000, 50_000]
    assert [config["environment"]["penalty"] for config in pieces["phi"]] == [0.3, 0.5, 1.0]
    assert all(config["environment"]["observe_teammate"] for config in pieces["phi"])


def test_the_table_has_a_line_per_value_with_the_final_return_and_that_of_the_last_third(results):
    heads, _, *rows = TARGET.tabulate(results).splitlines()
    assert heads.startswith("| component | value | P = 0.3: final | P = 0.3: last third | P = 0.5: final |")
    assert len(rows) == 4 + 4 + 4 + 2 + 2
    # the last third of one seed: 0 and 14, of the other: 2 and 16
    assert rows[1].startswith("| window | k=5 | 15.00 ± 1.41 | 8.00 ± 1.41 | 15.00 ± 1.41 |")
    assert "| contexts | m=10 | 20.00 ± 1.41 |" in rows[4]
    assert "| KL loss | beta=0 | 15.00 ± 1.41 |" in rows[9]
    assert rows[-2] == "| known | optimal | 30.00 |  | 30.00 |  | 30.00 |  |"


def test_the_papers_own_results_would_reproduce_its_claims(results):
    found = TARGET.findings(results)
    assert {name: finding.verdict for name, finding in found.items()} == dict.fromkeys(
        ("C15", "C16", "C17", "C18"), "reproduced"
    ) | {"C22": "partly reproduced"}
    assert found["C15"].numbers == (
        "P = 0.5: m=10 20.00 ± 1.41, m=5 15.00 ± 1.41 (1 of 1); P = 1: m=10 20.00 ± 1.41, m=20 15.00 ± 1.41 (1 of 1)"
    )
    assert "best k=10 at P = 0.3, k=10 at P = 0.5, k=5 at P = 1 (depends on the task: yes)" in found["C22"].numbers
    assert "best m=10 at P = 0.3, m=10 at P = 0.5, m=10 at P = 1 (depends on the task: no)" in found["C22"].numbers


def test_where_nothing_makes_a_clear_difference_only_the_equality_on_the_easy_task_holds():
    def earned(config, piece):
        return 20.5 if piece == "k=15" and config["environment"]["penalty"] == 0.3 else 20.0  # the error is 1.41

    found = TARGET.findings(results_by_hand(TARGET, FULL, earned))
    verdicts = {name: finding.verdict for name, finding in found.items()}
    assert verdicts == dict.fromkeys(("C15", "C16", "C17", "C22"), "not reproduced") | {"C18": "partly reproduced"}
    assert "best k=15 at P = 0.3, k=10 at P = 0.5, k=10 at P = 1 (depends on the task: no)" in found["C22"].numbers


def test_no_equality_holds_where_dac_phi_is_above():
    found = TARGET.findings(results_by_hand(TARGET, FULL, lambda config, piece: 20.0 + 5 * (piece == "phi")))
    assert found["C18"].verdict == "not reproduced"


def test_the_figure_has_a_row_per_component_with_its_own_legend_and_the_base_alike_in_all(results):
    figure = TARGET.draw(results)
    assert len(figure.axes) == 4 * 3 and not figure.legends
    named = [[text.get_text() for text in axes.get_legend().get_texts()] for axes in figure.axes[2::3]]
    assert [names[0] for names in named] == [f"{base} (2 seeds)" for base in ("k=10", "m=10", "beta=0.001", "DAC")]
    assert [len(names) for names in named] == [4 + 2, 4 + 2, 4 + 2, 2 + 2]  # and what is known exactly
    assert len({axes.get_lines()[0].get_color() for axes in figure.axes}) == 1


def test_runs_that_are_not_there_are_no_evidence():
    with pytest.raises(ValueError, match="nothing was run of contexts"):
        TARGET.findings({"kl weight": Done({"configs": []}, {"runs": []})})


def test_a_glance_has_one_penalty_and_one_change_of_each_and_says_nothing_of_the_others():
    results = results_by_hand(TARGET, Scale.of("quick"), as_the_paper_says)
    assert len(TARGET.draw(results).axes) == 4
    assert [piece.name for piece in TARGET.pieces(Scale.of("quick"))] == ["kl weight", "k=5", "m=5", "phi"]
    assert "P = 1" not in TARGET.tabulate(results)
    found = TARGET.findings(results)
    assert list(found) == ["C15", "C16", "C17", "C18"]
    assert found["C15"].numbers == "P = 0.5: m=10 20.00 ± 1.41, m=5 15.00 ± 1.41 (1 of 1)"
