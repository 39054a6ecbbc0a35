"""Sweeps in a file: what they are made of, how they are run, and that what did not finish goes on."""

import json
import os
import signal
import sys
import threading
import time
from pathlib import Path

import pytest

import decentral
from decentral.api.places import place_of
from decentral.cli import main
from decentral.environments.host.process import search_path
from decentral.sweeps.backends import BACK_ENDS, run_elsewhere, run_in_processes
from decentral.sweeps.units import units_of
from tests.cli.test_cli import outcome

GRID = """
algorithm = { name = ["iql", "hysteretic"], hidden = 4, learning_rate = [0.001, 0.01] }
environment = { name = "matrix-game", payoff = [[[1, -8], [-8, 1]]] }
training = { seeds = 2, steps = 8, batch_episodes = 1, replay_episodes = 4, test_interval = 4, test_episodes = 2 }
"""


@pytest.fixture(name="file")
def file_fixture(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "grid.toml").write_text(GRID)
    return tmp_path / "grid.toml"


class Fake:
    """A unit whose process does what it is told."""

    def __init__(self, path, code):
        self.name, self.log, self.command = path.name, path, [sys.executable, "-c", code]


def test_a_unit_is_a_command_line_that_trains_one_combination(file, tmp_path):
    units = units_of(file, tmp_path / "out")
    assert [unit.name for unit in units] == [
        f"{name},learning_rate={rate}" for name in ("iql", "hysteretic") for rate in ("0.001", "0.01")
    ]
    units[1].prepare()
    assert units[1].command[1:6] == ["-P", "-m", "decentral", "train", "iql"] and units[1].status.state == "waiting"
    main(units[1].command[4:])
    assert units[1].status.state == "finished"
    stored = json.loads((tmp_path / "out" / "iql,learning_rate=0.01" / "config.json").read_text())
    assert (stored["algorithm"]["learning_rate"], stored["environment"]["payoff"]) == (0.01, [[1, -8], [-8, 1]])


def test_what_failed_is_run_again_and_nothing_else(file, capsys, monkeypatch):
    asked = []

    def all_but_the_first(units, at_once, ended, resources):
        asked.append([unit.name for unit in units])
        for unit in units[len(asked) == 1 :]:
            main(unit.command[4:])
            ended(unit, 0)

    monkeypatch.setitem(BACK_ENDS, "processes", all_but_the_first)
    file.write_text(GRID.replace("0.001, 0.01", "0.001").replace('["iql", "hysteretic"]', '["iql", "distributed"]'))
    code, out, err = outcome(capsys, "sweep", "grid.toml", "--processes", "2")
    assert code == 1 and "1 of 2 runs did not finish (iql): run it again" in err
    assert "2 units, 0 of them finished already -> runs/grid" in out and "distributed: finished" in out
    code, out, _ = outcome(capsys, "sweep", "grid.toml", "--status")
    states = [line.split("│")[1:3] for line in out.splitlines() if "│" in line]
    assert code == 0 and [[word.strip() for word in own] for own in states] == [
        ["iql", "waiting"],
        ["distributed", "finished"],
    ]
    code, out, _ = outcome(capsys, "sweep", "grid.toml")
    assert code == 0 and asked == [["iql", "distributed"], ["iql"]]
    assert outcome(capsys, "sweep", "grid.toml", "--backend", "ray")[0] == 0  # nothing is left to run anywhere
    rows = (file.parent / "runs" / "grid" / "results.csv").read_text().splitlines()
    assert [row.rsplit(",", 1)[0] for row in rows] == [
        "run,algorithm,environment,state,seed,step",
        *(f"{name},{name},matrix-game,finished,{seed},8" for name in ("iql", "distributed") for seed in (0, 1)),
    ]


PLANTED = ("ctypes", "difflib", "numpy")  # imported by what ties a unit to its parent, by its help, by its training


def test_a_unit_runs_nothing_that_lies_in_the_working_directory(file, tmp_path):
    """Of the environment's code alone, which the user named, the directory is told: after all others."""
    for name in PLANTED:
        (tmp_path / f"{name}.py").write_text("open('ran', 'w').close()\n")
    (tmp_path / "own_code.py").write_text("")
    command = units_of(file, tmp_path / "out")[0].command
    log = tmp_path / "log"
    assert (
        run_elsewhere([*command[: command.index("decentral") + 1], "--help"], log, {"PYTHONPATH": search_path()}) == 0
    )
    assert "COMMAND" in log.read_text() and not (tmp_path / "ran").exists()
    look = "import numpy, sys; print(numpy.__file__); import own_code; print(own_code.__file__)"
    for places, code in ((f"{search_path()}{os.pathsep}{tmp_path}", 0), (search_path(), 1)):
        log.unlink()
        assert run_elsewhere([*command[:2], "-c", look], log, {"PYTHONPATH": places}) == code
        assert "site-packages" in log.read_text() and ("own_code.py" in log.read_text()) == (code == 0)
    assert not (tmp_path / "ran").exists()


def test_every_python_that_is_started_is_told_to_ignore_the_working_directory():
    """`-P`: what lies where a command is called must never be run because of its name."""
    sources = [file.read_text() for file in Path(decentral.__file__).parent.rglob("*.py")]
    started = [text.split("sys.executable")[1:] for text in sources if "sys.executable" in text]
    assert started and all(after.startswith(', "-P"') for text in started for after in text)


def test_processes_run_side_by_side_and_their_exit_codes_are_told(tmp_path):
    """The first waits for a file that the second writes: alone it would never end."""
    wait = "import os, time\nwhile not os.path.exists('ready'): time.sleep(0.01)"
    units = [Fake(tmp_path / "one", wait), Fake(tmp_path / "two", "print('here'); open('ready', 'w'); exit(7)")]
    codes = {}
    before = os.getcwd()
    os.chdir(tmp_path)
    try:
        run_in_processes(units, 2, lambda unit, code: codes.update({unit.name: code}))
    finally:
        os.chdir(before)
    assert codes == {"one": 0, "two": 7} and (tmp_path / "two").read_text() == "here\n"


def test_a_signal_is_passed_on_and_nothing_more_is_started(tmp_path):
    code = "import signal, time\nsignal.signal(signal.SIGTERM, lambda *_: (print('saved'), exit(75)))\n"
    code += "open(r'{}', 'w')\ntime.sleep(60)"
    units = [Fake(tmp_path / name, code.format(tmp_path / f"{name}-runs")) for name in ("one", "two")]

    def stop():
        while not (tmp_path / "one-runs").exists():
            time.sleep(0.01)
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=stop).start()
    with pytest.raises(KeyboardInterrupt):
        run_in_processes(units, 1, lambda unit, code: None)
    assert (tmp_path / "one").read_text() == "saved\n" and not (tmp_path / "two").exists()


@pytest.mark.parametrize(
    ("content", "words", "complaint"),
    [
        (GRID, ["--processes", "0"], "processes must be a whole number at least 1, got 0"),
        (GRID, ["--processes", "two"], "processes must be a whole number"),
        (GRID, ["--processes", "1", "--gpus-per-unit", "0.5"], "gpus_per_unit must come with backend slurm or ray"),
        (GRID, ["--processes", "1", "--gpus-per-unit", "half"], "gpus_per_unit must be a number, got 'half'"),
        (GRID, ["--out", ""], "out must be a directory, got ''"),
        (GRID.replace("hysteretic", "sarsa"), [], "unknown algorithm 'sarsa'"),
        (GRID.replace("matrix-game", "chess"), [], "unknown environment 'chess'"),
        (GRID.replace('"iql"', '"python:os:path"'), [], "python:os:path is code, and no file decides what is run"),
        (GRID.replace("hidden = 4", "hidden = []"), [], "algorithm.hidden must list at least one value, got none"),
        (GRID.replace("hidden = 4", "hiden = 4"), [], "unknown setting algorithm.hiden"),
        ("", [], "environment.name must be given in the file, got none"),
        ('environment = { name = "matrix-game" }', [], "algorithm.name must be given in the file, got none"),
        ('agents = ["iql", "dac"]', [], "agents can't be swept"),
        ("seeds = [", [], "config must be a file of TOML"),
    ],
)
def test_bad_input_is_one_line_that_names_it_and_exit_code_2(file, capsys, content, words, complaint):
    file.write_text(content)
    for status in ([], ["--status"])[: 1 if "--processes" in words else 2]:
        code, _, err = outcome(capsys, "sweep", "grid.toml", *words, *status)
        assert code == 2 and err.count("\n") == 1 and complaint in err, err
    assert os.listdir() == ["grid.toml"]


def test_a_file_has_its_place(tmp_path):
    assert str(place_of("plans/grid.toml", None)) == "runs/grid"
    assert place_of("plans/grid.toml", tmp_path) == tmp_path
