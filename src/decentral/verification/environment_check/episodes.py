"""Episodes of random play, stored exactly as the environment gave them: nothing is checked while they are played."""

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
    """One episode: its first percepts, and every joint action with its result."""

    seed: int
    start: Any = None
    actions: list[np.ndarray] = field(default_factory=list)
    steps: list[Any] = field(default_factory=list)

    @property
    def over(self) -> bool:
        """Has the environment said that it is over?"""
        return bool(self.steps) and bool(self.steps[-1].terminated or self.steps[-1].truncated)

    def told(self) -> Iterator[tuple[str, Percepts]]:
        """All percepts, and when they were given."""
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


def play(
    environment: BaseEnvironment, stage: Stage, episode: PlayedEpisode, rng: np.random.Generator, most: int
) -> None:
    """Continue an episode with random available actions, up to `most` steps."""
    if episode.start is None:
        episode.start = _expect(stage.reset(episode.seed), Percepts)
    percepts = episode.steps[-1].percepts if episode.steps else episode.start
    while len(episode.steps) < most and not episode.over:
        actions = random_actions(environment, percepts, rng)
        episode.actions.append(actions)
        episode.steps.append(_expect(stage.step(actions), Step))
        percepts = _expect(episode.steps[-1].percepts, Percepts)


def replay(stage: Stage, episode: PlayedEpisode) -> PlayedEpisode:
    """The same seed and the same actions once more."""
    again = PlayedEpisode(episode.seed, stage.reset(episode.seed))
    for actions in episode.actions:
        if again.over:
            break
        again.actions.append(actions)
        again.steps.append(stage.step(actions))
    return again


def random_actions(environment: BaseEnvironment, percepts: Percepts, rng: np.random.Generator) -> np.ndarray:
    """A random available action for every agent; any action if `available` is invalid."""
    kind = environment.spec.actions
    if isinstance(kind, Continuous):
        drawn = rng.uniform(-1, 1, (environment.num_agents, kind.count))
        return np.where(np.asarray(percepts.available, bool), drawn, 0.0).astype(np.float32)
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


def _expect(answer: Any, kind: type) -> Any:
    if not isinstance(answer, kind):
        raise Refused(f"the answer must be {kind.__name__}, got {answer!r:.120}")
    return answer
