"""Watches for seeds that diverge. Their lanes go on beside the others, which share nothing with them."""

from dataclasses import asdict, dataclass, field
from operator import itemgetter
from typing import Any

import jax
import numpy as np

from decentral.runs.lanes import LaneBatch
from decentral.settings import Refused
from decentral.training.team import Team


@dataclass(frozen=True)
class Divergence:
    """Where the first NaN or inf of a seed was found."""

    seed: int
    step: int
    tensor: str
    agent: int | None = None  # None: not of a single agent
    name: str | None = None  # that its environment calls the agent; older runs have not recorded it

    def __str__(self) -> str:
        whose = "" if self.agent is None else f"{self.name or f'agent {self.agent}'}, "
        return f"seed {self.seed} diverged by step {self.step:,}: {whose}{self.tensor} is not finite"

    def as_data(self) -> dict[str, Any]:
        return asdict(self)

    @staticmethod
    def from_data(data: dict[str, Any]) -> "Divergence":
        """The inverse of `as_data`."""
        try:
            divergence = Divergence(**data)
        except TypeError:
            raise Refused(f"diverged must list seed, step, tensor and agent, got {data!r:.80}") from None
        if not all(type(number) is int for number in (divergence.seed, divergence.step)):
            raise Refused(f"diverged must name seed and step by whole numbers, got {data!r:.80}")
        return divergence


@dataclass
class Health:
    """The divergences in a batch of lanes, by lane: the first of each."""

    found: dict[int, Divergence] = field(default_factory=dict)

    def look(self, lane_batch: LaneBatch) -> list[Divergence]:
        """The lanes that have diverged since the last look."""
        any_bad, details = lane_batch.nonfinite()
        lanes = [int(lane) for lane in np.flatnonzero(any_bad) if int(lane) not in self.found]
        if not lanes:
            return []
        details = jax.device_get(details)
        for lane in lanes:
            nonfinite = jax.tree.map(itemgetter(lane), details)
            agent, tensor = _first(nonfinite, lane_batch.setup.team)
            name = None if agent is None else lane_batch.setup.environment.agent_names[agent]
            seed, step = int(lane_batch.seeds[lane]), int(lane_batch.steps[lane])
            self.found[lane] = Divergence(seed, step, tensor, agent, name)
        return [self.found[lane] for lane in lanes]

    def of(self, share: range) -> list[dict[str, Any]]:
        """The divergences in the lanes of one run, as plain data."""
        return [self.found[lane].as_data() for lane in share if lane in self.found]


def _first(nonfinite: dict[str, np.ndarray], team: Team) -> tuple[int | None, str]:
    """The agent and the name of the first non-finite array; rewards come before what was learned from them."""
    if np.any(nonfinite["rewards"]):
        return None, "rewards"
    name = next(name for name, bad in nonfinite.items() if np.any(bad))
    squad, tensor = name.split(".", 1)
    bad, places = nonfinite[name], team.squads[int(squad)].places
    return (None if bad.ndim == 0 else places[int(np.argmax(bad))]), tensor
