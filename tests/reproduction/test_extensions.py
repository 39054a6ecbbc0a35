"""DAC beside its extensions, on curves written by hand."""

import pytest

from decentral.reproduction.extensions import VARIANTS, Extensions
from decentral.reproduction.target import Scale
from tests.reproduction.by_hand import results_by_hand

TARGET = Extensions()


def measured(config):
    sampled = config["algorithm"]["max_over"] == "sampled"
    return {"value_gap": [1.0, 2.0]} | ({"phi_gap": [0.25, 0.75]} if sampled else {})


@pytest.fixture(scope="module")
def results():
    return results_by_hand(TARGET, Scale.of("full"), lambda config, piece: float(len(piece)), measured)


def test_each_variant_differs_from_dac_in_its_own_settings_alone():
    pieces = {piece.name: piece.settings["configs"] for piece in TARGET.pieces(Scale.of("full"))}
    assert list(pieces) == list(VARIANTS)
    for name, configs in pieces.items():
        assert [config["environment"]["penalty"] for config in configs] == [0.5, 1.0]
        for config, plain in zip(configs, pieces["DAC"], strict=True):
            changed = {key for key, value in config["algorithm"].items() if value != plain["algorithm"][key]}
            assert changed == set(VARIANTS[name])
            assert config["training"] == plain["training"] and config["environment"] == plain["environment"]


def test_the_table_has_a_line_per_penalty_and_variant_and_the_error_of_a_sampled_maximum(results):
    heads, _, *rows = TARGET.tabulate(results).splitlines()
    assert heads.startswith("| P | variant | final | last third | promised less achieved |")
    assert len(rows) == 2 * 8
    assert rows[0] == "| 0.5 | DAC | 3.00 ± 1.41 | 2.00 ± 1.41 | +1.50 |  |  |  |  |  |"
    assert rows[14] == "| 1 | sampled maximum | 15.00 ± 1.41 | 8.00 ± 1.41 | +1.50 |  |  | 0.500 |  |  |"


def test_the_figure_has_a_panel_per_penalty(results):
    figure = TARGET.draw(results)
    assert [axes.get_title() for axes in figure.axes] == ["P = 0.5", "P = 1"]
    assert [len(axes.get_lines()) for axes in figure.axes] == 2 * [8 + 2]
