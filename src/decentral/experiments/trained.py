"""A trained team, loaded from its run: play it again."""

from dataclasses import dataclass

import jax
import numpy as np

from decentral.algorithms.base import Algorithm, Models
from decentral.experiments.compilation import keep_compiled_programs
from decentral.experiments.config import Config
from decentral.experiments.parameters import from_arrays
from decentral.records import RunDirectory
from decentral.settings import Refused
from decentral.training.evaluation import Scores, greedy_scores

MOST_EPISODES = 100_000  # at once


@dataclass(frozen=True)
class Trained:
    """The configuration of a finished run and what all its agents act with, by place [N][S, ...]."""

    config: Config
    seeds: list[int]
    bodies: list[Models]

    @staticmethod
    def load(directory: RunDirectory) -> "Trained":
        """Read a run's configuration and final networks."""
        config = Config.from_data(directory.read_json("config.json"))
        plan, spec = config.trainee.plan, config.trainee.environment.spec
        seeds = [plan.seed + number for number in range(plan.seeds)]
        bodies = []
        for place, member in enumerate(config.members):
            own = [
                from_arrays(
                    member.algorithm, spec, directory.read_agent(seed, place), str(directory.agent_file(seed, place))
                )
                for seed in seeds
            ]
            bodies.append(jax.tree.map(lambda *leaves: np.stack(leaves), *own))
        return Trained(config, seeds, bodies)

    def agent(self, seed: int, place: int) -> tuple[Algorithm, Models]:
        """The algorithm and the networks of one agent."""
        lane = self.seeds.index(seed)
        return self.config.members[place].algorithm, jax.tree.map(lambda leaf: leaf[lane], self.bodies[place])

    def evaluate(self, episodes: int, seed: int = 0) -> np.ndarray:
        """The returns [S, episodes] of greedy episodes, the same worlds for every seed's team."""
        return np.asarray(self.score(episodes, seed).returns)

    def score(self, episodes: int, seed: int = 0) -> Scores:
        """What these episodes came to [S, episodes]."""
        check_worlds(episodes, seed)
        keep_compiled_programs()
        team, key = self.config.trainee.team, jax.random.fold_in(jax.random.key(seed), 3)
        by_squad = tuple(
            jax.tree.map(lambda *leaves: np.stack(leaves, axis=1), *(self.bodies[place] for place in squad.places))
            for squad in team.squads
        )
        return jax.device_get(_PLAY(team, self.config.trainee.environment, by_squad, episodes, key))


def check_worlds(episodes: int, seed: int) -> None:
    """Refuse a number of episodes or a seed of worlds that makes no sense."""
    if not 1 <= episodes <= MOST_EPISODES:
        raise Refused(f"episodes must be a whole number at least 1 and at most {MOST_EPISODES}, got {episodes}")
    if not 0 <= seed < 2**31:
        raise Refused(f"seed must be a whole number at least 0 and below 2147483648, got {seed}")


_PLAY = jax.jit(jax.vmap(greedy_scores, (None, None, 0, None, None)), static_argnums=3)
