"""Whatever lies in the place of a file that is read, a pipe, a device, a link: one line, at once, and little memory."""

import ast
import json
import os
import signal
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

import decentral
from decentral.benchmarking.report import read_timings
from decentral.configs.config_file import read_config_file
from decentral.errors import Refused
from decentral.records import RunDirectory
from decentral.reproduction.record import Record
from decentral.reproduction.reproduce import read_finished
from decentral.runs import caches as references
from decentral.runs import memory
from decentral.runs.checkpointing.files import Checkpoints
from decentral.runtime import load
from decentral.tensors import write_arrays
from decentral.verification.battle_check import read_recording
from tests.arenas.test_wire import WIRE
from tests.runtime.by_hand import write

PLACES = {  # a file, and who reads it in its directory
    "spec.json": load,
    "parameters.safetensors": load,
    "config.json": lambda place: RunDirectory(place).read_json("config.json"),
    "metrics.jsonl": lambda place: RunDirectory(place).read_metrics(),
    "times.jsonl": lambda place: RunDirectory(place).seconds,
    "finished.json": lambda place: RunDirectory(place).diverged,
    "agents/seed-0/agent-0.safetensors": lambda place: RunDirectory(place).read_agent(0, 0),
    "checkpoints/000000000001/manifest.json": lambda place: Checkpoints.of(RunDirectory(place)).check(1),
    "checkpoints/000000000001/agents.safetensors": lambda place: Checkpoints.of(RunDirectory(place)).read(1, "agents"),
    "agent-0.messages": lambda place: list(WIRE.log(place / "agent-0.messages")),
    "record.json": lambda place: Record.read(place / "record.json"),
}
NAMED = {  # files that the user names, which may be links to others
    "named.agent": lambda place: decentral.Agent.load(place / "named.agent"),
    "wishes.toml": lambda place: read_config_file(place / "wishes.toml"),
    "wishes.json": lambda place: read_config_file(place / "wishes.json"),
    "bench.json": lambda place: read_timings(place / "bench.json"),
    "table-1.json": lambda place: read_finished(place / "table-1.json"),
    "battles.safetensors": lambda place: read_recording(place / "battles.safetensors"),
}
KINDS = {
    "pipe": os.mkfifo,
    "zeros": lambda file: file.symlink_to("/dev/zero"),
    "directory": lambda file: file.mkdir(),
    "link": lambda file: file.symlink_to(file.parent / "elsewhere"),
    "sparse": lambda file: file.touch() or os.truncate(file, 2**42),
}
LINKED = {(name, "link") for name in NAMED}  # that is allowed


CASES = [(name, kind) for name in [*PLACES, *NAMED] for kind in KINDS if (name, kind) not in LINKED]


@contextmanager
def at_once():
    """Fails where somebody waits."""

    def too_late(*_):
        raise AssertionError("it waits for something that never comes")

    before = signal.signal(signal.SIGALRM, too_late)
    signal.alarm(5)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


@pytest.mark.parametrize(("name", "kind"), CASES)
def test_what_is_no_plain_file_is_refused_at_once(tmp_path, name, kind):
    if name in ("spec.json", "parameters.safetensors"):
        write(tmp_path)
    (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / name).unlink(missing_ok=True)
    (tmp_path / name).with_name("elsewhere").write_bytes(b"{}")
    KINDS[kind](tmp_path / name)
    with at_once(), pytest.raises(Refused) as refusal:
        (PLACES | NAMED)[name](tmp_path)
    assert "\n" not in str(refusal.value)
    if kind == "link" and name in PLACES:
        assert "must be a plain file, got a link" in str(refusal.value)


@pytest.mark.parametrize("kind", ["pipe", "link"])
def test_what_a_run_adds_to_is_a_plain_file(tmp_path, kind):
    KINDS[kind](tmp_path / "metrics.jsonl")
    for change in (
        lambda run: run.append_metrics([{}]),
        lambda run: run.cut_back({"metrics.jsonl": 0, "times.jsonl": 0}),
    ):
        with at_once(), pytest.raises(Refused, match=r"metrics\.jsonl must be a plain file"):
            change(RunDirectory(tmp_path))


def test_a_file_that_the_user_names_may_be_a_link_to_a_plain_one(tmp_path):
    (tmp_path / "real.toml").write_text('[algorithm]\nname = "iql"\n')
    (tmp_path / "wishes.toml").symlink_to("real.toml")
    assert read_config_file(tmp_path / "wishes.toml").name("algorithm") == "iql"


def test_a_bundle_may_lie_behind_a_linked_directory(tmp_path):
    (tmp_path / "real").mkdir()
    write(tmp_path / "real")
    (tmp_path / "bundle").symlink_to("real")
    assert load(tmp_path / "bundle").spec.actions == 2


def test_the_standard_input_is_no_configuration():
    with pytest.raises(Refused, match=r"config must be a file that ends in \.toml or \.json, got /dev/stdin"):
        read_config_file(Path("/dev/stdin"))


def test_returns_in_the_cache_that_are_no_plain_file_are_worked_out_anew(tmp_path, monkeypatch):
    monkeypatch.setattr(references, "usable_cache", lambda: tmp_path)
    game = decentral.environments.matrix_game.MatrixGame()
    os.mkfifo(tmp_path / f"references-{references._fingerprint(game)}.json")
    with at_once():
        assert references.known_returns(game)["optimal"] == 8.0
    assert memory._free_of_machine() is None or memory._free_of_machine() > 0


@pytest.mark.parametrize("deep", ["[" * 400 + "]" * 400, "[" * 100_000, '{"a":' * 400 + "1" + "}" * 400])
def test_a_note_that_is_nested_too_deeply_is_refused_in_one_line(tmp_path, deep):
    note = json.dumps({"format": 1, "algorithm": "iql", "spec": [2, 3], "settings": 0}).replace("0}", deep + "}")
    write_arrays(tmp_path / "x", {"a": np.zeros(1, np.float32)}, {"agent": note})
    with pytest.raises(Refused, match=r"x must be an agent stored in format 2 \(.*nested at most 100 times"):
        decentral.Agent.load(tmp_path / "x")
    (tmp_path / "config.json").write_text(deep)
    with pytest.raises(Refused, match=r"config\.json can't be read as JSON"):
        RunDirectory(tmp_path).read_json("config.json")
    (tmp_path / "c.json").write_text('{"algorithm": ' + deep + "}")
    with pytest.raises(Refused, match="config must be a file of JSON"):
        read_config_file(tmp_path / "c.json")


# Whatever reads a file goes through `plain_files`. Those who do it themselves, and why they may:
ALLOWED = {
    "plain_files.py": {"os.open", "os.fdopen"},  # it is the one place
    "records/durable.py": {"os.open"},  # for writing, and to force to the disk what was written
    "records/run_directory.py": {"os.open"},  # a directory, to lock it
    "terminal.py": {"os.open"},  # /dev/null in the place of a pipe that nobody reads
    "runs/signals.py": {"os.open"},  # /dev/null in the place of a terminal that has gone
    "arenas/homes.py": {"os.open"},  # a directory, to lock it
    "reproduction/worklist.py": {"os.open"},  # a file to lock, of which nothing is read
    "arenas/log.py": {"os.open", "os.fdopen"},  # for writing
    "environments/host/user_code.py": {"io.FileIO"},  # for writing: a standard stream that was closed
    "environments/host/worker.py": {"os.open", "os.fdopen"},  # the standard streams, and /dev/null in their place
    "analysis/animation/html.py": {"read_text"},  # the page's own parts, by importlib.resources: maybe in a zip file
    "analysis/report/page.py": {"read_text"},  # likewise
}
MODULES = {
    "os": {"open", "fdopen", "popen"},
    "io": {"open", "FileIO", "open_code"},
    "codecs": {"open"},
    "json": {"load"},
    "tomllib": {"load"},
    "csv": {"reader", "DictReader"},
    "mmap": {"mmap"},
    "shutil": {"copy", "copyfile", "copy2", "copytree"},
    "np": {"load", "fromfile", "loadtxt", "genfromtxt", "memmap"},
    "linecache": {"getline", "getlines"},
}
NAMES = {"open", "safe_open", "load_file", "FileIO"}
WRITES = ("w", "a", "x")
OTHER_THINGS = {"RunDirectory", "self", "_tracker", "environment", "world", "wire", "tracker"}  # that have an `open`


def reads(source):
    """Calls that may read a file by themselves."""
    found = set()
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.Call):
            continue
        called, arguments = node.func, [own.value for own in node.args if isinstance(own, ast.Constant)]
        writes = any(isinstance(own, str) and own[:1] in WRITES and "+" not in own for own in arguments)
        if isinstance(called, ast.Name) and called.id in NAMES and not writes:
            found.add(called.id)
        elif isinstance(called, ast.Attribute):
            owner = called.value.id if isinstance(called.value, ast.Name) else getattr(called.value, "attr", "")
            if called.attr in ("read_text", "read_bytes"):
                found.add(called.attr)
            elif called.attr in MODULES.get(owner, ()):
                found.add(f"{owner}.{called.attr}")
            elif called.attr == "open" and owner not in {*MODULES, *OTHER_THINGS} and not writes:
                found.add("open")
    return found


def test_no_source_reads_a_file_by_itself():
    home = Path(decentral.__file__).parent
    found = {str(file.relative_to(home)): reads(file.read_text()) for file in sorted(home.rglob("*.py"))}
    assert {name: calls - ALLOWED.get(name, set()) for name, calls in found.items()} == {name: set() for name in found}
    assert all(found[name] == calls for name, calls in ALLOWED.items())  # nobody is allowed what nobody does


@pytest.mark.parametrize(
    "planted",
    [
        "open(file)", "file.open()", "Path(x).open('rb')", "file.open('r+b')", "file.read_text()", "os.open(f, 0)",
        "json.load(f)", "np.load(f)", "safe_open(f, 'numpy')", "(place / 'x').read_bytes()", "csv.reader(f)",
    ],
)  # fmt: skip
def test_the_scan_finds_what_it_is_for(planted):
    assert reads(planted) and not reads("file.open('wb')\nRunDirectory.open(x)\nworld.open()")
