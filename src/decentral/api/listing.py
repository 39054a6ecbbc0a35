"""All names that the other verbs take. The verb is not called `list`, as Python has a built-in of that name."""

from collections.abc import Mapping
from dataclasses import dataclass

from decentral.algorithms import ALGORITHMS
from decentral.centralised import CENTRALISED
from decentral.configs.registry import FORMS as ALGORITHM_FORMS
from decentral.environments.registry import ENVIRONMENTS
from decentral.environments.registry import FORMS as ENVIRONMENT_FORMS

SHARING = {
    "--training.sharing true": "one network for all agents, as in PyMARL: with every gradient method, vdn and qmix"
}


@dataclass(frozen=True)
class Listing:
    """Names, or what names look like, each with a line that says what it is."""

    algorithms: dict[str, str]  # fully decentralised
    references: dict[str, str]  # not decentralised: they train on all agents' data
    sharing: dict[str, str]  # parameters that agents share: not decentralised
    own_algorithms: dict[str, str]
    environments: dict[str, str]
    environments_from_elsewhere: dict[str, str]


def listing() -> Listing:
    """The algorithms and environments."""
    return Listing(
        _first_lines(ALGORITHMS),
        _first_lines(CENTRALISED),
        SHARING,
        ALGORITHM_FORMS,
        _first_lines(ENVIRONMENTS),
        ENVIRONMENT_FORMS,
    )


def _first_lines(classes: Mapping[str, type]) -> dict[str, str]:
    return {name: (kind.__doc__ or "").strip().splitlines()[0] for name, kind in classes.items()}
