"""Episodes of random play, kept as the environment told them: nothing is checked while they are played."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from decentral.environments.adapters.pettingzoo import PettingZoo
from decentral.environments.base import BaseEnvironment, Environment
from decentral.environments.host.compiled import SteppedStage
from decentral.environments.host.interface import HostEnvironment, Percepts, Stage, Step
from decentral.errors import Refused
from decentral.types import Continuous


@dataclass
class PlayedEpisode:
    """One episode: what was told at its start, and every joint action with what it brought about."""

    seed: int
    start: Any = None
    actions: list[np.ndarray] = field(default_factory=list)
    steps: list[Any] = field(default_factory=list)

    @property
    def over(self) -> bool:
        """Has the environment said that it is over?"""
        return bool(self.steps) and bool(self.steps[-1].terminated or self.steps[-1].truncated)

    def told(self) -> Iterator[tuple[str, Percepts]]:
        """All percepts, and when they were told."""
        yield "at reset", self.start
        for number, step in enumerate(self.steps, start=1):
            yield f"at step {number}", step.percepts


def stage_of(environment: BaseEnvironment) -> Stage:
    """A stage of any environment; rewards that differ don't stop it."""
    if isinstance(environment, Environment):
        return SteppedStage(environment)
    if isinstance(environment, PettingZoo) and environment.rewards == "shared":
        environment = replace(environment, rewards="mean")
    if isinstance(environment, HostEnvironment):
        return environment.open()
    raise TypeError(f"{type(environment).__name__} is neither compiled nor a host environment")


def play(environment: BaseEnvironment, stage: Stage, lived: PlayedEpisode, rng: np.random.Generator, most: int) -> None:
    """Go on with an episode, at random among what is available, for at most so many steps."""
    if lived.start is None:
        lived.start = _expect(stage.reset(lived.seed), Percepts)
    percepts = lived.steps[-1].percepts if lived.steps else lived.start
    while len(lived.steps) < most and not lived.over:
        actions = random_actions(environment, percepts, rng)
        lived.actions.append(actions)
        lived.steps.append(_expect(stage.step(actions), Step))
        percepts = _expect(lived.steps[-1].percepts, Percepts)


def replay(stage: Stage, lived: PlayedEpisode) -> PlayedEpisode:
    """The same seed and the same actions once more."""
    again = PlayedEpisode(lived.seed, stage.reset(lived.seed))
    for actions in lived.actions:
        if again.over:
            break
        again.actions.append(actions)
        again.steps.append(stage.step(actions))
    return again


def random_actions(environment: BaseEnvironment, percepts: Percepts, rng: np.random.Generator) -> np.ndarray:
    """An available action for every agent; any action where what is available makes no sense."""
    kind = environment.spec.actions
    if isinstance(kind, Continuous):
        return rng.uniform(kind.low, kind.high, environment.num_agents).astype(np.float32)
    return np.asarray(
        [rng.choice(choices(environment, percepts, agent)) for agent in range(environment.num_agents)], np.int32
    )


def choices(environment: BaseEnvironment, percepts: Percepts, agent: int) -> np.ndarray:
    """The actions that an agent may choose from."""
    available = np.asarray(percepts.available)
    every = np.arange(environment.spec.actions.count)
    if available.shape != (environment.num_agents, len(every)) or not available[agent].any():
        return every
    return np.flatnonzero(available[agent])


def _expect(told: Any, kind: type) -> Any:
    if not isinstance(told, kind):
        raise Refused(f"the answer must be {kind.__name__}, got {told!r:.120}")
    return told
