"""A trained team, loaded from its run: play it again."""

from dataclasses import dataclass

import jax
import numpy as np

from decentral.algorithms.base import Models
from decentral.experiments.config import Config
from decentral.experiments.parameters import from_arrays
from decentral.records import RunDirectory
from decentral.settings import Refused
from decentral.training.evaluation import greedy_returns

MOST_EPISODES = 100_000  # at once


@dataclass(frozen=True)
class Trained:
    """The configuration of a finished run and the networks of all its seeds and agents [S, N]."""

    config: Config
    seeds: list[int]
    models: Models

    @staticmethod
    def load(directory: RunDirectory) -> "Trained":
        """Read a run's configuration and final networks."""
        config = Config.from_data(directory.read_json("config.json"))
        plan, world = config.trainee.plan, config.trainee.environment
        seeds = [plan.seed + number for number in range(plan.seeds)]
        teams = []
        for seed in seeds:
            team = [
                from_arrays(config.trainee.algorithm, world.spec, directory.read_agent(seed, agent), f"seed {seed}")
                for agent in range(world.num_agents)
            ]
            teams.append(jax.tree.map(lambda *leaves: np.stack(leaves), *team))
        return Trained(config, seeds, jax.tree.map(lambda *leaves: np.stack(leaves), *teams))

    def evaluate(self, episodes: int, seed: int = 0) -> np.ndarray:
        """The returns [S, episodes] of greedy episodes, the same worlds for every seed's team."""
        if not 1 <= episodes <= MOST_EPISODES:
            raise Refused(f"episodes must be a whole number at least 1 and at most {MOST_EPISODES}, got {episodes}")
        if not 0 <= seed < 2**31:
            raise Refused(f"seed must be a whole number at least 0 and below 2147483648, got {seed}")
        trainee, key = self.config.trainee, jax.random.fold_in(jax.random.key(seed), 3)
        return np.asarray(_PLAY(trainee.algorithm, trainee.environment, self.models, episodes, key))


_PLAY = jax.jit(jax.vmap(greedy_returns, (None, None, 0, None, None)), static_argnums=3)
