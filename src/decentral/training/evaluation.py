"""How good a team is: episodes played greedily, and their returns."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int, Key

from decentral.algorithms.base import Models
from decentral.environments.base import Environment, State
from decentral.training.rollout import Player, Trajectory, greedy_player, play, random_player, retrace
from decentral.training.team import Team


def greedy_returns(
    team: Team, environment: Environment, bodies: tuple[Models, ...], episodes: int, key: Key[Array, ""]
) -> Float[Array, " episodes"]:
    """The undiscounted return of each of `episodes` greedy episodes; `bodies` are by squad."""
    return _greedily(team, environment, bodies, episodes, key, _return)


def greedy_episodes(
    team: Team, environment: Environment, bodies: tuple[Models, ...], episodes: int, key: Key[Array, ""]
) -> Trajectory:
    """The episodes that `greedy_returns` gives the returns of [episodes, ...]."""
    return _greedily(team, environment, bodies, episodes, key, lambda lived: lived)


def worlds_of(
    environment: Environment, lived: Trajectory, number: Int[Array, ""] | int, episodes: int, key: Key[Array, ""]
) -> State:
    """The world at every percept of one episode, `lived`, of those that `greedy_episodes` plays [P]."""
    return retrace(environment, lived.actions, _keys(episodes, key)[number, 1])


def random_returns(environment: Environment, episodes: int, key: Key[Array, ""]) -> Float[Array, " episodes"]:
    """The undiscounted return of each of `episodes` episodes of uniformly random play."""
    return _play_all(environment, lambda key: random_player(environment, key), episodes, key, _return)


def _return(lived: Trajectory) -> Float[Array, ""]:
    return jnp.sum(lived.rewards)


def _greedily(
    team: Team,
    environment: Environment,
    bodies: tuple[Models, ...],
    episodes: int,
    key: Key[Array, ""],
    tell: Callable[[Trajectory], Any],
) -> Any:
    def player(key: Key[Array, ""]) -> Player:
        return greedy_player(team, bodies, environment.time_limit, key)

    return _play_all(environment, player, episodes, key, tell)


def _play_all(
    environment: Environment,
    player: Callable[[Key[Array, ""]], Player],
    episodes: int,
    key: Key[Array, ""],
    tell: Callable[[Trajectory], Any],
) -> Any:
    """What is told of each of `episodes` episodes, played side by side."""

    def play_one(keys: Key[Array, "2"]) -> Any:
        key_player, key_world = keys
        return tell(play(environment, player(key_player), key_world))

    return jax.vmap(play_one)(_keys(episodes, key))


def _keys(episodes: int, key: Key[Array, ""]) -> Key[Array, "episodes 2"]:
    """Of every episode: its player's and its world's."""
    return jax.vmap(jax.random.split)(jax.random.split(key, episodes))
