"""A training lived through again: first by the whole team, to write down one agent's log; then by that agent alone.

The log is read from the agent's own replay, turn by turn, while the run's own program trains it: what is written down
changes nothing of what is computed. The second program is given the log, the seed and the agent's place, no more.
"""

from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from functools import cache, partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Int, Key

from decentral.algorithms.base import Models
from decentral.experiments.machine import Machine, programs
from decentral.experiments.placement import Placement
from decentral.training.alone import Log, begin_alone, longest_of_updates, squad_of, told_turns
from decentral.training.compact import unpack
from decentral.training.loop import Trainee
from decentral.training.replay import Replay
from decentral.training.separate import Separate
from decentral.training.spread import SEEDS
from decentral.training.squads import Agents, Replays, Squad
from decentral.types import Episode

MOST_TURNS = 256  # written down or told at once


def live_again(trainee: Trainee, seed: int, place: int) -> tuple[Models, Log]:
    """Train the whole team again: what one agent of one seed acts with at the end, and its log."""
    lane, (own, number) = seed - trainee.plan.seed, _squad_and_number(trainee, place)
    at_once, parts = _turns_at_once(trainee, trainee.team.squads[own]), []
    with closing(Machine.start(trainee)) as machine:
        while left := machine.turns_until(trainee.plan.steps):
            parts.append(_live(machine, min(left, at_once), lane, (own, number)))
    log = jax.tree.map(lambda *pieces: np.concatenate(pieces), *parts)
    bodies = jax.device_get(trainee.team.squads[own].bodies(machine.lanes.agents[own]))
    return jax.tree.map(lambda leaf: leaf[lane, number], bodies), log


def teach_alone(trainee: Trainee, seed: int, place: int, log: Log) -> Models:
    """What one agent acts with in the end, taught by its own log alone."""
    seeds, squad = trainee.plan.seeds, squad_of(trainee, place)
    placement = Placement.of(trainee, seeds)
    begin, tell = _programs_of_one(placement, place)
    (own,) = squad.team.squads
    with programs(placement, False).placed():
        lanes = begin(squad, np.full(seeds, seed))
        for first, count, learning in _stretches(len(log.steps), trainee.plan.idle_turns):
            lanes = tell(squad, lanes, _cut(log, first, count), count, learning)
    at = (seed - trainee.plan.seed, own.places.index(place))
    return jax.tree.map(lambda leaf: leaf[at], jax.device_get(own.bodies(lanes.agents[0])))


def _live(machine: Machine, count: int, lane: int, where: tuple[int, int]) -> Log:
    """The next turns of a machine, as one agent lived through them; blank before it joined."""
    squad, number = where
    plan, before, steps = machine.trainee.plan, _remembered(machine, squad)[lane, number], machine.steps[lane]
    keys = _keys_of_learning(machine.trainee, machine.lanes.agents[squad], squad)
    machine.advance(count)
    longest = np.tile(_longest(machine.trainee, keys, machine.lanes.replays[squad]), (count, 1))
    slots = (before + np.arange(count * plan.num_environments)) % plan.replay_episodes
    episodes = jax.device_get(_written(machine.lanes.replays[squad], lane, number, slots))
    told = jax.tree.map(lambda leaf: leaf.reshape(count, plan.num_environments, *leaf.shape[1:]), episodes)
    if _remembered(machine, squad)[lane, number] == before:
        return Log(jax.tree.map(np.zeros_like, told), np.asarray([machine.steps[lane] - steps]), longest)
    return Log(told, told.happened.sum(axis=(1, 2), dtype=np.int32), longest)


@partial(jax.jit, static_argnums=2)
def _keys_of_learning(trainee: Trainee, agents: Agents, squad: int) -> Key[Array, "lanes n"]:
    """What the agents of a squad will draw for their learning in the next turn."""
    return jax.vmap(lambda own: trainee.team.squads[squad].draw_keys(own, 2)[1][1])(agents)


@jax.jit
def _longest(trainee: Trainee, keys: Key[Array, "lanes n"], replays: Replays) -> Int[Array, " updates"]:
    """How long the longest episode of each update of the last turn was, over lanes and agents."""
    if len(trainee.batch.lengths) == 1:
        return jnp.full(trainee.plan.updates_per_turn, trainee.environment.time_limit)
    return jnp.max(jax.vmap(partial(longest_of_updates, trainee))(keys, replays), axis=0)


def _remembered(machine: Machine, squad: int) -> np.ndarray:
    """How many episodes every agent of a squad has put into its replay [S, n]."""
    return np.asarray(machine.lanes.replays[squad].remembered)


@jax.jit
def _written(replays: Replay, lane: int, number: int, slots: np.ndarray) -> Episode:
    """What one agent's replay holds in its slots, without the remarks that follow from it."""
    return replace(unpack(jax.tree.map(lambda leaf: leaf[lane, number, slots], replays.episodes)), remarks=())


def _squad_and_number(trainee: Trainee, place: int) -> tuple[int, int]:
    """The squad of a place, and the agent's number in it."""
    return next(
        (own, squad.places.index(place)) for own, squad in enumerate(trainee.team.squads) if place in squad.places
    )


def _turns_at_once(trainee: Trainee, squad: Squad) -> int:
    """No more than a replay holds; one by one to see when an agent joins that joins later, or how long updates are."""
    joins_later = isinstance(squad, Separate) and squad.clock.joins_at > 0
    if joins_later or len(trainee.batch.lengths) > 1:
        return 1
    return min(MOST_TURNS, trainee.plan.replay_episodes // trainee.plan.num_environments)


def _stretches(turns: int, idle: int) -> Iterator[tuple[int, int, bool]]:
    """First turn, count and whether there is enough to learn from: as the turns of a machine are cut."""
    first = 0
    while first < turns:
        learning = first >= idle
        end = turns if learning else min(turns, idle)
        count = min(MOST_TURNS, end - first)
        yield first, count, learning
        first += count


def _cut(log: Log, first: int, count: int) -> Log:
    """A stretch of a log, filled up to the most turns that are told at once: one shape, one program."""

    def cut(leaf: Any) -> np.ndarray:
        kept = np.asarray(leaf[first : first + count])
        return np.concatenate([kept, np.zeros((MOST_TURNS - count, *kept.shape[1:]), kept.dtype)])

    return jax.tree.map(cut, log)


@cache
def _programs_of_one(placement: Placement, place: int) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """The programs of an agent alone: its birth, and turns that it is told of."""
    mesh = placement.mesh
    lanes = None if mesh is None else placement.of_lanes(mesh)
    every_lane = partial(jax.vmap, spmd_axis_name=None if mesh is None else SEEDS)
    tell = every_lane(told_turns, (None, 0, None, None, None))
    return (
        jax.jit(every_lane(partial(begin_alone, place=place), (None, 0)), out_shardings=lanes),
        jax.jit(tell, static_argnums=4, donate_argnums=1, out_shardings=lanes),
    )
