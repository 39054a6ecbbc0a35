"""How a benchmark grows, drawn."""

from decentral.analysis.plots.benchmark import plot_growth, varied

AXES = ("seeds", "window")


def row(algorithm, seeds, window, parameters="own"):
    case = {"algorithm": algorithm, "environment": "matrix-game", "seeds": seeds, "window": window}
    return {**case, "parameters": parameters, "median": 10.0 * seeds, "spread": 0.5}


def test_an_axis_is_drawn_where_cases_of_one_algorithm_differ_in_it():
    assert varied([row("iql", 1, None), row("dac", 2, 5)], AXES) == []
    assert varied([row("iql", 1, None), row("iql", 2, None), row("dac", 1, 5)], AXES) == ["seeds"]
    assert varied([row("dac", 1, 5), row("dac", 1, 10)], AXES) == ["window"]


def test_every_varied_axis_gets_a_panel_with_a_line_for_each_rest_of_a_case(tmp_path):
    rows = [row("iql", seeds, None, kind) for seeds in (1, 2) for kind in ("own", "shared")] + [
        row("dac", s, w) for s in (1, 2) for w in (5, 10)
    ]
    plot_growth(rows, AXES, tmp_path / "bench.svg")
    drawn = (tmp_path / "bench.svg").read_text()
    labels = ["iql, parameters own", "iql, parameters shared"]
    labels += [f"dac, {rest}, parameters own" for rest in ("window 5", "window 10", "seeds 1", "seeds 2")]
    for words in ("milliseconds per turn", "matrix-game", "seeds", "window", *labels):
        assert f"<!-- {words} -->" in drawn
    assert "<!-- iql, seeds 1, parameters own -->" not in drawn  # it has no window
