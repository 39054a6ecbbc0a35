"""All lanes of a run as named arrays, and back: the form in which the whole state of a run is saved.

agents      networks, targets, optimisers, statistics and keys of all agents
replays     what they remember: of each ring only the slots that were ever filled
clock       the environments' keys, steps, episodes, and the tally since the last test
"""

from typing import Any

import jax
import numpy as np

from decentral.settings import Refused
from decentral.tensors import Tensor
from decentral.training.loop import Lane
from decentral.training.parameters import use_current_names
from decentral.training.replay import Buffer

PARTS = ("agents", "replays", "clock")


def as_tensors(lanes: Lane, share: range) -> dict[str, dict[str, Tensor]]:
    """The lanes of one run by part and name. Each array is fetched from the device only when it is written."""
    parts: dict[str, dict[str, Tensor]] = {part: {} for part in PARTS}
    for name, leaf in _named(lanes).items():
        part = name.split(".", 1)[0]
        parts[part if part in PARTS else "clock"][name] = _tensor(leaf, share, _ring(name, lanes))
    return parts


def from_arrays(template: Lane, stored: dict[str, np.ndarray], source: str) -> Lane:
    """Lanes of the template's shapes, on the host, from the arrays of all parts; arrays that do not fit are refused."""
    expected = _named(template)
    use_current_names(stored)
    for name in sorted(expected.keys() ^ stored.keys()):
        raise Refused(f"{source}: array {name} is {'missing' if name in expected else 'not part of this training'}")
    leaves = []
    for name, leaf in expected.items():
        array, ring = stored.pop(name), _ring(name, template)  # popped: a replay may fill the memory
        leaves.append(_leaf(array, leaf, ring, f"{source}: array {name}"))
    return jax.tree.unflatten(jax.tree.structure(template), leaves)


def one_after_the_other(lanes: list[Lane]) -> Lane:
    """The lanes of several runs, concatenated for one program."""
    if len(lanes) == 1:
        return lanes[0]
    return jax.tree.map(lambda *leaves: np.concatenate(leaves), *lanes)


def with_keys(template: Lane, lanes: Lane) -> Lane:
    """The lanes with typed keys in the place of the plain integers that the host stores."""
    return jax.tree.map(
        lambda leaf, array: jax.random.wrap_key_data(array) if _is_key(leaf) else array, template, lanes
    )


def _named(lanes: Lane) -> dict[str, Any]:
    leaves, _ = jax.tree_util.tree_flatten_with_path(lanes)
    return {jax.tree_util.keystr(path, simple=True, separator="."): leaf for path, leaf in leaves}


def _ring(name: str, lanes: Lane) -> Buffer | None:
    """The replays whose episodes the array of this name is part of."""
    words = name.split(".")
    return lanes.replays[int(words[1])] if words[0] == "replays" and words[2] == "episodes" else None


def _tensor(leaf: Any, share: range, ring: Buffer | None) -> Tensor:
    if _is_key(leaf):
        leaf = jax.random.key_data(leaf)
    part, shape = [slice(share.start, share.stop)], [len(share), *leaf.shape[1:]]
    if ring is not None:
        slots = ring.remembered.ndim  # the axis over them
        shape[slots] = min(int(np.asarray(ring.remembered)[part[0]].max()), shape[slots])
        part += [slice(length) for length in shape[1:]]
    return Tensor(np.dtype(leaf.dtype), tuple(shape), lambda: np.asarray(leaf)[tuple(part)])


def _leaf(array: np.ndarray, template: Any, ring: Buffer | None, source: str) -> np.ndarray:
    shape, dtype = template.shape, template.dtype
    if _is_key(template):
        shape, dtype = (*shape, 2), np.dtype(np.uint32)
    least = list(shape)
    if ring is not None and array.ndim == len(shape):
        slots = ring.remembered.ndim
        least[slots] = min(shape[slots], array.shape[slots])
    if array.shape != tuple(least) or array.dtype != dtype:
        raise Refused(f"{source} must be {dtype}{shape}, got {array.dtype}{array.shape}")
    if array.shape == shape:
        return array
    whole = np.zeros(shape, dtype)
    whole[tuple(slice(length) for length in array.shape)] = array
    return whole


def _is_key(leaf: Any) -> bool:
    return jax.dtypes.issubdtype(leaf.dtype, jax.dtypes.prng_key)
