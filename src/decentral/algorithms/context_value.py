"""Values that depend on a context, and the optimism over contexts that DAC and RAC act on or learn from."""

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float

from decentral.networks.heads import ContextHead
from decentral.networks.trunk import Trunk


class ContextValue(eqx.Module):
    """Q(h, ., c): the trunk, which knows no context, and a head that does."""

    trunk: Trunk
    head: ContextHead


def optimistic_marginal_value(every: Float[Array, "*batch contexts actions"]) -> Float[Array, "*batch actions"]:
    """phi(h, .) = max_c Q(h, ., c)."""
    return jnp.max(every, axis=-2)
