"""Evaluation of a team: greedy episodes, their returns, and what the environment reports about them."""

from collections.abc import Callable
from functools import partial
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int, Key

from decentral.algorithms.base import Models
from decentral.environments.base import BaseEnvironment, Environment, Script, State
from decentral.training.rollout import Player, Trajectory, greedy_player, play, play_script, random_player, retrace
from decentral.training.team import Team


class Scores(eqx.Module):
    """The undiscounted return and the length of each episode, and what the environment reports about it, by name."""

    returns: Float[Array, "*episodes"]
    lengths: Int[Array, "*episodes"]
    reports: dict[str, Float[Array, "*episodes"]]


def scores_of(environment: BaseEnvironment, played: Trajectory) -> Scores:
    """The scores of one episode; the reports are facts of its last step."""
    length = jnp.sum(played.happened)
    reports = {name: played.facts[fact][length - 1].astype(jnp.float32) for name, fact in environment.reports.items()}
    if played.own_rewards is not None:
        reports |= dict(zip(environment.own_return_names, jnp.sum(played.own_rewards, axis=0), strict=True))
    return Scores(jnp.sum(played.rewards), length, reports)


def greedy_scores(
    team: Team, environment: Environment, acting_models: tuple[Models, ...], episodes: int, key: Key[Array, ""]
) -> Scores:
    """The scores of `episodes` greedy episodes; `acting_models` are by squad."""
    return _greedily(team, environment, acting_models, episodes, key, partial(scores_of, environment))


def greedy_returns(
    team: Team, environment: Environment, acting_models: tuple[Models, ...], episodes: int, key: Key[Array, ""]
) -> Float[Array, " episodes"]:
    """The returns alone."""
    return greedy_scores(team, environment, acting_models, episodes, key).returns


def greedy_episodes(
    team: Team, environment: Environment, acting_models: tuple[Models, ...], episodes: int, key: Key[Array, ""]
) -> Trajectory:
    """The episodes that `greedy_scores` scores [episodes, ...]."""
    return _greedily(team, environment, acting_models, episodes, key, lambda played: played)


def environments_of(
    environment: Environment, played: Trajectory, number: Int[Array, ""] | int, episodes: int, key: Key[Array, ""]
) -> State:
    """The environment at every percept of one episode, `played`, of those that `greedy_episodes` plays [P]."""
    return retrace(environment, played.actions, keys_of_test_episodes(episodes, key)[number, 1])


def random_returns(environment: Environment, episodes: int, key: Key[Array, ""]) -> Float[Array, " episodes"]:
    """The undiscounted return of each of `episodes` episodes of uniformly random play."""
    return random_scores(environment, episodes, key).returns


def random_scores(environment: Environment, episodes: int, key: Key[Array, ""]) -> Scores:
    """The scores of `episodes` episodes of uniformly random play."""

    def player(key: Key[Array, ""]) -> Player:
        return random_player(environment, key)

    return _play_all(environment, player, episodes, key, partial(scores_of, environment))


def scripted_scores(environment: Environment, script: Script, episodes: int, key: Key[Array, ""]) -> Scores:
    """The scores of `episodes` episodes of a policy written by hand."""

    def score(key: Key[Array, ""]) -> Scores:
        return scores_of(environment, play_script(environment, script, key))

    return jax.vmap(score)(jax.random.split(key, episodes))


def _greedily(
    team: Team,
    environment: Environment,
    acting_models: tuple[Models, ...],
    episodes: int,
    key: Key[Array, ""],
    summarise: Callable[[Trajectory], Any],
) -> Any:
    def player(key: Key[Array, ""]) -> Player:
        return greedy_player(team, acting_models, environment.time_limit, key)

    return _play_all(environment, player, episodes, key, summarise)


def _play_all(
    environment: Environment,
    player: Callable[[Key[Array, ""]], Player],
    episodes: int,
    key: Key[Array, ""],
    summarise: Callable[[Trajectory], Any],
) -> Any:
    """A summary of each of `episodes` episodes, played side by side."""

    def play_one(keys: Key[Array, "2"]) -> Any:
        key_player, key_environment = keys
        return summarise(play(environment, player(key_player), key_environment))

    return jax.vmap(play_one)(keys_of_test_episodes(episodes, key))


def keys_of_test_episodes(episodes: int, key: Key[Array, ""]) -> Key[Array, "episodes 2"]:
    """The keys of every episode: its player's and its environment's."""
    return jax.vmap(jax.random.split)(jax.random.split(key, episodes))
