"""One agent, taught again from its own log alone: no other agent plays, remembers or learns here.

`vmap` over several agents may differ from one agent in the last bit, so that a comparison bit for bit needs a program
of the same shape. Every place of the agent's squad is therefore filled with a copy of the agent itself and of its own
log: what comes out at its place can depend on nothing else.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Int, Key

from decentral.training.batches import longest_of
from decentral.training.loop import Lane, TrainingSetup, agent_stream, init_lane, keys_of_updates, remember_and_learn
from decentral.training.replay import Replay, sample
from decentral.training.squads.base import Replays
from decentral.training.team import Team
from decentral.types import Episode


class AgentLog(eqx.Module):
    """What one agent lived through, turn by turn, and what was common to all: the clock, and how long updates were.

    The length says how much padding was computed with, which changes no more than the rounding.
    """

    episodes: Episode  # [turns, E, ...], without annotations; blank in turns before the agent joined
    steps: Int[Array, " turns"] | Int[np.ndarray, " turns"]  # of the environment, in each turn
    longest: Int[Array, "turns updates"] | Int[np.ndarray, "turns updates"]  # episode of each update, of all beside it


def squad_of(setup: TrainingSetup, place: int) -> TrainingSetup:
    """The same training, of the squad that the agent at a place belongs to."""
    squads = tuple(squad for squad in setup.team.squads if place in squad.places)
    return TrainingSetup(Team(squads), setup.environment, setup.plan)


def begin_alone(setup: TrainingSetup, seed: Int[Array, ""] | int, place: Int[Array, ""] | int) -> Lane:
    """The agent of a place before its first turn, with copies of itself in the places of its squad."""
    (squad,) = setup.team.squads
    own = agent_stream(seed, place)
    return init_lane(setup, seed, (jnp.broadcast_to(own, (len(squad.places),)),))


def told_turns(setup: TrainingSetup, lane: Lane, log: AgentLog, which: Int[Array, "2"], learning: bool) -> Lane:
    """The turns `which` (from, to) of a log, not played but told: the agent remembers its own record, then learns."""

    def tell(turn: Int[Array, ""], lane: Lane) -> Lane:
        return told_turn(setup, lane, jax.tree.map(lambda leaf: leaf[turn], log), learning)

    return jax.lax.fori_loop(which[0], which[1], tell, lane)


def told_turn(setup: TrainingSetup, lane: Lane, told: AgentLog, learning: bool) -> Lane:
    """One turn of a log."""
    (squad,) = setup.team.squads
    agents, (_, keys_learn) = squad.draw_keys(lane.agents[0], 2)
    epsilon = squad.epsilon(setup.plan, lane.steps)
    lane = Lane(
        agents=(agents,),
        replays=lane.replays,
        environment_key=lane.environment_key,
        steps=lane.steps + told.steps,
        episodes=lane.episodes + setup.plan.num_environments,
        tally=lane.tally,
    )
    copies = jax.tree.map(lambda leaf: jnp.broadcast_to(leaf, (len(squad.places), *leaf.shape)), told.episodes)
    return remember_and_learn(setup, lane, copies, (epsilon,), (keys_learn,), learning, jnp.asarray(told.longest))


def longest_of_updates(setup: TrainingSetup, keys: Key[Array, " n"], replays: Replays) -> Int[Array, " updates"]:
    """How long the longest episode of each update of a turn was, over the agents of a squad.

    `keys` are those of the agents' learning in that turn, `replays` what they remembered when they learned.
    """

    def longest(key: Key[Array, ""], replay: Replay) -> Int[Array, ""]:
        key_sample, _ = jax.random.split(key)
        return longest_of(sample(replay, setup.batch.episodes, key_sample))

    (each,) = keys_of_updates(setup.plan, (keys,))
    return jnp.max(jax.vmap(jax.vmap(longest), (0, None))(each, replays), axis=1)
