"""Cross-play: agents of different runs and seeds, which never trained together, play together."""

import json
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Key

from decentral.algorithms.base import Models
from decentral.environments.base import Environment
from decentral.runs.caches import keep_compiled_programs
from decentral.runs.trained import Trained, check_environments
from decentral.settings import Refused
from decentral.training.evaluation import greedy_returns
from decentral.training.squads.frozen import Frozen
from decentral.training.team import Team


@dataclass(frozen=True)
class CrossPlayResult:
    """Mean returns of all pairs of teams: the row's team sends its first agent, the column's team all the others."""

    teams: list[tuple[int, int]]  # (run, seed), in order of the rows
    returns: np.ndarray  # [teams, teams]

    def between(self, first: int, second: int) -> np.ndarray:
        """The returns of one run's first agents beside another's [seeds, seeds]."""
        rows = [number for number, (run, _) in enumerate(self.teams) if run == first]
        columns = [number for number, (run, _) in enumerate(self.teams) if run == second]
        return self.returns[np.ix_(rows, columns)]


def play_across(trained: list[Trained], episodes: int, seed: int = 0) -> CrossPlayResult:
    """The mean return of greedy episodes of every pair of teams, all in the same environments."""
    check_environments(episodes, seed)
    _check_same_environment(trained)
    keep_compiled_programs()
    key = jax.random.fold_in(jax.random.key(seed), 4)
    blocks = [[_returns(first, others, episodes, key) for others in trained] for first in trained]
    teams = [(number, team_seed) for number, run in enumerate(trained) for team_seed in run.seeds]
    return CrossPlayResult(teams, np.block(blocks))


def _returns(first: Trained, others: Trained, episodes: int, key: Key[Array, ""]) -> np.ndarray:
    configs = [first.config, *[others.config] * (len(others.config.members) - 1)]  # the run of each place
    size = len(configs)
    team = Team(
        tuple(
            Frozen(config.members[place].algorithm, (place,), size, None, config.sharing)
            for place, config in enumerate(configs)
        )
    )
    environment = first.config.setup.compiled_environment
    return np.asarray(_PLAY(team, environment, first.acting_models[0], others.acting_models[1:], episodes, key))


def _mean_return(
    team: Team, environment: Environment, first: Models, others: list[Models], episodes: int, key: Key[Array, ""]
) -> Float[Array, ""]:
    acting_models = tuple(jax.tree.map(lambda leaf: leaf[None], acting_model) for acting_model in (first, *others))
    return jnp.mean(greedy_returns(team, environment, acting_models, episodes, key))


_BESIDE_ALL = jax.vmap(_mean_return, (None, None, None, 0, None, None))
_PLAY = jax.jit(jax.vmap(_BESIDE_ALL, (None, None, 0, None, None, None)), static_argnums=4)


def _check_same_environment(trained: list[Trained]) -> None:
    """Refuse runs whose agents were not trained in one and the same environment."""
    if not trained:
        raise Refused("crossplay needs at least one RUN, got none")
    environments: list[dict[str, Any]] = [run.config.as_data()["environment"] for run in trained]
    if not isinstance(trained[0].config.setup.environment, Environment):
        raise Refused(f"crossplay needs an environment that is compiled, got {environments[0]['name']}")
    if trained[0].config.setup.environment.num_agents < 2:
        raise Refused(f"crossplay needs an environment of at least two agents, got {environments[0]['name']}")
    for environment in environments[1:]:
        for key in environments[0] | environment:
            if environment.get(key) != environments[0].get(key):
                values = f"{json.dumps(environments[0].get(key))} and {json.dumps(environment.get(key))}"
                raise Refused(f"environment.{key} must be the same in all runs, got {values}")
