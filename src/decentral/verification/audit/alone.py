"""One agent, retrained from its own log alone: no other agent plays, remembers or learns here.

`vmap` over several agents may differ from one agent in the last bit, so a comparison bit for bit needs a program of the
same shape. Every place of the agent's squad is therefore filled with a copy of the agent and of its log: the result at
its place can depend on nothing else.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Int, Key

from decentral.training.batches import longest_of
from decentral.training.loop import Lane, agent_stream, init_lane, keys_of_updates, remember_and_learn
from decentral.training.replay import Buffer, draw_batch
from decentral.training.setup import TrainingSetup
from decentral.training.squads.base import Replays
from decentral.training.team import Team
from decentral.types import Episode


class AgentLog(eqx.Module):
    """What one agent experienced, turn by turn, and what all agents had in common: the clock and the length of updates.

    The length says how much padding was part of the computation, which changes only the rounding.
    """

    episodes: Episode  # [turns, E, ...], without annotations; blank in turns before the agent joined
    steps: Int[Array, " turns"] | Int[np.ndarray, " turns"]  # of the environment, in each turn
    longest: (
        Int[Array, "turns updates"] | Int[np.ndarray, "turns updates"]
    )  # episode of each update, over all lanes and agents


def squad_of(setup: TrainingSetup, place: int) -> TrainingSetup:
    """The same setup with only the squad of the agent at a place."""
    squads = tuple(squad for squad in setup.team.squads if place in squad.places)
    return TrainingSetup(Team(squads), setup.environment, setup.plan)


def init_alone(setup: TrainingSetup, episodes: int, seed: Int[Array, ""] | int, place: Int[Array, ""] | int) -> Lane:
    """The agent of a place before its first turn, with copies of itself in the places of its squad.

    It has room for so many episodes: those of its log.
    """
    (squad,) = setup.team.squads
    key = agent_stream(seed, place)
    return init_lane(setup, seed, (jnp.broadcast_to(key, (len(squad.places),)),), episodes)


def learn_logged_turns(setup: TrainingSetup, lane: Lane, log: AgentLog, which: Int[Array, "2"], learning: bool) -> Lane:
    """The turns `which` (from, to) of a log instead of played ones: the agent remembers its record, then learns."""

    def retrain(turn: Int[Array, ""], lane: Lane) -> Lane:
        return learn_logged_turn(setup, lane, jax.tree.map(lambda leaf: leaf[turn], log), learning)

    return jax.lax.fori_loop(which[0], which[1], retrain, lane)


def learn_logged_turn(setup: TrainingSetup, lane: Lane, log: AgentLog, learning: bool) -> Lane:
    """One turn of a log."""
    (squad,) = setup.team.squads
    agents, (_, keys_learn) = squad.draw_keys(lane.agents[0], 2)
    epsilon = squad.epsilon(setup.plan, lane.steps)
    lane = Lane(
        agents=(agents,),
        replays=lane.replays,
        environment_key=lane.environment_key,
        steps=lane.steps + log.steps,
        episodes=lane.episodes + setup.plan.num_environments,
        tally=lane.tally,
    )
    copies = jax.tree.map(lambda leaf: jnp.broadcast_to(leaf, (len(squad.places), *leaf.shape)), log.episodes)
    return remember_and_learn(setup, lane, copies, (epsilon,), (keys_learn,), learning, jnp.asarray(log.longest))


def longest_of_updates(setup: TrainingSetup, keys: Key[Array, " n"], replays: Replays) -> Int[Array, "updates n"]:
    """The length of the longest episode that each agent of a squad drew for each update of a turn.

    `keys` are those of the agents' learning in that turn, `replays` what they remembered when they learned.
    """

    def longest(key: Key[Array, ""], replay: Buffer) -> Int[Array, ""]:
        key_sample, _ = jax.random.split(key)
        return longest_of(draw_batch(replay, setup.batch.episodes, key_sample))

    (each,) = keys_of_updates(setup.plan, (keys,))
    return jax.vmap(jax.vmap(longest), (0, None))(each, replays)
