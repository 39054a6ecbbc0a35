"""A team: one squad where all agents are alike, several where they differ."""

from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from decentral.algorithms.base import Algorithm
from decentral.centralised import JointLearner
from decentral.centralised.sharing import Sharing
from decentral.training.squads.base import Squad
from decentral.training.squads.joined import Joined
from decentral.training.squads.separate import Separate
from decentral.training.squads.shared import Shared


class Team(eqx.Module):
    """Squads that together fill every place of an environment exactly once."""

    squads: tuple[Squad, ...]

    @staticmethod
    def alike(algorithm: Algorithm, size: int, sharing: Sharing | None = None) -> "Team":
        """A team of one algorithm."""
        places = tuple(range(size))
        if isinstance(algorithm, JointLearner):
            return Team((Joined(algorithm, places, size, sharing),))
        if sharing is not None:
            return Team((Shared(algorithm, places, size, sharing),))
        return Team((Separate(algorithm, places, size),))

    def squad_at(self, place: int) -> Squad:
        """The squad of the agent at a place."""
        return next(squad for squad in self.squads if place in squad.places)

    def each(self, ask: Callable[..., Any], *groups: tuple[Any, ...]) -> tuple[Any, ...]:
        """The result of `ask` for every squad and its part of each group."""
        return tuple(ask(squad, *parts) for squad, *parts in zip(self.squads, *groups, strict=True))

    def split_by_squad(self, of_all: Any) -> tuple[Any, ...]:
        """Arrays over all places [N, ...], as each squad's part of them [n, ...]."""
        if len(self.squads) == 1:
            return (of_all,)
        return tuple(
            jax.tree.map(lambda leaf, places=np.asarray(squad.places): leaf[places], of_all) for squad in self.squads
        )

    def in_order(self, parts: tuple[Array, ...]) -> Array:
        """Each squad's part [n, ...], put back into the order of places [N, ...]."""
        if len(self.squads) == 1:
            return parts[0]
        places = np.concatenate([squad.places for squad in self.squads])
        return jnp.concatenate(parts)[np.argsort(places)]
