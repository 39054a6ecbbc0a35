"""An agent's current episode, written down step by step."""

from dataclasses import dataclass

import jax.numpy as jnp
import numpy as np

from decentral.types import AgentSpec, Episode, Percept, kind_of


@dataclass
class EpisodeBuffer:
    """Room for one episode, of which the first `steps` are taken; the percept after them is known too."""

    observations: np.ndarray  # [P, features]
    available: np.ndarray  # [P, actions]
    actions: np.ndarray  # [T], or of continuous numbers [T, numbers]
    rewards: np.ndarray  # [T]
    steps: int = 0

    @staticmethod
    def blank(spec: AgentSpec, time_limit: int) -> "EpisodeBuffer":
        """An empty buffer."""
        return EpisodeBuffer(
            np.zeros((time_limit + 1, spec.observation_size), np.float32),
            np.zeros((time_limit + 1, spec.actions.count), bool),
            np.zeros((time_limit, *spec.actions.shape), spec.actions.dtype),
            np.zeros(time_limit, np.float32),
        )

    def begin(self, observation: np.ndarray, available: np.ndarray) -> None:
        """Write down the first percept of an episode."""
        self.steps = 0
        self.actions[:], self.rewards[:] = 0, 0.0
        self.observations[0], self.available[0] = observation, available

    def act(self, action: int | np.ndarray) -> None:
        """Write down an action."""
        self.actions[self.steps] = action

    def observe(self, reward: float, observation: np.ndarray, available: np.ndarray) -> None:
        """Write down the result of the last action."""
        self.rewards[self.steps] = reward
        self.steps += 1
        self.observations[self.steps], self.available[self.steps] = observation, available

    @property
    def is_full(self) -> bool:
        return self.steps == len(self.actions)

    @property
    def observation(self) -> np.ndarray:
        """The current observation [features]."""
        return self.observations[self.steps]

    @property
    def options(self) -> np.ndarray:
        """What is available now [actions]."""
        return self.available[self.steps]

    @property
    def last_action(self) -> np.ndarray:
        """The agent's last action; before the first -1, or zeros where actions are continuous."""
        if self.steps:
            return self.actions[self.steps - 1]
        return np.full_like(self.actions[0], kind_of(self.actions, self.available).nothing)

    def closed(self, terminated: bool) -> Episode:
        """The whole episode; the rest of its room is padding that repeats the last percept."""
        happened = np.arange(len(self.actions)) < self.steps
        self.observations[self.steps + 1 :] = self.observations[self.steps]
        self.available[self.steps + 1 :] = self.available[self.steps]
        ended = terminated & (np.arange(len(self.actions)) == self.steps - 1)
        percepts = Percept(jnp.array(self.observations), jnp.array(self.available))
        return Episode(percepts, *map(jnp.array, (self.actions, self.rewards, ended, happened)))

    def arrays(self) -> dict[str, np.ndarray]:
        """The arrays by name."""
        names = ("observations", "available", "actions", "rewards")
        return {name: getattr(self, name) for name in names}
