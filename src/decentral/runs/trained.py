"""A trained team, loaded from its run for evaluation."""

import json
from contextlib import closing
from dataclasses import dataclass, replace
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Key

from decentral.algorithms.base import Algorithm, Models
from decentral.configs.config import Config
from decentral.environments.host.checks import build_environment
from decentral.environments.host.interface import HostEnvironment
from decentral.records import RunDirectory
from decentral.runs.caches import keep_compiled_programs
from decentral.runs.host import rollout_for
from decentral.settings import Refused, as_data
from decentral.training.evaluation import Scores, greedy_scores
from decentral.training.host.loop import host_scores
from decentral.training.parameters import from_arrays
from decentral.types import Percept

EPISODES = 32  # of an evaluation, unless told otherwise
MOST_EPISODES = 100_000  # at once


@dataclass(frozen=True)
class Trained:
    """The configuration of a finished run and what all its agents act with, by place [N][S, ...]."""

    config: Config
    seeds: list[int]
    acting_models: list[Models]

    @staticmethod
    def load(directory: RunDirectory) -> "Trained":
        """Read a run's configuration and final networks."""
        config = Config.from_data(directory.read_json("config.json"))
        plan, team, spec = config.setup.plan, config.setup.team, config.setup.environment.spec
        seeds = [plan.seed + number for number in range(plan.seeds)]
        acting_models = []
        for place, member in enumerate(config.members):
            sizes = team.squad_at(place).spec(spec)
            networks = [
                from_arrays(
                    member.algorithm, sizes, directory.read_agent(seed, place), str(directory.agent_file(seed, place))
                )
                for seed in seeds
            ]
            acting_models.append(jax.tree.map(lambda *leaves: np.stack(leaves), *networks))
        return Trained(config, seeds, acting_models)

    def elsewhere(self, settings: dict[str, Any]) -> "Trained":
        """The same team in its environment with other settings; refused if agents perceive or act otherwise there."""
        name, own = self.config.environment_name, self.config.setup.environment
        other = build_environment(type(own), as_data(own) | settings, name)
        if (other.spec, other.agent_names) != (own.spec, own.agent_names):
            keys = " and ".join(f"environment.{key}" for key in settings)
            values = " and ".join(json.dumps(as_data(other)[key]) for key in settings)
            raise Refused(f"{keys} must leave the agents and what they perceive and do as in training, got {values}")
        setup = eqx.tree_at(lambda setup: setup.environment, self.config.setup, other)
        return replace(self, config=replace(self.config, setup=setup))

    def agent(self, seed: int, place: int) -> tuple[Algorithm, Models]:
        """The algorithm and the networks of one agent."""
        lane = self.lane(seed)
        return self.config.members[place].algorithm, jax.tree.map(lambda leaf: leaf[lane], self.acting_models[place])

    def perceive(self, percepts: Percept, place: int) -> Percept:
        """Percepts of one agent [...] as its networks read them."""
        sharing, agents = self.config.sharing, len(self.config.members)
        if sharing is None:
            return percepts
        read = sharing.read(jax.tree.map(lambda leaf: leaf[None], percepts), jnp.eye(agents)[place][None])
        return jax.tree.map(lambda leaf: leaf[0], read)

    def lane(self, seed: int) -> int:
        """The lane of a seed; a seed that the run does not have is refused."""
        if seed not in self.seeds:
            raise Refused(f"seed must be one of {', '.join(map(str, self.seeds))}, got {seed}")
        return self.seeds.index(seed)

    def evaluate(self, episodes: int = EPISODES, seed: int = 0) -> np.ndarray:
        """The returns [S, episodes] of greedy episodes, the same environments for every seed's team."""
        return np.asarray(self.score(episodes, seed).returns)

    def score(self, episodes: int, seed: int = 0) -> Scores:
        """The scores of these episodes [S, episodes]."""
        check_environments(episodes, seed)
        keep_compiled_programs()
        setup, key = self.config.setup, key_of_environments(seed)
        if isinstance(setup.environment, HostEnvironment):
            with closing(rollout_for(setup)) as rollout:
                return jax.device_get(host_scores(rollout, setup, self.by_squad, episodes, key))
        return jax.device_get(_PLAY(setup.team, setup.compiled_environment, self.by_squad, episodes, key))

    @property
    def by_squad(self) -> tuple[Models, ...]:
        """What the agents act with, by squad [S, n, ...]."""
        return tuple(
            squad.gather([self.acting_models[place] for place in squad.places], axis=1)
            for squad in self.config.setup.team.squads
        )


def key_of_environments(seed: int) -> Key[Array, ""]:
    """The key of the environments of an evaluation."""
    return jax.random.fold_in(jax.random.key(seed), 3)


def check_environments(episodes: int, seed: int) -> None:
    """Refuse a number of episodes or a seed of environments that makes no sense."""
    if not 1 <= episodes <= MOST_EPISODES:
        raise Refused(f"episodes must be a whole number at least 1 and at most {MOST_EPISODES}, got {episodes}")
    if not 0 <= seed < 2**31:
        raise Refused(f"seed must be a whole number at least 0 and below 2147483648, got {seed}")


_PLAY = jax.jit(jax.vmap(greedy_scores, (None, None, 0, None, None)), static_argnums=3)
