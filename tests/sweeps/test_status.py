"""Where the units of a sweep stand, as whoever looks at their files sees it, on this machine or another."""

import json
import os
import socket
import time

import pytest

import decentral
from decentral.cli import main
from decentral.records import RunDirectory
from decentral.sweeps import attempts
from decentral.sweeps.attempts import Notes, attempts_of, file_of
from decentral.sweeps.status import PlannedUnit, read_plan, status_of, write_plan

ELSEWHERE = "another-machine"
UNIT = PlannedUnit("one", "iql", "matrix-game")


@pytest.fixture(name="log")
def log_fixture(tmp_path):
    (tmp_path / "units").mkdir()
    return tmp_path / "units" / "one.log"


def attempted(log, *entries, age=0.0):
    """A file of attempts whose last sign of life is so old."""
    file_of(log).write_text("".join(json.dumps(entry) + "\n" for entry in entries))
    os.utime(file_of(log), (time.time() - age, time.time() - age))


def begun(log, resumed=()):
    """A run that was tested once, and that was resumed from these steps."""
    directory = RunDirectory.create(log.parents[1] / "one")
    directory.write_json("config.json", {})
    directory.write_json("versions.json", {"resumed": [{"step": step} for step in resumed]} if resumed else {})
    directory.append_metrics([{"seed": 0, "step": 40, "test_return_mean": 2.5}])
    return directory


def began(host=ELSEWHERE, process=1):
    return {"host": host, "process": process, "began": 0.0}


@pytest.mark.parametrize(
    ("entries", "age", "state", "note"),
    [
        ([began()], 0, "running", f"on {ELSEWHERE}"),
        ([began()], 999, "lost", f"on {ELSEWHERE}"),
        ([began(), {"code": 1}], 0, "failed", "exit code 1, see units/one.log"),
        ([began(), {"code": -9}], 0, "failed", "exit code -9, see units/one.log"),
        ([began(), {"code": 75}], 0, "stopped", ""),
        ([began("lost"), began()], 0, "running", f"on {ELSEWHERE}, attempt 2"),
        ([began(socket.gethostname(), os.getpid())], 999, "running", f"on {socket.gethostname()}"),
        ([began(socket.gethostname(), 2**30)], 0, "lost", f"on {socket.gethostname()}"),
        ([{"code": "x"}, [], 5, {"host": 3}], 0, "waiting", ""),  # nothing that an attempt has written
    ],
)
def test_an_attempt_tells_where_a_unit_is_before_its_run_has_begun(log, entries, age, state, note):
    attempted(log, *entries, age=age)
    status = status_of(UNIT, log.parents[1])
    assert (status.state, status.note, status.step, status.returns) == (state, note, 0, {})


@pytest.mark.parametrize(
    ("resumed", "said"), [((), "started again"), ((0,), "started again"), ((0, 3000), "resumed from step 3,000")]
)
def test_after_a_node_was_lost_it_says_whether_the_unit_was_resumed_or_started_again(log, resumed, said):
    begun(log, resumed)
    attempted(log, began("lost"), began())
    status = status_of(UNIT, log.parents[1])
    assert (status.state, status.note) == ("running", f"on {ELSEWHERE}, attempt 2, {said}")
    assert (status.step, status.returns) == (40, {0: 2.5})
    attempted(log, began("lost"), began() | {"began": time.time() + 60})  # the run has not noted anything since
    assert status_of(UNIT, log.parents[1]).note == f"on {ELSEWHERE}, attempt 2"


def test_a_lock_an_end_and_a_half_written_file_are_seen(log):
    directory = begun(log)
    assert status_of(UNIT, log.parents[1]).state == "stopped"  # of an earlier version, which noted no attempts
    with directory.alone():
        assert status_of(UNIT, log.parents[1]).state == "running"
    with (directory.path / "metrics.jsonl").open("a") as file:
        file.write('{"seed": 0, "st')
    with file_of(log).open("w") as file:
        file.write(json.dumps(began()) + '\n{"code": ')
    assert status_of(UNIT, log.parents[1]).returns == {0: 2.5} and attempts_of(log)[-1].code is None
    (directory.path / "metrics.jsonl").write_text("nothing\nof this\n")
    status = status_of(UNIT, log.parents[1])
    assert status.state == "unreadable" and "metrics.jsonl is broken at line 1" in status.note
    (directory.path / "metrics.jsonl").unlink()
    directory.finish([])
    assert status_of(UNIT, log.parents[1]).state == "finished"


def test_who_waits_for_a_unit_gives_signs_of_life_and_notes_its_end(log, monkeypatch):
    monkeypatch.setattr(attempts, "BEAT", 0.0)
    notes = Notes(log)
    notes.begin()
    os.utime(file_of(log), (1.0, 1.0))
    notes.beat()
    (attempt,) = attempts_of(log)
    assert (attempt.host, attempt.process, attempt.code) == (socket.gethostname(), os.getpid(), None)
    assert attempt.seen > 1e9 and attempt.is_alive()
    notes.end(5)
    assert attempts_of(log)[0].code == 5 and not attempts_of(log)[0].is_alive()


def test_a_sweep_that_was_started_is_looked_at_without_its_settings(tmp_path, capsys, monkeypatch):
    """`python:...` would have to be imported, and `nowhere` is no algorithm: nobody asks."""
    file = tmp_path / "grid.toml"
    file.write_text('algorithm = { name = "nowhere" }')
    units = [PlannedUnit(name, "nowhere", "python:x:Y") for name in ("a", "b")]
    write_plan(units, file, tmp_path / "out")
    assert read_plan(file, tmp_path / "out") == units
    assert [one.state for one in decentral.sweep_status(file, out=tmp_path / "out").units] == ["waiting", "waiting"]
    main(["sweep", str(file), "--status", "--out", str(tmp_path / "out"), "--rows", "1"])
    assert "2 runs: 2 waiting" in capsys.readouterr().out
    file.write_text('algorithm = { name = "somewhere" }')
    assert read_plan(file, tmp_path / "out") is None
    plan = tmp_path / "out" / "units" / "plan.json"
    plan.write_text(json.dumps({"sha256": json.loads(plan.read_text())["sha256"], "units": [["../a", "b", "c"]]}))
    file.write_text('algorithm = { name = "nowhere" }')
    with pytest.raises(decentral.Refused, match="makes no sense"):
        read_plan(file, tmp_path / "out")
