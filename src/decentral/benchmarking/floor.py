"""A lower bound on the cost of a turn: its matrix products, and the bytes that it has to move."""

from collections.abc import Iterator
from dataclasses import dataclass
from math import prod
from typing import Any

import jax
from jax.extend.core import ClosedJaxpr, Jaxpr, JaxprEqn
from jax.interpreters.partial_eval import dce_jaxpr

from decentral.algorithms.gradient import NetworkLearner
from decentral.networks.backend import without_kernels
from decentral.training.loop import Lane, begin, turn
from decentral.training.setup import TrainingSetup


@dataclass(frozen=True)
class Floor:
    """The least that one turn of one seed costs."""

    flops: int  # of matrix products alone, a multiplication and an addition counted as two
    bytes: int


def floor_of(setup: TrainingSetup) -> Floor:
    """The floor of a turn in which every agent learns, or of its share in an update from several turns."""
    lane, turns = jax.eval_shape(lambda: begin(setup, 0)), setup.turns_per_update
    whole, played = (_turn_flops(setup, lane, learning) for learning in (True, False))
    return Floor(played + (whole - played) // turns, moved_bytes(setup, lane))


def _turn_flops(setup: TrainingSetup, lane: Lane, learning: bool) -> int:
    with without_kernels():
        program = jax.make_jaxpr(lambda lane: turn(setup, lane, learning))(lane).jaxpr
    needed, _ = dce_jaxpr(program, [True] * len(program.outvars))
    return product_flops(needed)


def product_flops(program: ClosedJaxpr | Jaxpr) -> int:
    """The floating-point operations of a program's matrix products; a loop of unknown length counts as one round."""
    return sum(_flops(equation) for equation in program.eqns)


def _flops(equation: JaxprEqn) -> int:
    if equation.primitive.name == "dot_general":
        (contracted, _), _ = equation.params["dimension_numbers"]
        left = _shape(equation.invars[0])
        return 2 * prod(_shape(equation.outvars[0])) * prod(left[axis] for axis in contracted)
    inner = [product_flops(program) for program in _programs_in(equation)]
    if equation.primitive.name == "cond":
        return max(inner)
    return sum(inner) * (equation.params["length"] if equation.primitive.name == "scan" else 1)


def _shape(variable: Any) -> tuple[int, ...]:
    return variable.aval.shape


def _programs_in(equation: JaxprEqn) -> Iterator[ClosedJaxpr | Jaxpr]:
    for value in equation.params.values():
        for part in value if isinstance(value, tuple | list) else [value]:
            if isinstance(part, ClosedJaxpr | Jaxpr):
                yield part


def moved_bytes(setup: TrainingSetup, lane: Lane) -> int:
    """Bytes of the sampled batches and of what the networks know, read; of the new episodes and of what is learned.

    A learner that follows no gradient keeps tables, of which a turn need only touch a few entries: they don't count.
    """
    plan, total, turns = setup.plan, 0, setup.turns_per_update
    for squad, agents, replays in zip(setup.team.squads, lane.agents, lane.replays, strict=True):
        capacity = squad.room(plan, setup.capacity_after(0))
        episode = size_of(replays) // capacity  # of all the squad's agents
        total += episode * (plan.updates_per_turn * plan.batch_episodes // turns + plan.num_environments)
        if isinstance(squad.algorithm, NetworkLearner):
            total += (2 * size_of((agents.online, agents.optimiser)) + size_of(agents.target)) // turns
    return total


def size_of(tree: Any) -> int:
    """Bytes of all arrays of a tree."""
    return sum(leaf.size * leaf.dtype.itemsize for leaf in jax.tree.leaves(tree))
