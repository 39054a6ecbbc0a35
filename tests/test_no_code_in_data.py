"""Nothing that is loaded can run: no way to do so in the sources, and none taken while a run is read."""

import ast
import sys
from pathlib import Path

import decentral
from decentral.runs.checkpointing.files import Checkpoints
from decentral.runs.checkpointing.restore import ResumePoint
from decentral.runs.trained import Trained
from decentral.verification.files import verify
from tests.small_runs import small_run

SOURCES = sorted(Path(decentral.__file__).parent.rglob("*.py"))
BANNED_MODULES = {"pickle", "cPickle", "dill", "cloudpickle", "joblib", "marshal", "shelve", "yaml", "jsonpickle"}
BANNED_CALLS = {"eval", "exec", "compile", "__import__", "execfile"}
BANNED_WORDS = {"allow_pickle", "unsafe_load", "weights_only"}
RUNS_CODE = ("exec", "compile", "os.system", "subprocess.Popen", "pickle.find_class", "marshal.loads", "os.posix_spawn")


def sins(source):
    """What of it could run what a file contains."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names if alias.name.split(".")[0] in BANNED_MODULES]
        elif isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] in BANNED_MODULES:
            found.append(node.module)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in BANNED_CALLS:
            found.append(node.func.id)
        elif isinstance(node, ast.keyword) and node.arg in BANNED_WORDS:
            found.append(node.arg)
    return found


def test_no_source_can_run_what_a_file_contains():
    assert {file.name: found for file in SOURCES if (found := sins(file.read_text()))} == {}
    assert len(SOURCES) > 100


def test_the_ban_finds_what_it_is_for():
    planted = "import pickle\nfrom yaml import load\neval('1')\nnp.load(file, allow_pickle=True)\n__import__('os')"
    assert sins(planted) == ["pickle", "yaml", "eval", "allow_pickle", "__import__"] or len(sins(planted)) == 5


def read_all(run):
    """Everything that is ever read of a run."""
    assert verify(run.directory).broken == []
    assert run.metrics and run.curves and run.config
    assert ResumePoint.find([run.directory], 2).turn == 100
    Trained.load(run.directory)
    for part in ("agents", "replays", "clock"):
        Checkpoints.of(run.directory).read(100, part)


def test_reading_a_run_runs_nothing_and_opens_no_socket():
    run, heard, listening = small_run(), [], [False]
    read_all(run)  # whatever is imported, traced or compiled for the first time is

    def hook(event, arguments):
        if listening[0] and (event in RUNS_CODE or event.startswith("socket.")):
            heard.append(event)

    sys.addaudithook(hook)  # can't be taken away again: it listens only now
    listening[0] = True
    read_all(run)
    sys.audit("pickle.find_class", "planted", "planted")
    listening[0] = False
    assert heard == ["pickle.find_class"]
