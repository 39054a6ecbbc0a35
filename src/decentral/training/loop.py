"""The training loop of one seed, turn by turn: play, hand out, remember, learn. `vmap` runs it for many seeds."""

from dataclasses import replace
from functools import partial

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int, Key

from decentral.algorithms.base import Models, Statistics
from decentral.environments.base import Oracle
from decentral.training.diagnostics import Diagnosis, diagnose
from decentral.training.evaluation import Scores, greedy_episodes, greedy_scores, scores_of
from decentral.training.plan import Plan
from decentral.training.replay import blank_episode
from decentral.training.rollout import Trajectory, hand_out, play, team_player
from decentral.training.setup import TrainingSetup
from decentral.training.spread import on_every_device
from decentral.training.squads.base import Agents, Replays, Squad, TrainingClock
from decentral.types import Episode, Metrics

Keys = tuple[Key[Array, "..."], ...]  # by squad
MetricShapes = tuple[tuple[tuple[str, tuple[int, ...], str], ...], ...]  # by squad: names, shapes and types


class Tally(eqx.Module):
    """Sums since the last test; a record holds their means."""

    metrics: tuple[Metrics, ...]  # by squad: [n], over updates
    updates: Int[Array, ""]
    returns: Float[Array, ""]  # over training episodes
    episodes: Int[Array, ""]
    own_returns: Float[Array, " agents"] | None = None  # the same of every agent, where each has its own reward


class Lane(eqx.Module):
    """The training state of one seed: its team, every agent's replay, its environment's key, and its progress."""

    agents: tuple[Agents, ...]  # by squad
    replays: tuple[Replays, ...]
    environment_key: Key[Array, ""]
    steps: Int[Array, ""]
    episodes: Int[Array, ""]
    tally: Tally


class TurnInputs(eqx.Module):
    """What a turn of one lane starts from: who acts, how much everyone explores, and all its keys."""

    acting_models: tuple[Models, ...]  # by squad, like every field but the last
    statistics: tuple[Statistics, ...]
    epsilons: tuple[Array, ...]
    keys_act: Keys
    keys_learn: Keys
    key_play: Key[Array, ""]


def begin(setup: TrainingSetup, seed: Int[Array, ""] | int, metrics: MetricShapes | None = None) -> Lane:
    """The lane of a seed before its first turn. Every agent gets a random stream of its own.

    `metrics` is what learning will measure, if known: to find it out, an update is traced.
    """
    keys = jax.vmap(partial(agent_stream, seed))(jnp.arange(setup.environment.num_agents))
    return init_lane(setup, seed, setup.team.split_by_squad(keys), metrics=metrics)


def agent_stream(seed: Int[Array, ""] | int, place: Int[Array, ""] | int) -> Key[Array, ""]:
    """The key of one agent's own random stream."""
    return jax.random.fold_in(jax.random.fold_in(jax.random.key(seed), 1), place)


def environment_stream(seed: Int[Array, ""] | int) -> Key[Array, ""]:
    """The key of the environment's own random stream."""
    return jax.random.fold_in(jax.random.key(seed), 0)


def init_lane(
    setup: TrainingSetup,
    seed: Int[Array, ""] | int,
    keys: Keys,
    episodes: int = 0,
    metrics: MetricShapes | None = None,
) -> Lane:
    """A lane whose agents are initialised from their own keys, with room to remember at least so many episodes."""
    environment, team = setup.environment, setup.team
    capacity, kind = setup.capacity_after(episodes), setup.replay_type
    agents = team.each(lambda squad, keys: squad.init_agents(environment.spec, keys), keys)
    blank = blank_episode(environment.spec, environment.time_limit)
    replays = team.each(
        lambda squad, agents: squad.empty_replays(agents, blank, squad.room(setup.plan, capacity), kind), agents
    )
    zero = jnp.zeros((), jnp.int32)
    return Lane(
        agents=agents,
        replays=replays,
        environment_key=environment_stream(seed),
        steps=zero,
        episodes=zero,
        tally=Tally(
            _no_metrics(metrics if metrics is not None else _metrics_of_an_update(setup, agents, replays, keys)),
            zero,
            jnp.zeros(()),
            zero,
            jnp.zeros(environment.num_agents) if environment.has_own_rewards else None,
        ),
    )


def turns(setup: TrainingSetup, lane: Lane, count: Int[Array, ""] | int, learning: bool) -> Lane:
    """`count` turns; where a run is cut into chunks of turns makes no difference to it."""
    return jax.lax.fori_loop(0, count, lambda _, lane: turn(setup, lane, learning), lane)


def turn(setup: TrainingSetup, lane: Lane, learning: bool) -> Lane:
    """Every environment plays one episode; every agent remembers its part, then learns."""
    lane, inputs = prepare_turn(setup, lane)
    played = on_every_device(_play_side_by_side)(
        setup, inputs.acting_models, inputs.statistics, inputs.epsilons, inputs.keys_act, inputs.key_play
    )
    return finish_turn(setup, lane, inputs, played, learning)


def prepare_turn(setup: TrainingSetup, lane: Lane) -> tuple[Lane, TurnInputs]:
    """The lane with its random streams advanced, and the inputs of its next turn."""
    key_play, environment_key = jax.random.split(lane.environment_key)
    drawn = setup.team.each(lambda squad, agents: squad.draw_keys(agents, 2), lane.agents)
    agents, keys_act, keys_learn = (
        tuple(part) for part in zip(*((agents, *keys) for agents, keys in drawn), strict=True)
    )
    inputs = TurnInputs(
        acting_models=setup.team.each(lambda squad, agents: squad.acting_models(agents), agents),
        statistics=setup.team.each(lambda squad, agents: squad.statistics(agents), agents),
        epsilons=setup.team.each(lambda squad: squad.epsilon(setup.plan, lane.steps)),
        keys_act=keys_act,
        keys_learn=keys_learn,
        key_play=key_play,
    )
    return eqx.tree_at(lambda old: (old.agents, old.environment_key), lane, (agents, environment_key)), inputs


def finish_turn(setup: TrainingSetup, lane: Lane, inputs: TurnInputs, played: Trajectory, learning: bool) -> Lane:
    """The lane after a turn whose episodes [E, ...] have been played."""
    lane = Lane(
        agents=lane.agents,
        replays=lane.replays,
        environment_key=lane.environment_key,
        steps=lane.steps + jnp.sum(played.happened),
        episodes=lane.episodes + setup.plan.num_environments,
        tally=_count_episodes(lane.tally, played),
    )
    episodes = jax.vmap(hand_out, out_axes=1)(played)
    return remember_and_learn(setup, lane, episodes, inputs.epsilons, inputs.keys_learn, learning)


def remember_and_learn(
    setup: TrainingSetup,
    lane: Lane,
    episodes: Episode,
    epsilons: tuple[Array, ...],
    keys: Keys,
    learning: bool,
    no_shorter_than: Int[Array, " updates"] | None = None,
) -> Lane:
    """Every agent remembers its own record of the turn's episodes [N, E, ...] and, if `learning`, learns.

    `no_shorter_than` is set when a turn is replayed from a log: the padded length that each update had originally.
    """
    team, plan = setup.team, setup.plan
    clocks = tuple(TrainingClock(lane.steps, lane.episodes, epsilon, plan.num_environments) for epsilon in epsilons)
    by_squad = team.split_by_squad(episodes)
    kept = team.each(lambda squad, *of_squad: squad.remember(*of_squad), lane.agents, lane.replays, by_squad, clocks)
    agents, replays = tuple(agents for agents, _ in kept), tuple(replay for _, replay in kept)

    def update(carry: tuple, inputs: tuple[Keys, Int[Array, ""]]) -> tuple[tuple, None]:
        agents, tally = carry
        keys, longest = inputs
        batch = replace(setup.batch, no_shorter_than=longest)
        updated = team.each(
            lambda squad, agents, replays, keys, clock: squad.learn(agents, replays, batch, keys, clock),
            agents,
            replays,
            keys,
            clocks,
        )
        metrics = tuple(metrics for _, metrics in updated)
        return (tuple(agents for agents, _ in updated), _count_update(tally, metrics)), None

    tally = lane.tally
    if learning:
        longest = jnp.zeros(plan.updates_per_turn, jnp.int32) if no_shorter_than is None else no_shorter_than
        (agents, tally), _ = jax.lax.scan(update, (agents, tally), (keys_of_updates(plan, keys), longest))
    agents = team.each(lambda squad, agents: squad.after_episodes(agents, plan.num_environments), agents)
    return eqx.tree_at(lambda old: (old.agents, old.replays, old.tally), lane, (agents, replays, tally))


def keys_of_updates(plan: Plan, keys: Keys) -> Keys:
    """The keys of every update of a turn: by squad its agents' [updates, n]."""
    return tuple(jax.vmap(jax.random.split, (0, None), 1)(of_squad, plan.updates_per_turn) for of_squad in keys)


def evaluate_lane(
    setup: TrainingSetup, lane: Lane, seed: Int[Array, ""] | int, oracle: Oracle | None = None
) -> tuple[Scores, Diagnosis | None, Tally, Lane]:
    """The scores of a greedy test, its diagnosis if planned, the tally so far, and the lane with a fresh tally.

    The test's key comes from the seed and the step: testing more or less often does not change training.
    """
    acting_models = setup.team.each(lambda squad, agents: squad.acting_models(agents), lane.agents)
    scores, diagnosis = on_every_device(_play_test)(setup, acting_models, oracle, key_of_test(lane.steps, seed))
    return scores, diagnosis, lane.tally, with_fresh_tally(lane)


def key_of_test(steps: Int[Array, ""] | int, seed: Int[Array, ""] | int) -> Key[Array, ""]:
    """The key of the test that is due after so many steps."""
    return jax.random.fold_in(jax.random.fold_in(jax.random.key(seed), 2), steps)


def with_fresh_tally(lane: Lane) -> Lane:
    """The lane with nothing counted since the last test."""
    return eqx.tree_at(lambda old: old.tally, lane, jax.tree.map(jnp.zeros_like, lane.tally))


def _play_side_by_side(
    setup: TrainingSetup,
    acting_models: tuple[Models, ...],
    statistics: tuple[Statistics, ...],
    epsilons: tuple[Array, ...],
    keys_act: Keys,
    key: Key[Array, ""],
) -> Trajectory:
    environment, team = setup.compiled_environment, setup.team

    def play_one(keys_act: Keys, key: Key[Array, ""]) -> Trajectory:
        dice = team.each(lambda squad, keys: squad.roll(keys, environment.time_limit), keys_act)
        return play(environment, team_player(team, acting_models, statistics, epsilons, dice), key)

    return jax.vmap(play_one)(*keys_of_episodes(setup.plan, keys_act, key))


def keys_of_episodes(plan: Plan, keys_act: Keys, key: Key[Array, ""]) -> tuple[Keys, Key[Array, " episodes"]]:
    """The keys of every episode of a turn: by squad its agents' [E, n], and its environment's."""
    keys_each = tuple(
        jax.vmap(jax.random.split, (0, None), 1)(of_squad, plan.num_environments) for of_squad in keys_act
    )
    return keys_each, jax.random.split(key, plan.num_environments)


def _play_test(
    setup: TrainingSetup, acting_models: tuple[Models, ...], oracle: Oracle | None, key: Key[Array, ""]
) -> tuple[Scores, Diagnosis | None]:
    test = (setup.team, setup.compiled_environment, acting_models, setup.plan.test_episodes, key)
    if not setup.plan.diagnostics:
        return greedy_scores(*test), None
    return score_episodes(setup, acting_models, oracle, greedy_episodes(*test))


def score_episodes(
    setup: TrainingSetup, acting_models: tuple[Models, ...], oracle: Oracle | None, played: Trajectory
) -> tuple[Scores, Diagnosis | None]:
    """The scores of greedy episodes [E, ...], and their diagnosis if planned."""
    diagnosis = diagnose(setup.team, acting_models, oracle, played) if setup.plan.diagnostics else None
    return jax.vmap(partial(scores_of, setup.environment))(played), diagnosis


def _metrics_of_an_update(
    setup: TrainingSetup, agents: tuple[Agents, ...], replays: tuple[Replays, ...], keys: Keys
) -> MetricShapes:
    zero = jnp.zeros((), jnp.int32)
    batch = replace(setup.batch, lengths=setup.batch.lengths[-1:])  # any will do, and each is traced by itself

    def of(squad: Squad, agents: Agents, replays: Replays, keys: Array) -> dict[str, jax.ShapeDtypeStruct]:
        clock = TrainingClock(zero, zero, jnp.zeros(()))
        return jax.eval_shape(lambda: squad.learn(agents, replays, batch, keys, clock)[1])

    return metric_shapes(setup.team.each(of, agents, replays, keys))


def metric_shapes(metrics: tuple[dict[str, jax.ShapeDtypeStruct], ...]) -> MetricShapes:
    """What metrics look like, in a form that can be stored and be a constant of a program."""
    return tuple(tuple((name, leaf.shape, str(leaf.dtype)) for name, leaf in of.items()) for of in metrics)


def _no_metrics(shapes: MetricShapes) -> tuple[Metrics, ...]:
    return tuple({name: jnp.zeros(shape, kind) for name, shape, kind in of} for of in shapes)


def _count_episodes(tally: Tally, played: Trajectory) -> Tally:
    returns = tally.returns + jnp.sum(played.rewards)
    own = tally.own_returns
    if own is not None and played.own_rewards is not None:
        own = own + jnp.sum(played.own_rewards, axis=(0, 1))
    return Tally(tally.metrics, tally.updates, returns, tally.episodes + played.rewards.shape[0], own)


def _count_update(tally: Tally, metrics: tuple[Metrics, ...]) -> Tally:
    sums = jax.tree.map(jnp.add, tally.metrics, metrics)
    return replace(tally, metrics=sums, updates=tally.updates + 1)
