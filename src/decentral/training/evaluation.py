"""How good a team is: the returns of episodes played greedily."""

from collections.abc import Callable

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Key

from decentral.algorithms.base import Models
from decentral.environments.base import Environment
from decentral.training.rollout import Player, greedy_player, play, random_player
from decentral.training.team import Team


def greedy_returns(
    team: Team, environment: Environment, bodies: tuple[Models, ...], episodes: int, key: Key[Array, ""]
) -> Float[Array, " episodes"]:
    """The undiscounted return of each of `episodes` greedy episodes; `bodies` are by squad."""
    return _returns(environment, lambda key: greedy_player(team, bodies, environment.time_limit, key), episodes, key)


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
