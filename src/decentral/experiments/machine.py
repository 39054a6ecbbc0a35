"""The lanes of one or several trainees, one per seed of each, and the compiled programs that move them."""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import jax
import numpy as np

from decentral.environments.base import Oracle
from decentral.experiments.placement import Placement
from decentral.experiments.shapes import side_by_side
from decentral.training.diagnosis import Diagnosis
from decentral.training.evaluation import Scores
from decentral.training.loop import Lane, Tally, Trainee, begin, examine, turns
from decentral.training.spread import SEEDS


@dataclass
class Machine:
    """All lanes [S], trainee after trainee and seed after seed, moved by compiled functions."""

    trainee: Trainee  # its numbers have the lanes' axis if they stand for several trainees
    seeds: np.ndarray
    lanes: Lane
    idle_turns: int  # still to be played before there is enough to learn from
    programs: "Programs"
    oracle: Oracle | None = None  # its numbers have the lanes' axis if those of the trainee have

    @staticmethod
    def start(*trainees: Trainee) -> "Machine":
        """All seeds of trainees of one shape at their beginning."""
        trainee, seeds, own = _prepare(trainees)
        with own.placed():
            lanes = own.begin(trainee, seeds)
            oracle = own.oracle(trainee) if trainee.plan.diagnostics else None
        return Machine(trainee, seeds, lanes, trainee.plan.idle_turns, own, oracle)

    @staticmethod
    def describe(*trainees: Trainee) -> Lane:
        """The shapes of all lanes. What is traced for them is not traced again at the start."""
        trainee, seeds, own = _prepare(trainees)
        with own.placed():
            return jax.eval_shape(own.begin, trainee, seeds)

    def advance(self, count: int) -> None:
        """Play and, once there is enough to learn from, learn for `count` turns."""
        idle = min(self.idle_turns, count)
        self.idle_turns -= idle
        if idle:
            self._take_turns(idle, False)
        if count > idle:
            self._take_turns(count - idle, True)

    def _take_turns(self, count: int, learning: bool) -> None:
        with self.programs.placed():
            self.lanes = self.programs.turns(self.trainee, self.lanes, count, learning)

    def test(self) -> tuple[Scores, Diagnosis | None, Tally]:
        """The scores [S, episodes] of a greedy test, its diagnosis if planned, and the tally since the last one."""
        with self.programs.placed():
            *measured, self.lanes = self.programs.examine(self.trainee, self.lanes, self.seeds, self.oracle)
        scores, diagnosis, tally = jax.device_get(measured)
        return scores, diagnosis, tally

    @property
    def shares(self) -> list[range]:
        """The lanes of each trainee."""
        size = self.trainee.plan.seeds
        return [range(first, first + size) for first in range(0, len(self.seeds), size)]

    @property
    def steps(self) -> np.ndarray:
        return np.asarray(self.lanes.steps)

    def turns_until(self, step: int) -> int:
        """Turns that no lane can do with fewer of before it reaches `step`; 0 once all have."""
        per_turn = self.trainee.environment.time_limit * self.trainee.plan.num_environments
        return max(0, -(-(step - int(self.steps.min())) // per_turn))


def _prepare(trainees: Sequence[Trainee]) -> tuple[Trainee, np.ndarray, "Programs"]:
    """One trainee that stands for all, the seed of every lane, and the programs that move them."""
    plan = trainees[0].plan
    seeds = np.tile(plan.seed + np.arange(plan.seeds), len(trainees))
    trainee = side_by_side(trainees, plan.seeds)
    return trainee, seeds, programs(Placement.of(trainee, len(seeds)), len(trainees) > 1)


@dataclass(frozen=True)
class Programs:
    """The programs of a training, compiled for where its lanes are."""

    begin: Callable[..., Any]
    turns: Callable[..., Any]
    examine: Callable[..., Any]
    oracle: Callable[..., Any]
    placed: Callable[[], AbstractContextManager]
    placement: Placement


@cache
def programs(placement: Placement, several: bool) -> Programs:
    """The programs of a placement, for one trainee or for several.

    They are kept, so that a second training of the same kind compiles nothing.
    """
    mesh = placement.mesh
    lanes = None if mesh is None else placement.of_lanes(mesh)
    every_lane = partial(jax.vmap, spmd_axis_name=None if mesh is None else SEEDS)
    numbers = 0 if several else None
    return Programs(
        jax.jit(every_lane(begin, (numbers, 0)), out_shardings=lanes),
        jax.jit(every_lane(turns, (numbers, 0, None, None)), static_argnums=3, donate_argnums=1, out_shardings=lanes),
        jax.jit(
            every_lane(examine, (numbers, 0, 0, numbers)), donate_argnums=1, out_shardings=(None, None, None, lanes)
        ),
        jax.jit(partial(jax.lax.map, Trainee.oracle) if several else Trainee.oracle),  # large in the making
        nullcontext if mesh is None else partial(jax.set_mesh, mesh),
        placement,
    )
