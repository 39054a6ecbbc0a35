"""How many turns are played between two reports of progress."""

import time

import jax

from decentral.runs.lanes import LaneBatch

SECONDS_PER_CHUNK = 2.0  # how often the progress is shown


class Pace:
    """Adapts the size of chunks so that progress is shown about every two seconds."""

    def __init__(self) -> None:
        self.chunk = 1

    def advance(self, lane_batch: LaneBatch, left: int) -> None:
        """Move the lanes by the next chunk, of at most `left` turns."""
        begun, count = time.perf_counter(), min(self.chunk, left)
        lane_batch.advance(count)
        jax.block_until_ready(lane_batch.lanes.steps)
        fitting = int(count * SECONDS_PER_CHUNK / (time.perf_counter() - begun))
        self.chunk = max(1, min(8 * self.chunk, fitting))
