"""A small finished run that many tests look at."""

import functools
import tempfile
from pathlib import Path

import decentral

SMALL = {"hidden": 8, "learning_rate": 2e-3}
# The first turn fills a batch: there is no warm-up, which would be one more program to compile.
QUICK = {"batch_episodes": 1, "replay_episodes": 64, "test_interval": 40, "test_episodes": 4}
# Tests that train take these, and change numbers alone: then all that a process trains is one program.
TRAINED = {"seeds": 2, "steps": 100, "algorithm": SMALL, "training": QUICK, "progress": False}
FLAGS = [  # the same, on the command line
    "--seeds=2", "--steps", "100", "--algorithm.hidden", "8", "--training.batch-episodes", "1",
    "--training.replay_episodes=64", "--training.test_interval", "40", "--training.test_episodes", "4",
]  # fmt: skip


@functools.cache
def small_run(algorithm="dac"):
    """DAC or IQL on the matrix game, two seeds, a hundred steps."""
    out = Path(tempfile.mkdtemp()) / algorithm
    settings = SMALL | ({"window": 1, "contexts": 4} if algorithm == "dac" else {})
    return decentral.train(algorithm, "matrix-game", **TRAINED | {"algorithm": settings}, out=out)


@functools.cache
def small_hunt():
    """DAC hunting on a grid of nine cells, two seeds, episodes of five steps."""
    return decentral.train(
        "dac",
        "predator-prey",
        seeds=2,
        steps=60,
        algorithm=SMALL | {"window": 2, "contexts": 3},
        environment={"size": 3, "length": 5, "observe_teammate": True},
        training=QUICK,
        out=Path(tempfile.mkdtemp()) / "dac",
        progress=False,
    )
