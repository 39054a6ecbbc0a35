"""What the agents of a batch of lanes act with now: to be shown, and to be saved in the end."""

from collections.abc import Iterator, Sequence
from operator import itemgetter

import jax
import numpy as np

from decentral.algorithms.base import Models
from decentral.configs.config import Config
from decentral.records import RunDirectory
from decentral.runs.lanes import LaneBatch
from decentral.runs.trained import Trained
from decentral.training.parameters import as_arrays
from decentral.training.team import Team


def first_teams(configs: Sequence[Config], lane_batch: LaneBatch) -> list[Trained]:
    """The team of each run's first seed."""
    lanes, acting_models = [share[0] for share in lane_batch.shares], _acting_models(lane_batch)
    team, seeds = lane_batch.setup.team, lane_batch.seeds
    of_lanes = [dict(_networks(team, jax.tree.map(itemgetter(lane), acting_models))) for lane in lanes]
    return [
        Trained(
            config,
            [int(seeds[lane])],
            [jax.tree.map(lambda leaf: leaf[None], networks[place]) for place in sorted(networks)],
        )
        for config, lane, networks in zip(configs, lanes, of_lanes, strict=True)
    ]


def save_agents(directories: Sequence[RunDirectory], lane_batch: LaneBatch) -> None:
    """Write what every agent acts with into the directory of its run."""
    team, acting_models = lane_batch.setup.team, _acting_models(lane_batch)
    for directory, share in zip(directories, lane_batch.shares, strict=True):
        for lane in share:
            for place, networks in _networks(team, jax.tree.map(itemgetter(lane), acting_models)):
                directory.write_agent(int(lane_batch.seeds[lane]), place, as_arrays(networks))


def _acting_models(lane_batch: LaneBatch) -> tuple[Models, ...]:
    """What all agents act with, by squad [S, ...]."""
    team = lane_batch.setup.team
    return jax.device_get(team.each(lambda squad, agents: squad.acting_models(agents), lane_batch.lanes.agents))


def _networks(team: Team, acting_models: tuple[Models, ...]) -> Iterator[tuple[int, Models]]:
    """What every agent of a team acts with, by its place."""
    for squad, models in zip(team.squads, acting_models, strict=True):
        for number, place in enumerate(squad.places):
            yield place, jax.tree.map(np.array, squad.acting_model_of(models, number))
