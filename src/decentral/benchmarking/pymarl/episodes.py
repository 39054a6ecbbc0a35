"""Episodes as PyMARL keeps them (extra `torch`): a tensor for each field, written field by field at every step."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch

from decentral.benchmarking.pymarl.predator_prey import ACTIONS, LENGTH, OBSERVATION_SIZE, PREDATORS, STATE_SIZE

FIELDS = {
    "state": ((STATE_SIZE,), torch.float32),
    "observation": ((PREDATORS, OBSERVATION_SIZE), torch.float32),
    "action": ((PREDATORS, 1), torch.int64),
    "action_one_hot": ((PREDATORS, ACTIONS), torch.float32),
    "available": ((PREDATORS, ACTIONS), torch.int32),
    "reward": ((1,), torch.float32),
    "terminated": ((1,), torch.uint8),
    "happened": ((1,), torch.int64),
}


class Episodes:
    """Some episodes side by side: each field is [episodes, steps, ...]."""

    def __init__(self, fields: dict[str, torch.Tensor]):
        self.fields = fields

    def __getitem__(self, field: str) -> torch.Tensor:
        return self.fields[field]

    @property
    def count(self) -> int:
        return len(self.fields["happened"])

    @property
    def steps(self) -> int:
        return self.fields["happened"].shape[1]

    @property
    def device(self) -> torch.device:
        return self.fields["happened"].device

    def write(self, data: Mapping[str, Any], episodes: slice, steps: slice) -> None:
        """Store the given fields (tensors, lists or arrays), and the actions as one-hot too."""
        where = (episodes, steps)
        for name, given in data.items():
            field = self.fields[name]
            value = torch.tensor(given, dtype=field.dtype, device=field.device)
            _require_fit(value, field[where])
            field[where] = value.view_as(field[where])
            if name == "action":
                self.fields["action_one_hot"][where] = _one_hot(field[where])

    def write_step(self, data: Mapping[str, Any], step: int) -> None:
        """Store one step, and mark it as happened."""
        steps = slice(step, step + 1)
        self.fields["happened"][:, steps] = 1
        self.write(data, slice(None), steps)

    def take(self, episodes: slice | np.ndarray, steps: slice) -> "Episodes":
        """A part of them."""
        return Episodes({name: field[episodes, steps] for name, field in self.fields.items()})

    def to(self, device: torch.device) -> "Episodes":
        """The same ones on another device."""
        return Episodes({name: field.to(device) for name, field in self.fields.items()})


class PyMARLReplay:
    """The latest episodes, in main memory."""

    def __init__(self, capacity: int):
        self.kept, self.capacity = empty_episodes(capacity, torch.device("cpu")), capacity
        self.rng, self.written = np.random.default_rng(0), 0

    def add(self, episode: Episodes) -> None:
        """Add an episode; once the buffer is full, it replaces the oldest."""
        place = self.written % self.capacity
        self.kept.write(episode.fields, slice(place, place + 1), slice(0, episode.steps))
        self.written += 1

    def sample(self, count: int) -> Episodes:
        """A random batch of stored episodes, cut to the longest of them."""
        chosen = self.rng.choice(min(self.written, self.capacity), count, replace=False)
        batch = self.kept.take(chosen, slice(None))
        longest = batch["happened"].sum(1).max(0)[0]
        return batch.take(slice(None), slice(0, longest))


def empty_episodes(count: int, device: torch.device) -> Episodes:
    """Episodes in which nothing has happened yet."""
    return Episodes(
        {
            name: torch.zeros((count, LENGTH + 1, *shape), dtype=dtype, device=device)
            for name, (shape, dtype) in FIELDS.items()
        }
    )


def _require_fit(value: torch.Tensor, room: torch.Tensor) -> None:
    """Refuse a value whose shape, except for axes of size one, differs from that of its place."""
    if [size for size in value.shape if size != 1] != [size for size in room.shape if size != 1]:
        raise ValueError(f"a value of shape {tuple(value.shape)} has no place in {tuple(room.shape)}")


def _one_hot(actions: torch.Tensor) -> torch.Tensor:
    chosen = actions.new_zeros(*actions.shape[:-1], ACTIONS)
    return chosen.scatter_(-1, actions, 1).float()
