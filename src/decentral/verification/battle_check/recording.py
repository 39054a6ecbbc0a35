"""A recording of battles in a file: SMAC's state before every step, the actions and the reward.

The file is safetensors with a few notes, so reading it runs no code. Steps follow one another, and the last one of
every episode is marked; there is no padding.
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from decentral.environments.battles import BATTLES
from decentral.environments.battles.battle import Battle
from decentral.errors import Refused, did_you_mean
from decentral.tensors import read_arrays, write_arrays

MOST_BYTES = 2**33
LONGEST_ORIGIN = 200  # characters of it that are shown
NEEDED = ("state", "actions", "rewards", "last")
OPTIONAL = ("available",)


@dataclass(frozen=True)
class GameRecording:
    """Steps of many episodes, one after the other."""

    map_name: str
    origin: str  # of the recording, in the words of its maker
    state: np.ndarray  # [steps, features]: SMAC's, before the step
    actions: np.ndarray  # [steps, agents]
    rewards: np.ndarray  # [steps]
    last: np.ndarray  # [steps]: the step ended its episode
    available: np.ndarray | None  # [steps, agents, actions], before the step


def check_new(file: Path) -> None:
    """Refuse to overwrite anything, or to write into a missing directory."""
    if file.exists():
        raise Refused(f"{file} must not be there yet")
    if not file.parent.is_dir():
        raise Refused(f"{file} can't be written: {file.parent} is no directory")


def write_recording(file: Path, recording: GameRecording) -> None:
    """Write a new file atomically."""
    check_new(file)
    arrays = {name: getattr(recording, name) for name in (*NEEDED, *OPTIONAL)}
    kept = {name: array for name, array in arrays.items() if array is not None}
    write_arrays(file, kept, {"map": recording.map_name, "origin": recording.origin})


def read_recording(file: Path) -> GameRecording:
    """Read a recording; refused unless it holds battles of a known map."""
    stored = read_arrays(file, MOST_BYTES, follow=True)
    name = stored.notes.get("map")
    if name not in BATTLES:
        meant = did_you_mean(str(name), BATTLES)
        raise Refused(
            f"{file}: its note map must be one of {', '.join(BATTLES)}, got {name!r:.60}{meant and ':'}{meant}"
        )
    for needed in NEEDED:
        if needed not in stored.arrays:
            raise Refused(f"{file}: array {needed} is missing; it must have {', '.join(NEEDED)}")
    for other in stored.arrays:
        if other not in (*NEEDED, *OPTIONAL):
            raise Refused(f"{file}: unknown array {other:.40}; it may have {', '.join((*NEEDED, *OPTIONAL))}")
    _check_shapes(file, BATTLES[name](), stored.arrays)
    _check_values(file, BATTLES[name](), stored.arrays)
    return GameRecording(
        map_name=name,
        origin=stored.notes.get("origin", "unknown")[:LONGEST_ORIGIN],
        state=stored.arrays["state"].astype(np.float32),
        actions=stored.arrays["actions"].astype(np.int32),
        rewards=stored.arrays["rewards"].astype(np.float32),
        last=stored.arrays["last"].astype(bool),
        available=stored.arrays["available"].astype(bool) if "available" in stored.arrays else None,
    )


def state_sizes(environment: Battle) -> tuple[int, int]:
    """How long SMAC's state is without and with everybody's last action."""
    roster = environment.roster
    of_ally, of_enemy = row_sizes(environment)
    units = roster.allies * of_ally + roster.enemies * of_enemy
    return units, units + roster.allies * environment.spec.actions.count


def row_sizes(environment: Battle) -> tuple[int, int]:
    """How many numbers SMAC's state has for an ally and for an enemy."""
    roster = environment.roster
    shields = (roster.has_shields(side) for side in (roster.our_side, roster.their_side))
    ours, theirs = (int(has_them) + roster.type_bits for has_them in shields)
    return 4 + ours, 3 + theirs


def _check_shapes(file: Path, environment: Battle, arrays: dict[str, np.ndarray]) -> None:
    steps = len(arrays["state"]) if arrays["state"].ndim else 0
    agents, actions = environment.num_agents, environment.spec.actions.count
    if steps == 0:
        raise Refused(f"{file}: state must have a row for every step, got shape {arrays['state'].shape}")
    shapes = {"actions": (steps, agents), "rewards": (steps,), "last": (steps,), "available": (steps, agents, actions)}
    for name, shape in shapes.items():
        if name in arrays and arrays[name].shape != shape:
            raise Refused(f"{file}: {name} must have shape {shape}, got {arrays[name].shape}")
    sizes = state_sizes(environment)
    if arrays["state"].shape not in [(steps, size) for size in sizes]:
        words = f"{sizes[1]} numbers, or {sizes[0]} without last actions, on {environment.battle_map.name}"
        raise Refused(f"{file}: a state must have {words}, got shape {arrays['state'].shape}")


def _check_values(file: Path, environment: Battle, arrays: dict[str, np.ndarray]) -> None:
    for name in ("state", "rewards"):
        if not np.isfinite(arrays[name]).all():
            raise Refused(f"{file}: {name} must be finite numbers throughout")
    actions, count = arrays["actions"], environment.spec.actions.count
    if not (actions.min() >= 0 and actions.max() < count and (actions == np.floor(actions)).all()):
        raise Refused(
            f"{file}: actions must be whole numbers from 0 to {count - 1}, got {actions.min()} to {actions.max()}"
        )
    units = arrays["state"][:, : state_sizes(environment)[0]]
    if units.min() < -1.0 or units.max() > 1.5:
        raise Refused(
            f"{file}: a state must hold shares and places as SMAC scales them, got {units.min():g} to {units.max():g}"
        )
    if not arrays["last"].any():
        raise Refused(f"{file}: last must mark the end of at least one episode, got none")
