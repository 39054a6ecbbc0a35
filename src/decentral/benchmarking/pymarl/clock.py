"""How long a turn takes in PyTorch, written as in PyMARL (extra `torch`)."""

import time
import warnings

import torch

from decentral.benchmarking.pymarl.learner import BATCH_EPISODES, PyMARLTraining


def time_turns(device: str, threads: int, one_dnn: bool, turns: int, repeats: int) -> tuple[list[float], list[float]]:
    """Milliseconds per turn of playing and of learning, once for each repeat, after one chunk that does not count."""
    torch.set_num_threads(threads)
    torch.backends.mkldnn.set_flags(one_dnn)
    with warnings.catch_warnings():
        # PyTorch advises against making tensors from lists of arrays and from tensors, as PyMARL does.
        warnings.filterwarnings("ignore", "Creating a tensor from a list of numpy|To copy construct from a tensor")
        training = PyMARLTraining(device)
        for _ in range(BATCH_EPISODES):
            training.play()
        chunks = [_time_chunk(training, turns) for _ in range(repeats + 1)][1:]
    return [play for play, _ in chunks], [learn for _, learn in chunks]


def _time_chunk(training: PyMARLTraining, turns: int) -> tuple[float, float]:
    playing = learning = 0.0
    for _ in range(turns):
        begun = time.perf_counter()
        training.play()
        played = time.perf_counter()
        training.learn()
        if training.device.type == "cuda":
            torch.cuda.synchronize()
        playing += played - begun
        learning += time.perf_counter() - played
    return 1000 * playing / turns, 1000 * learning / turns
