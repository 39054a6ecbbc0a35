"""A yardstick: the same turn in PyTorch, written as in PyMARL, timed on the same machine in the same run."""

import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from importlib.metadata import version
from importlib.util import find_spec

from decentral.benchmarking.measure import Measured, Timing
from decentral.settings import Refused


@dataclass(frozen=True)
class Yardstick:
    """PyTorch's IQL on the paper's predator-prey, one seed, unmodified, with the fastest threading and device."""

    version: str  # of PyTorch
    where: str
    play: Timing
    learn: Timing
    others: dict[str, float]  # elsewhere: milliseconds per turn

    @property
    def turn(self) -> Timing:
        return Timing([play + learn for play, learn in zip(self.play.all, self.learn.all, strict=True)])

    def times_as_fast(self, measured: Measured) -> float | None:
        """How many turns a case takes, all seeds together, in the time of one of ours; None in another environment."""
        if not measured.case.is_the_papers_hunt:
            return None
        return measured.case.seeds * self.turn.median / measured.turn.median


def require_torch() -> None:
    """Refuse where PyTorch is not installed."""
    if find_spec("torch") is None:  # not imported: its memory would count as that of training
        raise Refused("torch must be installed for --against torch: pip install 'decentral[torch]'")


def torch_yardstick(turns: int, repeats: int, tell: Callable[[str], None]) -> Yardstick:
    """Time PyTorch with one thread and one for each core, with and without oneDNN, and on a GPU."""
    require_torch()
    import torch

    from decentral.benchmarking.pymarl.clock import time_turns

    def timed(where: str, device: str, threads: int, one_dnn: bool) -> Yardstick:
        tell(f"PyTorch on {where}")
        play, learn = time_turns(device, threads, one_dnn, turns, repeats)
        return Yardstick(version("torch"), where, Timing(play), Timing(learn), {})

    numbers = sorted({1, os.cpu_count() or 1})
    as_it_comes = [timed(f"cpu, threads {threads}", "cpu", threads, True) for threads in numbers]
    if torch.cuda.is_available():
        as_it_comes.append(timed("gpu", "cuda", 1, True))
    altered = [timed(f"cpu, threads {threads}, no oneDNN", "cpu", threads, False) for threads in numbers]
    return fastest(as_it_comes, altered)


def fastest(as_it_comes: list[Yardstick], altered: list[Yardstick]) -> Yardstick:
    """The fastest unaltered PyTorch learner; the others are listed beside it."""
    best = min(as_it_comes, key=lambda timed: timed.turn.median)
    others = {timed.where: timed.turn.median for timed in as_it_comes + altered if timed is not best}
    return replace(best, others=others)
