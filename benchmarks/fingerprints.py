"""Did a change that should change no number change one? Small trainings, and the SHA-256 of what each ends in.

    python benchmarks/fingerprints.py --out before.json
    python benchmarks/fingerprints.py --against before.json

Everything is run by the command line, as a user would: IQL and DAC on three environments, a training that goes on after
a stop, an arena and a bundle. A hash is of arrays by their names, so that another layout of a file changes nothing.
Compare on one machine with the same versions: others add in another order.
"""

import argparse
import hashlib
import json
import subprocess
import sys
import tempfile
from pathlib import Path

from safetensors.numpy import load_file

SMALL = "--training.batch_episodes 8 --training.replay_episodes 64 --training.test_episodes 4"
TRAININGS = {
    "matrix-game": f"{SMALL} --seeds 2 --training.steps 2000",
    "predator-prey": f"{SMALL} --training.steps 3000 --training.test_interval 1000",
    "3m": f"{SMALL} --training.steps 2000 --training.test_interval 1000",
}
ARENA = f"arena iql matrix-game {SMALL} --training.steps 300 --out arena"


def fingerprints(place: Path) -> dict[str, str]:
    """The hashes of all that is run, by what it is."""
    found = {}
    for algorithm in ("iql", "dac"):
        for world, settings in TRAININGS.items():
            name = f"{algorithm} {world}"
            call(place, f"train {algorithm} {world} {settings} --out {algorithm}-{world}")
            found |= run_hashes(name, place / f"{algorithm}-{world}")
    call(place, f"train iql matrix-game {SMALL} --training.steps 1000 --out resumed")
    call(place, "resume resumed --steps 2000")
    found |= run_hashes("iql matrix-game, resumed", place / "resumed")
    call(place, ARENA)
    found |= run_hashes("arena", place / "arena")
    call(place, "export dac-predator-prey --agent 0 --out bundle --episodes 1")
    found["bundle, parameters"] = array_hash(sorted((place / "bundle").rglob("*.safetensors")))
    return found


def call(place: Path, words: str) -> None:
    """Run a command in a directory; what it says is shown only where it fails."""
    done = subprocess.run(
        [sys.executable, "-m", "decentral", *words.split()], cwd=place, capture_output=True, text=True
    )
    if done.returncode:
        sys.exit(f"decentral {words} ended with {done.returncode}:\n{done.stderr}")
    print(f"decentral {words}", file=sys.stderr)


def run_hashes(name: str, run: Path) -> dict[str, str]:
    """What a run ends in: its agents and its records."""
    metrics = hashlib.sha256((run / "metrics.jsonl").read_bytes()).hexdigest()
    return {f"{name}, agents": array_hash(sorted(run.glob("agents/*/*"))), f"{name}, metrics": metrics}


def array_hash(files: list[Path]) -> str:
    """One hash of the arrays in some files, by file and name."""
    if not files:
        sys.exit("nothing was written to take a hash of")
    digest = hashlib.sha256()
    for file in files:
        for name, array in sorted(load_file(file).items()):
            digest.update(f"{file.parent.name}/{file.name} {name} {array.dtype} {array.shape}".encode())
            digest.update(array.tobytes())
    return digest.hexdigest()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, help="a file to write the hashes to")
    parser.add_argument("--against", type=Path, help="a file of hashes to compare with; exit code 1 where one differs")
    asked = parser.parse_args()
    before = json.loads(asked.against.read_text()) if asked.against else {}
    with tempfile.TemporaryDirectory() as place:
        found = fingerprints(Path(place))
    for name, digest in found.items():
        verdict = "" if not before else "  same" if before.get(name) == digest else "  DIFFERENT"
        print(f"{digest[:16]}  {name}{verdict}")
    if asked.out:
        asked.out.write_text(json.dumps(found, indent=1) + "\n")
    sys.exit(bool(before) and found != before)


if __name__ == "__main__":
    main()
