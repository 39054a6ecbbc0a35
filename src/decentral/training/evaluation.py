"""How good a team is: the returns of episodes played greedily."""

from collections.abc import Callable

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Key

from decentral.algorithms.base import Algorithm, Models
from decentral.environments.base import Environment
from decentral.training.rollout import Player, play, random_player, team_player


def greedy_returns(
    algorithm: Algorithm, environment: Environment, models: Models, episodes: int, key: Key[Array, ""]
) -> Float[Array, " episodes"]:
    """The undiscounted return of each of `episodes` greedy episodes."""

    def player(key: Key[Array, ""]) -> Player:
        keys = jax.random.split(key, environment.num_agents)
        return team_player(algorithm, models, jnp.zeros(()), environment.time_limit, keys)

    return _returns(environment, player, episodes, key)


def random_returns(environment: Environment, episodes: int, key: Key[Array, ""]) -> Float[Array, " episodes"]:
    """The undiscounted return of each of `episodes` episodes of uniformly random play."""
    return _returns(environment, lambda key: random_player(environment, key), episodes, key)


def _returns(
    environment: Environment, player: Callable[[Key[Array, ""]], Player], episodes: int, key: Key[Array, ""]
) -> Float[Array, " episodes"]:
    def return_of_one(key: Key[Array, ""]) -> Float[Array, ""]:
        key_player, key_world = jax.random.split(key)
        return jnp.sum(play(environment, player(key_player), key_world).rewards)

    return jax.vmap(return_of_one)(jax.random.split(key, episodes))
