"""A yardstick: the same turn as a PyTorch program in PyMARL's manner takes it, on the same machine in the same run."""

import os
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import version
from importlib.util import find_spec

from decentral.benchmarking.measure import Measured, Timing
from decentral.settings import Refused


@dataclass(frozen=True)
class Yardstick:
    """PyTorch's IQL on the paper's predator-prey, one seed, where it runs fastest."""

    version: str  # of PyTorch
    where: str
    play: Timing
    learn: Timing
    others: dict[str, float]  # where it is slower: milliseconds per turn

    @property
    def turn(self) -> Timing:
        return Timing([play + learn for play, learn in zip(self.play.all, self.learn.all, strict=True)])

    def times_as_fast(self, measured: Measured) -> float | None:
        """How many turns a case takes, all its seeds together, in the time of one of ours; None in another world."""
        if not measured.case.is_the_papers_hunt:
            return None
        return measured.case.seeds * self.turn.median / measured.turn.median


def require_torch() -> None:
    """Refuse where PyTorch is not installed."""
    if find_spec("torch") is None:  # looked for, not imported, as it takes memory that would count as training's
        raise Refused("torch must be installed for --against torch: pip install 'decentral[torch]'")


def torch_yardstick(turns: int, repeats: int, tell: Callable[[str], None]) -> Yardstick:
    """Time PyTorch with one thread and one for each core, with and without oneDNN, and on a GPU; the fastest counts."""
    require_torch()
    import torch

    from decentral.benchmarking.pymarl import time_turns

    places = {
        f"cpu, threads {threads}{'' if one_dnn else ', no oneDNN'}": ("cpu", threads, one_dnn)
        for threads in sorted({1, os.cpu_count() or 1})
        for one_dnn in (True, False)
    }
    if torch.cuda.is_available():
        places["gpu"] = ("cuda", 1, True)
    tried = {}
    for where, place in places.items():
        tell(f"PyTorch on {where}")
        play, learn = time_turns(*place, turns, repeats)
        tried[where] = Yardstick(version("torch"), where, Timing(play), Timing(learn), {})
    best = min(tried.values(), key=lambda own: own.turn.median)
    others = {where: own.turn.median for where, own in tried.items() if where != best.where}
    return Yardstick(best.version, best.where, best.play, best.learn, others)
