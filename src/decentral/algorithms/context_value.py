"""Values that depend on a context, and the optimism over contexts that DAC and RAC act on or learn from."""

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

from decentral.networks.heads import ContextHead
from decentral.networks.trunk import Trunk


class ContextValue(eqx.Module):
    """Q(h, ., c): the trunk, which knows no context, and a head that does."""

    trunk: Trunk
    head: ContextHead


def optimistic_marginal_value(
    every: Float[Array, "*batch contexts actions"], among: Bool[Array, "*batch contexts actions"] | None = None
) -> Float[Array, "*batch actions"]:
    """phi(h, .) = max_c Q(h, ., c); if `among` is given, over the contexts that it names for each action."""
    return jnp.max(every if among is None else jnp.where(among, every, -jnp.inf), axis=-2)
