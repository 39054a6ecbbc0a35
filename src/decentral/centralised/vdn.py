"""VDN (Sunehag et al. 2018): the team's value is the sum of the agents'."""

from typing import Any

import jax.numpy as jnp
from jaxtyping import Array, Float

from decentral.centralised.factorisation import Factorisation


class VDN(Factorisation):
    """Value decomposition: one learner fits the sum of all agents' values to the team's reward."""

    def mix(self, common: Any, values: Float[Array, " agents"], state: Float[Array, " features"]) -> Float[Array, ""]:
        return jnp.sum(values)
