"""What notebooks show of runs and results: tables and pictures, in which nobody else's markup has any effect."""

import json
import re
import shutil
from html.parser import HTMLParser
from pathlib import Path

import jax.numpy as jnp
import numpy as np
import pytest

import decentral
from decentral.analysis.comparison import rows_of
from decentral.api.check_env import EnvironmentCheck
from decentral.inspection.crossplay import CrossPlayResult
from decentral.inspection.values import ValueTable, ValueTables
from decentral.notebook import LARGEST_PICTURE, Drawing, picture_html, table_html
from decentral.pictures import Film, Frame, Picture
from decentral.training.evaluation import Scores
from decentral.verification.environment_check.findings import Finding
from tests.small_runs import small_run

HOSTILE = "<script>alert(1)</script>\"' onload=x \x1b[31m"
TABLE = ValueTable(0, 1, "scout", ("up",), np.asarray([1.0]), np.asarray([[2.0, 3.0]]), inferred=np.asarray([[1]]))
SCORES = Scores(jnp.asarray([[1.0, 3.0], [2.0, 2.0]]), jnp.ones((2, 2), int), {"win_rate": jnp.ones((2, 2))})
CROSSED = CrossPlayResult([(0, 0), (0, 1)], np.eye(2))
PLAIN = {"div", "b", "small", "table", "thead", "tbody", "tr", "th", "td", "img"}


class Shown(HTMLParser):
    """The tags and the text of a piece of HTML, which must be whole."""

    def __init__(self, piece):
        super().__init__()
        self.text, self.cells, self.attributes, self.open = "", [], set(), []
        self.feed(piece)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        assert tag in PLAIN, tag
        self.attributes |= {name for name, _ in attributes}
        self.open += [] if tag == "img" else [tag]
        self.cells += [""] if tag in ("td", "th") else []

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, text):
        self.text += text
        if self.open[-1:] in (["td"], ["th"]):
            self.cells[-1] += text


def shown(thing):
    """What a notebook shows; only plain tags, and no attribute but those of this library."""
    said = Shown(thing._repr_html_())
    assert said.attributes <= {"style", "alt", "src"}
    return said


def hostile_run(place):
    """A run whose algorithm, environment and directory are named as markup."""
    path = place / "<b onclick=x>"
    shutil.copytree(small_run("iql").path, path)
    config = json.loads((path / "config.json").read_text())
    config["algorithm"]["name"] = config["environment"]["name"] = HOSTILE.split("\x1b")[0]
    (path / "config.json").write_text(json.dumps(config))
    (path / "finished.json").unlink()
    return decentral.load(path)


def test_a_run_shows_the_last_test_of_every_seed():
    run = small_run()
    said = shown(run)
    assert said.text.startswith("dac on matrix-game: finished after 100 steps") and str(run.path) in said.text
    assert said.cells == ["seed", "return", "0", f"{run.returns[0, -1]:.2f}", "1", f"{run.returns[1, -1]:.2f}"]


def test_markup_in_the_names_of_a_run_is_shown_and_has_no_effect(tmp_path):
    said = shown(hostile_run(tmp_path))
    assert said.text.startswith("<script>alert(1)</script>\"' onload=x  on <script>") and "<b onclick=x>" in said.text
    assert "at step 100 of 100" in said.text


def test_a_run_without_tests_says_so_in_a_line(tmp_path):
    run = hostile_run(tmp_path)
    (run.path / "metrics.jsonl").unlink()
    assert shown(run).text.endswith("has no metrics.jsonl: the run has not been tested yet")


def test_a_comparison_shows_a_line_for_each_run_and_its_plot(tmp_path):
    runs = [small_run("iql"), small_run()]
    comparison = decentral.Comparison(tmp_path, rows_of([run.curves for run in runs]), [run.curves for run in runs])
    said = shown(comparison)
    assert [cell for cell in said.cells if cell in ("iql", "dac", "yes")] == ["iql", "yes", "dac", "yes"]
    assert "optimal 8.00" in said.text and said.text.endswith("comparison.png")  # which was not drawn
    comparison.plot.write_bytes(b"\x89PNG")
    assert 'src="data:image/png;base64,iVBORw=="' in comparison._repr_html_()
    assert comparison.plot._repr_png_() == b"\x89PNG"


def test_an_animation_is_its_gif_and_its_repr_is_short(tmp_path):
    film = Film(HOSTILE, ("one",), ("go",), (Frame(Picture(1, 1), (), None, 0.0),) * 1000)
    animation = decentral.Animation([film], tmp_path / "page.html", tmp_path / "film.gif")
    (tmp_path / "film.gif").write_bytes(b"GIF89a")
    said = shown(animation)
    assert "src" in said.attributes and said.text.startswith("<script>alert(1)</script>")
    assert "\\x1b[31m" in said.text and "\x1b" not in animation._repr_html_()
    assert len(repr(animation)) < 200 and len(repr(film)) < 200


@pytest.mark.parametrize(
    "result",
    [
        pytest.param(lambda: small_run().metrics, id="metrics"),
        pytest.param(lambda: ValueTables([TABLE, TABLE]), id="values"),
        pytest.param(lambda: decentral.Evaluation(Path(HOSTILE), [0, 1], SCORES, {}), id="evaluation"),
        pytest.param(lambda: decentral.CrossPlay(Path(HOSTILE), [HOSTILE], (HOSTILE,), CROSSED), id="crossplay"),
        pytest.param(
            lambda: EnvironmentCheck(HOSTILE, {"agents": 2}, [Finding("play", "wrong", HOSTILE)]), id="environment"
        ),
    ],
)
def test_every_result_that_is_a_table_is_shown_as_one(result):
    said = shown(result())
    assert len(said.cells) > 3 and "script" not in re.sub("<script>|</script>", "", said.text)


def test_values_of_contexts_that_never_occur_stand_in_brackets():
    assert shown(TABLE).cells[-4:] == ["up", "1.00", "(2.00)", "3.00"]


def test_a_drawing_is_a_path_that_shows_its_picture(tmp_path):
    drawing = Drawing(tmp_path / "curves.svg")
    drawing.write_text("<svg onload='x'/>")
    assert drawing == tmp_path / "curves.svg" and drawing._repr_png_() is None
    assert shown(drawing).attributes == {"style", "alt", "src"} and "onload" not in drawing._repr_html_()
    assert Drawing("curves.pdf")._repr_html_() is None and Drawing("nowhere.png")._repr_png_() is None


def test_a_picture_that_is_too_large_is_only_named(tmp_path):
    with open(tmp_path / "large.gif", "wb") as file:
        file.truncate(LARGEST_PICTURE + 1)
    assert picture_html(tmp_path / "large.gif", "") == f"<div>{tmp_path / 'large.gif'}</div>"


def test_a_table_is_escaped_in_all_its_parts():
    parts = Shown(table_html(HOSTILE, [HOSTILE], [[HOSTILE]], HOSTILE))
    assert parts.text.count("<script>alert(1)</script>") == 4
