"""One agent taught again by its own log alone: the program is given the log, the seed and the place, no more."""

from collections.abc import Callable, Iterator
from functools import cache, partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from decentral.algorithms.base import AgentState
from decentral.runs.lanes import programs
from decentral.runs.placement import Placement
from decentral.training.loop import TrainingSetup
from decentral.training.spread import SEEDS
from decentral.verification.audit.alone import AgentLog, begin_alone, squad_of, told_turns
from decentral.verification.audit.logs import agent_at

MOST_TURNS = 256  # told at once

Watch = Callable[
    [int, AgentState], None
]  # is told, before every turn and after the last, its number and what the agent is


def teach_alone(setup: TrainingSetup, seed: int, place: int, log: AgentLog, watch: Watch | None = None) -> AgentState:
    """What one agent becomes that is taught by its own log alone."""
    seeds, squad = setup.plan.seeds, squad_of(setup, place)
    placement = Placement.of(setup, seeds)
    begin, tell = _programs_of_one(placement)
    (own,) = squad.team.squads
    at = (seed - setup.plan.seed, own.places.index(place))
    placed = programs(placement, False).placed
    with placed():
        lanes = begin(squad, np.full(seeds, seed), place)
    for first, count, learning in _stretches(len(log.steps), setup.plan.warmup_turns):
        with placed():
            told = jax.tree.map(jnp.asarray, _cut(log, first, count))
        for start, end in [(0, count)] if watch is None else [(turn, turn + 1) for turn in range(count)]:
            if watch is not None:
                watch(first + start, agent_at(lanes.agents[0], *at))
            with placed():
                lanes = tell(squad, lanes, told, np.asarray([start, end]), learning)
    agent = agent_at(lanes.agents[0], *at)
    if watch is not None:
        watch(len(log.steps), agent)
    return agent


def _stretches(turns: int, idle: int) -> Iterator[tuple[int, int, bool]]:
    """First turn, count and whether there is enough to learn from: as the turns of a run are cut."""
    first = 0
    while first < turns:
        learning = first >= idle
        end = turns if learning else min(turns, idle)
        count = min(MOST_TURNS, end - first)
        yield first, count, learning
        first += count


def _cut(log: AgentLog, first: int, count: int) -> AgentLog:
    """A stretch of a log, filled up to the most turns that are told at once: one shape, one program."""

    def cut(leaf: Any) -> np.ndarray:
        kept = np.asarray(leaf[first : first + count])
        return np.concatenate([kept, np.zeros((MOST_TURNS - count, *kept.shape[1:]), kept.dtype)])

    return jax.tree.map(cut, log)


@cache
def _programs_of_one(placement: Placement) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """The programs of an agent alone: its birth, and turns that it is told of."""
    mesh = placement.mesh
    lanes = None if mesh is None else placement.of_lanes(mesh)
    every_lane = partial(jax.vmap, spmd_axis_name=None if mesh is None else SEEDS)
    tell = every_lane(told_turns, (None, 0, None, None, None))
    return (
        jax.jit(every_lane(begin_alone, (None, 0, None)), out_shardings=lanes),
        jax.jit(tell, static_argnums=4, donate_argnums=1, out_shardings=lanes),
    )
