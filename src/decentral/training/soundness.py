"""Whether a lane's numbers still are numbers."""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool

from decentral.training.loop import Lane

Findings = dict[str, Bool[Array, "..."]]


def unsound(lane: Lane) -> tuple[Bool[Array, ""], Findings]:
    """Whether anything is not a number or infinitely large; and of each array, by its name, whether it is there.

    An array of a squad is told of agent by agent [n]. Minus infinity is sound: tables of optimists begin with it.
    """
    found: Findings = {"rewards": _is_bad(lane.tally.returns)}
    for squad, agents in enumerate(lane.agents):
        apart = agents.target_age.ndim > 0  # a joined squad is one learner
        for path, leaf in jax.tree_util.tree_flatten_with_path(agents)[0]:
            if jnp.issubdtype(leaf.dtype, jnp.floating):
                name = jax.tree_util.keystr(path, simple=True, separator=".")
                bad = _is_bad(leaf)
                found[f"{squad}.{name}"] = jnp.any(bad, axis=tuple(range(1 if apart else 0, leaf.ndim)))
    return jnp.any(jnp.stack([jnp.any(bad) for bad in found.values()])), found


def _is_bad(numbers: Array) -> Bool[Array, "..."]:
    return jnp.isnan(numbers) | jnp.isposinf(numbers)
