"""An agent's networks as named arrays, and back: the form in which they are stored."""

from typing import Any

import jax
import numpy as np

from decentral.algorithms.base import Algorithm, Models
from decentral.settings import Refused
from decentral.types import AgentSpec

RENAMED = {"notes": "statistics", "remarks": "annotations", "world": "environment_key"}


def as_arrays(models: Models) -> dict[str, np.ndarray]:
    """Every array of an agent's networks, or of any tree, under its path, such as `value.trunk.entry.weight`."""
    paths, _ = jax.tree_util.tree_flatten_with_path(models)
    return {_name(path): np.asarray(leaf) for path, leaf in paths}


def from_arrays(algorithm: Algorithm, spec: AgentSpec, arrays: dict[str, np.ndarray], source: str) -> Models:
    """The networks that `as_arrays` named; arrays of other names, shapes or types are refused."""
    return fill(jax.eval_shape(lambda: algorithm.build(spec)), arrays, source)


def fill(template: Any, arrays: dict[str, np.ndarray], source: str) -> Any:
    """The template's tree, filled with the arrays that `as_arrays` named; others are refused."""
    paths, structure = jax.tree_util.tree_flatten_with_path(template)
    expected = {_name(path): leaf for path, leaf in paths}
    use_current_names(arrays)
    for name in sorted(expected.keys() ^ arrays.keys()):
        raise Refused(f"{source}: array {name} is {'missing' if name in expected else 'not part of the agent'}")
    for name, leaf in expected.items():
        array = arrays[name]
        if array.shape != leaf.shape or array.dtype != leaf.dtype:
            raise Refused(f"{source}: array {name} must be {leaf.dtype}{leaf.shape}, got {array.dtype}{array.shape}")
    return jax.tree.unflatten(structure, [arrays[name] for name in expected])


def use_current_names(arrays: dict[str, np.ndarray]) -> None:
    """Rename stored arrays of older files to the current names of their fields."""
    for name in list(arrays):
        current = ".".join(RENAMED.get(word, word) for word in name.split("."))
        arrays[current] = arrays.pop(name)


def _name(path: tuple[Any, ...]) -> str:
    return jax.tree_util.keystr(path, simple=True, separator=".")
