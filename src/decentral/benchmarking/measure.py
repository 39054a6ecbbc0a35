"""Timing of training: how long turns take, how much is play and how much learning, compared with the floor."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from statistics import median

import jax
import numpy as np

from decentral.benchmarking.cases import Case
from decentral.benchmarking.device import Peak, Rates, peak_memory
from decentral.benchmarking.floor import Floor, floor_of
from decentral.runs.lanes import LaneBatch
from decentral.training.setup import TrainingSetup


@dataclass(frozen=True)
class Timing:
    """Milliseconds per turn, once for each repeat."""

    all: list[float]

    @property
    def median(self) -> float:
        return median(self.all)

    @property
    def spread(self) -> float:
        """Half of the difference between the fastest and the slowest repeat."""
        return (max(self.all) - min(self.all)) / 2


@dataclass(frozen=True)
class Measured:
    """The measurements of one case."""

    case: Case
    turn: Timing
    play: Timing  # turns without learning
    steps: float  # of the environment, in a turn of one seed
    compile_seconds: dict[str, float]  # by program
    floor: Floor  # of one seed
    peak: Peak
    peak_before: Peak  # of the whole process, before this case

    @property
    def learn(self) -> float:
        """Milliseconds that learning adds to a turn."""
        return self.turn.median - self.play.median

    @property
    def steps_per_second(self) -> float:
        """Environment steps of one seed."""
        return self.steps / self.turn.median * 1000

    def product_ms(self, rates: Rates) -> float:
        """Milliseconds that the matrix products of all seeds take at the device's own rate."""
        return 1000 * self.case.seeds * self.floor.flops / rates.flops_per_second

    def copy_ms(self, rates: Rates) -> float:
        """Milliseconds that moving the bytes of all seeds takes at the device's own rate."""
        return 1000 * self.case.seeds * self.floor.bytes / rates.bytes_per_second

    def floor_ms(self, rates: Rates) -> float:
        """The least that a turn can take: products and copies may overlap."""
        return max(self.product_ms(rates), self.copy_ms(rates))


def measure(case: Case, turns: int, repeats: int, tell: Callable[[str], None]) -> Measured:
    """Time a case in chunks of `turns` turns, `repeats` times, after one chunk that does not count.

    Where an update is made from several turns, a chunk has as many more as make its updates whole.
    """
    setup = case.config.setup
    turns += -turns % setup.turns_per_update
    before = peak_memory()
    tell("compiling")
    idle = setup.plan.warmup_turns
    played = min(turns, idle)
    begun, playing = [], []
    for repeat in range(repeats + 1):
        births, plays = _play_newborn(setup, played)
        begun.append(births)
        playing.append(plays)
        tell(f"play {repeat} of {repeats}")
    tell("compiling")
    lane_batch = LaneBatch.start(setup)
    _advance(lane_batch, idle)
    learning, steps = [_advance(lane_batch, turns)], lane_batch.steps
    for repeat in range(1, repeats + 1):
        learning.append(_advance(lane_batch, turns))
        tell(f"learn {repeat} of {repeats}")
    return Measured(
        case=case,
        turn=_timing(learning, turns),
        play=_timing(playing, played),
        steps=float(np.mean(lane_batch.steps - steps)) / (turns * repeats),
        compile_seconds={"begin": _extra(begun), "play": _extra(playing), "learn": _extra(learning)},
        floor=floor_of(setup),
        peak=peak_memory(),
        peak_before=before,
    )


def _play_newborn(setup: TrainingSetup, turns: int) -> tuple[float, float]:
    """Seconds until a team is initialised, and then until it has played turns in which it can't learn yet."""
    begun = time.perf_counter()
    lane_batch = LaneBatch.start(setup)
    jax.block_until_ready(lane_batch.lanes)
    initialised = time.perf_counter()
    return initialised - begun, _advance(lane_batch, turns)


def _advance(lane_batch: LaneBatch, turns: int) -> float:
    """Seconds that a chunk of turns takes."""
    begun = time.perf_counter()
    lane_batch.advance(turns)
    jax.block_until_ready(lane_batch.lanes)
    return time.perf_counter() - begun


def _timing(seconds: list[float], turns: int) -> Timing:
    """The chunks after the first, per turn."""
    return Timing([1000 * chunk / turns for chunk in seconds[1:]])


def _extra(seconds: list[float]) -> float:
    """The extra time of the first chunk, which includes compilation."""
    return max(0.0, seconds[0] - median(seconds[1:]))
