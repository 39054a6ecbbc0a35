"""The page of where the units of a sweep stand, written again while they are trained."""

import json
import re
import socket
import time

import pytest

import decentral
from decentral.analysis.report.status_page import UnitLine, status_page
from decentral.api import status_page as keeper
from decentral.cli import main
from decentral.errors import Refused
from decentral.records import RunDirectory
from decentral.sweeps.attempts import Notes
from tests.analysis.test_report_data import recorded

REFRESH = '<meta http-equiv="refresh" content="7">'


@pytest.fixture(name="root")
def root_fixture(tmp_path):
    """A sweep of five units: one waits, one has failed, one runs, one was stopped and one is finished."""
    place = tmp_path / "grid"
    (place / "units").mkdir(parents=True)
    config = {"algorithm": {"name": "dac"}, "environment": {"name": "matrix-game"}, "training": {"steps": 40}}
    for name in ("waits", "fails", "runs", "stopped", "done"):
        (place / "units" / f"{name}.json").write_text(json.dumps(config))
    (place / "units" / "fails.log").write_text("some words\ndecentral train: failed: no <device>\n")
    notes = Notes(place / "units" / "fails.log")
    notes.begin()
    notes.end(1)
    Notes(place / "units" / "runs.log").begin()
    recorded(place / "runs", (1, 2), (3, 5), steps=40)
    recorded(place / "stopped", (1, 2), steps=40)
    recorded(place / "done", (6, 8), steps=40)
    RunDirectory(place / "done").finish([])
    return place


def finish(root):
    """Let what runs and what waits come to an end."""
    RunDirectory(root / "runs").finish([])
    recorded(root / "waits", (2, 2), (9, 9), steps=40)
    RunDirectory(root / "waits").finish([])


def sections(page):
    """The states with the names of their units, as the page has them."""
    parts = page.split('<h2 id="')[1:]
    names = re.compile(r'<th scope="row">(?:<a [^>]*>)?([^<]*)')
    return {part.split('"')[0]: names.findall(part) for part in parts}


def test_the_page_is_written_until_nothing_is_trained_any_more_and_only_then_stays_as_it_is(root, monkeypatch, capsys):
    pages = []

    def sleep(seconds):
        assert seconds == 7
        pages.append((root / "status.html").read_text())
        if len(pages) == 2:
            finish(root)

    monkeypatch.setattr(keeper.time, "sleep", sleep)
    main(["report", str(root), "--every", "7"])
    assert len(pages) == 3  # a search pauses between two batches: one look is not enough
    assert all(REFRESH in page for page in pages)
    live, last = pages[0], (root / "status.html").read_text()
    assert [*sections(live)] == ["failed", "stopped", "running", "finished", "waiting"]
    assert sections(live) == {
        "failed": ["fails"],
        "stopped": ["stopped"],
        "running": ["runs"],
        "finished": ["done"],
        "waiting": ["waits"],
    }
    assert "1 of 5 finished" in live and f"on {socket.gethostname()}" in live and "4.00 ± 1.41" in live
    assert 'href="units/fails.log"' in live and "no &lt;device&gt;" in live and "10 of 40" in live
    assert "refresh" not in last and "running" not in sections(last)
    assert sections(last)["finished"] == ["waits", "done", "runs"]  # the largest return first
    out = capsys.readouterr().out.splitlines()
    assert out == [
        f"writing {root}/status.html every 7 s while anything is trained; Ctrl-C ends it",
        f"written to {root}/status.html",
    ]


def test_an_interrupted_page_does_not_wait_for_a_newer_one(root, monkeypatch):
    def sleep(seconds):
        (root / "units" / "waits.json").write_text("{")  # is being written
        raise KeyboardInterrupt

    monkeypatch.setattr(keeper.time, "sleep", sleep)
    with pytest.raises(KeyboardInterrupt):
        decentral.report(root, every=7)
    page = (root / "status.html").read_text()
    assert "refresh" not in page and sections(page)["waiting"] == ["waits"]


def test_runs_that_no_sweep_has_made_are_shown_as_they_stand(tmp_path):
    recorded(tmp_path / "one", (1, 2), (3, 5), steps=40)
    (tmp_path / "one" / "times.jsonl").write_text("")
    (tmp_path / "one" / "report.html").write_text("")
    page = decentral.report(tmp_path, out=tmp_path / "there", every=1)
    assert page == tmp_path / "there" / "status.html"
    assert sections(page.read_text()) == {"stopped": ["one"]} and 'href="../one/report.html"' in page.read_text()


@pytest.mark.parametrize("every", [0, -1, 1.5, True, 10**6])
def test_what_is_no_time_between_two_pages_is_refused(tmp_path, every):
    with pytest.raises(Refused, match="every must be a whole number of seconds from 1 to 86400, got"):
        decentral.report(tmp_path, every=every)


def test_a_page_is_of_one_directory_that_is_there(tmp_path):
    with pytest.raises(Refused, match="one directory of runs, got 2"):
        decentral.report([tmp_path, tmp_path], every=1)
    with pytest.raises(Refused, match="in which there is none"):
        decentral.report(tmp_path, every=1)
    with pytest.raises(Refused, match="must be a directory"):
        decentral.report(tmp_path / "nothing", every=1)


def test_a_thousand_units_stay_below_half_a_megabyte(tmp_path):
    name = "hysteretic,learning_rate=0.0001,discount=0.8,window=10"
    lines = [
        UnitLine(f"{name}-{n}", "running", "task", 9000, 20_000, [1.0] * 5, 0.0, "on node-17") for n in range(1000)
    ]
    began = time.process_time()
    page = status_page("grid", lines, tmp_path, 60.0, 5)
    assert len(page.encode()) < 2**19 and time.process_time() - began < 2
    assert page.count('<tr><th scope="row">') == 1000
