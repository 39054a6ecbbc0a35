"""Callbacks are told what happens in a run, and one that raises costs nothing of it."""

import pytest

import decentral
from tests.small_runs import TRAINED, small_run


class Diary(decentral.Callback):
    """Writes down all that it is told, and raises where it should."""

    def __init__(self, raises="", error=ZeroDivisionError("no\nway")):
        self.lines, self.raises, self.error = [], raises, error

    def note(self, line):
        self.lines.append(line)
        if line == self.raises:
            raise self.error

    def on_test(self, run, records):
        assert run.metrics[-2:] == records and [record["seed"] for record in records] == [0, 1]
        self.note(f"test {records[0]['step']}")

    def on_save(self, run, step):
        assert any((run.path / "checkpoints").iterdir())
        self.note(f"save {step}")

    def on_end(self, run):
        assert (run.path / "finished.json").exists()
        self.note("end")


def train(out, *callbacks, **more):
    """The same run as `small_run("iql")`, with callbacks."""
    return decentral.train("iql", "matrix-game", **TRAINED, out=out, callbacks=callbacks, **more)


def assert_same(run, other):
    """Both measured and learned the same, bit for bit."""
    for file in ("metrics.jsonl", "agents/seed-1/agent-0.safetensors"):
        assert (run.path / file).read_bytes() == (other.path / file).read_bytes()


def test_they_hear_of_every_test_every_checkpoint_and_the_end(tmp_path):
    first, second = Diary(), Diary()
    run = train(tmp_path / "run", first, second)
    assert first.lines == ["test 0", "test 40", "test 80", "test 100", "save 100", "end"] == second.lines
    assert_same(run, small_run("iql"))


@pytest.mark.parametrize(
    ("raises", "line"),
    [
        ("test 40", r"callback Diary in on_test at step 40: ZeroDivisionError: no way \(test_callbacks.py, line \d+\)"),
        ("save 100", "callback Diary in on_save at step 100: ZeroDivisionError: no way"),
    ],
)
def test_one_that_raises_stops_the_run_in_one_line_and_nothing_is_lost(tmp_path, raises, line):
    with pytest.raises(decentral.Failed, match=f"^{line}.*; to resume: decentral resume {tmp_path / 'run'}$") as stop:
        train(tmp_path / "run", Diary(raises))
    assert isinstance(stop.value.__cause__, ZeroDivisionError) and "\n" not in str(stop.value)
    later = Diary()
    run = decentral.resume(tmp_path / "run", progress=False, callbacks=[later])
    assert later.lines == {"test 40": ["test 80", "test 100", "save 100", "end"], "save 100": ["end"]}[raises]
    assert_same(run, small_run("iql"))


@pytest.mark.parametrize("error", [SystemExit(0), decentral.Refused("not so")])
def test_one_that_raises_in_the_end_leaves_a_finished_run(tmp_path, error):
    with pytest.raises(decentral.Failed, match=r"callback Diary in on_end: .*; the run is finished$"):
        train(tmp_path / "run", Diary("end", error))
    assert decentral.verify(tmp_path / "run").broken == []
    assert_same(decentral.load(tmp_path / "run"), small_run("iql"))


def test_what_is_no_callback_is_refused_before_anything_is_written(tmp_path):
    with pytest.raises(decentral.Refused, match=r"callbacks must be objects of subclasses of decentral.Callback, got"):
        train(tmp_path / "run", print)
    assert not (tmp_path / "run").exists()
