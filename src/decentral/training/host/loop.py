"""Turns and tests of all lanes in a host environment: episodes are played in Python; learning is compiled as usual."""

from dataclasses import replace
from functools import partial

import equinox as eqx
import jax
import numpy as np
from jaxtyping import Array, Int, Key

from decentral.environments.base import Oracle
from decentral.training.diagnostics import Diagnosis
from decentral.training.evaluation import Scores, keys_of_test_episodes, scores_of
from decentral.training.host.rollout import Cast, HostRollout
from decentral.training.loop import (
    Lane,
    Tally,
    TurnInputs,
    finish_turn,
    key_of_test,
    keys_of_episodes,
    prepare_turn,
    score_episodes,
    with_fresh_tally,
)
from decentral.training.rollout import Trajectory, greedily, unbiased_dice
from decentral.training.setup import TrainingSetup
from decentral.training.squads.base import Replays

SetupAxis = int | None  # the vmap axis of the setup: 0 where its arrays hold one entry per lane, None otherwise


def host_turns(
    rollout: HostRollout, setup_axis: SetupAxis, setup: TrainingSetup, lanes: Lane, count: int, learning: bool
) -> Lane:
    """`count` turns of all lanes [S]."""
    for _ in range(count):
        rest, replays = eqx.tree_at(lambda lane: lane.replays, lanes, ()), lanes.replays
        rest, inputs, casts, keys = _prepare_turns(setup_axis, setup, rest)
        lanes = _finish_turns(setup_axis, setup, replays, rest, inputs, rollout.play(casts, keys), learning)
    return lanes


def host_evaluate(
    rollout: HostRollout,
    setup_axis: SetupAxis,
    setup: TrainingSetup,
    lanes: Lane,
    seeds: np.ndarray,
    oracle: Oracle | None,
) -> tuple[Scores, Diagnosis | None, Tally, Lane]:
    """The scores of a greedy test [S, episodes] and the other results of `evaluate_lane`, for all lanes."""
    casts, keys = _cast_test(setup_axis, setup, eqx.tree_at(lambda lane: lane.replays, lanes, ()), seeds)
    scores, diagnosis = _score_all(setup_axis, setup, casts.acting_models, oracle, rollout.play(casts, keys))
    return scores, diagnosis, lanes.tally, with_fresh_tally(lanes)


def host_scores(
    rollout: HostRollout, setup: TrainingSetup, acting_models: tuple, episodes: int, key: Key[Array, ""]
) -> Scores:
    """The scores of greedy episodes of several teams [S, ...] in the same environments [S, episodes]."""
    played = host_greedy_episodes(rollout, setup, acting_models, episodes, key)
    return jax.vmap(jax.vmap(partial(scores_of, setup.environment)))(played)


def host_greedy_episodes(
    rollout: HostRollout, setup: TrainingSetup, acting_models: tuple, episodes: int, key: Key[Array, ""]
) -> Trajectory:
    """Greedy episodes of several teams [S, ...] in the same environments [S, episodes]."""
    casts, keys = jax.vmap(cast_greedily, (None, 0, None, None))(setup, acting_models, episodes, key)
    return rollout.play(casts, keys)


def host_greedy_episode(
    rollout: HostRollout, setup: TrainingSetup, acting_models: tuple, episodes: int, key: Key[Array, ""], number: int
) -> Trajectory:
    """One of those episodes, of one team, by itself."""
    alone = jax.tree.map(lambda leaf: leaf[None], acting_models)
    casts, keys = jax.vmap(cast_greedily, (None, 0, None, None))(setup, alone, episodes, key)
    dice = jax.tree.map(lambda leaf: leaf[:, number : number + 1], casts.dice)
    played = rollout.play(eqx.tree_at(lambda cast: cast.dice, casts, dice), keys[:, number : number + 1])
    return jax.tree.map(lambda leaf: leaf[0, 0], played)


@partial(jax.jit, static_argnums=0)
def _prepare_turns(
    setup_axis: SetupAxis, setup: TrainingSetup, lanes: Lane
) -> tuple[Lane, TurnInputs, Cast, Key[Array, "S E"]]:
    def one(setup: TrainingSetup, lane: Lane) -> tuple[Lane, TurnInputs, Cast, Key[Array, " E"]]:
        lane, inputs = prepare_turn(setup, lane)
        team, length = setup.team, setup.environment.time_limit
        keys_each, keys = keys_of_episodes(setup.plan, inputs.keys_act, inputs.key_play)
        dice = jax.vmap(lambda keys: team.each(lambda squad, agent_keys: squad.roll(agent_keys, length), keys))(
            keys_each
        )
        return lane, inputs, Cast(team, inputs.acting_models, inputs.statistics, inputs.epsilons, dice), keys

    return jax.vmap(one, (setup_axis, 0))(setup, lanes)


@partial(jax.jit, static_argnums=(0, 6), donate_argnums=2)
def _finish_turns(
    setup_axis: SetupAxis,
    setup: TrainingSetup,
    replays: tuple[Replays, ...],
    lanes: Lane,
    inputs: TurnInputs,
    played: Trajectory,
    learning: bool,
) -> Lane:
    def one(setup: TrainingSetup, replays: tuple, lane: Lane, inputs: TurnInputs, played: Trajectory) -> Lane:
        return finish_turn(setup, replace(lane, replays=replays), inputs, played, learning)

    return jax.vmap(one, (setup_axis, 0, 0, 0, 0))(setup, replays, lanes, inputs, played)


@partial(jax.jit, static_argnums=0)
def _cast_test(
    setup_axis: SetupAxis, setup: TrainingSetup, lanes: Lane, seeds: Int[Array, " S"]
) -> tuple[Cast, Key[Array, "S E"]]:
    def one(setup: TrainingSetup, lane: Lane, seed: Int[Array, ""]) -> tuple[Cast, Key[Array, " E"]]:
        acting_models = setup.team.each(lambda squad, agents: squad.acting_models(agents), lane.agents)
        return cast_greedily(setup, acting_models, setup.plan.test_episodes, key_of_test(lane.steps, seed))

    return jax.vmap(one, (setup_axis, 0, 0))(setup, lanes, seeds)


def cast_greedily(
    setup: TrainingSetup, acting_models: tuple, episodes: int, key: Key[Array, ""]
) -> tuple[Cast, Key[Array, " episodes"]]:
    """A team that plays `episodes` greedy episodes, and the environments' keys: drawn as `greedy_scores` draws them."""
    keys = keys_of_test_episodes(episodes, key)
    dice = jax.vmap(partial(unbiased_dice, setup.team, setup.environment.time_limit))(keys[:, 0])
    return Cast(setup.team, acting_models, *greedily(setup.team), dice), keys[:, 1]


@partial(jax.jit, static_argnums=0)
def _score_all(
    setup_axis: SetupAxis, setup: TrainingSetup, acting_models: tuple, oracle: Oracle | None, played: Trajectory
) -> tuple[Scores, Diagnosis | None]:
    return jax.vmap(score_episodes, (setup_axis, 0, setup_axis, 0))(setup, acting_models, oracle, played)
