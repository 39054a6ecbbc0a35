"""Turns and tests of all lanes in a world that lives in Python: played there, then absorbed as compiled ones are."""

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
    Outset,
    Tally,
    Trainee,
    come_home,
    judge,
    key_of_test,
    keys_of_episodes,
    set_out,
    with_fresh_tally,
)
from decentral.training.rollout import Trajectory, fair_dice, greedily
from decentral.training.squads.base import Replays

Numbers = int | None  # the axis of the trainees' numbers: 0 where they stand for several, none otherwise


def host_turns(
    rollout: HostRollout, numbers: Numbers, trainee: Trainee, lanes: Lane, count: int, learning: bool
) -> Lane:
    """`count` turns of all lanes [S]."""
    for _ in range(count):
        rest, replays = eqx.tree_at(lambda lane: lane.replays, lanes, ()), lanes.replays
        rest, outsets, casts, keys = _set_out_all(numbers, trainee, rest)
        lanes = _come_home_all(numbers, trainee, replays, rest, outsets, rollout.play(casts, keys), learning)
    return lanes


def host_examine(
    rollout: HostRollout, numbers: Numbers, trainee: Trainee, lanes: Lane, seeds: np.ndarray, oracle: Oracle | None
) -> tuple[Scores, Diagnosis | None, Tally, Lane]:
    """What a greedy test came to [S, episodes] and what `examine` tells besides, of all lanes."""
    casts, keys = _cast_test(numbers, trainee, eqx.tree_at(lambda lane: lane.replays, lanes, ()), seeds)
    scores, diagnosis = _judge_all(numbers, trainee, casts.bodies, oracle, rollout.play(casts, keys))
    return scores, diagnosis, lanes.tally, with_fresh_tally(lanes)


def host_scores(rollout: HostRollout, trainee: Trainee, bodies: tuple, episodes: int, key: Key[Array, ""]) -> Scores:
    """What greedy episodes of several teams [S, ...] in the same worlds came to [S, episodes]."""
    lived = host_greedy_episodes(rollout, trainee, bodies, episodes, key)
    return jax.vmap(jax.vmap(partial(scores_of, trainee.environment)))(lived)


def host_greedy_episodes(
    rollout: HostRollout, trainee: Trainee, bodies: tuple, episodes: int, key: Key[Array, ""]
) -> Trajectory:
    """Greedy episodes of several teams [S, ...] in the same worlds [S, episodes]."""
    casts, keys = jax.vmap(cast_greedily, (None, 0, None, None))(trainee, bodies, episodes, key)
    return rollout.play(casts, keys)


@partial(jax.jit, static_argnums=0)
def _set_out_all(numbers: Numbers, trainee: Trainee, lanes: Lane) -> tuple[Lane, Outset, Cast, Key[Array, "S E"]]:
    def one(trainee: Trainee, lane: Lane) -> tuple[Lane, Outset, Cast, Key[Array, " E"]]:
        lane, outset = set_out(trainee, lane)
        team, length = trainee.team, trainee.environment.time_limit
        keys_each, keys = keys_of_episodes(trainee.plan, outset.keys_act, outset.key_play)
        dice = jax.vmap(lambda keys: team.each(lambda squad, own: squad.roll(own, length), keys))(keys_each)
        return lane, outset, Cast(team, outset.bodies, outset.notes, outset.epsilons, dice), keys

    return jax.vmap(one, (numbers, 0))(trainee, lanes)


@partial(jax.jit, static_argnums=(0, 6), donate_argnums=2)
def _come_home_all(
    numbers: Numbers,
    trainee: Trainee,
    replays: tuple[Replays, ...],
    lanes: Lane,
    outsets: Outset,
    lived: Trajectory,
    learning: bool,
) -> Lane:
    def one(trainee: Trainee, replays: tuple, lane: Lane, outset: Outset, lived: Trajectory) -> Lane:
        return come_home(trainee, replace(lane, replays=replays), outset, lived, learning)

    return jax.vmap(one, (numbers, 0, 0, 0, 0))(trainee, replays, lanes, outsets, lived)


@partial(jax.jit, static_argnums=0)
def _cast_test(
    numbers: Numbers, trainee: Trainee, lanes: Lane, seeds: Int[Array, " S"]
) -> tuple[Cast, Key[Array, "S E"]]:
    def one(trainee: Trainee, lane: Lane, seed: Int[Array, ""]) -> tuple[Cast, Key[Array, " E"]]:
        bodies = trainee.team.each(lambda squad, own: squad.bodies(own), lane.agents)
        return cast_greedily(trainee, bodies, trainee.plan.test_episodes, key_of_test(lane.steps, seed))

    return jax.vmap(one, (numbers, 0, 0))(trainee, lanes, seeds)


def cast_greedily(
    trainee: Trainee, bodies: tuple, episodes: int, key: Key[Array, ""]
) -> tuple[Cast, Key[Array, " episodes"]]:
    """A team that plays `episodes` greedy episodes, and the worlds' chance in them: as `greedy_scores` draws them."""
    keys = keys_of_test_episodes(episodes, key)
    dice = jax.vmap(partial(fair_dice, trainee.team, trainee.environment.time_limit))(keys[:, 0])
    return Cast(trainee.team, bodies, *greedily(trainee.team), dice), keys[:, 1]


@partial(jax.jit, static_argnums=0)
def _judge_all(
    numbers: Numbers, trainee: Trainee, bodies: tuple, oracle: Oracle | None, lived: Trajectory
) -> tuple[Scores, Diagnosis | None]:
    return jax.vmap(judge, (numbers, 0, numbers, 0))(trainee, bodies, oracle, lived)
