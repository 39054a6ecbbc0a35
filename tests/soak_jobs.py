"""Commands that write, as small jobs: each in a directory of its own, and what it leaves there."""

import hashlib
import importlib.util
import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

REFUSED, SAVED = 2, 75
OUT = "out"
# What holds a clock or a machine, or follows from how often a run was saved.
PASSING = {"versions.json", "times.jsonl", "finished.json", "manifest.json", "times.json"}
SMALL = "--algorithm.hidden 8 --training.seeds 2 --training.batch_episodes 8 --training.replay_episodes 64"
SMALL += " --training.test_episodes 2"
SOON = "--checkpoints.interval 0.5"
PLAN = "training = { seeds = 2, steps = 600, batch_episodes = 4, replay_episodes = 16, test_interval = 200 }\n"
GRID = 'algorithm = { name = ["iql", "hysteretic"], hidden = 4 }\nenvironment = { name = "matrix-game" }\n' + PLAN
SEARCH = 'algorithm = { name = "iql", hidden = 4, learning_rate = { low = 0.001, high = 0.1 } }\n'
SEARCH += 'environment = { name = "matrix-game" }\nsearch = { trials = 3, batch = 2 }\n' + PLAN


@dataclass(frozen=True)
class Job:
    """A command line, run where its files lie; `needs` a finished run called `run` there first."""

    name: str
    words: str
    needs: bool = False


EVERY_JOB = [
    Job(
        "train dac",
        f"train dac matrix-game {SMALL} {SOON} --algorithm.window 1 --algorithm.contexts 4 --training.steps 3000"
        f" --training.test_interval 100 --resume --out {OUT}",
    ),
    Job(
        "train predator-prey",
        f"train dac predator-prey {SMALL} {SOON} --algorithm.window 2 --algorithm.contexts 4 --training.steps 2000"
        f" --environment.size 3 --environment.length 20 --training.test_interval 200 --resume --out {OUT}",
    ),
    Job(
        "compare",
        f"compare iql,hysteretic matrix-game {SMALL} --training.steps 2000 --training.test_interval 500 --out {OUT}",
    ),
    Job("sweep", f"sweep grid.toml --processes 2 --out {OUT}"),
    Job("search", f"search search.toml --processes 2 --out {OUT}"),
    Job(
        "arena",
        f"arena iql matrix-game --algorithm.hidden 4 --training.seeds 1 --training.steps 300"
        f" --training.batch_episodes 4 --training.replay_episodes 16 --training.test_interval 100"
        f" --arena.save_every 20 --resume --out {OUT}",
    ),
    Job("export", f"export run --out {OUT}", needs=True),
    Job("report", f"report run --out {OUT}", needs=True),
    Job("reproduce", f"reproduce table-1 --scale quick --seeds 1 --out {OUT}"),
]
JOBS = [job for job in EVERY_JOB if job.name != "search" or importlib.util.find_spec("optuna")]
PYTHON = [sys.executable]
TRAINED = "train iql matrix-game --algorithm.hidden 4 --training.seeds 1 --training.steps 100"
TRAINED += " --training.batch_episodes 4 --training.replay_episodes 16 --training.test_interval 50 --out run"


def furnish(job, place):
    """Make the directory of a job, with the files that it reads."""
    place.mkdir(parents=True)
    (place / "grid.toml").write_text(GRID)
    (place / "search.toml").write_text(SEARCH)
    if job.needs:
        shared = place.parent / "run"  # the same for all: pages tell how long it took
        if not shared.exists():
            run_to_end([*PYTHON, "-m", "decentral", *TRAINED.split()], place.parent)
        (place / "run").symlink_to(shared)
    return place


def start(job, place, before=("-m", "decentral"), **options):
    """The process of a job, in a group of its own."""
    root = Path(__file__).parent.parent
    paths = os.pathsep.join([str(root / "src"), str(root), os.environ.get("PYTHONPATH", "")])
    return subprocess.Popen(
        [*PYTHON, *before, *job.words.split()],
        cwd=place,
        env=os.environ | {"PYTHONPATH": paths, "JAX_NUM_CPU_DEVICES": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        **options,
    )


def run_to_end(words, place):
    """Run a command line that must not fail."""
    root = Path(__file__).parent.parent
    subprocess.run(
        words,
        cwd=place,
        env=os.environ | {"PYTHONPATH": f"{root / 'src'}{os.pathsep}{root}", "JAX_NUM_CPU_DEVICES": "1"},
        check=True,
        capture_output=True,
    )


def is_one_line(complaint):
    """Whether a command said in one line why it ended; what it told on the way may stand before."""
    lines = complaint.strip().splitlines()
    return bool(lines) and lines[-1].startswith("decentral ") and "Traceback" not in complaint


def left_by(place):
    """The hashes of all that a job has left, but clocks; of checkpoints the arrays of the last."""
    found, root = {}, place / OUT
    saved = sorted(root.glob("checkpoints/[0-9]*"))
    for file in sorted(root.rglob("*")):
        name = file.relative_to(root)
        if not file.is_file() or file.name in PASSING or file.suffix == ".log" or name.parts[0] == "homes":
            continue
        if name.parts[0] == "checkpoints" and file.parent != saved[-1]:
            continue
        found[str(name)] = hashlib.sha256(_content(file)).hexdigest()
    return found


def _content(file):
    """What a file holds; of the data of a reproduction what was found alone, not when and by what."""
    if file.suffix == ".json" and '"pieces"' in (text := file.read_text()):
        pieces = json.loads(text)["pieces"]
        return json.dumps({name: _found(own) for name, own in pieces.items()}).encode()
    return file.read_bytes()


def _found(piece):
    result = {key: value for key, value in piece["result"].items() if key != "seconds"}
    return {"settings": piece["settings"], "result": result}
