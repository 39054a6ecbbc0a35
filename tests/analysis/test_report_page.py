"""A report is one well-formed page that fetches nothing."""

import json
import re
from html.parser import HTMLParser

import pytest

from decentral.analysis.report.data import report_data
from decentral.analysis.report.page import page, write_page
from decentral.settings import Refused
from tests.analysis.test_report_data import NOTHING, recorded

VOID = {"meta", "br", "link", "img"}
SVG = "http://www.w3.org/2000/svg"  # a name that browsers know, not a place


class Reader(HTMLParser):
    """Follows which elements are open, and keeps the embedded data."""

    def __init__(self):
        super().__init__()
        self.open, self.seen, self.data = [], [], None

    def handle_starttag(self, tag, attributes):
        self.seen.append((tag, dict(attributes)))
        if tag not in VOID:
            self.open.append((tag, dict(attributes)))

    def handle_endtag(self, tag):
        assert self.open.pop()[0] == tag

    def handle_data(self, text):
        if self.open and self.open[-1][1].get("id") == "data":
            self.data = json.loads(text)


def read(text):
    reader = Reader()
    reader.feed(text)
    reader.close()
    assert not reader.open  # every element is closed
    return reader


@pytest.fixture
def data(tmp_path):
    return report_data([recorded(tmp_path / "x", (0, 0), (2, 6))], [NOTHING])


def test_the_page_is_well_formed_and_holds_the_data(data):
    reader = read(page(data))
    assert reader.data == data
    assert [tag for tag, _ in reader.seen].count("title") == 1


def test_nothing_is_fetched(data):
    text = page(data).replace(SVG, "")
    assert not re.search(r"https?:|src=|href=|url\(|@import|fetch\(|import\(|XMLHttpRequest|WebSocket", text)


def test_what_a_run_says_of_itself_cannot_break_out_of_the_page(data):
    nasty = "</script><script>alert(1)</script><!--script-->"
    data["runs"][0] |= {"label": nasty, "algorithm": nasty}
    reader = read(page(data))
    assert reader.data["runs"][0]["label"] == nasty
    assert [tag for tag, _ in reader.seen].count("script") == 2


def test_only_a_page_that_will_change_loads_itself_again(data):
    again = [attributes for _, attributes in read(page(data, 5)).seen if attributes.get("http-equiv") == "refresh"]
    assert [attributes["content"] for attributes in again] == ["5"]
    assert 'http-equiv="refresh"' not in page(data)


def test_the_page_of_a_long_run_of_five_seeds_is_below_3_mb(tmp_path):
    tests = [[0.1234567890123 * (number + seed) for seed in range(5)] for number in range(1000)]
    assert len(page(report_data([recorded(tmp_path / "x", *tests)], [NOTHING])).encode()) < 3_000_000


def test_a_page_takes_the_place_of_an_earlier_one_and_leaves_nothing_else(tmp_path):
    for text in ("first", "second"):
        assert write_page(text, tmp_path / "new").read_text() == text
    assert [file.name for file in (tmp_path / "new").iterdir()] == ["report.html"]


def test_a_place_that_is_a_file_is_refused(tmp_path):
    (tmp_path / "taken").write_text("")
    with pytest.raises(Refused, match="out must be a directory that can be written, got"):
        write_page("page", tmp_path / "taken")
