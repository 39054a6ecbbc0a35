"""Retraining one agent from its own log alone: the program gets the log, the seed and the place, nothing else."""

from collections.abc import Callable, Iterator
from functools import cache, partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Int

from decentral.algorithms.base import AgentState
from decentral.runs.lanes import programs
from decentral.runs.placement import Placement
from decentral.training.loop import Lane
from decentral.training.setup import TrainingSetup
from decentral.verification.audit.alone import AgentLog, init_alone, learn_logged_turns, squad_of
from decentral.verification.audit.logs import agent_at

MOST_TURNS = 256  # per call of the program

Watch = Callable[
    [int, AgentState], None
]  # is called before every turn and after the last, with its number and the agent


def retrain_alone(setup: TrainingSetup, seed: int, place: int, log: AgentLog, watch: Watch | None = None) -> AgentState:
    """The agent at a place, retrained from its own log alone."""
    seeds, alone = setup.plan.seeds, squad_of(setup, place)
    placement = Placement.of(setup, seeds)
    begin, retrain = _programs_of_one(placement)
    (squad,) = alone.team.squads
    at = (seed - setup.plan.seed, squad.places.index(place))
    copies = np.full(seeds + placement.padding(seeds), seed)
    placed = programs(placement, False).placed
    with placed():
        lanes = begin(alone, len(log.steps) * setup.plan.num_environments, copies, place)
    for first, count, learning in _stretches(len(log.steps), setup.plan.warmup_turns):
        with placed():
            stretch = jax.tree.map(jnp.asarray, _cut(log, first, count))
        for start, end in [(0, count)] if watch is None else [(turn, turn + 1) for turn in range(count)]:
            if watch is not None:
                watch(first + start, agent_at(lanes.agents[0], *at))
            with placed():
                lanes = retrain(alone, lanes, stretch, np.asarray([start, end]), learning)
    agent = agent_at(lanes.agents[0], *at)
    if watch is not None:
        watch(len(log.steps), agent)
    return agent


def _stretches(turns: int, idle: int) -> Iterator[tuple[int, int, bool]]:
    """First turn, count and whether there is enough to learn from: cut like the turns of a run."""
    first = 0
    while first < turns:
        learning = first >= idle
        end = turns if learning else min(turns, idle)
        count = min(MOST_TURNS, end - first)
        yield first, count, learning
        first += count


def _cut(log: AgentLog, first: int, count: int) -> AgentLog:
    """A stretch of a log, padded to the most turns of a call: one shape, one program."""

    def cut(leaf: Any) -> np.ndarray:
        kept = np.asarray(leaf[first : first + count])
        return np.concatenate([kept, np.zeros((MOST_TURNS - count, *kept.shape[1:]), kept.dtype)])

    return jax.tree.map(cut, log)


@cache
def _programs_of_one(placement: Placement) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """The programs of an agent alone: its first state, and turns from its log."""
    mesh = placement.mesh
    lanes = None if mesh is None else placement.of_lanes(mesh)

    def begin(setup: TrainingSetup, episodes: int, seeds: Int[Array, " lanes"], place: Int[Array, ""] | int) -> Lane:
        def of_lane(setup: TrainingSetup, seed: Int[Array, ""], place: Int[Array, ""] | int) -> Lane:
            return init_alone(setup, episodes, seed, place)

        return placement.over_lanes(of_lane, (None, 0, None))(setup, seeds, place)

    def retrain(setup: TrainingSetup, lanes: Lane, log: AgentLog, turns: Int[Array, " 2"], learning: bool) -> Lane:
        of_lane = partial(learn_logged_turns, learning=learning)
        return placement.over_lanes(of_lane, (None, 0, None, None))(setup, lanes, log, turns)

    return (
        jax.jit(begin, static_argnums=1, out_shardings=lanes),
        jax.jit(retrain, static_argnums=4, donate_argnums=1, out_shardings=lanes),
    )
