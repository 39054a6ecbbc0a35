"""Which configurations can be trained side by side in one program: those that differ in numbers only."""

import json
from collections.abc import Hashable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from decentral.configs.config import Config
from decentral.configs.registry import EVERY_ALGORITHM
from decentral.environments.host.interface import HostEnvironment
from decentral.settings import Refused, as_data, setting_fields
from decentral.training.setup import TrainingSetup

# numbers that switch something on, and so shape the program
SWITCHES = {
    field.name
    for kind in EVERY_ALGORITHM.values()
    for field in setting_fields(kind)
    if field.type is float and field.metadata.get("static")
}


def group_by_shape(configs: Sequence[Config]) -> list[list[int]]:
    """The indices of configurations, grouped by shape; groups and indices in their original order."""
    groups: dict[Hashable, list[int]] = {}
    for place, config in enumerate(configs):
        groups.setdefault(_shape(config.setup), []).append(place)
    return list(groups.values())


def check_one_shape(configs: Sequence[Config]) -> None:
    """Refuse configurations that no single program can train, naming the first setting whose shape differs."""
    groups = group_by_shape(configs)
    if len(groups) > 1:
        first, other = (configs[group[0]].as_data() for group in groups[:2])
        raise Refused(f"configurations side by side must differ in numbers alone, got {_difference(first, other)}")


def side_by_side(setups: Sequence[TrainingSetup], seeds: int) -> TrainingSetup:
    """One setup that stands for several of one shape: its numbers have a lane axis, with `seeds` lanes for each setup.

    A single one stays as it is.
    """
    if len(setups) == 1:
        return setups[0]

    def of_lanes(*values: Any) -> np.ndarray:
        return np.repeat(np.stack([np.asarray(value, jnp.result_type(value)) for value in values]), seeds, axis=0)

    return jax.tree.map(of_lanes, *setups)


def _shape(setup: TrainingSetup) -> Hashable:
    """All that determines the program of a setup: everything but the values of its numbers and tables.

    For a host environment the values of its settings count too.
    """
    leaves, structure = jax.tree.flatten(setup)
    environment = setup.environment
    host_settings = (
        json.dumps(as_data(environment)) if isinstance(environment, HostEnvironment) else ""
    )  # all lanes share its stages
    return structure, tuple(np.shape(leaf) for leaf in leaves), host_settings


def _difference(first: dict[str, Any], other: dict[str, Any]) -> str:
    """The first entry in which the shapes of two configurations differ, in words."""
    for group in ("algorithm", "environment", "training"):
        for key in first[group] | other[group]:
            values = [data[group].get(key) for data in (first, other)]
            if _kind(key, values[0]) != _kind(key, values[1]):
                return f"{group}.{key} {values[0]!r:.60} beside {values[1]!r:.60}"
    return "agents of other kinds"


def _kind(key: str, value: Any) -> Any:
    """What a setting contributes to the shape: its axes if it is a number or a table, else its value."""
    return np.shape(value) if isinstance(value, float | list) and key not in SWITCHES else value
