"""The training of one seed, turn by turn: play, hand out, remember, learn. `vmap` makes many seeds of it."""

from functools import partial

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int, Key

from decentral.algorithms.base import Agent, Algorithm
from decentral.environments.base import Environment
from decentral.training import team
from decentral.training.evaluation import greedy_returns
from decentral.training.plan import Plan
from decentral.training.replay import Replay, blank_episodes, empty_replay
from decentral.training.rollout import Trajectory, hand_out, play, team_player
from decentral.types import Episode, Metrics


class Tally(eqx.Module):
    """Sums since the last test, from which the means of a record are made."""

    metrics: Metrics  # [N], over updates
    updates: Int[Array, ""]
    returns: Float[Array, ""]  # over training episodes
    episodes: Int[Array, ""]


class Lane(eqx.Module):
    """One seed's training: its team, what each agent remembers, its world's chance, and how far it has come."""

    agents: Agent  # [N]
    replays: Replay  # [N]
    world: Key[Array, ""]
    steps: Int[Array, ""]
    episodes: Int[Array, ""]
    tally: Tally


class Trainee(eqx.Module):
    """What is trained, where and how: the three groups of settings of a run."""

    algorithm: Algorithm
    environment: Environment
    plan: Plan


def begin(trainee: Trainee, seed: Int[Array, ""] | int) -> Lane:
    """The lane of a seed before its first turn. Every agent gets a stream of chance of its own."""
    environment, plan = trainee.environment, trainee.plan
    key = jax.random.key(seed)
    own = partial(jax.random.fold_in, jax.random.fold_in(key, 1))
    agents = team.be_born(trainee.algorithm, environment.spec, jax.vmap(own)(jnp.arange(environment.num_agents)))
    replay = empty_replay(environment.spec, environment.time_limit, plan.replay_episodes)
    return Lane(
        agents=agents,
        replays=jax.tree.map(lambda one: jnp.repeat(one[None], environment.num_agents, axis=0), replay),
        world=jax.random.fold_in(key, 0),
        steps=jnp.zeros((), jnp.int32),
        episodes=jnp.zeros((), jnp.int32),
        tally=_fresh_tally(trainee, agents),
    )


def turns(trainee: Trainee, lane: Lane, count: Int[Array, ""] | int, learning: bool) -> Lane:
    """`count` turns; where a run is cut into chunks of turns makes no difference to it."""
    return jax.lax.fori_loop(0, count, lambda _, lane: turn(trainee, lane, learning), lane)


def turn(trainee: Trainee, lane: Lane, learning: bool) -> Lane:
    """Every environment plays one episode; every agent remembers its part, then learns."""
    key_play, key_world = jax.random.split(lane.world)
    agents, (keys_act, keys_learn) = team.draw_keys(lane.agents, 2)
    lived = _play_side_by_side(trainee, agents, lane.steps, keys_act, key_play)
    lane = Lane(
        agents=agents,
        replays=lane.replays,
        world=key_world,
        steps=lane.steps + jnp.sum(lived.happened),
        episodes=lane.episodes + trainee.plan.num_environments,
        tally=_count_episodes(lane.tally, lived),
    )
    episodes = jax.vmap(hand_out, out_axes=1)(lived)
    return absorb(trainee, lane, episodes, keys_learn, learning)


def absorb(trainee: Trainee, lane: Lane, episodes: Episode, keys: Key[Array, " agents"], learning: bool) -> Lane:
    """Every agent remembers its own record of the turn's episodes [N, E, ...] and, if `learning`, learns."""
    algorithm, plan = trainee.algorithm, trainee.plan
    replays = team.remember(lane.replays, episodes)

    def update(now: tuple[Agent, Tally], keys: Key[Array, " agents"]) -> tuple[tuple[Agent, Tally], None]:
        agents, tally = now
        agents, metrics = team.learn(algorithm, agents, replays, plan.batch_episodes, keys)
        return (agents, _count_update(tally, metrics)), None

    agents, tally = lane.agents, lane.tally
    if learning:
        each = jax.vmap(jax.random.split, (0, None), 1)(keys, plan.updates_per_turn)
        (agents, tally), _ = jax.lax.scan(update, (agents, tally), each)
    agents = team.grow_older(algorithm, agents, plan.num_environments)
    return eqx.tree_at(lambda old: (old.agents, old.replays, old.tally), lane, (agents, replays, tally))


def examine(trainee: Trainee, lane: Lane, seed: Int[Array, ""] | int) -> tuple[Float[Array, " episodes"], Tally, Lane]:
    """The returns of a greedy test, the tally since the last one, and the lane with a fresh tally.

    The test's chance comes from the seed and the step, so that testing more or less often changes no training.
    """
    key = jax.random.fold_in(jax.random.fold_in(jax.random.key(seed), 2), lane.steps)
    returns = greedy_returns(
        trainee.algorithm, trainee.environment, lane.agents.online, trainee.plan.test_episodes, key
    )
    fresh = jax.tree.map(jnp.zeros_like, lane.tally)
    return returns, lane.tally, eqx.tree_at(lambda old: old.tally, lane, fresh)


def _play_side_by_side(
    trainee: Trainee, agents: Agent, steps: Int[Array, ""], keys_act: Key[Array, " agents"], key: Key[Array, ""]
) -> Trajectory:
    environment, plan = trainee.environment, trainee.plan
    epsilon = plan.epsilon(steps)

    def play_one(keys_act: Key[Array, " agents"], key: Key[Array, ""]) -> Trajectory:
        player = team_player(trainee.algorithm, agents.online, epsilon, environment.time_limit, keys_act)
        return play(environment, player, key)

    keys_each = jax.vmap(jax.random.split, (0, None), 1)(keys_act, plan.num_environments)
    return jax.vmap(play_one)(keys_each, jax.random.split(key, plan.num_environments))


def _fresh_tally(trainee: Trainee, agents: Agent) -> Tally:
    environment, plan = trainee.environment, trainee.plan

    def metrics_of(agent: Agent) -> Metrics:
        episodes = blank_episodes(environment.spec, environment.time_limit, plan.batch_episodes)
        return trainee.algorithm.losses(agent.online, agent.target, episodes, agent.key)[1]

    shapes = jax.eval_shape(jax.vmap(metrics_of), agents) | {
        "gradient_norm": jax.ShapeDtypeStruct((environment.num_agents,), jnp.float32)
    }
    metrics = {name: jnp.zeros(shape.shape, shape.dtype) for name, shape in shapes.items()}
    zero = jnp.zeros((), jnp.int32)
    return Tally(metrics, updates=zero, returns=jnp.zeros(()), episodes=zero)


def _count_episodes(tally: Tally, lived: Trajectory) -> Tally:
    returns = tally.returns + jnp.sum(lived.rewards)
    return Tally(tally.metrics, tally.updates, returns, tally.episodes + lived.rewards.shape[0])


def _count_update(tally: Tally, metrics: Metrics) -> Tally:
    sums = jax.tree.map(jnp.add, tally.metrics, metrics)
    return Tally(sums, tally.updates + 1, tally.returns, tally.episodes)
