"""A directory of runs: all of them listed, and one page from which every run's page opens."""

import fcntl
import json
import os
import re
from dataclasses import replace
from urllib.parse import unquote

import numpy as np
import pytest

import decentral
from decentral.analysis import comparison
from decentral.analysis.report import index
from decentral.analysis.report.index import index_page
from decentral.cli import main
from decentral.cli.run_tables import age
from decentral.errors import Refused
from decentral.records import RunDirectory
from tests.analysis.test_report_data import recorded
from tests.analysis.test_report_page import read
from tests.patching import patch

SUMMARY = "decentral.inspection.learned_summary.learned_summary"  # plays the agents, which these runs do not have
NASTY = "a&<b>'\"%#? :x"


@pytest.fixture
def root(tmp_path):
    """Two runs with results, one of them deep and with a name that HTML must not read; one not tested; one broken."""
    place = tmp_path / "many"
    place.mkdir()
    recorded(place / "done", (0, 2), (6, 8))
    RunDirectory(place / "done").finish([])
    (place / "deep").mkdir()
    recorded(place / "deep" / NASTY, (1,), (5,), steps=40)
    (place / "deep" / NASTY / "times.jsonl").write_text('{"step": 0, "seconds": 1.0}\n')
    recorded(place / "new", (1,))
    (place / "new" / "metrics.jsonl").rename(place / "new" / "versions.json")
    recorded(place / "torn", (1,))
    (place / "torn" / "config.json").write_text("{")
    (place / "not-ours").mkdir()
    (place / "not-ours" / "config.json").write_text("{}")
    (place / "again").symlink_to(place / "done")
    return place


def test_every_run_is_found_once_with_its_state_its_progress_and_its_last_test(root):
    listed = {run.name: run for run in decentral.list_runs(root)}
    assert [*listed] == [f"deep/{NASTY}", "done", "new", "torn"]
    deep, done, new, torn = listed.values()
    assert (done.state, done.step, done.planned, done.final.tolist()) == ("finished", 10, 10, [6.0, 8.0])
    assert (deep.state, deep.step, deep.planned, deep.final.tolist()) == ("stopped", 10, 40, [5.0])
    assert (new.state, new.problem, new.final.size) == ("stopped", "not tested yet", 0)
    assert torn.state == "unreadable" and "config.json" in torn.problem
    assert [run.name for run in decentral.list_runs(root / "done")] == ["done"]  # a run lists itself


def test_a_run_that_is_being_trained_runs_and_looking_does_not_disturb_it(root):
    place = root / "deep" / NASTY
    descriptor = os.open(place, os.O_RDONLY)
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    assert decentral.list_runs(place)[0].state == "running"
    os.close(descriptor)
    descriptor = os.open(place, os.O_RDONLY)
    fcntl.flock(descriptor, fcntl.LOCK_SH)  # somebody else who looks
    assert decentral.list_runs(place)[0].state == "stopped"
    os.close(descriptor)


def test_the_list_is_printed_with_ages(root, capsys, monkeypatch):
    main(["runs", str(root)])
    printed = capsys.readouterr().out
    done, torn = (next(line for line in printed.splitlines() if word in line) for word in ("done", "torn:"))
    assert [cell.strip() for cell in done.split("│")[1:-2]] == [
        "done", "finished", "dac", "matrix-game", "10 of 10", "2", "7.00 ± 1.41",
    ]  # fmt: skip
    assert "config.json" in torn
    assert [age(seconds) for seconds in (5, 200, 7300, 90000, -1)] == ["5 s", "3 min", "2 h", "1 d", "0 s"]
    main(["runs", str(root / "not-ours")])
    assert capsys.readouterr().out == f"no runs in {root / 'not-ours'}\n"
    monkeypatch.chdir(root / "not-ours")
    main(["runs"])
    assert capsys.readouterr().out == "no runs in runs\n"  # nothing has been trained here yet
    with pytest.raises(SystemExit):
        main(["runs", "nowhere"])
    assert capsys.readouterr().err == "decentral runs: DIR must be a directory of runs, got nowhere\n"


def test_one_page_opens_the_page_of_every_run_that_has_results(root, monkeypatch):
    patch(monkeypatch, SUMMARY, lambda directory: {"missing": []})
    index = decentral.report(root)
    reader = read(index.read_text())
    links = [attributes["href"] for tag, attributes in reader.seen if tag == "a"]
    assert index == root / "index.html" and len(links) == 2
    for link, run in zip(links, (root / "deep" / NASTY, root / "done"), strict=True):
        assert root / unquote(link) == run / "report.html"
        assert (run / "report.html").is_file() and not re.search("[<>'\"?#:&]", link)
    assert not any(tag in ("script", "b") for tag, _ in reader.seen)
    assert "7.00 ± 1.41" in index.read_text() and "not tested yet" in index.read_text()


def test_pages_are_written_again_only_where_a_run_has_changed(root, monkeypatch, tmp_path):
    asked = []
    patch(monkeypatch, SUMMARY, lambda run: asked.append(run.path.name) or {"missing": []})
    for _ in range(2):
        decentral.report(root, out=tmp_path / "pages")
    assert asked == [NASTY, "done"] and (tmp_path / "pages" / "done" / "report.html").is_file()
    assert not (root / "done" / "report.html").exists()
    os.utime(root / "done" / "metrics.jsonl", (2e9, 2e9))
    decentral.report(root, out=tmp_path / "pages")
    assert asked[2:] == ["done"]


def test_a_name_that_looks_like_a_scheme_stays_a_path(root):
    (run,) = decentral.list_runs(root / "done")
    text = index_page("x", [run], [root / "javascript:alert(1)" / "report.html"], root, 0.0)
    assert 'href="javascript%3Aalert%281%29/report.html"' in text
    assert 'href="javascript' not in text.replace("javascript%3A", "")


def test_what_diverged_is_said(root):
    recorded(root / "bad", (1, 1), (float("nan"), 2))
    RunDirectory(root / "bad").finish([{"seed": 0}])
    (run,) = decentral.list_runs(root / "bad")
    assert (run.state, run.diverged) == ("finished", 1) and np.isnan(run.final[0])
    text = index_page("x", [run], [None], root, 0.0)
    assert "finished, 1 diverged" in text and "not finite" in text and json.dumps("NaN")[1:-1] not in text


def test_many_runs_are_folded_and_their_pages_made_on_demand(tmp_path, monkeypatch):
    asked = []
    patch(monkeypatch, SUMMARY, lambda run: asked.append(run.path.name) or {"missing": []})
    monkeypatch.setattr(index, "FOLD", 4)
    monkeypatch.setattr(index, "BEST", 1)
    patch(monkeypatch, "decentral.api.report.MOST_PAGES", 5)
    for number in range(6):
        recorded(tmp_path / f"run-{number}", *[(float(number),)] * 40, steps=390)
        if number:
            RunDirectory(tmp_path / f"run-{number}").finish([])
    (tmp_path / "run-0" / "times.jsonl").write_text("")
    text = decentral.report(tmp_path).read_text()
    assert asked == [] and "<a href" not in text and "decentral report RUN" in text
    assert re.findall("<summary>(.*)</summary>", text) == [
        "not finished: 1", "the 1 with the largest return", "1 to 4: run-0 to run-3", "5 to 6: run-4 to run-5",
    ]  # fmt: skip
    names = re.findall('<th scope="row">(.*?)</th>', text)
    assert names == ["run-0", "run-5", *(f"run-{number}" for number in range(6))]
    assert all(points.count(",") == index.POINTS for points in re.findall('points="(.*?)"', text))
    assert re.search(r"as of \d{4}-\d\d-\d\d \d\d:\d\d UTC: 1 stopped, 5 finished<", text)
    decentral.report(tmp_path / "run-3")  # on demand
    decentral.report(tmp_path)
    assert asked == ["run-3", "run-0", "run-1", "run-2", "run-4", "run-5"]  # few enough now


def test_a_page_of_runs_that_are_trained_says_that_there_will_be_more(root):
    (run,) = decentral.list_runs(root / "done")
    assert "being trained" not in index_page("x", [run], [None], root, 0.0)
    text = index_page("x", [replace(run, state="running")], [None], root, 60.0)
    assert "as of 1970-01-01 00:01 UTC: 1 running; runs are being trained" in text


def test_of_many_runs_those_that_need_attention_are_printed_first(root, capsys):
    main(["runs", str(root), "--rows", "2"])
    out = capsys.readouterr().out
    first = next(line.split("│")[1].strip() for line in out.splitlines() if "│" in line)
    assert first in ("new", "torn", f"deep/{NASTY}") and "4 runs: 2 stopped, 1 finished, 1 unreadable" in out
    assert "done" not in out
    assert "2 of 4 lines: those that are not finished, then the newest; all of them: --rows 0" in out
    main(["runs", str(root), "--rows", "0"])
    out = capsys.readouterr().out
    assert "lines" not in out and "done" in out
    with pytest.raises(SystemExit):
        main(["runs", str(root), "--rows", "-1"])
    assert capsys.readouterr().err == "decentral runs: rows must be a whole number at least 0, got -1\n"


def test_a_directory_of_runs_is_compared_without_those_that_are_not_finished(root, tmp_path, capsys, monkeypatch):
    patch(monkeypatch, "decentral.analysis.plots.comparison.plot_comparison", lambda *_: None)
    recorded(root / "other", (0, 2), (4, 5), algorithm={"window": 3})
    RunDirectory(root / "other").finish([])
    compared = decentral.compare_runs([root], tmp_path / "compared")
    assert [row.label for row in compared.rows] == ["dac, window=2", "dac, window=3"]
    assert compared.left_out == [f"deep/{NASTY}", "new", "torn"]
    main(["compare", "--runs", str(root), "--rows", "1", "--out", str(tmp_path / "compared")])
    out = capsys.readouterr().out
    assert "window=2" in out and "window=3" not in out and "1 of 2 lines: the best" in out and "left out" in out
    with pytest.raises(Refused, match="in which there are none"):
        decentral.compare_runs([root / "deep"])


def test_of_many_runs_those_are_read_whole_that_are_drawn(tmp_path, monkeypatch):
    patch(monkeypatch, "decentral.analysis.plots.comparison.plot_comparison", lambda *_: None)
    for name, value in {"MOST_RUNS": 2, "BEST": 1, "MOST_OTHERS": 1}.items():
        monkeypatch.setattr(comparison, name, value)
    for number in range(5):
        recorded(tmp_path / f"run-{number}", (0, 2), (4, number), algorithm={"window": number})
        RunDirectory(tmp_path / f"run-{number}").finish([])
    whole = decentral.compare_runs([tmp_path], tmp_path / "compared")
    assert [len(run.steps) for run in whole.results] == [2, 1, 1, 1, 2]  # the others' sample, and the best
    assert [run.returns.tolist() for run in whole.curves][2] == [[0, 4], [2, 2]]
    assert [(row.steps, row.returns) for row in whole.rows][2] == (10, [4, 2])
    with (tmp_path / "run-3" / "metrics.jsonl").open("a") as longer:
        longer.write('{"seed": 0, "step": 20, "test_return_mean": 9}\n{"seed": 1, "step": 20, "test_return_mean": 9}\n')
    best = tmp_path / "run-4" / "metrics.jsonl"
    best.write_text(best.read_text().replace("seed", "said", 1))  # as long as before
    fewer = decentral.compare_runs([tmp_path], tmp_path / "compared")
    assert [len(run.steps) for run in fewer.results] == [2, 1, 1, 3] and fewer.left_out == ["run-4"]
