"""Can whole episodes of a world be compiled? Then nothing may change its shape or type from step to step."""

from collections.abc import Iterator
from typing import Any

import jax
import jax.numpy as jnp

from decentral.environments.base import Environment
from decentral.experiments.examination.findings import Finding, judged
from decentral.types import Continuous


def compiled(world: Environment) -> Finding:
    """The state keeps its shapes and types, and an outcome has those of one reward and one end."""
    key = jax.random.key(0)
    state = jax.eval_shape(world.reset, key)
    kind = jnp.float32 if isinstance(world.spec.actions, Continuous) else jnp.int32
    actions = jax.ShapeDtypeStruct((world.num_agents,), kind)
    after, outcome = jax.eval_shape(world.step, state, actions, key)

    def faults() -> Iterator[str]:
        if str(jax.tree.structure(state)) != str(jax.tree.structure(after)):
            yield "the state after a step must be built as the one after a reset is"
        for (path, one), other in zip(jax.tree.leaves_with_path(state), jax.tree.leaves(after), strict=False):
            if _kind(one) != _kind(other):
                name = jax.tree_util.keystr(path) or " itself"
                yield f"the state{name} must stay {_kind(one)} from step to step, got {_kind(other)}"
        for name, wanted in (("reward", "float32[]"), ("terminated", "bool[]")):
            if _kind(getattr(outcome, name)) != wanted:
                yield f"{name} must be {wanted}, got {_kind(getattr(outcome, name))}"

    return judged("compiled", faults(), "the state keeps its shapes and types from step to step")


def _kind(leaf: Any) -> str:
    return f"{leaf.dtype}[{','.join(map(str, leaf.shape))}]"
