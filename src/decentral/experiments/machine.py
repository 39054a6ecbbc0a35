"""The lanes of all seeds, and the compiled programs that move them."""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import jax
import numpy as np

from decentral.experiments.placement import Placement
from decentral.training.loop import Lane, Tally, Trainee, begin, examine, turns
from decentral.training.spread import SEEDS


@dataclass
class Machine:
    """The lanes of all seeds [S], moved by compiled functions."""

    trainee: Trainee
    seeds: np.ndarray
    lanes: Lane
    idle_turns: int  # still to be played before there is enough to learn from
    placement: Placement

    @staticmethod
    def start(trainee: Trainee) -> "Machine":
        """All seeds at their beginning."""
        seeds, placement = _seeds(trainee), Placement.of(trainee)
        lanes = _run(placement, "begin", trainee, seeds)
        return Machine(trainee, seeds, lanes, trainee.plan.idle_turns, placement)

    @staticmethod
    def describe(trainee: Trainee) -> Lane:
        """The shapes of all lanes. What is traced for them is not traced again at the start."""
        own = programs(Placement.of(trainee))
        with own.placed():
            return jax.eval_shape(own.begin, trainee, _seeds(trainee))

    def advance(self, count: int) -> None:
        """Play and, once there is enough to learn from, learn for `count` turns."""
        idle = min(self.idle_turns, count)
        self.idle_turns -= idle
        if idle:
            self.lanes = _run(self.placement, "turns", self.trainee, self.lanes, idle, False)
        if count > idle:
            self.lanes = _run(self.placement, "turns", self.trainee, self.lanes, count - idle, True)

    def test(self) -> tuple[np.ndarray, Tally]:
        """The returns [S, episodes] of a greedy test, and the tally since the last one."""
        returns, tally, self.lanes = _run(self.placement, "examine", self.trainee, self.lanes, self.seeds)
        return np.asarray(returns), jax.device_get(tally)

    @property
    def steps(self) -> np.ndarray:
        return np.asarray(self.lanes.steps)

    def turns_until(self, step: int) -> int:
        """Turns that no seed can do with fewer of before it reaches `step`; 0 once all have."""
        per_turn = self.trainee.environment.time_limit * self.trainee.plan.num_environments
        return max(0, -(-(step - int(self.steps.min())) // per_turn))


def _seeds(trainee: Trainee) -> np.ndarray:
    return trainee.plan.seed + np.arange(trainee.plan.seeds)


def _run(placement: Placement, name: str, *arguments: Any) -> Any:
    own = programs(placement)
    with own.placed():
        return getattr(own, name)(*arguments)


@dataclass(frozen=True)
class Programs:
    """The three programs of a training, compiled for where its lanes are."""

    begin: Callable[..., Any]
    turns: Callable[..., Any]
    examine: Callable[..., Any]
    placed: Callable[[], AbstractContextManager]


@cache
def programs(placement: Placement) -> Programs:
    """The programs of a placement. They are kept, so that a second training of the same kind compiles nothing."""
    mesh = placement.mesh
    lanes = None if mesh is None else placement.of_lanes(mesh)
    side_by_side = partial(jax.vmap, spmd_axis_name=None if mesh is None else SEEDS)
    return Programs(
        jax.jit(side_by_side(begin, (None, 0)), out_shardings=lanes),
        jax.jit(side_by_side(turns, (None, 0, None, None)), static_argnums=3, donate_argnums=1, out_shardings=lanes),
        jax.jit(side_by_side(examine, (None, 0, 0)), donate_argnums=1, out_shardings=(None, None, lanes)),
        nullcontext if mesh is None else partial(jax.set_mesh, mesh),
    )
