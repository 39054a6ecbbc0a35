"""Storing a single agent in a file and loading it: arrays and one JSON object. Loading runs no code of the file."""

import hashlib
import json
from functools import partial
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from decentral.agents.agent_config import AgentConfig
from decentral.agents.episode_buffer import EpisodeBuffer
from decentral.agents.learner import LearnerState, init_learner
from decentral.plain_files import parse_json
from decentral.runs.memory import free_bytes
from decentral.settings import Refused
from decentral.tensors import MOST_BYTES, Stored, read_arrays, write_arrays
from decentral.training.parameters import as_arrays, fill

FORMAT = 2
FLAGS = {"phase": ("between episodes", "to act", "to observe"), "may_learn": (False, True)}


def store(
    file: Path, agent_config: AgentConfig, state: LearnerState, buffer: EpisodeBuffer, flags: dict[str, Any]
) -> None:
    """Write the complete state of an agent, atomically."""
    arrays = as_arrays({"life": jax.tree.map(_plain, state), "diary": buffer.arrays()})
    note = {"format": FORMAT, **agent_config.as_data(), **flags, "step": buffer.steps}
    arrays = {name: np.asarray(array) for name, array in arrays.items()}
    write_arrays(file, arrays, {"agent": json.dumps(note), "sha256": _digest(json.dumps(note), arrays)})


def restore(file: Path) -> tuple[AgentConfig, LearnerState, EpisodeBuffer, dict[str, Any]]:
    """Read what `store` wrote."""
    stored = read_arrays(file, min(MOST_BYTES, free_bytes()), follow=True)
    data = _note_of(stored, file)
    try:
        agent_config = AgentConfig.from_data(data)
    except Refused as refusal:
        raise Refused(f"{file}: {refusal}") from None
    limit = agent_config.agent_settings.time_limit
    for key, choices in FLAGS.items():
        if data.get(key) not in choices:
            raise Refused(f"{file}: {key} must be one of {choices}, got {data.get(key)!r:.40}")
    most = limit if data["phase"] == "between episodes" else limit - 1
    if type(data.get("step")) is not int or not 0 <= data["step"] <= most:
        raise Refused(f"{file}: step must be a whole number from 0 to {most}, got {data.get('step')!r:.40}")
    initial = partial(init_learner, agent_config.squad, agent_config.plan, agent_config.padded, limit, 0, 0)
    state, plain = jax.eval_shape(initial), jax.eval_shape(lambda: jax.tree.map(_plain, initial()))
    blank = EpisodeBuffer.blank(agent_config.padded, limit)
    filled = fill({"life": plain, "diary": blank.arrays()}, stored.arrays, str(file))
    buffer = EpisodeBuffer(**{name: np.array(array) for name, array in filled["diary"].items()}, steps=data["step"])
    flags = {key: data[key] for key in FLAGS}
    return agent_config, jax.tree.map(_restored, state, filled["life"]), buffer, flags


def _digest(note: str, arrays: dict[str, np.ndarray]) -> str:
    """The SHA-256 of an agent's note and of the bytes of its arrays, in order of their names."""
    digest = hashlib.sha256(note.encode())
    for name in sorted(arrays):
        digest.update(np.ascontiguousarray(arrays[name]).reshape(-1).view(np.uint8).data)
    return digest.hexdigest()


def _note_of(stored: Stored, file: Path) -> dict[str, Any]:
    """The JSON object beside the arrays; both as they were stored."""
    try:
        data, why = parse_json(stored.notes["agent"]), ""
    except KeyError:
        data, why = None, " (it has no note of one)"
    except ValueError as error:
        data, why = None, f" ({str(error).splitlines()[0]:.100})"
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise Refused(f"{file} must be an agent stored in format {FORMAT}{why}")
    if stored.notes.get("sha256") != _digest(stored.notes["agent"], stored.arrays):
        raise Refused(f"{file} is broken: its SHA-256 is not the one that was noted when it was stored")
    return data


def _plain(leaf: Any) -> Any:
    """An array of a type that can be stored: keys as their numbers, bfloat16 as its bits."""
    if jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key):
        return jax.random.key_data(leaf)
    return jax.lax.bitcast_convert_type(leaf, jnp.uint16) if leaf.dtype == jnp.bfloat16 else leaf


def _restored(template: Any, stored: np.ndarray) -> Any:
    if jnp.issubdtype(template.dtype, jax.dtypes.prng_key):
        return jax.random.wrap_key_data(jnp.array(stored))
    return jnp.array(stored.view(jnp.bfloat16) if template.dtype == jnp.bfloat16 else stored)
