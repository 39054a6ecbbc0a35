"""DAC beside contexts without an encoder, on curves written by hand."""

import pytest

from decentral.reproduction.controls import Controls
from decentral.reproduction.record import Record
from decentral.reproduction.target import Scale
from tests.cli.test_cli import outcome
from tests.reproduction.by_hand import results_by_hand

TARGET = Controls()
WORTH = {"encoder": 20.0, "noise": 1.0, "reward-bins": 2.0, "ensemble": 3.0}


def earned(config, piece):
    """What the source is worth, one more with an extension, less the penalty."""
    own = config["algorithm"]
    return WORTH[own["context_source"]] + (own["attainable"] > 0) - config["environment"]["penalty"]


@pytest.fixture(scope="module")
def results():
    return results_by_hand(TARGET, Scale.of("full"), earned)


def test_every_source_meets_both_penalties_and_but_for_an_ensemble_the_extension():
    pieces = {piece.name: piece.settings["configs"] for piece in TARGET.pieces(Scale.of("full"))}
    plain = [f"plain {source}" for source in WORTH]
    assert list(pieces) == [*plain, "extended encoder", "extended noise", "extended reward-bins"]
    for configs in pieces.values():
        assert [config["environment"]["penalty"] for config in configs] == [0.5, 1.0]
        assert all(config["algorithm"]["window"] == config["algorithm"]["contexts"] == 10 for config in configs)
        assert all(config["training"]["seed"] == 5 for config in configs)
        assert all(config["environment"]["observe_teammate"] for config in configs)


def test_the_table_leaves_out_what_can_not_be_combined(results):
    heads, _, *rows = TARGET.tabulate(results).splitlines()
    assert heads == "| variant | P | DAC | noise | reward bins | ensemble | optimal | random |"
    assert len(rows) == 4
    assert rows[0] == "| plain | 0.5 | 19.50 ± 1.41 | 0.50 ± 1.41 | 1.50 ± 1.41 | 2.50 ± 1.41 | 30.00 | -5.00 |"
    assert rows[3] == "| extended | 1 | 20.00 ± 1.41 | 1.00 ± 1.41 | 2.00 ± 1.41 |  | 30.00 | -5.00 |"


def test_the_figure_has_one_legend_and_a_panel_per_variant_and_penalty(results):
    figure = TARGET.draw(results)
    assert [axes.get_title() for axes in figure.axes] == 2 * ["P = 0.5", "P = 1"]
    assert len(figure.legends) == 1
    assert [len(axes.get_lines()) - 2 for axes in figure.axes] == 2 * [4] + 2 * [3]


def test_it_speaks_to_no_claim(results, tmp_path, capsys):
    made = {"seconds": 1.0, "provenance": {}}
    pieces = {name: {"settings": done.settings, "result": done.result, **made} for name, done in results.items()}
    file = tmp_path / "controls.json"
    Record("controls", Scale.of("full"), pieces).write(file)
    code, out, err = outcome(capsys, "reproduce", "--redraw", str(file))
    assert (code, err) == (0, "") and "| plain | 0.5 |" in out and "reproduced" not in out
    code, out, _ = outcome(capsys, "reproduce", "--claims", str(tmp_path))
    assert code == 0 and out.count("not yet run") == 22
