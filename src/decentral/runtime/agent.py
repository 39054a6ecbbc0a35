"""An exported agent: it acts greedily on what it has learned, and learns no more."""

import os
from typing import Any, NamedTuple

import numpy as np

from decentral.bounds import LARGEST, within_bounds
from decentral.errors import Refused
from decentral.percepts import as_available, as_observation
from decentral.plain_files import as_path
from decentral.runtime.models import Model, model_of
from decentral.runtime.spec import BundleSpec, read_spec
from decentral.runtime.trunks import LastAction
from decentral.tensors import read_arrays

MOST_BYTES = 2**30  # of the parameters of one agent
SPEC, PARAMETERS = "spec.json", "parameters.safetensors"


class State(NamedTuple):
    """What an agent carries from one step of an episode to the next."""

    memory: np.ndarray  # [hidden]
    last_action: LastAction  # its own, counted from 0 or from -1 to 1, whatever the environment calls it


class ExportedAgent:
    """An agent as a function of what it perceives and of what it carries along; it keeps nothing itself."""

    def __init__(self, spec: BundleSpec, model: Model):
        self.spec = spec
        self._model = model

    def __repr__(self) -> str:
        named = f", {self.spec.agent!r}" if self.spec.agent else ""
        return f"ExportedAgent({self.spec.algorithm!r}, {self.spec.observation_size}, {self.spec.actions}{named})"

    def start(self) -> State:
        """The state before the first step of an episode."""
        nothing = np.zeros(self.spec.actions, np.float32) if self.spec.bounds else -1
        return State(np.zeros(self.spec.hidden, np.float32), nothing)

    def act(self, observation: Any, available: Any, state: State) -> tuple[Any, State]:
        """The best available action, by the environment's number of it, and the state after it.

        `available` None: every action of the agent can be taken. A continuous action is an array of float32 within the
        agent's bounds, the squashed mean of its policy; nothing of it may be unavailable.
        """
        options = as_available(available, self.spec.actions)
        if self.spec.bounds and not options.all():
            raise Refused(f"available must leave out no number of a continuous action, got {available!r:.40}")
        values, memory = self.values(observation, state)
        if self.spec.bounds:
            numbers = np.clip(np.tanh(values[0]), -LARGEST, LARGEST).astype(np.float32)
            return within_bounds(numbers, self.spec.bounds), State(memory, numbers)
        chosen = int(np.argmax(np.where(options, values, -np.inf)))
        return self.spec.first_action + chosen, State(memory, chosen)

    def probabilities(self, observation: Any, available: Any, state: State) -> np.ndarray:
        """The policy of an actor-critic: the probability of every action [actions], from which training drew."""
        if self.spec.policy != "logits":
            has = "a policy over continuous ones: ask for gaussian" if self.spec.bounds else "values"
            who = f"{self.spec.algorithm}, which has {has}"
            raise Refused(f"probabilities needs an agent with a policy over discrete actions, got {who}")
        options = as_available(available, self.spec.actions)
        logits = np.where(options, self.values(observation, state)[0], -np.inf)
        shares = np.exp(logits - logits.max())
        return shares / shares.sum()

    def gaussian(self, observation: Any, state: State) -> tuple[np.ndarray, np.ndarray]:
        """The policy of an actor-critic with continuous actions: means and deviations, before tanh and the bounds."""
        if not self.spec.bounds:
            raise Refused(
                f"gaussian needs an agent with continuous actions, got {self.spec.algorithm} with discrete ones"
            )
        mean, log_std = self.values(observation, state)[0]
        return mean, np.exp(log_std)

    def values(self, observation: Any, state: State) -> tuple[np.ndarray, np.ndarray]:
        """The value of every action [actions], and the memory after the percept [hidden].

        Of continuous actions, means and log-deviations [2, actions].
        """
        seen = as_observation(observation, self.spec.observation_size)
        sound = isinstance(state, State) and state.memory.shape == (self.spec.hidden,)
        if not sound or not self._is_action(state.last_action):
            raise Refused(f"state must be one that start or act gave, got {state!r:.60}")
        return self._model.values(seen, state.memory, state.last_action)

    def _is_action(self, last: Any) -> bool:
        if self.spec.bounds:
            return (
                isinstance(last, np.ndarray) and last.shape == (self.spec.actions,) and bool((np.abs(last) <= 1).all())
            )
        return isinstance(last, int) and -1 <= last < self.spec.actions


def load(directory: str | os.PathLike[str]) -> ExportedAgent:
    """The agent of a bundle. Its files are data: reading them runs nothing, and what is not as it says is refused."""
    place = as_path("directory", directory)
    if not place.is_dir():
        raise Refused(f"a bundle must be a directory, got {place}")
    spec = read_spec(place / SPEC)
    stored = read_arrays(place / PARAMETERS, MOST_BYTES)
    if stored.sha256 != spec.sha256:
        raise Refused(f"{place / PARAMETERS} must have the sha256 {spec.sha256}, got {stored.sha256}")
    if stored.notes.get("spec", spec.digest) != spec.digest:  # bundles of earlier versions have no such note
        raise Refused(f"{place / SPEC} is broken: it is not the one that was exported with {PARAMETERS}")
    return ExportedAgent(spec, model_of(spec, stored.arrays, str(place / PARAMETERS)))
