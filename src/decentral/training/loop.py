"""The training of one seed, turn by turn: play, hand out, remember, learn. `vmap` makes many seeds of it."""

from dataclasses import replace
from functools import partial

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int, Key

from decentral.algorithms.base import Algorithm, Models, Notes
from decentral.centralised.sharing import Sharing
from decentral.environments.base import Environment, Oracle, World
from decentral.errors import Refused
from decentral.training.batches import Batch
from decentral.training.diagnostics import Diagnosis, diagnose
from decentral.training.evaluation import Scores, greedy_episodes, greedy_scores, scores_of
from decentral.training.plan import Plan
from decentral.training.replay import blank_episode
from decentral.training.rollout import Trajectory, hand_out, play, team_player
from decentral.training.spread import on_every_device
from decentral.training.squads.base import Agents, Now, Replays, Squad
from decentral.training.team import Team
from decentral.types import Episode, Metrics

Keys = tuple[Key[Array, "..."], ...]  # by squad


class Tally(eqx.Module):
    """Sums since the last test, from which the means of a record are made."""

    metrics: tuple[Metrics, ...]  # by squad: [n], over updates
    updates: Int[Array, ""]
    returns: Float[Array, ""]  # over training episodes
    episodes: Int[Array, ""]


class Lane(eqx.Module):
    """One seed's training: its team, what each agent remembers, its world's chance, and how far it has come."""

    agents: tuple[Agents, ...]  # by squad
    replays: tuple[Replays, ...]
    world: Key[Array, ""]
    steps: Int[Array, ""]
    episodes: Int[Array, ""]
    tally: Tally


class Outset(eqx.Module):
    """What a turn of one lane starts from: who acts, how much everyone explores, and all its chance."""

    bodies: tuple[Models, ...]  # by squad, as all but the last
    notes: tuple[Notes, ...]
    epsilons: tuple[Array, ...]
    keys_act: Keys
    keys_learn: Keys
    key_play: Key[Array, ""]


class Trainee(eqx.Module):
    """What is trained, where and how."""

    team: Team
    environment: World
    plan: Plan

    @staticmethod
    def alike(algorithm: Algorithm, environment: World, plan: Plan) -> "Trainee":
        """A team of one algorithm in a world."""
        team = Team.alike(algorithm, environment.num_agents, sharing_in(environment, plan))
        return Trainee(team, environment, plan)

    @property
    def compiled_world(self) -> Environment:
        """The world, where whole episodes of it are compiled."""
        if not isinstance(self.environment, Environment):
            name = type(self.environment).__name__
            raise Refused(f"environment must be one that is compiled, got {name}, which lives in Python")
        return self.environment

    def oracle(self) -> Oracle | None:
        """Who knows the best joint actions, where a test asks for them."""
        return self.environment.oracle() if self.plan.diagnostics else None

    @property
    def replay_capacity(self) -> int:
        """Episodes that every agent has room for: no more than a run of this plan can play.

        A power of two below `replay_episodes`, so that runs of about the same length share a compiled program.
        """
        plan, shortest = self.plan, 1 if self.environment.may_end_early else self.environment.time_limit
        turns = -(-plan.steps // (shortest * plan.num_environments))
        most = max(turns * plan.num_environments, plan.batch_episodes)
        return min(plan.replay_episodes, 1 << (most - 1).bit_length())

    @property
    def batch(self) -> Batch:
        """What every update is made from."""
        return Batch.of(self.environment, self.plan.batch_episodes)


def sharing_in(environment: World, plan: Plan) -> Sharing | None:
    """How agents share their parameters in an environment, if the plan says so."""
    return Sharing(plan.agent_ids and not environment.tells_ids) if plan.sharing else None


def begin(trainee: Trainee, seed: Int[Array, ""] | int) -> Lane:
    """The lane of a seed before its first turn. Every agent gets a stream of chance of its own."""
    keys = jax.vmap(partial(stream_of, seed))(jnp.arange(trainee.environment.num_agents))
    return newborn(trainee, seed, trainee.team.share_out(keys))


def stream_of(seed: Int[Array, ""] | int, place: Int[Array, ""] | int) -> Key[Array, ""]:
    """The key of one agent's own stream of chance."""
    return jax.random.fold_in(jax.random.fold_in(jax.random.key(seed), 1), place)


def stream_of_world(seed: Int[Array, ""] | int) -> Key[Array, ""]:
    """The key of the world's own stream of chance."""
    return jax.random.fold_in(jax.random.key(seed), 0)


def newborn(trainee: Trainee, seed: Int[Array, ""] | int, keys: Keys) -> Lane:
    """A lane whose agents are born from their own keys."""
    environment, team = trainee.environment, trainee.team
    room = (trainee.replay_capacity, trainee.plan.replay_type)
    agents = team.each(lambda squad, keys: squad.be_born(environment.spec, keys), keys)
    blank = blank_episode(environment.spec, environment.time_limit)
    replays = team.each(lambda squad, agents: squad.empty_replays(agents, blank, *room), agents)
    zero = jnp.zeros((), jnp.int32)
    return Lane(
        agents=agents,
        replays=replays,
        world=stream_of_world(seed),
        steps=zero,
        episodes=zero,
        tally=Tally(_no_metrics(trainee, agents, replays, keys), zero, jnp.zeros(()), zero),
    )


def turns(trainee: Trainee, lane: Lane, count: Int[Array, ""] | int, learning: bool) -> Lane:
    """`count` turns; where a run is cut into chunks of turns makes no difference to it."""
    return jax.lax.fori_loop(0, count, lambda _, lane: turn(trainee, lane, learning), lane)


def turn(trainee: Trainee, lane: Lane, learning: bool) -> Lane:
    """Every environment plays one episode; every agent remembers its part, then learns."""
    lane, outset = set_out(trainee, lane)
    lived = on_every_device(_play_side_by_side)(
        trainee, outset.bodies, outset.notes, outset.epsilons, outset.keys_act, outset.key_play
    )
    return come_home(trainee, lane, outset, lived, learning)


def set_out(trainee: Trainee, lane: Lane) -> tuple[Lane, Outset]:
    """The lane with its streams of chance moved on, and what its next turn starts from."""
    key_play, key_world = jax.random.split(lane.world)
    drawn = trainee.team.each(lambda squad, agents: squad.draw_keys(agents, 2), lane.agents)
    agents, keys_act, keys_learn = (tuple(part) for part in zip(*((own, *keys) for own, keys in drawn), strict=True))
    outset = Outset(
        bodies=trainee.team.each(lambda squad, own: squad.bodies(own), agents),
        notes=trainee.team.each(lambda squad, own: squad.notes(own), agents),
        epsilons=trainee.team.each(lambda squad: squad.epsilon(trainee.plan, lane.steps)),
        keys_act=keys_act,
        keys_learn=keys_learn,
        key_play=key_play,
    )
    return eqx.tree_at(lambda old: (old.agents, old.world), lane, (agents, key_world)), outset


def come_home(trainee: Trainee, lane: Lane, outset: Outset, lived: Trajectory, learning: bool) -> Lane:
    """The lane after a turn whose episodes [E, ...] have been played."""
    lane = Lane(
        agents=lane.agents,
        replays=lane.replays,
        world=lane.world,
        steps=lane.steps + jnp.sum(lived.happened),
        episodes=lane.episodes + trainee.plan.num_environments,
        tally=_count_episodes(lane.tally, lived),
    )
    episodes = jax.vmap(hand_out, out_axes=1)(lived)
    return absorb(trainee, lane, episodes, outset.epsilons, outset.keys_learn, learning)


def absorb(
    trainee: Trainee,
    lane: Lane,
    episodes: Episode,
    epsilons: tuple[Array, ...],
    keys: Keys,
    learning: bool,
    no_shorter_than: Int[Array, " updates"] | None = None,
) -> Lane:
    """Every agent remembers its own record of the turn's episodes [N, E, ...] and, if `learning`, learns.

    `no_shorter_than` is of a turn that is told again: how long the longest episode of each update was, of all that were
    made side by side.
    """
    team, plan = trainee.team, trainee.plan
    nows = tuple(Now(lane.steps, lane.episodes, epsilon, plan.num_environments) for epsilon in epsilons)
    shared = team.share_out(episodes)
    kept = team.each(lambda squad, *own: squad.remember(*own), lane.agents, lane.replays, shared, nows)
    agents, replays = tuple(own for own, _ in kept), tuple(replay for _, replay in kept)

    def update(now: tuple, chance: tuple[Keys, Int[Array, ""]]) -> tuple[tuple, None]:
        agents, tally = now
        keys, longest = chance
        batch = replace(trainee.batch, no_shorter_than=longest)
        taught = team.each(
            lambda squad, agents, replays, keys, now: squad.learn(agents, replays, batch, keys, now),
            agents,
            replays,
            keys,
            nows,
        )
        metrics = tuple(measured for _, measured in taught)
        return (tuple(own for own, _ in taught), _count_update(tally, metrics)), None

    tally = lane.tally
    if learning:
        longest = jnp.zeros(plan.updates_per_turn, jnp.int32) if no_shorter_than is None else no_shorter_than
        (agents, tally), _ = jax.lax.scan(update, (agents, tally), (keys_of_updates(plan, keys), longest))
    agents = team.each(lambda squad, agents: squad.grow_older(agents, plan.num_environments), agents)
    return eqx.tree_at(lambda old: (old.agents, old.replays, old.tally), lane, (agents, replays, tally))


def keys_of_updates(plan: Plan, keys: Keys) -> Keys:
    """The chance of every update of a turn: by squad its agents' [updates, n]."""
    return tuple(jax.vmap(jax.random.split, (0, None), 1)(own, plan.updates_per_turn) for own in keys)


def examine(
    trainee: Trainee, lane: Lane, seed: Int[Array, ""] | int, oracle: Oracle | None = None
) -> tuple[Scores, Diagnosis | None, Tally, Lane]:
    """The scores of a greedy test, its diagnosis if planned, the tally since the last one, the lane with a fresh one.

    The test's chance comes from the seed and the step, so that testing more or less often changes no training.
    """
    bodies = trainee.team.each(lambda squad, own: squad.bodies(own), lane.agents)
    scores, diagnosis = on_every_device(_play_test)(trainee, bodies, oracle, key_of_test(lane.steps, seed))
    return scores, diagnosis, lane.tally, with_fresh_tally(lane)


def key_of_test(steps: Int[Array, ""] | int, seed: Int[Array, ""] | int) -> Key[Array, ""]:
    """The chance of the test that is due after so many steps."""
    return jax.random.fold_in(jax.random.fold_in(jax.random.key(seed), 2), steps)


def with_fresh_tally(lane: Lane) -> Lane:
    """The lane with nothing counted since the last test."""
    return eqx.tree_at(lambda old: old.tally, lane, jax.tree.map(jnp.zeros_like, lane.tally))


def _play_side_by_side(
    trainee: Trainee,
    bodies: tuple[Models, ...],
    notes: tuple[Notes, ...],
    epsilons: tuple[Array, ...],
    keys_act: Keys,
    key: Key[Array, ""],
) -> Trajectory:
    environment, team = trainee.compiled_world, trainee.team

    def play_one(keys_act: Keys, key: Key[Array, ""]) -> Trajectory:
        dice = team.each(lambda squad, keys: squad.roll(keys, environment.time_limit), keys_act)
        return play(environment, team_player(team, bodies, notes, epsilons, dice), key)

    return jax.vmap(play_one)(*keys_of_episodes(trainee.plan, keys_act, key))


def keys_of_episodes(plan: Plan, keys_act: Keys, key: Key[Array, ""]) -> tuple[Keys, Key[Array, " episodes"]]:
    """The chance of every episode of a turn: by squad its agents' [E, n], and its world's."""
    keys_each = tuple(jax.vmap(jax.random.split, (0, None), 1)(own, plan.num_environments) for own in keys_act)
    return keys_each, jax.random.split(key, plan.num_environments)


def _play_test(
    trainee: Trainee, bodies: tuple[Models, ...], oracle: Oracle | None, key: Key[Array, ""]
) -> tuple[Scores, Diagnosis | None]:
    test = (trainee.team, trainee.compiled_world, bodies, trainee.plan.test_episodes, key)
    if not trainee.plan.diagnostics:
        return greedy_scores(*test), None
    return judge(trainee, bodies, oracle, greedy_episodes(*test))


def judge(
    trainee: Trainee, bodies: tuple[Models, ...], oracle: Oracle | None, lived: Trajectory
) -> tuple[Scores, Diagnosis | None]:
    """What greedy episodes [E, ...] came to, and their diagnosis if planned."""
    diagnosis = diagnose(trainee.team, bodies, oracle, lived) if trainee.plan.diagnostics else None
    return jax.vmap(partial(scores_of, trainee.environment))(lived), diagnosis


def _no_metrics(
    trainee: Trainee, agents: tuple[Agents, ...], replays: tuple[Replays, ...], keys: Keys
) -> tuple[Metrics, ...]:
    zero = jnp.zeros((), jnp.int32)

    def of(squad: Squad, agents: Agents, replays: Replays, keys: Array) -> Metrics:
        now = Now(zero, zero, jnp.zeros(()))
        shapes = jax.eval_shape(lambda: squad.learn(agents, replays, trainee.batch, keys, now)[1])
        return {name: jnp.zeros(shape.shape, shape.dtype) for name, shape in shapes.items()}

    return trainee.team.each(of, agents, replays, keys)


def _count_episodes(tally: Tally, lived: Trajectory) -> Tally:
    returns = tally.returns + jnp.sum(lived.rewards)
    return Tally(tally.metrics, tally.updates, returns, tally.episodes + lived.rewards.shape[0])


def _count_update(tally: Tally, metrics: tuple[Metrics, ...]) -> Tally:
    sums = jax.tree.map(jnp.add, tally.metrics, metrics)
    return Tally(sums, tally.updates + 1, tally.returns, tally.episodes)
