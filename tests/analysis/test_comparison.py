"""Runs side by side: their rows, their data and their picture."""

import io
import json
from dataclasses import replace

import matplotlib.pyplot as plt
import numpy as np
import pytest
from rich.console import Console

from decentral.analysis import comparison
from decentral.analysis.comparison import as_data, final_tests, rows_of, write, write_csv, write_rows
from decentral.analysis.plots import comparison as comparison_plot
from decentral.analysis.plots.comparison import plot_comparison
from decentral.analysis.plots.curves import look, plot_curves
from decentral.analysis.results import Curves, labels, load_curves, shared_references
from decentral.cli.run_tables import print_comparison
from decentral.records import RunDirectory
from decentral.settings import Refused

KNOWN = {"optimal": 8.0, "random": -3.0}


def curves(tmp_path, algorithm, final=(6.0, 8.0), environment=None, references=KNOWN, **config):
    """A run of two tests; `final` are the returns of the second one."""
    whole = {
        "algorithm": {"name": algorithm},
        "environment": {"name": "e"} | (environment or {}),
        "training": {"steps": 10},
        "references": references,
    }
    returns = np.asarray([[0.0, value] for value in final])
    return Curves(tmp_path / algorithm, whole | config, list(range(len(final))), np.asarray([0.0, 12.0]), returns)


def test_a_row_sums_up_the_last_test(tmp_path):
    first, second = rows_of([curves(tmp_path, "iql", (0.0, 1.0, 2.0, 9.0)), curves(tmp_path, "dac", (8.0,))])
    assert (first.label, first.decentralised, first.steps) == ("iql", True, 12)
    assert first.returns == [0.0, 1.0, 2.0, 9.0]
    assert (first.summary.seeds, first.summary.mean, first.summary.iqm) == (4, 3.0, 1.5)
    assert (second.label, second.summary.low, second.summary.high) == ("dac", None, None)


def test_one_seed_has_no_interval_in_the_table_and_in_the_picture(tmp_path):
    runs, console = [curves(tmp_path, "iql", (6.0,)), curves(tmp_path, "dac", (7.0, 8.0))], Console(width=120)
    with console.capture() as printed:
        print_comparison(console, rows_of(runs), {})
    lines = [line for line in printed.get().splitlines() if line.startswith("│")]
    assert [word.strip() for word in lines[0].split("│")[3:-1]] == ["1", "6.00", "-", "6.00", "-"]
    assert lines[1].split("│")[7].strip() == "7.00 to 8.00"
    drawn = []
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(comparison_plot, "save", lambda figure, *_: drawn.append(figure))
        plot_comparison(runs, tmp_path / "a.png")
    curves_shown, finals = drawn[0].axes
    intervals = [line for line in finals.lines if line.get_marker() == "|"]
    assert len(intervals) == 1 and len(curves_shown.collections) == 1  # of the run with two seeds
    assert "iql (1 seed)" in curves_shown.get_legend_handles_labels()[1]
    plt.close(drawn[0])


def test_what_all_worlds_report_of_tests_stands_beside_the_returns(tmp_path):
    one, two = curves(tmp_path, "iql"), curves(tmp_path, "dac")
    rates = np.asarray([[0.0, 0.25], [0.0, 0.75]])
    runs = [replace(one, reports={"win_rate": rates}), replace(two, reports={"win_rate": 1 - rates, "hits": rates})]
    rows = rows_of(runs)
    assert [row.reports for row in rows] == [{"win_rate": [0.25, 0.75]}, {"win_rate": [0.75, 0.25]}]
    assert as_data(runs, rows)["rows"][0]["reports"] == {"win_rate": [0.25, 0.75]}
    plot_comparison(runs, tmp_path / "two.svg")
    drawn = (tmp_path / "two.svg").read_text()
    assert "test win rate" in drawn and "hits" not in drawn
    console = Console(file=io.StringIO(), width=120)
    print_comparison(console, rows, {})
    assert "win rate" in console.file.getvalue() and "0.50 ± 0.35" in console.file.getvalue()


def test_a_run_that_is_not_decentralised_is_marked_in_rows_and_in_every_legend(tmp_path):
    runs = [
        curves(tmp_path, "vdn", strictness={"decentralised": False}),
        curves(tmp_path, "dac", strictness={"decentralised": True}),
        curves(tmp_path, "iql"),
    ]
    assert [row.decentralised for row in rows_of(runs)] == [False, True, True]
    assert [row.label for row in rows_of(runs)] == ["vdn", "dac", "iql"]
    assert labels(runs) == ["vdn (not decentralised)", "dac", "iql"]
    for draw in (plot_curves, plot_comparison):
        draw(runs, tmp_path / "legend.svg")
        assert "vdn (not decentralised)" in (tmp_path / "legend.svg").read_text()  # as a comment beside the glyphs


@pytest.mark.parametrize("strictness", [[], {"decentralised": "no"}, None])
def test_a_strictness_that_makes_no_sense_is_refused(tmp_path, strictness):
    config = {"algorithm": {"name": "a"}, "environment": {"name": "e"}, "training": {}, "strictness": strictness}
    (tmp_path / "config.json").write_text(json.dumps(config))
    with pytest.raises(Refused, match="strictness must be an object whose decentralised is true or false"):
        load_curves(RunDirectory.open(tmp_path))


def test_runs_on_different_environments_are_refused_by_name_and_by_setting(tmp_path):
    first = curves(tmp_path, "iql", environment={"penalty": 0.0})
    for other, words in [
        ({"name": "chess", "penalty": 0.0}, "environment.name 'e' of .*iql and 'chess' of .*dac"),
        ({"penalty": 0.5}, r"environment.penalty 0.0 of .*iql and 0.5 of .*dac"),
    ]:
        with pytest.raises(Refused, match=f"runs must be on one environment, got {words}"):
            rows_of([first, curves(tmp_path, "dac", environment=other)])


def test_a_run_that_has_not_come_to_its_end_is_refused(tmp_path):
    with pytest.raises(Refused, match=r"RUN must be finished, got .*iql, which stands at step 12 of 50"):
        rows_of([curves(tmp_path, "iql", training={"steps": 50})])


def test_a_run_whose_last_returns_are_not_finite_is_refused_by_name(tmp_path):
    runs = [curves(tmp_path, "iql"), curves(tmp_path, "dac", final=(8.0, np.nan))]
    with pytest.raises(
        Refused, match=f"return must be finite at the last test of every seed, .* not so in {tmp_path}/dac$"
    ):
        rows_of(runs)


def test_no_runs_are_refused(tmp_path):
    with pytest.raises(Refused, match="at least one RUN"):
        rows_of([])


def test_only_what_all_runs_know_is_shared(tmp_path):
    runs = [curves(tmp_path, "iql"), curves(tmp_path, "dac", references={"optimal": 8.0, "random": 0.0})]
    assert shared_references(runs[:1]) == KNOWN
    assert shared_references(runs) == {"optimal": 8.0}
    assert shared_references([runs[0], curves(tmp_path, "i2q", references={})]) == {}


def test_the_data_are_json_and_hold_every_number(tmp_path):
    runs = [curves(tmp_path, "iql"), curves(tmp_path, "vdn", (8.0, 8.0), strictness={"decentralised": False})]
    write_rows(as_data(runs, rows_of(runs)), tmp_path / "new" / "comparison.json")
    data = json.loads((tmp_path / "new" / "comparison.json").read_text())
    assert data["environment"] == {"name": "e"} and data["references"] == KNOWN
    assert (data["confidence"], data["resamples"]) == (0.95, 10_000)
    assert data["rows"][0] == {
        "label": "iql",
        "algorithm": "iql",
        "decentralised": True,
        "run": str(tmp_path / "iql"),
        "steps": 12,
        "seeds": 2,
        "mean": 7.0,
        "mean_low": 6.0,
        "mean_high": 8.0,
        "spread": pytest.approx(2**0.5),
        "iqm": 7.0,
        "low": 6.0,
        "high": 8.0,
        "returns": [6.0, 8.0],
    }
    assert data["rows"][1]["decentralised"] is False


def test_every_seed_has_a_line_of_its_own(tmp_path):
    runs = [curves(tmp_path, "iql"), curves(tmp_path, "vdn", (8.0, 8.5), strictness={"decentralised": False})]
    write_csv(final_tests(runs, rows_of(runs)), tmp_path / "new" / "comparison.csv")
    assert (tmp_path / "new" / "comparison.csv").read_text().splitlines() == [
        "label,algorithm,decentralised,steps,seed,return",
        "iql,iql,True,12,0,6.0",
        "iql,iql,True,12,1,8.0",
        "vdn,vdn,False,12,0,8.0",
        "vdn,vdn,False,12,1,8.5",
    ]


def test_a_place_that_cannot_be_written_is_refused(tmp_path):
    (tmp_path / "file").write_text("keep")
    with pytest.raises(Refused, match="out must be a directory that can be written"):
        write({}, tmp_path / "file" / "comparison.json")
    assert (tmp_path / "file").read_text() == "keep"


@pytest.mark.parametrize("suffix", ["png", "svg", "pdf"])
@pytest.mark.parametrize("count", [1, 16])
def test_a_comparison_of_few_or_many_is_drawn_in_the_format_asked_for(tmp_path, suffix, count):
    runs = [curves(tmp_path, f"algorithm-{number}", (0.0, 1.0 + number)) for number in range(count)]
    file = tmp_path / "new" / f"plot.{suffix}"
    plot_comparison(runs, file)
    assert file.stat().st_size > 1000


def test_a_comparison_in_another_format_is_refused(tmp_path):
    with pytest.raises(Refused, match=r"must end in \.png, \.svg or \.pdf"):
        plot_comparison([curves(tmp_path, "iql")], tmp_path / "plot.bmp")
    with pytest.raises(Refused, match="at least one RUN"):
        plot_comparison([], tmp_path / "plot.png")


def test_sixteen_runs_look_different():
    assert len({repr(look(number)) for number in range(16)}) == 16


def test_of_many_runs_the_best_are_named_and_some_others_are_grey(tmp_path, monkeypatch):
    drawn = []
    monkeypatch.setattr(comparison_plot, "save", lambda figure, *_: drawn.append(figure))
    for name, value in {"MOST_RUNS": 4, "BEST": 2, "MOST_OTHERS": 2}.items():
        monkeypatch.setattr(comparison, name, value)
    plot_comparison(
        [curves(tmp_path, f"a{value}", (value, value)) for value in (1.0, 5.0, 2.0, 4.0, 3.0)], tmp_path / "x.png"
    )
    (figure,) = drawn
    left, right = figure.axes
    assert [label.get_text() for label in right.get_yticklabels()] == ["a5.0", "a4.0"]  # in their order
    (grey,) = [one for one in left.collections if len(one.get_paths()) == 2]
    assert [path.vertices[-1, 1] for path in grey.get_paths()] == [
        1.0,
        3.0,
    ] and "the best 2 of 5 runs" in left.get_title()
    plt.close(figure)
