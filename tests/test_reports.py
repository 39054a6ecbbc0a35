"""Reports from Python and from the command line, of finished runs and of one that is still going."""

import json
import re
from pathlib import Path

import pytest

import decentral
from decentral.api.live_report import Live
from decentral.cli import main
from decentral.configs.config import resolve
from decentral.runs.planned import PlannedRun
from tests.small_runs import TRAINED, small_run


def data_of(file):
    """The data that a page holds."""
    return json.loads(re.search(r'id="data">(.*?)</script>', file.read_text(), re.DOTALL)[1])


def test_several_runs_share_a_page(tmp_path, capsys):
    runs = [str(small_run(name).path) for name in ("iql", "dac")]
    main(["report", *runs, "--out", str(tmp_path / "new")])
    file = tmp_path / "new" / "report.html"
    assert capsys.readouterr().out == f"written to {file}\n"
    data = data_of(file)
    assert [run["algorithm"] for run in data["runs"]] == ["iql", "dac"]
    assert data["runs"][1]["inside"]["tables"]["seeds"] == [0, 1]


def test_one_run_keeps_its_own_page():
    run = small_run("iql")
    file = decentral.report(run.path)
    assert file == run.path / "report.html" and data_of(file)["runs"][0]["path"] == str(run.path)


def test_a_place_that_is_no_run_is_refused_in_one_line(tmp_path, capsys):
    with pytest.raises(SystemExit) as end:
        main(["report", str(tmp_path)])
    assert end.value.code == 2
    assert capsys.readouterr().err == (
        f"decentral report: RUN must be the directory of a run, or of several, got {tmp_path}, in which there is none\n"
    )


def test_a_live_page_reloads_until_the_training_is_over(tmp_path, monkeypatch):
    seen = []
    told = Live.tested

    def tested(self, rows):
        told(self, rows)
        text = (tmp_path / "run" / "report.html").read_text()
        seen.append(('http-equiv="refresh"' in text, data_of(tmp_path / "run" / "report.html")["runs"][0]["steps"]))

    monkeypatch.setattr(Live, "tested", tested)
    run = decentral.train("iql", "matrix-game", **TRAINED, out=tmp_path / "run", live=True)
    assert seen == [(True, [0]), (True, [0, 40]), (True, [0, 40, 80]), (True, [0, 40, 80, 100])]
    text = (run.path / "report.html").read_text()
    assert 'http-equiv="refresh"' not in text and "tables" in data_of(run.path / "report.html")["runs"][0]["inside"]


def test_a_live_page_that_finds_no_room_ends_no_training(tmp_path, monkeypatch):
    """At the first two tests; half of a page does not stay to take the last room."""
    left, pages, write = [1, 2], [], Path.write_text

    def full_at_first(part, text, **how):
        if not left:
            return write(part, text, **how)
        left.pop()
        part.write_bytes(b"half")
        raise OSError(28, "No space left on device")

    class Looking(decentral.Callback):
        def on_test(self, run, records):
            pages.append([file.name for file in run.path.glob("report.*")])

    monkeypatch.setattr(Path, "write_text", full_at_first)
    decentral.train("iql", "matrix-game", **TRAINED, out=tmp_path / "run", live=True, callbacks=[Looking()])
    assert pages == [[], [], ["report.html"], ["report.html"]]


def test_the_page_of_an_interrupted_training_stands_still(tmp_path):
    config = resolve("iql", "matrix-game", training_settings={"steps": 100})
    (tmp_path / "config.json").write_text(json.dumps(config.as_data()))
    (tmp_path / "metrics.jsonl").write_text('{"seed": 0, "step": 40, "test_return_mean": 6.0, "seconds": 1.0}\n')
    live = Live()
    live.started([PlannedRun(config, tmp_path)], "")
    live.closed()
    assert not (tmp_path / "report.html").exists()  # nothing was tested: there is nothing to show
    live.tested([])
    live.closed()
    assert 'http-equiv="refresh"' not in (tmp_path / "report.html").read_text()
    assert data_of(tmp_path / "report.html")["runs"][0]["finished"] is False
